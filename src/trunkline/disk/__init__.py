"""Files that others control: an agent, a repository, a client, a vendor's program.

    reading.py     opening and reading: plain files only, never waiting for a pipe, never more than was asked for
    own_file.py    the hub's own files, read whole at a start: also by commands, so that it knows nothing of loops
    own_folder.py  the hub's own folders, made at a start
    writing.py     folders entered by descriptor, one name at a time; files put in their place whole

Rule 1: every file that somebody else may have put there is opened here and nowhere else.
Rule 2: all of it blocks and says so (``threads.check_off_loop``): whoever has a loop calls it in a lane.
Rule 3: what cannot be opened or read is an OSError. What that means to whom is the caller's to say.
"""
