"""What a session's stored row says to clients, where the session is not in memory."""

from __future__ import annotations

import msgspec

from trunkline.dialects.outside import BROKEN
from trunkline.errors import SessionUnreadable
from trunkline.journal.base import Journal, SessionRow
from trunkline.session.fold import Fold, SessionView, view_of
from trunkline.session.restore.reload import refold

_summary = msgspec.json.Decoder(SessionView)


async def stored_view(journal: Journal, row: SessionRow) -> SessionView:
    """The view that the row has, brought up to date where entries came after it."""
    try:
        view = _summary.decode(row.summary) if row.last_seq == row.checkpoint_seq and row.summary else view_of(
            await refold(journal, row))
    except (SessionUnreadable, *BROKEN):
        # One row that cannot be read must not hide all the others.
        view = view_of(Fold(session_id=row.id, agent=row.agent, cwd=row.cwd, title=row.title, status="error",
                            created_at=row.created_at, updated_at=row.updated_at))
    view.last_seq = row.last_seq
    return view
