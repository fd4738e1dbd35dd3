"""Frames: what the CLI writes on stdout, one JSON object per line.

    types.py     every frame, typed: a new one is added here      reading.py   a line as a frame
    large.py     lines of many megabytes, read in steps
"""
