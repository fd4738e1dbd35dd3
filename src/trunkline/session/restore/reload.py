"""The fold of a session that is not in memory: its row's checkpoint, and the steps of the entries after it. Also what clients
see of it while newer entries cannot be stored.

Rule: a checkpoint is only a shorter way to begin. Where it cannot be read, the fold is made of all entries (``rebuild.py``).
"""

from __future__ import annotations

import logging

from trunkline.errors import SessionUnreadable
from trunkline.journal.base import Journal, RowFilter, SessionRow
from trunkline.session.fold import Fold, SessionView, restore, view_of

log = logging.getLogger("trunkline.session")


async def refold(journal: Journal, row: SessionRow) -> Fold:
    """The fold as it was after the last entry; raises SessionUnreadable."""
    try:
        return await _from_checkpoint(journal, row)
    except SessionUnreadable as error:
        from trunkline.session.restore.rebuild import rebuilt  # with the languages that entries are written in

        log.error("%s (session %s); it is made again from the session's entries", error.message, row.id)
        return await rebuilt(journal, row)


async def stored_view(journal: Journal, session_id: str) -> SessionView:
    """The view after the last entry that is stored, so that nobody is shown what a crash would take back: entries after it are
    news."""
    rows = await journal.rows(RowFilter(id=session_id, limit=1))
    if not rows:
        raise SessionUnreadable(f"session {session_id} is not stored yet, and nothing can be stored")
    view = view_of(await refold(journal, rows[0]))
    view.last_seq = rows[0].last_seq
    return view


async def _from_checkpoint(journal: Journal, row: SessionRow) -> Fold:
    steps: list[bytes] = []
    after = row.checkpoint_seq
    while after < row.last_seq and (entries := await journal.read(row.id, after=after, before=row.last_seq + 1)):
        steps += [entry.step for entry in entries if entry.step is not None]
        after = entries[-1].seq
    fold = restore(row.checkpoint, steps)
    fold.seq = row.last_seq  # text that was still growing comes without steps
    return fold
