"""Which folders a line may change or hand on as a whole, and which its commands only look at or go to.

Rule 1: pure, by spelling alone. A command is known to look, or it may do anything with what it names and with where it stands.
Rule 2: where a line gives names another meaning, or hands on what only the shell knows, nothing in it only looks.
Rule 3: in a line that is one chain of ``&&``, a command stands where those before it went; in others, wherever any of them went.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from trunkline.dialects import late_re as re
from trunkline.session.policy import globs
from trunkline.session.policy.commands import (
    FINDERS,
    FINDS_ONLY,
    GREPS,
    mentions,
    moves,
    only_reads_line,
    quoted_patterns,
    values,
)

if TYPE_CHECKING:
    from trunkline.dialects.shell import SimpleCommand

STEPS: Final = 40
"""Commands of a line that are followed; a longer one may change all that it names."""
_LOOKERS: Final = frozenset(
    "ls cd pwd cat head tail wc du df stat file tree test [ realpath readlink basename dirname which type true false echo "
    "printf".split())
_TEXT_TAKERS: Final = _LOOKERS | {"grep", "egrep", "fgrep", "sort", "uniq", "cut", "nl", "tr"}
_GIT_LOOKS: Final = frozenset("status log rev-parse ls-files".split())
_WRITES: Final = ("-o", "--output", "-fprint")
_OTHER_NAMES: Final = frozenset("alias eval source . trap enable hash pushd popd dirs exec function".split())
_BEFORE: Final = re.compile(r"OLDPWD|DIRSTACK|\bcd\s+(?:--\s+)?[-+]|~[-+]|\$_|![!$^*\w]|\(\s*\)|\bfunction\b|CDPATH")
"""What stands for a folder, a word or a command from before."""
_APART: Final = re.compile(r"[;|!\n(){}`]|(?<!&)&(?!&)|\$\(|<<")
_LOOP: Final = re.compile(r"\s*for\s+\w+\s+in((?:\s+[\w*][\w.*-]*/?)+)\s*;\s*do\s+([^;|\n(){}`<>]+?)\s*;\s*done\s*;?\s*")
_BELOW: Final = re.compile(r"\$\w+|[\w-][\w.-]*(?:/[\w-][\w.-]*)*/?")


class Standing(NamedTuple):
    """A command that may change or hand on what it names, the words of it, and the folders it may stand in."""

    words: tuple[str, ...]
    folders: tuple[str, ...]


def handling(line: str, commands: Sequence[SimpleCommand], base: str, home: str | None) -> list[Standing] | None:
    """The commands of a line that do more than look; None where nobody knows."""
    if len(commands) > STEPS or _BEFORE.search(line):
        return None
    looks = [_looks(commands, at) for at in range(len(commands))]
    for one, only in zip(commands, looks, strict=True):
        if not only and (None in one.words or not one.words or one.name in _OTHER_NAMES
                         or any(each.target is None and each.body is None for each in one.redirects)):
            return None
    in_order = _is_chain(line) and not any(one.scope or one.parent >= 0 or "-P" in one.sketch for one in commands)
    found: list[Standing] = []
    folders = [base]
    if not in_order and _repeats(line):
        for one in commands:
            folders = _gone(one, folders, home, False)
    for one, only in zip(commands, looks, strict=True):
        if one.name == "cd":
            folders = _gone(one, folders, home, in_order)
        elif not only:
            literal = quoted_patterns([one]) if one.name in GREPS else frozenset[str]()
            words = [word for word in values(mentions([one], home)) if word not in literal]
            found.append(Standing(tuple(words), tuple(_gone(one, folders, home, False))))
    return found


def _gone(command: SimpleCommand, folders: list[str], home: str | None, surely: bool) -> list[str]:
    new = [globs.place(to, folder, home, folder).absolute for to in moves([command]) for folder in folders]
    return new if surely and new else list(dict.fromkeys((*folders, *new)))


def _is_chain(line: str) -> bool:
    """Whether each command runs only where the one before it went well, in the same shell; so does a loop over folders below."""
    if not _APART.search(line):
        return True
    loop = _LOOP.fullmatch(line)
    if loop is None:
        return False
    depth = 0
    for step in loop[2].split("&&"):
        verb, _, to = step.strip().partition(" ")
        if verb == "cd":
            up = set(to.strip().split("/")) <= {"..", ""} and to.strip() != ""
            if not up and not _BELOW.fullmatch(to.strip().strip('"')):
                return False
            depth += -to.count("..") if up else 1
        if depth < 0:
            return False
    return True


def _repeats(line: str) -> bool:
    return re.search(r"\b(?:for|while|until|select)\b", line) is not None


def _looks(commands: Sequence[SimpleCommand], at: int) -> bool:
    """Whether a command is known to look at, or go to, what it names, and nobody is given what it prints."""
    one = commands[at]
    name = one.name or ""
    if one.assignments or not one.words or one.words[0] not in (name, f"/bin/{name}", f"/usr/bin/{name}"):
        return False
    if any(each.writes and each.target != "/dev/null" for each in one.redirects):
        return False
    if any(0 <= each.stdin_from <= at < index and each.name not in _TEXT_TAKERS for index, each in enumerate(commands)):
        return False
    if one.parent >= 0 and not only_reads_line(commands, one.parent):
        return False
    options = [word for word in one.sketch[1:] if word[:1] == "-"]
    if name in FINDERS:
        return FINDS_ONLY.issuperset(options)
    if name == "git":
        verb = one.sketch[3:4] if one.sketch[1:2] == ("-C",) else one.sketch[1:2]
        return bool(verb) and verb[0] in _GIT_LOOKS and not any(word.startswith(_WRITES) for word in options)
    return name in _LOOKERS and not (name == "tree" and any(word.startswith(_WRITES) for word in options))
