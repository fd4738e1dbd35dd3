"""What Claude Code writes: its tools as the Agent Client Protocol shows them, and the transcripts that it keeps on disk.

    tools.py        kind, title, places and changes of a call      transcript.py   a transcript's lines, as signals
"""
