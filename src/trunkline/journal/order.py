"""The order that every store holds its writers to.

Rule: a session's entries only ever follow what it already has. A second writer, or a writer that lost count, is refused
before anything of its group is stored.
"""

from __future__ import annotations

from trunkline.errors import StorageError
from trunkline.journal.base import Entry


def check_order(session_id: str, entries: list[Entry], last_seq: int) -> None:
    """Refuse entries that do not come after ``last_seq`` or that cannot be strictly rising."""
    if not entries:
        return
    first, last = entries[0].seq, entries[-1].seq
    if last_seq < first <= last - len(entries) + 1:
        return
    if first <= last_seq:
        raise StorageError(f"session {session_id} already has entries up to {last_seq}; entry {first} cannot follow them")
    raise StorageError(f"session {session_id}: {len(entries)} entries from {first} to {last} are not in rising order")
