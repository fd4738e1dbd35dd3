"""A session as the journal has it, while what came since cannot be stored: nobody is shown what a crash would take back."""

from __future__ import annotations

from trunkline.errors import SessionUnreadable
from trunkline.journal.base import Journal, RowFilter
from trunkline.session.fold import SessionView, view_of
from trunkline.session.restore.reload import refold


async def stored_view(journal: Journal, session_id: str) -> SessionView:
    """The view after the last entry that is stored: entries after it are news."""
    rows = await journal.rows(RowFilter(id=session_id, limit=1))
    if not rows:
        raise SessionUnreadable(f"session {session_id} is not stored yet, and nothing can be stored")
    view = view_of(await refold(journal, rows[0]))
    view.last_seq = rows[0].last_seq
    return view
