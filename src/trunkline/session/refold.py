"""The fold of a session that is not in memory: its row's checkpoint, and the steps of the entries after it."""

from __future__ import annotations

from trunkline.journal.base import Journal, SessionRow
from trunkline.session.fold import Fold, restore


async def refold(journal: Journal, row: SessionRow) -> Fold:
    """The fold as it was after the last entry; raises SessionUnreadable."""
    steps: list[bytes] = []
    after = row.checkpoint_seq
    while after < row.last_seq and (entries := await journal.read(row.id, after=after, before=row.last_seq + 1)):
        steps += [entry.step for entry in entries if entry.step is not None]
        after = entries[-1].seq
    fold = restore(row.checkpoint, steps)
    fold.seq = row.last_seq  # text that was still growing comes without steps
    return fold
