"""The conversation: texts and thoughts, whose turn it is, how it ended, what it took.

    messages.py   texts and thoughts, from pieces or whole      blocks.py   which of an answer's blocks a text is
    turns.py      whose turn it is                              stops.py    how a turn ended
    usage.py      tokens, money, room in the context
"""
