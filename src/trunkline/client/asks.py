"""What waits for somebody in the hub, kept current from what the hub sends.

Rule: it is a state, not a list of events. Who looks late sees what is true now.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable
from typing import Any

from trunkline.client.records import ContextEvent, converted
from trunkline.client.views import ApprovalView, PendingAsk, QuestionView

_MARKS = (b'"approval:', b'"interaction:question"', b'"question_resolved"')


class OpenAsks:
    """Open approvals and questions of all sessions, by their ids."""

    def __init__(self) -> None:
        self._open: dict[str, PendingAsk] = {}
        self._changed = asyncio.Event()
        self._changes = 0
        self._failure: BaseException | None = None

    @property
    def pending(self) -> list[PendingAsk]:
        """What is open, the oldest first."""
        return list(self._open.values())

    def renew(self, pending: Iterable[PendingAsk]) -> None:
        """The hub sent all that is open."""
        self._open = {_id_of(ask): ask for ask in pending}
        self._notify()

    def on_event(self, event: ContextEvent) -> None:
        """The hub sent an event; most are of no concern here."""
        if not any(mark in event.raw for mark in _MARKS):
            return
        kind = event.type
        if kind == "approval:requested":
            self._add(PendingAsk(session_id=event.session_id, approval=_approval(event)))
        elif kind == "interaction:question":
            self._add(PendingAsk(session_id=event.session_id, question=_question(event)))
        elif kind == "approval:resolved":
            self._remove(str(event.get("requestId")))
        elif kind == "custom" and event.get("eventName") == "question_resolved":
            self._remove(str(_part(event, "data").get("questionId")))

    def end(self, error: BaseException) -> None:
        """Nothing more will come."""
        self._failure = error
        self._notify()

    async def changes(self) -> AsyncGenerator[list[PendingAsk], None]:
        """What is open, now and whenever it has changed."""
        seen = -1
        while True:
            while seen == self._changes and self._failure is None:
                await self._changed.wait()
            if self._failure is not None:
                raise self._failure
            seen = self._changes
            yield self.pending

    def _add(self, ask: PendingAsk) -> None:
        if _id_of(ask) not in self._open:
            self._open[_id_of(ask)] = ask
            self._notify()

    def _remove(self, ask_id: str) -> None:
        if self._open.pop(ask_id, None) is not None:
            self._notify()

    def _notify(self) -> None:
        self._changes += 1
        self._changed.set()
        self._changed = asyncio.Event()


def _id_of(ask: PendingAsk) -> str:
    if ask.approval is not None:
        return ask.approval.request_id
    return ask.question.question_id if ask.question is not None else ""


def _approval(event: ContextEvent) -> ApprovalView:
    meta = _part(event, "_meta")
    risk: dict[str, Any] = meta["risk"] if isinstance(meta.get("risk"), dict) else {}
    more = {key: meta[key] for key in ("calls", "disk", "parts", "always", "noRule", "editable", "answerThere") if key in meta}
    sure = {key: risk[key] for key in ("sure", "doubts") if key in risk}
    return converted({"requestedAt": event.get("timestamp", ""), **event, **more, **sure, "title": meta.get("title", ""),
                      "riskReason": risk.get("reason", ""), "options": meta.get("options", [])}, ApprovalView)


def _question(event: ContextEvent) -> QuestionView:
    meta = _part(event, "_meta")
    return converted({"askedAt": event.get("timestamp", ""), **event, "schema": meta.get("schema"), "url": meta.get("url")},
                     QuestionView)


def _part(event: ContextEvent, name: str) -> dict[str, Any]:
    return converted(event.get(name) or {}, dict[str, Any])
