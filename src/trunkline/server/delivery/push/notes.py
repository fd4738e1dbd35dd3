"""What a device is sent of an entry, and how a push service is to treat it.

Rule 1: pure; one entry in, at most one note out, and the type is read from the bytes before anything is decoded.
Rule 2: a note has the session's title and a short preview, and nothing else of the conversation: it lies on a locked screen.
Rule 3: what a reader would not see is spelled out, and nobody decides on what they have not seen: approving is offered only for a
command that stands in the note whole, with its folder where that is not the session's, and whose risk is low or medium. A change,
a fetch and any other tool have more to them than fits, and their titles are the agent's own words: these are opened or denied.
Rule 4: all notes about one ask have one tag and one topic: what is newer takes the place of what is older, undelivered or shown.
Rule 5: there is no silent note: each has something to show. That an ask was answered is sent as the answer, in its place.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Literal, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from trunkline import decoders
from trunkline.dialects.calls.describe import carried_reading, told_alone
from trunkline.dialects.context.envelope import decode_event
from trunkline.dialects.context.events import (
    ApprovalRequestedEvent,
    ApprovalResolvedEvent,
    CustomEvent,
    SessionErrorEvent,
    SessionStatusChangedEvent,
    UserQuestionEvent,
)
from trunkline.dialects.context.filters import parse_types
from trunkline.dialects.context.unions import ApprovalPreview, CommandPreview, DiffPreview, carried_acts
from trunkline.dialects.visible import numbered
from trunkline.errors import Invalid
from trunkline.journal.base import Entry
from trunkline.server.auth.tokens import TokenScope, allows
from trunkline.server.delivery.push.subscriptions import PushKind

TITLE_MOST = 80
PREVIEW_MOST = 120
"""Characters: a locked screen shows no more, and a command may have secrets further behind."""

APPROVED_UNOPENED = frozenset({"low", "medium"})
"""Risk levels that may be approved without opening the page."""

KEPT_S = 4 * 3600
"""How long a push service keeps what only informs; an ask is kept as long as it can be answered."""
ASK_MOST_S = 24 * 3600
"""And no longer than this."""

NEWS_S = 120.0
"""How old what only informs may be: a journal that was busy, or a file that was read late."""

_NOTED = parse_types("approval:,interaction:question,session:status_changed,session:error,custom")

Urgency = Literal["high", "normal", "low"]
Outcome = Literal["approved", "denied", "answered", "dismissed", "expired", "over"]
"""How an ask ended; ``over``: somehow, while nobody followed."""

THERE = "Waits in its terminal"
"""Before what nobody can answer from a phone."""

_TOKEN_ID = re.compile(r" \([0-9a-f]{12}\)$")


class About(NamedTuple):
    """The session that a note is about."""

    title: str
    last_text: str = ""
    cwd: str = ""


class PushNote(msgspec.Struct, frozen=True, kw_only=True):
    """Something to show. ``outcome``: the ask has ended like that, so what is shown of it is out of date."""

    kind: PushKind
    session_id: str
    text: str = ""
    runs_in: str | None = None
    """The folder, where it is a command that ``text`` and this show wholly; else None."""
    ask: str | None = None
    risk_level: str | None = None
    until: float | None = None
    """When it can no longer be answered, in seconds since the epoch."""
    outcome: Outcome | None = None
    by: str = ""
    """Who answered."""
    there: bool = False
    """It can only be answered in the terminal that asks it."""

    @property
    def resolves(self) -> bool:
        """Whether it is about the end of an ask."""
        return self.outcome is not None

    @property
    def tag(self) -> str:
        """What a newer notification takes the place of."""
        return f"ask:{self.ask}" if self.ask is not None else f"session:{self.session_id}:{self.kind}"

    @property
    def topic(self) -> str:
        """The same for the push service, which takes 32 letters and need not know more."""
        digest = hashlib.sha256(f"{self.session_id} {self.tag}".encode()).digest()
        return base64.urlsafe_b64encode(digest[:18]).decode()

    @property
    def urgency(self) -> Urgency:
        """Whether a sleeping phone is woken for it."""
        return "high" if self.ask is not None else "normal"

    def ttl_s(self, now: float) -> int:
        """How long it is worth delivering; 0 and less: not at all."""
        if self.ask is None:
            return KEPT_S
        return min(ASK_MOST_S, int(self.until - now) if self.until is not None else ASK_MOST_S)


class Payload(msgspec.Struct, rename="camel", omit_defaults=True):
    """What the browser's worker gets."""

    kind: str
    session_id: str
    title: str
    body: str
    tag: str
    request_id: str | UnsetType = UNSET
    risk_level: str | UnsetType = UNSET
    actions: list[str] | UnsetType = UNSET
    outcome: Outcome | UnsetType = UNSET
    by: str | UnsetType = UNSET


def note_of(session_id: str, entry: Entry) -> PushNote | None:
    """What to send of an entry; None where there is nothing."""
    if not _NOTED.matches_encoded(entry.event):
        return None
    try:
        event = decode_event(entry.event)
    except Invalid:
        return None  # nested beyond reason, so no face can show it either
    match event:
        case ApprovalRequestedEvent():
            return _approval_note(session_id, event)
        case UserQuestionEvent():
            return PushNote(kind="question", session_id=session_id, ask=event.question_id, text=event.question,
                        until=_seconds(event.expires_at))
        case ApprovalResolvedEvent():
            outcome: Outcome = "expired" if event.resolved_by == "timeout" else "approved" if event.approved else "denied"
            return PushNote(kind="approval", session_id=session_id, ask=event.request_id, outcome=outcome, by=_by(event))
        case SessionErrorEvent():
            return PushNote(kind="failed", session_id=session_id, text=event.error.message)
        case SessionStatusChangedEvent():
            return _finished(session_id, event)
        case CustomEvent(namespace="trunkline"):
            return _custom(session_id, event)
    return None


