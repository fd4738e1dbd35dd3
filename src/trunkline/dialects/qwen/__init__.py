"""Qwen Code's own files.

    chat.py   one session's lines as signals
"""
