"""The journal's contract: numbered entries that last, behind one Protocol. All that a hub asks of a store is in it.

Rule 1: a journal stores what it is given. It never invents a ``seq``; it assigns ``pos`` in commit order.
Rule 2: a group is one transaction: all of its entries and rows, or none.
Rule 3: reading never blocks a writer and sees only whole groups.
"""

from __future__ import annotations

from types import TracebackType
from typing import NewType, Protocol, Self

import msgspec

from trunkline.errors import StorageError

SessionId = NewType("SessionId", str)
Seq = NewType("Seq", int)
Pos = NewType("Pos", int)


class Entry(msgspec.Struct, array_like=True, gc=False):
    """One numbered line of a session, as every face sees it.

    ``event`` is the context event as encoded JSON; ``update`` the ACP ``params.update`` object; ``packet`` the Build
    packet where it is stored (chunk packets are derived from ``update`` and ``at``); ``raw`` the agent's own bytes where
    ``update`` had to be normalised. ``pos`` is 0 until the journal has committed the entry.
    """

    seq: int
    at: int
    """UTC, microseconds since the epoch."""
    event: bytes
    update: bytes | None = None
    packet: bytes | None = None
    raw: bytes | None = None
    pos: int = 0
    step: bytes | None = None
    """What the entry, and those before it that were written with it, changed in the session's state, as encoded JSON."""

    def size(self) -> int:
        """Bytes of body this entry holds, for limits on memory and reads."""
        return len(self.event) + len(self.update or b"") + len(self.packet or b"") + len(self.raw or b"") + len(
            self.step or b"")


class SessionRow(msgspec.Struct, kw_only=True):
    """What a list of sessions needs, and the fold's checkpoint to start again from."""

    id: str
    agent: str
    cwd: str
    title: str
    status: str
    created_at: int
    updated_at: int
    summary: bytes
    """The session's view as JSON: what ``GET /sessions`` shows without opening the session."""
    checkpoint: bytes
    """The fold, encoded, as it was after ``checkpoint_seq``; the steps of later entries bring it up to date."""
    checkpoint_seq: int
    last_seq: int = 0
    """Filled on reading: the highest committed ``seq``."""


class Group(msgspec.Struct):
    """What one commit writes: entries by session, in seq order, and the rows that they changed."""

    entries: dict[str, list[Entry]]
    rows: dict[str, SessionRow]
    sizes: dict[str, int] = {}
    """Bytes of each session's entries, where the writer knows them: a look at every entry costs more than to store it."""
    refused: dict[str, StorageError] = {}
    """Set by a journal that has a part of it elsewhere as well: the sessions of which that part was not taken, and why. Their
    entries are in the journal, and nobody is to see them."""
    took_s: float | None = None
    """Set by a journal that commits in a thread: what the commit took there, without the wait for its turn."""


class RowFilter(msgspec.Struct, kw_only=True):
    """Which sessions to list, newest activity first; ``before`` pages on from a row's (updated_at, id)."""

    id: str | None = None
    status: frozenset[str] | None = None
    agent: str | None = None
    text: str | None = None
    """Matches title, agent or folder, ignoring case."""
    before: tuple[int, str] | None = None
    limit: int = 50


class Damage(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was found damaged: entries of a session, or all of it where ``first`` is 0."""

    number: int
    """Rises with each; 0 for what was found since the hub started and is not written down."""
    at: int
    session: str
    first: int
    last: int
    what: str


class JournalHealth(msgspec.Struct, frozen=True, kw_only=True):
    """How a journal is: what was found damaged (the newest first), where damaged files were put, why nothing can be written."""

    damages: list[Damage] = msgspec.field(default_factory=list)
    asides: list[str] = msgspec.field(default_factory=list)
    unwritable: str | None = None


class EntryReads(Protocol):
    """Entries that are stored, for whoever only reads them: a journal, or the stream of a cluster."""

    async def read(self, session_id: str, *, after: int = 0, before: int | None = None, limit: int = 1000,
                   max_bytes: int = 1 << 20, tail: bool = False) -> list[Entry]:
        """As ``Journal.read``."""

    async def read_hub(self, *, after: int, limit: int = 1000, max_bytes: int = 1 << 20) -> list[tuple[str, Entry]]:
        """As ``Journal.read_hub``."""


class Journal(EntryReads, Protocol):
    """Numbered entries that last. Used as an async context manager: enter opens, exit closes."""

    @property
    def last_pos(self) -> int:
        """The newest pos that was given out."""

    def append_now(self, group: Group) -> bool:
        """Commit a group before this returns, without waiting for anybody: as ``append``, and True.

        False, and nothing was done, where the store would have to wait; ``append`` has to be awaited then. It is called on the
        hub's loop, so that a store which can never do without a wait (a disk that is synced, a server elsewhere) always says
        False."""

    def append_alone_now(self, session_id: str, entries: list[Entry]) -> bool:
        """``append_now`` of a group of one session's few entries: what somebody waits for, a word or a prompt, comes alone, and
        its way is short."""

    async def append(self, group: Group) -> None:
        """Commit a group and set ``pos`` on its entries. On failure nothing of it is stored and StorageError is raised."""

    async def read(self, session_id: str, *, after: int = 0, before: int | None = None, limit: int = 1000,
                   max_bytes: int = 1 << 20, tail: bool = False) -> list[Entry]:
        """Entries with after < seq < before, in seq order: the first ones that fit the limits, or the last (``tail``).

        At least one entry is returned where one exists, whatever its size."""

    async def read_hub(self, *, after: int, limit: int = 1000, max_bytes: int = 1 << 20) -> list[tuple[str, Entry]]:
        """(session id, entry) of all sessions with pos > after, in pos order."""

    async def rows(self, which: RowFilter) -> list[SessionRow]:
        """Session rows, newest activity first."""

    async def pack(self, session_id: str, *, before: int) -> int:
        """Merge rows of entries below ``before``; every cursor stays exact. Returns how many rows it saved."""

    async def delete(self, session_id: str) -> None:
        """Forget a session; deleting an unknown one is no error."""

    async def health(self) -> JournalHealth:
        """What is wrong with the journal, if anything."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None: ...


def alone(session_id: str, entries: list[Entry]) -> Group:
    """The group that is one session's alone."""
    return Group({session_id: entries}, {}, {session_id: sum([entry.size() for entry in entries])})


def check_order(session_id: str, entries: list[Entry], last_seq: int) -> None:
    """The order that every store holds its writers to: StorageError for entries that do not come after ``last_seq`` or cannot be
    strictly rising. A second writer, or one that lost count, is refused before anything of its group is stored."""
    if not entries:
        return
    first, last = entries[0].seq, entries[-1].seq
    if last_seq < first <= last - len(entries) + 1:
        return
    if first <= last_seq:
        raise StorageError(f"session {session_id} already has entries up to {last_seq}; entry {first} cannot follow them")
    raise StorageError(f"session {session_id}: {len(entries)} entries from {first} to {last} are not in rising order")
