"""The hub's HTTP API as Python calls, one method per route, divided by what they are about. ``Client`` (``api.py``) has them all.

    hub.py       the whole hub                  sessions.py   start, list, name, branch and end
    turns.py     prompts, and what comes of them   events.py     events, commands, the WebSocket
    steering.py  cancel, set, decide, answer    files.py      files, artifacts, pictures
"""
