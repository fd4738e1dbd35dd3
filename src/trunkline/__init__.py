"""Trunkline: one line to every coding agent.

The tree is the data path; read it in this order:

1. ``agents``    a running agent: what can be run (catalog), the one place that spawns (process), the agent we ship (demo)
2. ``dialects``  what the bytes mean: jsonrpc, acp, packets, context; pure, no I/O, no clock
3. ``session``   one live session: driver, interpret, approvals, turn, artifacts
4. ``journal``   numbered entries that last: memory, sqlite
5. ``hub``       sessions by id; the only module that knows both ends
6. ``server``    faces over HTTP
7. ``cli``       commands; ``client`` is the same API for Python programs

``acp`` always means Agent Client Protocol, ``context`` always means Agent Context Protocol.
"""

__version__ = "0.1.0"
