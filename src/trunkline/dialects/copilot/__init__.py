"""GitHub Copilot CLI's own files.

    events.py   one session's lines as signals          hooks.py   what it calls in a terminal, and what it takes for an answer
"""
