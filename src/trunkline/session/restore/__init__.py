"""A session's state back from the journal.

    reload.py    the row's checkpoint and the steps after it; what clients see of that while newer entries cannot be stored
    rebuild.py   the state made again from the entries, where the checkpoint cannot be read
"""
