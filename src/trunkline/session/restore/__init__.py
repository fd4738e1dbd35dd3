"""A session's state back from the journal.

    reload.py    the row's checkpoint and the steps after it
    rebuild.py   the state made again from the entries, where the checkpoint cannot be read
    stored.py    the state as it is stored, while newer entries cannot be
"""