def is_past(note: PushNote, at: int, now: float) -> bool:
    """Whether it only informs of what was long ago (``at`` in microseconds): a history that was just attached is no news."""
    return note.ask is None and now - at / 1e6 > NEWS_S


def payload_of(note: PushNote, about: About, scope: TokenScope) -> bytes:
    """A note as it is encrypted. Who may not decide is offered no way to."""
    text = _shown_text(note, about)
    can_decide = note.kind == "approval" and allows(scope, "approve") and not note.resolves and not note.there
    can_approve = note.runs_in is not None and note.risk_level in APPROVED_UNOPENED and _is_whole(text, PREVIEW_MOST)
    return msgspec.json.encode(Payload(
        kind="resolved" if note.resolves else note.kind, session_id=note.session_id, title=_short(about.title, TITLE_MOST),
        body="" if note.resolves else _short(text, PREVIEW_MOST), tag=note.tag,
        request_id=UNSET if note.ask is None else note.ask,
        risk_level=UNSET if note.risk_level is None or note.resolves else note.risk_level,
        actions=UNSET if not can_decide else ["approve", "deny"] if can_approve else ["deny"],
        outcome=UNSET if note.outcome is None else note.outcome, by=_person(note) or UNSET))


def _shown_text(note: PushNote, about: About) -> str:
    """What is shown: a command with its folder, where that is not the session's own."""
    if note.there:
        return f"{THERE}: {_shown_text(replace(note, there=False), about)}"
    if note.runs_in is None:
        return note.text or about.last_text
    elsewhere = note.runs_in.rstrip("/") != about.cwd.rstrip("/")
    return f"Run in {note.runs_in or '/'}: {note.text}" if elsewhere else f"Run: {note.text}"


def _approval_note(session_id: str, event: ApprovalRequestedEvent) -> PushNote:
    """What is to be approved, beginning with its kind."""
    note = PushNote(kind="approval", session_id=session_id, ask=event.request_id, risk_level=event.risk_level,
                until=_seconds(event.expires_at), there=event.meta is not UNSET and event.meta.get("answerThere") is True)
    acts = carried_acts(event.meta)
    match event.preview:
        case CommandPreview() if carried_reading(event.meta).only_runs and not acts:
            return replace(note, text=event.preview.command, runs_in=event.preview.working_dir)
        case CommandPreview():
            runs = f"{event.tool_name}, which runs: {event.preview.command}"
            return replace(note, text=told_alone(event.tool_name, runs, _doubts(event)))
        case DiffPreview():
            return replace(note, text=_changed([event.preview, *acts]))
    return replace(note, text=told_alone(event.tool_name, event.description, _doubts(event)))


def _doubts(event: ApprovalRequestedEvent) -> list[str]:
    """Why it is not sure what it does: who sees no more than the note has to know that there is more."""
    risk = event.meta.get("risk") if isinstance(event.meta, dict) else None
    doubts = risk.get("doubts") if isinstance(risk, dict) else None
    return doubts if isinstance(doubts, list) else []


def _changed(acts: Sequence[ApprovalPreview]) -> str:
    """The files that would change, the first by name."""
    paths = list(dict.fromkeys(act.path for act in acts if isinstance(act, DiffPreview)))
    more = len(paths) - 1 + sum(not isinstance(act, DiffPreview) for act in acts)
    return f"Change a file: {paths[0]}" if not more else f"Change a file, and {more} more to see: {', '.join(paths)}"


def _finished(session_id: str, event: SessionStatusChangedEvent | CustomEvent) -> PushNote | None:
    """The end of a turn carries its stop reason. Who cancelled one knows that it has ended."""
    meta = {} if event.meta is UNSET else event.meta
    if "stopReason" not in meta or "turnId" not in meta or meta["stopReason"] == "cancelled":
        return None
    return PushNote(kind="finished", session_id=session_id)


def _custom(session_id: str, event: CustomEvent) -> PushNote | None:
    if event.event_name == "turn_ended":
        return _finished(session_id, event)
    if event.event_name != "question_resolved":
        return None
    answer, by = decoders.decode(event.data, _QuestionAnswer), _by(event)
    outcome: Outcome = "expired" if by == "timeout" else "answered" if answer.action == "accept" else "dismissed"
    return PushNote(kind="question", session_id=session_id, ask=answer.question_id, outcome=outcome, by=by)


class _QuestionAnswer(msgspec.Struct, rename="camel"):
    question_id: str
    action: str = ""


def _by(event: ApprovalResolvedEvent | CustomEvent) -> str:
    return "" if event.meta is UNSET else str(event.meta.get("by", ""))


def _person(note: PushNote) -> str:
    """Who answered, as people know them: without the token's id, and nobody where it was no person."""
    return "" if note.outcome in (None, "expired", "over") else _short(_TOKEN_ID.sub("", note.by), TITLE_MOST)


def _seconds(stamp: str | UnsetType) -> float | None:
    return datetime.fromisoformat(stamp).timestamp() if stamp is not UNSET and stamp else None


def _short(text: str, most: int) -> str:
    """One line, cut, with nothing in it that cannot be seen."""
    line = _one_line(text[:most * 4])
    return line if len(line) <= most else line[:most - 1] + "…"


def _is_whole(text: str, most: int) -> bool:
    """Whether all of it is shown: in one line, uncut, and with the spaces that it has."""
    return len(text) <= most and len(_one_line(text)) <= most and " ".join(text.split()) == text.strip()


def _one_line(text: str) -> str:
    return numbered(" ".join(text.split()))
