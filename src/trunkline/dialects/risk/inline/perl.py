"""What perl makes of the words behind its code, and where that code looks for more.

Rule: code itself is judged as that of other languages is (``code.py``); here is what no other language does.
"""

from __future__ import annotations

import re
from typing import Final

from trunkline.dialects.risk.call import ProgramCall

_PERL_LOADS: Final = re.compile(r"[@%$]\{?(?:main::)?INC\b|\buse\s+lib\b|\$\^[A-Z]|\$\{\^")
"""Where perl looks for modules, and its own variables that say what it runs."""
_QUOTED: Final = re.compile(r"[\"'(]([/~.][^\"')]{1,400})")
_CODE_CHARS: Final = 8192


def judge_perl_words(call: ProgramCall) -> None:
    """perl opens the words behind its code as a shell would: ``>x`` empties a file, ``x|`` is a command."""
    for arg in call.operands:
        if arg in call.codes:
            continue
        path = arg.strip()
        if ("|" in path and " " not in path.strip("| ")) or path[-1:] == "|" or path[:1] == "|":
            call.note("high", "opens a command as a file", call.command.text)
        elif path[:1] in (">", "+"):
            call.write(path.lstrip("+<> "))
            call.note("high", "opens a file to write it, by a sign before its name", arg)
    code = next((code for code in call.codes if _PERL_LOADS.search(code[:_CODE_CHARS])), None)
    if code is not None:
        call.note("high" if any(map(call.places.is_foreign, _QUOTED.findall(code[:_CODE_CHARS]))) else "medium",
                  "loads code from folders that its code names", code, unsure=True)
