"""What it means for a session's row to match a filter, said once for every store that cannot ask a database."""

from __future__ import annotations

from trunkline.journal.base import RowFilter, SessionRow


def matches(row: SessionRow, which: RowFilter) -> bool:
    """Whether a row passes all parts of the filter but its limit."""
    if which.id is not None and row.id != which.id:
        return False
    if which.status is not None and row.status not in which.status:
        return False
    if which.agent is not None and row.agent != which.agent:
        return False
    if which.before is not None and (row.updated_at, row.id) >= which.before:
        return False
    text = (which.text or "").casefold()
    return any(text in value.casefold() for value in (row.title, row.agent, row.cwd))
