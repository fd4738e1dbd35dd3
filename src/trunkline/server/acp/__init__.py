"""The acp face: every session of the hub for editors, which speak the Agent Client Protocol: ``/acp``.

    agent.py  the protocol, whatever carries it     socket.py  a WebSocket     http.py  streamable HTTP
"""

from __future__ import annotations

PATH = "/acp"
