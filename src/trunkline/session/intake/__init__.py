"""What an agent sends on its way in: kept in order while something about it has to be found out first.

    intake.py       signals, in the order in which they came
    text_run.py     text that only goes on, beside them
    read_ahead.py   long command lines, read off the loop before the session sees them
    disk_reader.py   files that an ask or a result names, looked at off the loop
"""
