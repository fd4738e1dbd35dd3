"""Code that a program which is not known here is given: ``janet -e '(os/shell x)'``. What it does is not known to be harmless.

Rule: it is judged as code of a language without a row (``inline/``): high by telling words, else not sure, unless every name in
it computes and prints.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from trunkline.dialects.risk.call import ProgramCall
from trunkline.dialects.risk.inline.code import judge_code
from trunkline.dialects.risk.inline.plain_code import NOT_READ, is_plain
from trunkline.dialects.risk.rules import program_of
from trunkline.dialects.risk.runners.evaluating import Given, given_code
from trunkline.dialects.risk.runners.table import ROWS
from trunkline.dialects.shell import SimpleCommand

TEXTS: Final = 6
"""Of one call that are judged."""


def note_evaluated(call: ProgramCall) -> None:
    """Note the code that a call brings."""
    found = list(islice(given_code(call.command), TEXTS + 1))
    for one in found[:TEXTS]:
        if one.code is not None or one.is_sure:
            judge_code(call, one.code, call.name)
    if len(found) > TEXTS or any(one.code is None for one in found):
        call.note("medium", f"runs {call.name} code of which not all is known", call.command.text, unsure=True)


def unknown_code(command: SimpleCommand) -> list[Given]:
    """The code that a program is given that nobody here knows, or whose language nobody here reads, where it is not known to
    compute and print only."""
    first = command.words[0] if len(command.words) > 1 or (command.words and command.redirects) else None
    is_not_read = (command.name or "").lower() in NOT_READ and command.name not in ROWS
    if first is None or not (is_not_read or program_of(first).is_unknown):
        return []
    return [one for one in given_code(command) if one.code is None or not is_plain(one.code, command.name or "")]
