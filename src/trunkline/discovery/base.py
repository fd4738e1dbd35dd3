"""What a vendor's store of sessions must offer to be found, watched and followed.

Rule 1: a store is only read. Nothing here, and no module beside it, opens a vendor's file for writing.
Rule 2: listing looks at a file's head and tail, whatever its size; only whoever follows a session reads all of its file.
Rule 3: methods of a store may block on the disk; callers run them in a thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import msgspec

from trunkline.dialects.signals import Signal


class FoundSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session in a vendor's store. Times are UTC, microseconds."""

    id: str
    path: str
    cwd: str
    created_at: int
    updated_at: int
    title: str = ""
    last_message: str = ""
    in_use: bool = False
    """Whether a running program of the vendor's has it open."""
    pid: int | None = None
    """That program, where it is known."""
    others: tuple[int, ...] = ()
    """Further ones that have it, or may."""
    model: str = ""
    tokens: int | None = None
    """What it has taken so far, where the store says so without being read through."""


def held_by(found: FoundSession, pids: Sequence[int]) -> FoundSession:
    """The same, open in these programs; in none, where there are none."""
    return msgspec.structs.replace(found, in_use=bool(pids), pid=pids[0] if pids else None, others=tuple(pids[1:]))


class Ending(NamedTuple):
    """Where a session's file ends now: the position behind all that is in it, and in the files beside it by their names."""

    position: int
    parts: Mapping[str, int]


class TranscriptReading(Protocol):
    """Reads one session's file, line by line. A signal comes with its time: UTC, microseconds; 0 where it is not known."""

    def line(self, raw: bytes) -> list[tuple[int, Signal]]:
        """What a whole line says."""

    def settle(self) -> list[tuple[int, Signal]]:
        """Nothing follows for now: what was held back until it was sure."""


class AgentStore(Protocol):
    """A vendor's sessions on this machine."""

    @property
    def folder(self) -> str:
        """Where they are; it need not exist."""

    @property
    def features(self) -> tuple[str, ...]:
        """The capability flags of a session that is followed: what doing so with a recorded file has shown."""

    @property
    def resumes(self) -> bool:
        """Whether the vendor's program goes on with a session that it is asked to resume. One does not: it may delete it."""

    def sessions(self) -> list[FoundSession]:
        """Every session, newest activity first."""

    def find(self, session_id: str) -> FoundSession | None:
        """One session by its id."""

    def session_of(self, path: str) -> str | None:
        """The id of the session whose file this is; None for any other file. It may look at the disk."""


class ProgramState(msgspec.Struct, frozen=True):
    """What a running program says of itself."""

    waits: bool | None = None
    """Whether it waits for its person; None where it does not say."""


@runtime_checkable
class TellsState(Protocol):
    """A store beside which running programs say what they do."""

    def program_state(self, pid: int) -> ProgramState | None:
        """What the program of that process id does; None where it does not run. It looks at the disk."""


@runtime_checkable
class HasParts(Protocol):
    """A store in which sub-agents have sessions of their own."""

    def root_of(self, session_id: str) -> str | None:
        """The session that one works for, itself where it works for none; None where it is not there. It looks at the disk."""


class RowStore(AgentStore, Protocol):
    """A store whose files say nothing of which session they are about."""

    @property
    def files(self) -> frozenset[str]:
        """What changes when one of them does."""

    def states(self) -> dict[str, int]:
        """A number for each session that is another one when it has changed."""
