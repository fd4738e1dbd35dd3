"""Gemini CLI's own files.

    hooks.py  what its terminals ask and report
    chat.py   one session's lines as signals      parts.py   calls and their results, which forks of it store the same way
"""
