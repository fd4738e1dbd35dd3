"""The folder of a session: the border for whatever is read and written there.

    files.py       paths resolved, files read and written, nothing outside the roots
    look.py        what is found out on the disk before somebody decides
    artifacts.py   what the agent made                   project.py   what kind of project it is
"""

PLAYGROUND = "playground"
"""The folder in the hub's data that is there to be worked in: of all that is the hub's own, the one that is for agents."""
