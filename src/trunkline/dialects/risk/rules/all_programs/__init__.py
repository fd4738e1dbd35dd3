"""Rules that hold for whatever program a call starts: each is a function from a call to nothing, which notes on it.

    elsewhere.py  what stands outside the session            paths.py       who only reads the paths that it names
    loading.py    code from outside that options name        outputs.py     folders that an option empties
    frameworks.py tasks that lose data                       releases.py    tasks that publish or deploy
    consoles.py   what frameworks run on their input         brought.py     commands in the words of programs that are not known
    losses.py     sub-commands that say that they delete or publish
    evaluated.py  code for programs that are not known       settings.py    variables of builds that may be commands

``risk/line.py`` asks them in its own order, behind the judge of the program.
"""
