"""The journal in one SQLite file: a write-ahead log, one transaction per group, a row per block of entries.

    store.py       the journal's methods              database.py      the file, its schema, its statements
    reader.py      pages of entries                   block.py         the bytes of a run of entries (large.py: very long ones)
    recent.py      the newest entries, in memory      housekeeping.py  folds, packs, deletes, in a thread
    opening.py     looked over before it is used      marks.py         how far it had come, noted beside it
    read_only.py   read from outside, while a hub writes              gate.py      one writer
    mending/       damage found and mended
"""
