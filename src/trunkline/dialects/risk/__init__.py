"""How dangerous a tool call is, and why. Text in, a level out; nothing is run, nothing is looked up.

    levels.py    Risk, Finding, the order of levels          tools.py     any tool call: which parts of its input matter
    line.py      one shell line                              flow.py      what follows from several commands together
    call.py      one command, and what was noted about it    inline/      code that a line brings: python -c, awk, perl -e
    places.py    what a path means                           rules/       what each program does: rows per program
    parts.py     a line in its parts, for whoever approves it    runners/  programs that run others, for policies
    row_matching.py   the row that fits a command        standing.py  where each command of a line stands

Levels: low (reads, tests), medium (changes the project, installs, talks to the network), high (deletes, rewrites, reaches
beyond the project, cannot be read), critical (runs fetched code, sends credentials away, raw devices, fork bombs).
"""

from __future__ import annotations

from trunkline.dialects.risk.levels import LEVELS, Finding, Risk, rank
from trunkline.dialects.risk.parts import command_parts
from trunkline.dialects.risk.places import Places
from trunkline.dialects.risk.tools import assess_risk, explain_risk, judge, unsure_line

__all__ = ["LEVELS", "Finding", "Places", "Risk", "assess_risk", "command_parts", "explain_risk", "judge", "rank",
           "unsure_line"]
