"""What is reported of a call that was not allowed: by whom, and why."""

from __future__ import annotations

from typing import Any

from trunkline.session.fold import Denial

REASON_LENGTH = 1000


def denial_of(by: str, resolved_by: str, reason: str | None) -> Denial:
    """A no, as it is kept with the call; a reason of any length is in the approval's own event."""
    return Denial(by, resolved_by, reason[:REASON_LENGTH] if reason else None)


def denied_message(denial: Denial | None) -> str:
    """For people, where the agent itself says nothing."""
    if denial is None:
        return "The tool call was not allowed."
    why = f": {denial.reason}" if denial.reason else ""
    return f"The tool call was not allowed by {denial.by}{why}"


def denied_meta(denial: Denial | None) -> dict[str, Any]:
    """For ``_meta``, whatever the agent says."""
    if denial is None:
        return {}
    meta = {"by": denial.by, "resolvedBy": denial.resolved_by}
    return {"denied": meta if denial.reason is None else {**meta, "reason": denial.reason}}
