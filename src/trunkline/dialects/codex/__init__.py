"""Codex's own files, and the socket of its daemon.

    rollout.py   one session's lines as signals      patch.py   its patches as diffs
    line.py      what its daemon says of threads     asks.py    what it asks, and takes for an answer
"""
