"""Qwen Code's own files.

    chat.py   one session's lines as signals          line.py   its event file and its input file
"""
