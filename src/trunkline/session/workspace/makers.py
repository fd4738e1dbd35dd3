"""Whose a new file is, where turns of several sessions run in one folder at the same time.

Rule 1: the disk says that a file is new. Which turn made it is told by words: the one whose calls name it.
Rule 2: of what no turn names, or several do, it is the turn that ends first: a file is one session's, never two's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

import msgspec

from trunkline.dialects.acp.calls import CallState
from trunkline.dialects.acp.tools import Diff

Words = list[bytes]

INPUT_BYTES = 64 << 10
"""What of a call's input is looked through for names: all of most inputs, and the beginning of a file that is written."""


class MakingTurn(msgspec.Struct, eq=False):
    """A turn that runs: in which folder, since when by the disk's clock, and all that its calls say so far."""

    root: str
    since_ns: int
    words: Callable[[], Words]


class Claims(msgspec.Struct, frozen=True):
    """What a turn and those beside it say, to be looked into in a thread."""

    own: Words
    others: Words

    def gives_away(self, path: str) -> bool:
        """Whether only others name it."""
        if not self.others:
            return False
        name = os.path.basename(path).encode(errors="surrogatepass")
        return any(name in words for words in self.others) and not any(name in words for words in self.own)


class Makers:
    """The turns of all sessions of a hub that run, and what each took as its own."""

    def __init__(self) -> None:
        self._turns: list[MakingTurn] = []
        self._taken: dict[str, tuple[MakingTurn, int]] = {}

    def begin(self, turn: MakingTurn) -> None:
        """It runs from now on."""
        self._turns.append(turn)

    def end(self, turn: MakingTurn) -> None:
        """It is over. What was taken is remembered for as long as somebody ran at that time."""
        self._turns.remove(turn)
        oldest_ns = min((each.since_ns for each in self._turns), default=None)
        self._taken = {} if oldest_ns is None else {
            path: (by, at_ns) for path, (by, at_ns) in self._taken.items() if at_ns >= oldest_ns}

    def claims(self, turn: MakingTurn) -> Claims:
        """What it and the turns beside it say by now."""
        others = [each for each in self._turns if each is not turn and _meet(each.root, turn.root)]
        return Claims(turn.words(), [words for each in others for words in each.words()]) if others else Claims([], [])

    def take(self, turn: MakingTurn, path: str, now_ns: int) -> bool:
        """Have a file as this turn's; False where another took it since this one began."""
        by, at_ns = self._taken.get(path, (turn, 0))
        if by is not turn and at_ns >= turn.since_ns:
            return False
        if len(self._turns) > 1:
            self._taken[path] = turn, now_ns
        return True


def words_of(calls: Iterable[CallState]) -> Words:
    """What calls say of what they do: not what came of it, which may name every file of the folder."""
    found: Words = []
    for call in calls:
        found.append(call.title.encode(errors="surrogatepass"))
        found += [place.path.encode(errors="surrogatepass") for place in call.locations or ()]
        found += [part.path.encode(errors="surrogatepass") for part in call.content or () if isinstance(part, Diff)]
        if call.raw_input is not None:
            found.append(call.raw_input[:INPUT_BYTES])
    return found


def _meet(one: str, other: str) -> bool:
    """Whether one folder lies in the other, or both are the same."""
    return os.path.commonpath((one, other)) in (one, other)
