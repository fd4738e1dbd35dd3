"""A session that is not in memory, made of what the journal has of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from trunkline.errors import SessionUnreadable
from trunkline.journal.base import Journal, SessionRow
from trunkline.session.fold import Fold, restore
from trunkline.session.restore.reload import refold

if TYPE_CHECKING:
    from trunkline.session.session import Session


async def restored(journal: Journal, row: SessionRow, session_of: Callable[[Fold], Awaitable[Session]]) -> Session:
    """The session as of its last entry; one whose state had to be made again says so. Raises SessionUnreadable."""
    session = await session_of(await refold(journal, row))
    if not _is_readable(row.checkpoint):
        await session.note("state_rebuilt", {}, by="hub")
    return session


def _is_readable(checkpoint: bytes) -> bool:
    try:
        restore(checkpoint)
    except SessionUnreadable:
        return False
    return True
