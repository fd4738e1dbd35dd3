"""Patches that a command brings with it, in its words or on its input: each file is judged as what the patch does to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from trunkline.dialects.calls.inputs import BEYOND_RULES, patched_files
from trunkline.dialects.calls.patches import taken_by
from trunkline.dialects.risk.call import ProgramCall

_TEXTS: Final = 4


def note_patch(call: ProgramCall) -> None:
    """Note what the patches of a call write, delete and move."""
    texts = [word for word in call.args if "\n" in word][:_TEXTS]
    for text in (*texts, call.command.stdin_text or ""):
        taken = taken_by(text)
        for path in taken.deleted:
            call.remove(path)
        for name, target in taken.linked:
            call.link(name, target)
        for path in patched_files(text):
            if path not in taken.deleted and path != BEYOND_RULES:
                call.write(path)


def _applies(call: ProgramCall) -> None:
    note_patch(call)
    call.at_least("medium", "changes files of the project", call.command.name or "")


JUDGES: Final[dict[str, Callable[[ProgramCall], None]]] = {"apply_patch": _applies}
