"""What ipython runs beside Python: lines for a shell behind ``!``, and its own words behind ``%``.

Rule 1: what a magic does is data. One that is not known here is medium: an extension may have brought it.
Rule 2: some words are the names of programs, and ipython takes them without a ``%`` as well.
"""

from __future__ import annotations

import re
from typing import Final

from trunkline.dialects.risk.call import ProgramCall
from trunkline.dialects.risk.inline.code import MAGIC

_WORD: Final = re.compile(r"(?:^|(?<=[\n;]))[ \t]{0,9}(%{0,2})([a-z_]\w{0,40})\b[ \t]{0,9}([^\n]{0,400})")
_ALIASES: Final = frozenset("cat cp ldir less lf lk ll ls lx man mkdir more mv rm rmdir".split())
"""Programs that ipython runs by their names."""
_PROGRAMS: Final = frozenset("pip conda mamba micromamba uv".split()) | _ALIASES
_WRITES: Final = frozenset("writefile file save logstart notebook".split())
_QUIET: Final = frozenset(
    "time timeit prun lprun memit mprun who whos who_ls pwd matplotlib pylab lsmagic magic quickref history hist pinfo pinfo2 "
    "psource pdoc pdef pfile precision page pprint colors xmode doctest_mode autoreload load_ext reload_ext reset_selective tb "
    "debug pdb capture html latex markdown svg javascript js config automagic autocall autoindent psearch dirs bookmark".split())
_OPERATOR: Final = re.compile(r"[=.,()\[:*+/&|^<>@]|(?:in|is|and|or|if|not)\b")
"""Behind a word these make it Python."""
_MAGICS: Final = 16
_COMMANDS: Final = 4


def note_magics(call: ProgramCall, text: str) -> None:
    """Note what the words of ipython's own in a text do."""
    for found in list(MAGIC.finditer(text))[:_COMMANDS]:
        call.script(found[1])
        call.note("high", "runs a command inside a program", found[0])
    for found in list(_WORD.finditer(text))[:_MAGICS]:
        sign, word, rest = found.groups()
        if word in _ALIASES and not sign and (not rest or _OPERATOR.match(rest) is None):
            sign = "%"
        if not sign or word in _QUIET:
            continue
        if word in _WRITES:
            for path in [part for part in rest.split() if part[:1] != "-"][:1]:
                call.write(path)
        elif word in _PROGRAMS:
            call.script(f"{word} {rest}".strip())
        call.at_least("medium", "uses a word of ipython's own", found[0].strip())
