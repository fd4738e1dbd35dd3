"""The rules that answer for people. Pure but for the file they are kept in.

    asks.py      a tool call as the rules see it      subject.py   all that is looked at in it, once for all rules
    rules.py     one rule, and whether it fits        decide.py    all rules together: the verdict
    globs.py     patterns for paths and lines
    commands.py  one command of a line                behind.py, hidden.py, names.py, options.py: what stands behind it
    text.py      rules as TOML                        file.py      policy.toml on disk
    explain.py   what was seen in an ask, in words

A key that is read wrongly must never allow.
"""
