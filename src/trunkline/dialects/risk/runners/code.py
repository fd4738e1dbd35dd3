"""Code of a program's own (a script of sed, a macro of an editor): where it stands, and whether it may run commands."""

from __future__ import annotations

import re
from typing import Final

from trunkline.dialects.risk.inline.awk import AWKS, read_awk
from trunkline.dialects.risk.inline.code import may_run_commands
from trunkline.dialects.risk.inline.sed import read_sed
from trunkline.dialects.risk.runners import git
from trunkline.dialects.risk.runners.table import Runner
from trunkline.dialects.risk.runners.words import operands_of, options_of, row_of
from trunkline.dialects.shell import SimpleCommand

_RUNS_IN_CODE: Final = re.compile(
    r"!|\b(system|shell|popen|exec|eval|spawn|source|load|load_extension|pipe|program|python|perl|ruby|lua|term|terminal|make|run"
    r"|edit|editor|extld|toolexec|plugin|execute|become|linker|syscmd|esyscmd)\b"
    r"|\\(?:ir?|include|include_relative)\s"
    r"|\||\bgetline\b|@load|@\s*\w+\s*\(|call-process|start-process", re.IGNORECASE)

_SSH_RUNS: Final = re.compile(r"(?i)(proxy|local|knownhosts|permitlocal)\s{0,9}command|match\s|pkcs11provider|include")


def code_in(command: SimpleCommand) -> list[tuple[str, str]]:
    """Code of the program's own that stands in a command's words, each with its language."""
    command, row = row_of(command)
    if row is None or not (row.code or row.operand):
        return []
    texts = [value for option, value in options_of(command, row) if option in row.code]
    if row.operand and not texts and (places := operands_of(command, row)[row.operand - 1:row.operand]):
        texts.append(command.words[places[0]])
    return [(text, row.language) for text in texts if text]


def may_run(code: str, row: Runner, name: str) -> bool:
    """Whether a piece of code may run a command."""
    if row.language == "sed":
        found = read_sed(code[:git.CHARS * 4])
        return bool(found.runs) or found.odd or len(code) > git.CHARS * 4
    if name in AWKS:
        script = read_awk(code[:git.CHARS * 4])
        return script.runs or script.odd or bool(script.includes) or len(code) > git.CHARS * 4
    if row.language == "ssh":
        return _SSH_RUNS.search(code) is not None
    if row.language == "code":
        return may_run_commands(code, name)
    return _RUNS_IN_CODE.search(code) is not None


def takes_script(command: SimpleCommand) -> bool:
    """Whether an interpreter runs what is on its input: none of its words is a script. So does ``uv run -``."""
    if command.name == "-":
        return True
    command, row = row_of(command)
    return row is not None and row.stdin and row.language == "code" and _only_options(command)


def _only_options(command: SimpleCommand) -> bool:
    return all([word is not None and word[:1] in "-/" for word in command.words[1:]]) and "-c" not in command.words


def has_script(command: SimpleCommand, row: Runner) -> bool:
    """Whether its input is what it does: something feeds it, and no word takes the place of that."""
    fed = command.stdin_from >= 0 or any([one.operator[:1] == "<" for one in command.redirects])
    if not fed:
        return False
    if row.language == "code":
        return _only_options(command)
    return row.language == "shell" or command.stdin_text is None or _RUNS_IN_CODE.search(command.stdin_text) is not None
