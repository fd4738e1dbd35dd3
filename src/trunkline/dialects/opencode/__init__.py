"""OpenCode's own database.

    rows.py   one session's rows as signals
"""
