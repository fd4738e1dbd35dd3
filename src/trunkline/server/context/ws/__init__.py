"""The context face over one WebSocket: ``/ws``.

    face.py          who is let in                   frames.py        both directions, as types
    conversation.py  one client, from hello to end   delivery.py      which events it gets, and when
    cursors.py       where it is
"""

from __future__ import annotations

PATH = "/ws"
