"""Managers of versions, packages and workspaces that run a command: where it is in their words.

Rule: what is not found here gives nothing; a judge of the manager still looks at its words as it does at an unknown program's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

Words = tuple[str | None, ...]


class Managed(NamedTuple):
    """What a manager runs: texts for a shell, or its words from an index on; -1: none."""

    texts: tuple[str, ...] = ()
    begins: int = -1


class _Row(NamedTuple):
    verbs: frozenset[str]
    """Behind one of these stands a command."""
    values: frozenset[str] = frozenset()
    """Options that take the next word."""
    texts: frozenset[str] = frozenset()
    """Options whose value is a text for a shell."""
    shells: frozenset[str] = frozenset()
    """Options with which the words are one text for a shell."""
    operands: int = 0
    dashed: bool = False
    """What stands before ``--`` are words of its own."""
    joins: bool = False
    """A single word with blanks is a text for a shell."""
    before: frozenset[str] = frozenset()
    """Words that may stand before the verb."""
    commands: frozenset[str] = frozenset()
    """Options behind which the command itself stands."""


def _row(verbs: str, values: str = "", texts: str = "", shells: str = "", operands: int = 0, *, dashed: bool = False,
         joins: bool = False, before: str = "", commands: str = "") -> _Row:
    return _Row(frozenset(verbs.split()), frozenset(values.split()), frozenset(texts.split()), frozenset(shells.split()),
                operands, dashed, joins, frozenset(before.split()), frozenset(commands.split()))


_ENV: Final = _row("exec")
MANAGERS: Final[dict[str, _Row]] = {
    "volta": _row("run", "--node --npm --pnpm --yarn --env"),
    "fnm": _row("exec", "--using --fnm-dir --arch --log-level --node-dist-mirror"),
    "nvm": _row("exec", operands=1),
    **dict.fromkeys(("goenv", "pyenv", "rbenv", "nodenv", "jenv", "asdf"), _ENV),
    "mise": _row("x exec", "-C --cd -E --env -j --jobs", "-c --command", dashed=True),
    "npm": _row("exec x", "-p --package -w --workspace --prefix", "-c --call", joins=True),
    "pnpm": _row("exec", "-F --filter -C --dir --workspace-concurrency --resume-from", shells="-c --shell-mode", joins=True),
    "yarn": _row("exec", "--cwd --from --include --exclude -j --jobs", joins=True, before="workspaces foreach workspace"),
    "lerna": _row("exec", "--scope --ignore --concurrency --since", joins=True),
    "nx": _row("exec", "--projects -p", joins=True),
    "nix": _row("develop shell run", commands="-c --command"),
    **dict.fromkeys(("stack", "cabal", "gem"), _row("exec")),
    "opam": _row("exec", "--switch --root"),
    "dune": _row("exec", "--root --profile --display"),
    "meson": _row("devenv", "-C --workdir"),
    "composer": _row("exec", "-d --working-dir", before="global"),
}
_WORDS: Final = 40
"""Of a manager that are looked at before its verb."""


def managed(name: str, words: Words) -> Managed | None:
    """What a manager runs; None where it runs nothing of its words."""
    row = MANAGERS[name]
    verb = _verb(words, row)
    if not verb:
        return None
    if (text := _value(words, row.texts)) is not None:
        return Managed((text,))
    if row.commands:
        begins = next((at + 1 for at, word in enumerate(words) if word in row.commands and at > verb), len(words))
        return Managed(begins=begins) if begins < len(words) else None
    at = verb + 1
    if row.dashed:
        at = words.index("--", at) + 1 if "--" in words[at:] else _behind_options(words, at, row.values)
    else:
        at = _behind_options(words, at, row.values) + row.operands
        at += at < len(words) and words[at] == "--"
    if at >= len(words):
        return None
    rest = [word for word in words[at:] if word is not None]
    is_text = not row.shells.isdisjoint(words[1:at]) or (row.joins and len(rest) == 1 and " " in rest[0])
    if is_text and len(rest) == len(words) - at:
        return Managed((" ".join(rest),))
    return Managed(begins=at)


def _verb(words: Words, row: _Row) -> int:
    """Where the verb is that runs something, behind options and the words that may stand before it; 0: there is none."""
    at, named = 1, False
    while at < min(len(words), _WORDS):
        word = words[at]
        if word in row.verbs:
            return at
        if word is None or (word[:1] != "-" and word not in row.before and not named):
            return 0
        named = word == "workspace"  # the next word is its name
        at += 2 if word in row.values else 1
    return 0


def _behind_options(words: Words, at: int, values: frozenset[str]) -> int:
    while at < len(words):
        word = words[at]
        if word is None or word[:1] != "-" or word in ("-", "--"):
            break
        at += 2 if word in values else 1
    return at


def _value(words: Words, options: frozenset[str]) -> str | None:
    """The value of one of these options, where it is known."""
    for at, word in enumerate(words):
        if word == "--":
            break
        if word in options:
            return next(iter(words[at + 1:at + 2]), None)
        if word is not None and word[:1] == "-" and "=" in word and word.partition("=")[0] in options:
            return word.partition("=")[2]
    return None


def bound_texts(words: Sequence[str | None]) -> tuple[str, ...]:
    """What the keys and events of fzf run: ``--bind 'start:execute(ls)'``."""
    found: list[str] = []
    for at, word in enumerate(words[1:], 1):
        name, _, joined = (word or "").partition("=")
        value = joined or (next(iter(words[at + 1:at + 2]), None) or "")
        if name == "--bind":
            found += [part for cut in _BOUND if cut in value for part in _inside(value, cut)]
    return tuple(found)


_BOUND: Final = ("execute", "execute-silent", "become", "reload", "reload-sync", "preview", "transform")


def _inside(value: str, action: str) -> list[str]:
    """The texts behind an action, in whatever brackets they are, or behind a colon to the end."""
    found: list[str] = []
    for rest in value.split(action)[1:9]:
        close = {"(": ")", "[": "]", "{": "}", "<": ">"}.get(rest[:1], rest[:1])
        if rest[:1] == ":":
            found.append(rest[1:])
        elif rest[:1] and not rest[:1].isalnum() and rest[:1] not in "-+,":
            found.append(rest[1:].rpartition(close)[0] or rest[1:])
    return found
