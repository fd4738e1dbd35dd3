"""What readers read: committed entries, for any number of readers at their own pace. No wire format in here.

    session.py   one session's entries: a tail in memory, the journal behind it
    hub.py       the entries of all sessions, in the order of their commits

Rule 1: an entry comes in here only after its commit.
Rule 2: a reader is a position. One that is slow costs nobody else anything.
"""
