"""Questions that an agent, or the hub itself, puts to people: from the question to its answer.

Rule: a question is answered once, by whoever is first; who that was is remembered.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trunkline.dialects.context.envelope import iso_ms
from trunkline.dialects.context.events import UserQuestionEvent
from trunkline.dialects.packets.notices import question_requested_packet, question_resolved_packet
from trunkline.dialects.packets.shapes import AnswerAction
from trunkline.dialects.signals import QuestionAsk
from trunkline.session.approvals.forms import choices_of, fields_of, main_field
from trunkline.session.fold import KEPT_DECISIONS, Decided, QuestionView, remember
from trunkline.session.interpret.asks.waiting import WaitingAsks
from trunkline.session.interpret.writer import Writer


class QuestionInterpreter:
    """Open questions."""

    def __init__(self, writer: Writer, waiting: WaitingAsks) -> None:
        self._writer = writer
        self._waiting = waiting

    def request(self, ask: QuestionAsk, *, cap: str | None = None) -> None:
        """The agent, or the hub itself, wants to know something."""
        writer = self._writer
        field = _only_field(ask.schema)
        options = _options(field)
        view = QuestionView(
            question_id=ask.request_id, question=ask.message, options=options, url=ask.url,
            schema=msgspec.Raw(ask.schema) if ask.schema else msgspec.UNSET, tool_call_id=ask.tool_call_id,
            asked_at=iso_ms(writer.at), expires_at="" if cap is not None else self._waiting.expiry(), cap=cap,
            beyond_turn=ask.beyond_turn,
        )
        writer.fold.questions[ask.request_id] = view
        self._waiting.add(ask.request_id)
        meta: dict[str, Any] = {"schema": view.schema} if ask.schema is not None else {}
        if ask.url is not None:
            meta["url"] = ask.url
        if cap is not None:
            meta["cap"] = cap
        event = UserQuestionEvent(
            question_id=view.question_id, question=view.question, options=options or msgspec.UNSET,
            default_value=_default(field), expires_at=view.expires_at or msgspec.UNSET, meta=meta or msgspec.UNSET,
        )
        writer.add(event, packet=question_requested_packet(
            at_us=writer.at, question_id=view.question_id, question=view.question, options=options, schema=ask.schema,
            url=ask.url, tool_call_id=ask.tool_call_id, expires_at=view.expires_at or None,
        ))
        if writer.fold.paused is None:
            writer.status("waiting_for_input")

    def answered(self, question_id: str, *, action: AnswerAction, content: msgspec.Raw | None, who: str) -> None:
        """A question was answered, declined or withdrawn."""
        writer = self._writer
        del writer.fold.questions[question_id]
        self._waiting.remove(question_id)
        answer = _answered_by(action, who, writer.at)
        remember(writer.fold.decided, question_id, answer, KEPT_DECISIONS)
        if answer.resolved_by == "timeout":
            writer.fold.missed = answer.at
        data: dict[str, Any] = {"questionId": question_id, "action": action}
        if content is not None:
            data["content"] = content
        writer.custom("question_resolved", data, meta={"by": who}, packet=question_resolved_packet(
            at_us=writer.at, question_id=question_id, action=action, answer=content, resolved_by=who,
        ))
        self._waiting.back_to_work()


def _answered_by(action: str, who: str, at: int) -> Decided:
    return Decided(action == "accept", who, iso_ms(at), "timeout" if who == "timeout" else "user")


def _only_field(schema: bytes | None) -> dict[str, Any]:
    """The field of a form that takes a single answer; richer forms are in the schema."""
    fields = fields_of(schema)
    main = main_field(fields)
    return fields[main] if main is not None else {}


def _options(field: dict[str, Any]) -> list[str] | None:
    """What a form with a single field offers to choose from."""
    items = field.get("items")
    choices = choices_of(field) or (choices_of(items) if isinstance(items, dict) else [])
    choices = choices or (["true", "false"] if field.get("type") == "boolean" else [])
    return [_as_text(choice) for choice in choices] or None


def _default(field: dict[str, Any]) -> str | msgspec.UnsetType:
    return _as_text(field["default"]) if field.get("default") is not None else msgspec.UNSET


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
