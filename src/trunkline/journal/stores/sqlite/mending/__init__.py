"""Damage to the journal's file: found, reported, and kept where it is.

    pages.py     the file page by page, without SQLite: what a damaged tree cannot reach is still in its pages
    salvage.py   every row that can be read, into a new file; what is missing becomes gaps
    swap.py      the new file in the old one's place, the old one kept aside
    verify.py    what is wrong with a file, changing nothing

Rule 1: nothing is deleted. What was damaged stays beside the journal under a name that says so.
Rule 2: there is one way to mend, whoever asks for it (a start, a read, a commit, ``trunkline journal repair``): what is readable
goes into a new file, which then takes the old one's place.
Rule 3: what is lost is shown: a gap stands where entries stood, and every reader meets it.
"""
