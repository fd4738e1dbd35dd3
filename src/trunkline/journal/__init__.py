"""Step 4 of the data path: numbered entries that last. In the order of a commit:

    base.py        what a journal is: entries, rows, and the Protocol of a store
    committer.py   group commit before delivery             run_delay.py    what of a slow commit was the machine's
    stores/        the stores, by name (``sqlite:``, ``memory:``), a file or folder each
    page.py        what one read returns                    rows.py         rows of sessions: which match, how they are stored
    gap.py         what stands where entries were lost      deleted_ids.py  ids of what was just deleted
    read_turns.py  who reads a page next
    search/        words to sessions, an index beside it    lock.py         one writer per data folder

Rule: a store never invents a ``seq``; the session gives it.
"""
