"""What an agent says on its way in: kept in order while something about it has to be found out first.

    intake.py       signals, in the order in which they came
    read_ahead.py   long command lines, read off the loop before the session sees them
"""
