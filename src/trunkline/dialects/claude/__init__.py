"""What Claude Code says, in two ways: as a stream of JSON lines while it runs, and in the transcripts that it keeps on disk.

    translate.py   the stream, as signals        outgoing.py     what we write to it
    transcript.py  a transcript's lines, as signals
    tools.py, results.py, patches.py             its tools, told the same way by both
"""
