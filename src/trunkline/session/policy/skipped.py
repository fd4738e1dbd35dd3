"""Folders that a search leaves out by its own options: ``grep -r --exclude-dir=generated x src``, ``rg -g '!generated' x src``.

Rule 1: pure, and read narrowly: a plain name, in a search that does nothing else. What follows links, takes names back in (a
later glob), or is known only when it runs leaves nothing out.
Rule 2: only what such a search goes through is left out; what it names is named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trunkline.dialects import late_re as re

if TYPE_CHECKING:
    from trunkline.dialects.shell import SimpleCommand

_GREPS: Final = frozenset("grep egrep fgrep".split())
_RIPGREPS: Final = frozenset(("rg", "ripgrep"))
_NAME: Final = re.compile(r"\.?[\w-][\w.-]{0,99}")
_LEAVES_OUT: Final = re.compile(r"!(?:\*\*/)?(\.?[\w-][\w.-]{0,99})(?:/?|/\*\*)")
_BY_ENDING: Final = re.compile(r"\*\.\w{1,20}")
_GREP_PLAIN: Final = re.compile(r"-[rnilLcHhowsvxEFPI]{1,12}|-[ABCm]\d{1,6}|--(?:recursive|line-number|ignore-case|count"
                                r"|files-with-matches|word-regexp|include=[\w.*?-]{1,80}|exclude=[\w.*?-]{1,80}|color=\w{1,9})")
_RG_PLAIN: Final = re.compile(r"-[nilcwsvxFPSUuNHIo]{1,12}|-[ABCm]\d{1,6}|--(?:line-number|ignore-case|count|hidden"
                              r"|files-with-matches|no-ignore|word-regexp|smart-case|heading|no-heading)")
"""Options of a search that say how it looks and prints, and have no value apart."""


def skipped_folders(command: SimpleCommand) -> frozenset[str]:
    """The names of the folders that a search does not go into, wherever they are."""
    if None in command.words or command.assignments or command.binds:
        return frozenset()
    if command.name in _GREPS:
        return _by_grep(command.sketch[1:])
    return _by_ripgrep(command.sketch[1:]) if command.name in _RIPGREPS else frozenset()


def _by_grep(words: tuple[str, ...]) -> frozenset[str]:
    found = []
    for word in words:
        if word.startswith("--exclude-dir=") and _NAME.fullmatch(word[14:]):
            found.append(word[14:])
        elif word[:1] == "-" and not _GREP_PLAIN.fullmatch(word):
            return frozenset()
    return frozenset(found)


def _by_ripgrep(words: tuple[str, ...]) -> frozenset[str]:
    found, others = [], False
    rest = iter(words)
    for word in rest:
        if word in ("-g", "--glob") or word.startswith("--glob="):
            value = word.partition("=")[2] if "=" in word else next(rest, "")
            name = _LEAVES_OUT.fullmatch(value)
            if name is None and not _BY_ENDING.fullmatch(value):
                return frozenset()
            found += [name[1]] if name is not None else []
            others = others or name is None
        elif word[:1] == "-" and not _RG_PLAIN.fullmatch(word):
            return frozenset()
    return frozenset(name for name in found if not others or "." not in name)


def leaving_out(command: SimpleCommand) -> frozenset[str]:
    """Words of a search that name nothing but what it leaves out."""
    return frozenset(f"--exclude-dir={name}" for name in skipped_folders(command)) if command.name in _GREPS else frozenset()
