"""What is suggested while somebody types, by the page's rules: the agent's commands after a slash at the beginning, files after
an at sign at the beginning of a word, our own words after a colon."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from trunkline.cli.commands.chat.conversation import Conversation
from trunkline.cli.commands.chat.local_commands import LOCAL, modes_of, options_of
from trunkline.dialects.visible import one_line
from trunkline.errors import TrunklineError

SHOWN = 24
_COMMAND = re.compile(r"/(\S*)")
_FILE = re.compile(r"(?:^|.*\s)@([^\s@]*)", re.S)


class Suggestion(NamedTuple):
    """A word that replaces the last ``back`` characters."""

    word: str
    back: int
    about: str = ""


async def suggestions(talk: Conversation, before: str) -> AsyncGenerator[Suggestion, None]:
    """What fits behind what stands before the caret."""
    if before.startswith(":"):
        for each in _own(talk, before):
            yield each
    elif found := _COMMAND.fullmatch(before):
        if talk.view.commands is None:  # an agent names them when its session has begun, and that may be just now
            with suppress(TrunklineError):
                await talk.renew()
        for each in _commands(talk, found[1]):
            yield each
    elif found := _FILE.fullmatch(before):
        for path in await _files(talk, found[1]):
            yield Suggestion(f"@{path} ", len(found[1]) + 1)


def ranked(words: Iterable[str], query: str) -> list[str]:
    """Those that fit, the ones that begin so first, then those that hold it, then those that have its letters in this order."""
    wanted = query.lower()

    def rank(word: str) -> int:
        name = word.lower()
        if name.startswith(wanted):
            return 0
        return 1 if wanted in name else 2 if _within(wanted, name) else 3

    return sorted((word for word in words if rank(word) < 3), key=rank)


def _commands(talk: Conversation, query: str) -> Iterator[Suggestion]:
    known = {one_line(str(each.get("name", ""))).lstrip("/"): one_line(str(each.get("description") or ""))
             for each in talk.view.commands or ()}
    for name in ranked(known, query)[:SHOWN]:
        yield Suggestion(f"/{name} ", len(query) + 1, known[name])


def _own(talk: Conversation, before: str) -> Iterator[Suggestion]:
    word, space, rest = before.partition(" ")
    if not space:
        for name in ranked(LOCAL, word)[:SHOWN]:
            yield Suggestion(f"{name} ", len(word), LOCAL[name][0])
        return
    option, space, value = rest.partition(" ")
    options = options_of(talk.view)
    known = dict(modes_of(talk.view)) if word == ":mode" else dict.fromkeys(options, "") if word == ":set" else {}
    if word == ":set" and space:
        known, rest = dict.fromkeys(options.get(option, ()), ""), value
    for name in ranked(known, rest)[:SHOWN]:
        yield Suggestion(name, len(rest), one_line(known[name]))


async def _files(talk: Conversation, query: str) -> list[str]:
    """Files by a part of their path; none where the hub cannot say."""
    if not query:
        return []
    try:
        found = await talk.hub.find_files(talk.view.id, query, limit=SHOWN)
    except TrunklineError:
        return []
    return [each.path for each in found.files if each.path.isprintable() and " " not in each.path]


def _within(letters: str, name: str) -> bool:
    rest = iter(name)
    return all(letter in rest for letter in letters)
