"""Sessions over HTTP, whatever face is used: one noun, one module.

    sessions.py   start, list, steer, end     prompt.py     what a prompt may look like
    approvals.py  what waits for a person     policies.py   rules       limits.py    caps and waits
    search.py     words to sessions           export.py, markdown.py    a session to keep
    adapters.py   agents and their sessions
"""
