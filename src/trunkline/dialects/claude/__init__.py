"""What Claude Code writes, in two ways: as a stream of JSON lines while it runs, and in the transcripts that it keeps on disk.

    translate.py    the stream as signals, frame by frame        transcript.py   a transcript's lines as signals
    frames/         the stream's lines, typed                    conversation/   texts, turns, how they end, tokens
    calls/          its tool calls                               control/        permissions, questions, what we send
    settings.py     modes, models, options, commands             remarks.py      retries, limits, hooks, tasks, notices

A new frame: its type in ``frames/types.py``, what it means in ``translate.py`` or the part that it calls.
"""
