"""The context face: the Agent Context Protocol over HTTP and WebSocket.

    events.py    streams, pages, commands      joining.py   runs of deltas as one event
    snapshot.py  a session as one joins it     ws/          the same over one WebSocket
"""
