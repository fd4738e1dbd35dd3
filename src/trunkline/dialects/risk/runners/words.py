"""The words of a command as its row reads them: which program it is, its options with their values, its operands."""

from __future__ import annotations

from typing import Final

from msgspec import structs

from trunkline.dialects.risk.runners.table import ROWS, Runner
from trunkline.dialects.shell import SimpleCommand, apart, in_full, module_at
from trunkline.dialects.shell.pythons import is_python
from trunkline.dialects.shell.wrappers import unwrap

BUNDLE_LETTERS: Final = 64
"""Short options in one word that are tried as the last before a value; of more, the first and the last half."""

_WHOLE: Final = frozenset(
    "--checkpoint --test --cov --coverage --browser --typecheck --sequence --benchmark --snapshot --pdb --co --ff --lf "
    "--app".split())
"""Long options that are not another one cut short."""
_SHORT: Final = 4
"""Up to here an option is another one cut short only where it can be but one of the row: many have names as short as that."""


def option_values(word: str) -> tuple[str, ...]:
    """Every value that a word may give to an option, or to a setting: ``--a=b``, ``a=b``, ``-ob``, and each end of a bundle."""
    if word[:1] != "-" and "=" not in word:
        return ()
    found = [word.partition("=")[2]] if "=" in word else []
    if word[:1] == "-" and word[1:2] not in ("", "-"):
        letters = next((at for at, sign in enumerate(word[1:], 1) if not sign.isalnum()), len(word) - 1)
        ends = [*range(2, letters + 1)]
        if len(ends) > BUNDLE_LETTERS:
            ends = ends[:BUNDLE_LETTERS // 2] + ends[-BUNDLE_LETTERS // 2:]
        found += [word[at:] for at in ends]
    return tuple(dict.fromkeys(value for value in found if value))


def row_of(command: SimpleCommand) -> tuple[SimpleCommand, Runner | None]:
    """The row of a program, and the command as the row sees it: behind ``python -m`` the module is the program, and a wrapper's
    options end where the command begins that it runs."""
    name = command.name or ""
    if name == "coverage" or is_python(name):
        command = _module_of(apart(command))
        name = command.name or ""
    row = ROWS.get(name) or (ROWS.get(name.rstrip("0123456789.").rstrip("-")) if name[-1:] in "0123456789" else None)
    if row is not None:
        inner = unwrap(command)
        begins = [at for words in inner.commands for at in words[:1] if isinstance(at, int)] if inner is not None else []
        if begins:
            end = min(begins)
            command = structs.replace(command, words=command.words[:end], sketch=command.sketch[:end])
    return command, row


def _module_of(command: SimpleCommand) -> SimpleCommand:
    """The module behind ``python -m`` as a command of its own, also where that is one which runs another (``coverage``)."""
    for _ in range(3):
        at = _covered_at(command) if command.name == "coverage" else module_at(command)
        if not at:
            break
        command = structs.replace(command, words=command.words[at:], sketch=command.sketch[at:])
    return command


def _covered_at(command: SimpleCommand) -> int:
    """Where the module's name is in ``coverage run -m x``; 0: there is none."""
    at = command.sketch.index("-m") + 1 if "-m" in command.sketch[:-1] else 0
    return 0 if any(word[:1] != "-" and word != "run" for word in command.sketch[1:at - 1]) else at


def options_of(command: SimpleCommand, row: Runner) -> list[tuple[str, str | None]]:
    """The options of the table that a command has, each with its value; long ones may be cut short, short ones be in a bundle."""
    known = row.known
    found: list[tuple[str, str | None]] = []
    for at, (word, sketch) in enumerate(zip(command.words, command.sketch, strict=True)):
        if at == 0 or (sketch[:1] != "-" and sketch not in known):
            continue
        if sketch == "--":
            break
        following = command.words[at + 1] if at + 1 < len(command.words) else ""
        given, equal, value = sketch.partition("=")
        full = _full_name(given, known, row)
        if full:
            found.append((full, (None if word is None else value) if equal else following))
        elif row.dashes or sketch[:3] in known:
            found += _joined_value(sketch, word, known)
        elif sketch[1:2] != "-":
            found += _bundled(sketch, word, known, following, row.language == "code")
    return found


def without_settings(command: SimpleCommand) -> SimpleCommand:
    """cmake without its ``-DNAME=value``, which are no options in a bundle."""
    kept = [at for at, word in enumerate(command.sketch) if word[:2] != "-D"]
    return structs.replace(command, words=tuple([command.words[at] for at in kept]),
                           sketch=tuple([command.sketch[at] for at in kept]))


def _full_name(given: str, known: frozenset[str], row: Runner) -> str:
    """The option that is meant: as it is, with one dash for two, or cut short (``--compress-prog`` is ``--compress-program``)."""
    if given in known:
        return given
    if row.dashes and (single := given[1:] if given[:2] == "--" else given.partition(":")[0]) in known:
        return single
    if given[:2] != "--" or given in _WHOLE:
        return ""
    if len(given) > _SHORT:
        return in_full(given, known)
    meant = [option for option in known if len(given) > 2 and option.startswith(given)]
    return meant[0] if len(meant) == 1 else ""


def _joined_value(sketch: str, word: str | None, known: frozenset[str]) -> list[tuple[str, str | None]]:
    """``-B/tmp/x`` where options are words, ``-TT./x``."""
    size = 3 if sketch[:3] in known else 2
    return [(sketch[:size], None if word is None else sketch[size:])] if len(sketch) > size and sketch[:size] in known else []


def _bundled(sketch: str, word: str | None, known: frozenset[str], following: str | None,
             is_code: bool) -> list[tuple[str, str | None]]:
    """The first letter of a bundle that takes a value, with the rest or the next word; of code, both."""
    for at, letter in enumerate(sketch[1:BUNDLE_LETTERS], 1):
        if f"-{letter}" in known:
            rest = sketch[at + 1:]
            found = [(f"-{letter}", None if word is None else rest.removeprefix("=") if rest else following)]
            return [*found, (f"-{letter}", following)] if is_code and rest else found
        if not letter.isalnum():
            break
    return []


def operands_of(command: SimpleCommand, row: Runner) -> list[int]:
    """Where the words are that are no options, and no values of options of the table."""
    found: list[int] = []
    skip = False
    for at, word in enumerate(command.words[1:], 1):
        if skip:
            skip = False
        elif word is not None and word[:1] == "-" and len(word) > 1:
            skip = word in row.taking
        else:
            found.append(at)
    return found


def base_name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2] or path
