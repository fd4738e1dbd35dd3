"""What in the journal is worth telling somebody who is not looking.

Rule 1: pure; one entry in, at most one notice out, and the type is read from the bytes before anything is decoded.
Rule 2: a notice says enough to decide whether to look, and holds nothing that lets anybody in.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import msgspec

from trunkline.dialects.context.envelope import UnknownEvent, decode_event, iso_ms
from trunkline.dialects.context.events import (
    ApprovalRequestedEvent,
    CustomEvent,
    Event,
    NotificationEvent,
    SessionErrorEvent,
    SessionStatusChangedEvent,
    UserQuestionEvent,
)
from trunkline.dialects.context.filters import encoded_type, parse_types
from trunkline.errors import Invalid
from trunkline.hub import SessionView
from trunkline.journal.base import Entry
from trunkline.server.delivery.webhooks.rules import Occasion

TEXT_MOST = 1_000
"""Characters of a text in a notice: a phone shows fewer."""

_TOLD_OF = parse_types("approval:requested,interaction:,session:status_changed,session:error,custom")


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """Something happened. ``event_type`` is that of the event that says so; ``ask`` is the approval or question that waits;
    ``place`` is where in the page it is shown."""

    occasion: Occasion
    session_id: str
    at: int
    facts: dict[str, Any]
    ask: str | None = None
    place: str = ""
    event_type: str = ""


def notice_of(session_id: str, entry: Entry) -> Notice | None:
    """What to tell of an entry; None where there is nothing."""
    if not _TOLD_OF.matches_encoded(entry.event):
        return None
    try:
        event = decode_event(entry.event)
    except Invalid:
        return None  # nested beyond reason, so no face can show it either
    notice = _notice(session_id, entry.at, event)
    return None if notice is None else msgspec.structs.replace(notice, event_type=encoded_type(entry.event))


def _notice(session_id: str, at: int, event: Event | UnknownEvent) -> Notice | None:
    match event:
        case ApprovalRequestedEvent():
            return _approval(session_id, at, event)
        case UserQuestionEvent():
            facts = {"questionId": event.question_id, "question": event.question[:TEXT_MOST]}
            return Notice(occasion="approval", session_id=session_id, at=at, ask=event.question_id, facts=facts,
                          place=f"/questions/{quote(event.question_id, safe='')}")
        case SessionStatusChangedEvent() | CustomEvent(namespace="trunkline", event_name="turn_ended"):
            return _finished(session_id, at, event)
        case SessionErrorEvent():
            facts = {"code": event.error.code, "message": event.error.message[:TEXT_MOST]}
            return Notice(occasion="error", session_id=session_id, at=at, facts=facts)
        case NotificationEvent():
            return _cap(session_id, at, event)
    return None


def body_of(notice: Notice, view: SessionView, page: str) -> bytes:
    """A notice as it is sent: the shape of the Standard Webhooks. ``page`` is the address of the hub's page."""
    link = f"{page.rstrip('/')}/#/sessions/{quote(notice.session_id, safe='')}{notice.place}"
    data = {"sessionId": notice.session_id, "title": view.title[:TEXT_MOST], "agent": view.agent, "link": link, **notice.facts}
    return msgspec.json.encode({"type": notice.occasion, "timestamp": iso_ms(notice.at), "data": data})


def _approval(session_id: str, at: int, event: ApprovalRequestedEvent) -> Notice:
    facts = {"requestId": event.request_id, "toolName": event.tool_name, "description": event.description[:TEXT_MOST],
             "riskLevel": event.risk_level, "expiresAt": event.expires_at}
    return Notice(occasion="approval", session_id=session_id, at=at, ask=event.request_id, facts=facts,
                  place=f"/approvals/{quote(event.request_id, safe='')}")


def _finished(session_id: str, at: int, event: SessionStatusChangedEvent | CustomEvent) -> Notice | None:
    """The end of a turn carries its stop reason, also in a held session, whose status stays; other changes of the status are
    nobody's concern."""
    meta = {} if event.meta is msgspec.UNSET else event.meta
    if "stopReason" not in meta or "turnId" not in meta:
        return None
    facts = {"turnId": meta["turnId"], "stopReason": meta["stopReason"]}
    return Notice(occasion="finished", session_id=session_id, at=at, facts=facts)


def _cap(session_id: str, at: int, event: NotificationEvent) -> Notice | None:
    meta = {} if event.meta is msgspec.UNSET else event.meta
    if "cap" not in meta:
        return None
    facts: dict[str, Any] = {name: meta[name] for name in ("cap", "share", "spent", "limit") if name in meta}
    facts["message"] = (event.message or event.title)[:TEXT_MOST]
    return Notice(occasion="cap", session_id=session_id, at=at, facts=facts)
