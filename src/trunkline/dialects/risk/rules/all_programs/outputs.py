"""Options whose value is a folder that a program empties, or a file or folder that it writes: judged as that.

Rule 1: what is emptied is deleted, unless its name says that it is made anew each time (``dist``, ``.tmp``), or it is below such.
Rule 2: what is written is a write, unless its name says that it is a report or a folder for such.
Rule 3: which options those are is data (``risk/output_options.py``).
"""

from __future__ import annotations

from trunkline.dialects.risk.call import ProgramCall
from trunkline.dialects.risk.output_options import OUTPUTS, given_output, is_expected, is_made_anew, program_at
from trunkline.dialects.risk.places import look


def note_outputs(call: ProgramCall) -> None:
    """Note the folders that a call empties, and what it writes beside the files that it is about."""
    name, first = program_at(call.command)
    use = OUTPUTS.get(name if first else call.name)
    if use is None:
        return
    for at, arg in enumerate(call.args[first:], first):
        option, value = given_output(call.args, at, use) if arg[:1] == "-" else ("", "")
        if option in use.empties or (option == "--alluredir" and call.has("", "--clean-alluredir")):
            _empties(call, value)
        elif option:
            _writes(call, value, is_product=option in use.products)
    if not use.folders.isdisjoint(call.longs):
        for folder in call.args[first:]:
            if folder != "venv":
                _empties(call, folder)


def _empties(call: ProgramCall, path: str) -> None:
    if path[:1] != "-" and path and look(call.places, path).kind not in ("temp", "null") and not is_made_anew(path):
        call.note("high", "empties a folder", path)


def _writes(call: ProgramCall, path: str, *, is_product: bool) -> None:
    if path[:1] == "-" or not path:
        return
    is_quiet = look(call.places, path).kind in ("inside", "temp", "null", "elsewhere", "unknown")
    if not is_quiet or not (is_product or is_expected(path)):
        call.write(path)
