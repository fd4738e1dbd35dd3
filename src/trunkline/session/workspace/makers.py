"""Whose a new file is, where several sessions work in one folder.

Rule 1: the disk says that a file is new, and when it was written. Of turns that run at the same time it is the one that did
something just then that names it; else one that ran something just then which may make any file; else one that names it at all.
What only looks at files makes none, however often it names them.
Rule 2: where that leaves several, or none, it is the turn that ends first: a file is one session's, never two's.
Rule 3: what other sessions made before a turn began is not that turn's, though its session did not see it come.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from trunkline.dialects.acp.calls import CallState
from trunkline.dialects.acp.tools import Diff

Words = list[bytes]

INPUT_BYTES = 64 << 10
"""What of a call's input is looked through for names: all of most inputs, and the beginning of a file that is written."""

TICK_NS = 10_000_000
"""How far the clock that stamps files may be behind the one that stamps calls: a tick of the slowest kernels."""

PLACES = 1_000
"""Folders of which is remembered who made something there last: as many as are worked in between two turns of a session."""

LOOKS = frozenset({"read", "search", "fetch", "think", "switch_mode"})
CHANGES = frozenset({"edit", "delete", "move"})
"""Kinds of calls that change what they name, and nothing else."""

STILL_RUNS = sys.maxsize


class Act(NamedTuple):
    """Something that a turn did: in which words, from when to when, and whether it may have made what it does not name."""

    words: Words
    since_ns: int
    until_ns: int
    makes_any: bool

    def claim(self, name: bytes, written_ns: int) -> int:
        """How much speaks for it that this made the file: 0 is nothing."""
        is_named = any(name in words for words in self.words)
        is_then = self.since_ns - TICK_NS <= written_ns <= self.until_ns
        if is_named and (is_then or self.since_ns == self.until_ns):  # some are told only when they are done
            return 3
        return 2 if is_then and self.makes_any else int(is_named)


Acts = list[Act]


class MakingTurn(msgspec.Struct, eq=False):
    """A turn that runs: in which folder, since when by the disk's clock, and all that it did so far."""

    root: str
    since_ns: int
    acts: Callable[[], Acts]


class Claims(msgspec.Struct, frozen=True):
    """What a turn and those beside it did, to be looked into in a thread."""

    own: Acts
    others: Acts

    def gives_away(self, path: str, written_ns: int) -> bool:
        """Whether more speaks for others."""
        if not self.others:
            return False
        name = os.path.basename(path).encode(errors="surrogatepass")
        return _strongest(self.others, name, written_ns) > _strongest(self.own, name, written_ns)


def _strongest(acts: Acts, name: bytes, written_ns: int) -> int:
    return max((act.claim(name, written_ns) for act in acts), default=0)


class Makers:
    """The turns of all sessions of a hub that run, what each took as its own, and where something was made last."""

    def __init__(self) -> None:
        self._turns: list[MakingTurn] = []
        self._taken: dict[str, tuple[MakingTurn, int]] = {}
        self._made: dict[str, tuple[str, int]] = {}
        """By folder, those of the last ones last: which session made something there, and when."""

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
        """What it and the turns beside it did by now."""
        others = [each for each in self._turns if each is not turn and _meet(each.root, turn.root)]
        return Claims(turn.acts(), [act for each in others for act in each.acts()]) if others else Claims([], [])

    def take(self, turn: MakingTurn, path: str, now_ns: int) -> bool:
        """Have a file as this turn's; False where another took it since this one began."""
        by, at_ns = self._taken.get(path, (turn, 0))
        if by is not turn and at_ns >= turn.since_ns:
            return False
        if len(self._turns) > 1:
            self._taken[path] = turn, now_ns
        return True

    def made(self, session_id: str, root: str, now_ns: int) -> None:
        """A session made or changed something in its folder."""
        self._made.pop(root, None)
        self._made[root] = session_id, now_ns
        if len(self._made) > PLACES:
            del self._made[next(iter(self._made))]

    def others_made(self, session_id: str, root: str, since_ns: int) -> bool:
        """Whether another session made something in this folder since then, or may have."""
        if len(self._made) == PLACES:
            oldest_ns = next(iter(self._made.values()))[1]
            if oldest_ns > since_ns:
                return True
        return any(at_ns >= since_ns and by != session_id and _meet(place, root) for place, (by, at_ns) in self._made.items())


def acts_of(calls: Iterable[CallState], span: Callable[[CallState], tuple[int, int]]) -> Acts:
    """What calls do, by what they say of that: not by what came of it, which may name every file of the folder."""
    return [Act(_words_of(call), *span(call), call.kind not in CHANGES) for call in calls if call.kind not in LOOKS]


def _words_of(call: CallState) -> Words:
    found = [call.title.encode(errors="surrogatepass")]
    found += [place.path.encode(errors="surrogatepass") for place in call.locations or ()]
    found += [part.path.encode(errors="surrogatepass") for part in call.content or () if isinstance(part, Diff)]
    if call.raw_input is not None:
        found.append(call.raw_input[:INPUT_BYTES])
    return found


def _meet(one: str, other: str) -> bool:
    """Whether one folder lies in the other, or both are the same."""
    return one == other or one.startswith(other.rstrip(os.sep) + os.sep) or other.startswith(one.rstrip(os.sep) + os.sep)
