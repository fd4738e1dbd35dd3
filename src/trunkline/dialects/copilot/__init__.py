"""GitHub Copilot CLI's own files.

    events.py   one session's lines as signals
"""
