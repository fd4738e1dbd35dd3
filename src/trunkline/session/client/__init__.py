"""What the hub does for an agent, as its client: files and terminals.

    requests.py    fs/* and terminal/*, checked and carried out    permits.py    they pass the same rules as tools
    terminals.py   commands that run here                          printing.py   what those print, while they run
    editors.py     the same through the editor whose prompt runs
"""
