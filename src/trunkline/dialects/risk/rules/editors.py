"""Editors and debuggers: what their options and their input make them do."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from trunkline.dialects.outside import is_whole_number
from trunkline.dialects.risk.call import ProgramCall
from trunkline.dialects.risk.inline.plain_code import is_plain
from trunkline.dialects.risk.stdin import given

_EDITOR_RUNS: Final = re.compile(r"!|system\s*\(|\bshell\b|:?py3?\b|\blua\b|call-process|\\!|\.shell|\.system")


_EDITOR_CODE: Final = frozenset("-c --cmd --eval -eval --execute -f --funcall -S -ex -x".split())


def _editor_code(call: ProgramCall) -> list[str]:
    """Commands of its own that an editor's words bring."""
    if call.name not in _CODE_EDITORS:
        return []
    found = [arg[1:] for arg in call.args if arg[:1] == "+" and not is_whole_number(arg[1:]) and len(arg) > 1]
    joined = [arg.partition("=") for arg in call.args if arg[:2] == "--" and "=" in arg]
    found += [value for name, _, value in joined if name in _EDITOR_CODE]
    return found + [after for arg, after in zip(call.args, call.args[1:], strict=False) if arg in _EDITOR_CODE]


_CODE_EDITORS: Final = frozenset("vi vim nvim ex view emacs gvim".split())


_NAME: Final = re.compile(r"[\w][\w./-]{0,400}")
"""A word that can only be a file's name."""
_WRITES: Final = re.compile(
    r"(?:^|[|/])[\s:\d,.$%';+-]{0,40}(?:w|W|wq|write|sav|saveas|up|update|wn|x|xit|f|file|mks|mksession|redir|wv|wviminfo)!?"
    r"(?:\s{0,9}>>)?\s{0,9}>{0,1}\s{1,9}([^\s|]{1,1000})", re.MULTILINE)
"""An editor's own command that writes into a file by name, also behind an address or ``g/x/``."""


_READS: Final = re.compile(r"^[\s:\d,.$%';+-]{0,40}(?:e|E|edit|r|read|so|source|sp|split|tabe|new)!?\s{1,9}([^\s|!]{1,1000})",
                           re.MULTILINE)
"""The same for one that reads a file."""


_DUMPS: Final = re.compile(
    r"\s{0,9}(?:dump|append|generate-core-file|gcore|save|tee|(?:set )?logging file|process save-core|memory read .{0,80}--outf)")
"""Commands of a debugger that write into a file by name."""


def _dumped(call: ProgramCall) -> list[str]:
    return [word for arg in call.args if _DUMPS.match(arg) for word in arg.split()[1:] if word[:1] in ("/", "~", ".")]


def _saved(text: str) -> list[str]:
    """The files that commands of an editor write."""
    return [found[1] for found in _WRITES.finditer(text)]


def _editor(call: ProgramCall) -> None:
    """Editors and debuggers can run commands that their options bring."""
    code = [arg for arg in call.args if _NAME.fullmatch(arg) is None and _EDITOR_RUNS.search(arg)]
    fed = given(call)
    if fed is not None:
        code += [line for text in fed.texts for line in text.split("\n") if _EDITOR_RUNS.search(line)]
        for path in [path for text in fed.texts for path in _saved(text)]:
            call.write(path)
        for path in [found[1] for text in fed.texts for found in _READS.finditer(text)]:
            call.read(path)
        if not fed.is_known:
            call.note("high", "does what its input says, and it is not known what that is", call.command.text)
    for path in _dumped(call) if call.name in ("gdb", "lldb") else ():
        call.write(path)
    for text in _editor_code(call):
        for path in _saved(text):
            call.write(path)
        if not is_plain(text, call.name):
            call.note("medium", f"runs {call.name} code of which not all is known", text, unsure=True)
    if code:
        for arg in code:
            call.script(re.sub(r"^[+:]*!?|^\.(shell|system)\s", "", arg))
        call.note("high", "runs a command inside a program", code[0])
    else:
        call.note("medium", "opens files to change them", call.command.text)


JUDGES: Final[dict[str, Callable[[ProgramCall], None]]] = {
    **dict.fromkeys("vi vim nvim ex view emacs ed nano pico micro helix hx gdb lldb sqlite3 psql-shell mutt".split(), _editor),
}
