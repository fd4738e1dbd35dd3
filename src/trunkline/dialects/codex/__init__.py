"""Codex's own files.

    rollout.py   one session's lines as signals      patch.py   its patches as diffs
"""
