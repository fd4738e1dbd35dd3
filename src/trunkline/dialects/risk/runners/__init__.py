"""Programs that run others by an option, an argument or their input, which no reader of shells sees.

    table.py      the programs: a row for each, which is data     words.py   a command as its row reads it
    code.py       code in a command's words or on its input       names.py   what a command is under another name
    changing.py   options that change what is run                 git.py     what git runs
    runs.py       what a command runs in turn                     evaluating.py  code for programs that nobody knows
    scripts.py    what goes to a script of the project            forges.py  the git commands of gh and its like

What others import:

    runs.runs_other(command)            the command lines that one simple command runs in turn; ``UNKNOWN`` where it may run what
                                        its words do not say; ``()`` where it runs nothing that the table knows of
    runs.line_runs(commands)            the same for every command of a line, in order: what an earlier one made an alias, a copy
                                        or a link of is known to the later ones
    names.line_names(commands)          for every command of a line what it is under another name
    changing.changing_options(command)  the options and settings of a command that change what is run
    words.option_values(word)           every value that a word may give to an option: ``-rf.env`` may give ``f.env`` or ``.env``

Rule 1: commands that stand in the words as they are (``sudo``, ``xargs``, ``sh -c``, ``find -exec``) are commands of the line
already (``dialects/shell/wrappers.py``) and are not given again.
Rule 2: this only ever restricts. What is given here makes a rule look closer, and allows nothing.
Rule 3: a value that only the run knows, a file of commands, a configuration from elsewhere and a script on the input are UNKNOWN.
"""
