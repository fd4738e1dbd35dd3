"""The journal in one SQLite file: a write-ahead log, one transaction per group, a row per block of entries.

    store.py       the journal's methods              database.py      the file, its schema, its statements
    commit.py      a group, planned and written        group_log.py     small groups, in a plain file beside it
    reader.py      pages of entries                   block.py         the bytes of a run of entries (large.py: very long ones)
    recent.py      the newest entries, in memory      housekeeping.py  folds and checkpoints, in a thread
    retention.py   what is kept, packed, deleted      wiping.py        what pages have left of it
    opening.py     looked over before it is used      marks.py         how far it had come, noted beside it
    missing.py     whether both together are whole
    read_only.py   read from outside, while a hub writes              gate.py      one writer
    mending/       damage found and mended
"""
