"""Step 4 of the data path: numbered entries that last.

    base.py        what a journal is: entries, rows, the Protocol       page.py, rows.py, gap.py   what stores share
    committer.py   group commit before delivery                         memory.py   the plainest store
    stores.py      which stores there are, by name (``sqlite:``, ``memory:``)
    sqlite/        the store in one file                                mending/    damage found and mended
    search/        words to sessions, an index beside it                lock.py     one writer per data folder

Rule: a store never invents a ``seq``; the session gives it.
"""
