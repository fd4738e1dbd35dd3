"""What the agent asks of people: permissions and questions, from the ask to the answer.

Rule 1: an approval is keyed by the hub's request id; agents give one toolCallId to several asks.
Rule 2: an ask is resolved once. Who resolved it is remembered, so that a late answer can be told.
"""

from __future__ import annotations

import difflib
from typing import Any

import msgspec

from trunkline.dialects import acp, context, packets
from trunkline.dialects.acp.calls import CallState
from trunkline.dialects.signals import PermissionAsk, QuestionAsk
from trunkline.errors import Invalid
from trunkline.session.fold import KEPT_DECISIONS, AlwaysRule, ApprovalView, Decided, OpenCall, QuestionView, remember
from trunkline.session.interpret.tools import ToolStory, name_of
from trunkline.session.interpret.writer import Writer

DIFF_BYTES = 64 << 10
"""Texts up to this size get a diff as preview; a longer one would stall the loop and fill the screen."""


class AskStory:
    """Open permissions and questions."""

    def __init__(self, writer: Writer, tools: ToolStory, approval_timeout_us: int) -> None:
        self._writer = writer
        self._tools = tools
        self._timeout_us = approval_timeout_us

    def permission(self, ask: PermissionAsk) -> None:
        """The agent wants a decision before it goes on."""
        update = _asked_for(ask)
        call = self._tools.announced(update)
        state = call.state
        self._tools.executing(call, requires_approval=True)
        writer = self._writer
        view = ApprovalView(
            request_id=ask.request_id, tool_call_id=state.tool_call_id, tool_name=name_of(state),
            title=state.title or name_of(state), description=_describe(state), risk_level=self._tools.risk(call)[0],
            options=list(ask.options), tool_input=context.as_object(state.raw_input),
            preview=_preview(state, writer.fold.cwd), requested_at=context.iso_ms(writer.at),
            expires_at=context.iso_ms(writer.at + self._timeout_us),
        )
        writer.fold.approvals[ask.request_id] = view
        writer.add(_requested_event(view), packet=packets.approval_requested_packet(
            at_us=writer.at, request_id=view.request_id, tool_call_id=view.tool_call_id, tool_name=view.tool_name,
            title=view.title, description=view.description, risk_level=view.risk_level, options=view.options,
            preview=view.preview, expires_at=view.expires_at,
        ))
        writer.status("waiting_for_approval")

    def resolve(self, request_id: str, *, approved: bool, resolved_by: context.Resolver, who: str,
                reason: str | None = None, option_id: str | None = None) -> None:
        """A decision was made. The caller has checked that the approval is open."""
        writer = self._writer
        view = writer.fold.approvals.pop(request_id)
        remember(writer.fold.decided, request_id, Decided(approved, who, context.iso_ms(writer.at)), KEPT_DECISIONS)
        call = writer.fold.calls.get(view.tool_call_id)
        if call is not None and not approved:
            call.denied = True
        meta: dict[str, Any] = {"by": who}
        if option_id is not None:
            meta["optionId"] = option_id
        event = context.ApprovalResolvedEvent(
            request_id=request_id, tool_call_id=view.tool_call_id, approved=approved, resolved_by=resolved_by,
            reason=reason or msgspec.UNSET, meta=meta,
        )
        writer.add(event, packet=packets.approval_resolved_packet(
            at_us=writer.at, request_id=request_id, tool_call_id=view.tool_call_id, approved=approved,
            resolved_by=resolved_by, reason=reason,
        ))
        self._back_to_work()

    def rule(self, rule: AlwaysRule, *, who: str) -> None:
        """Somebody decided for the rest of the session."""
        if rule not in self._writer.fold.always:
            self._writer.fold.always.append(rule)
            self._writer.custom("rule_added", rule, meta={"by": who})

    def question(self, ask: QuestionAsk) -> None:
        """The agent wants to know something."""
        writer = self._writer
        options = _options(ask.schema)
        view = QuestionView(
            question_id=ask.request_id, question=ask.message, options=options, url=ask.url,
            schema=msgspec.Raw(ask.schema) if ask.schema else msgspec.UNSET, tool_call_id=ask.tool_call_id,
            asked_at=context.iso_ms(writer.at), expires_at=context.iso_ms(writer.at + self._timeout_us),
        )
        writer.fold.questions[ask.request_id] = view
        meta: dict[str, Any] = {"schema": view.schema} if ask.schema is not None else {}
        if ask.url is not None:
            meta["url"] = ask.url
        event = context.UserQuestionEvent(
            question_id=view.question_id, question=view.question, options=options or msgspec.UNSET,
            expires_at=view.expires_at, meta=meta or msgspec.UNSET,
        )
        writer.add(event, packet=packets.question_requested_packet(
            at_us=writer.at, question_id=view.question_id, question=view.question, options=options, schema=ask.schema,
            url=ask.url, tool_call_id=ask.tool_call_id, expires_at=view.expires_at,
        ))
        writer.status("waiting_for_input")

    def answered(self, question_id: str, *, action: packets.AnswerAction, content: msgspec.Raw | None, who: str) -> None:
        """A question was answered, declined or withdrawn."""
        writer = self._writer
        del writer.fold.questions[question_id]
        remember(writer.fold.decided, question_id, Decided(action == "accept", who, context.iso_ms(writer.at)), KEPT_DECISIONS)
        data = {"questionId": question_id, "action": action, "content": content}
        writer.custom("question_resolved", data, meta={"by": who}, packet=packets.question_resolved_packet(
            at_us=writer.at, question_id=question_id, action=action, answer=content, resolved_by=who,
        ))
        self._back_to_work()

    def _back_to_work(self) -> None:
        fold = self._writer.fold
        if fold.approvals:
            self._writer.status("waiting_for_approval")
        elif fold.questions:
            self._writer.status("waiting_for_input")
        else:
            self._writer.status("running" if fold.turn is not None else "idle")


def subject_of(call: OpenCall | None, view: ApprovalView) -> str | None:
    """What an approval is about, exactly: the command, or the path. None where neither is known."""
    state = call.state if call is not None else CallState(tool_call_id=view.tool_call_id, raw_input=bytes(view.tool_input))
    return _command(state) or _path(state) or None


def _requested_event(view: ApprovalView) -> context.ApprovalRequestedEvent:
    return context.ApprovalRequestedEvent(
        request_id=view.request_id, tool_call_id=view.tool_call_id, tool_name=view.tool_name, tool_input=view.tool_input,
        description=view.description, risk_level=view.risk_level,
        expires_at=view.expires_at, preview=view.preview or msgspec.UNSET, meta={"options": view.options, "title": view.title},
    )


def _describe(state: CallState) -> str:
    command = _command(state)
    if command:
        return f"Run: {command[:200]}"
    return state.title or name_of(state)


def _asked_for(ask: PermissionAsk) -> acp.ToolCallUpdate:
    """The call that is asked for; an ask that names none stands for itself."""
    try:
        return acp.decode_tool_call_update(ask.tool_call)
    except Invalid:
        return acp.ToolCallUpdate(tool_call_id=ask.request_id)


def _path(state: CallState) -> str:
    diff = next((item.path for item in state.content or [] if isinstance(item, acp.Diff)), None)
    located = state.locations[0].path if state.locations else ""
    return diff or located


def _command(state: CallState) -> str:
    if state.raw_input is None:
        return ""
    value = msgspec.json.decode(state.raw_input)
    command = value.get("command") if isinstance(value, dict) else None
    if isinstance(command, list):
        command = " ".join(str(word) for word in command)
    return command if isinstance(command, str) else ""


def _preview(state: CallState, cwd: str) -> context.ApprovalPreview | None:
    diff = next((item for item in state.content or [] if isinstance(item, acp.Diff)), None)
    if diff is not None and len(diff.new_text) + len(diff.old_text or "") <= DIFF_BYTES:
        return context.DiffPreview(path=diff.path, diff=_unified(diff))
    command = _command(state)
    if command:
        return context.CommandPreview(command=command, working_dir=cwd)
    texts = [item.content.text for item in state.content or []
             if isinstance(item, acp.Content) and isinstance(item.content, acp.TextContent)]
    if texts:
        return context.DescriptionPreview(text="\n".join(texts)[:DIFF_BYTES])
    return None


def _unified(diff: acp.Diff) -> str:
    old, new = (diff.old_text or "").splitlines(keepends=True), diff.new_text.splitlines(keepends=True)
    name = diff.path.lstrip("/")
    return "".join(difflib.unified_diff(old, new, f"a/{name}", f"b/{name}"))


def _options(schema: bytes | None) -> list[str] | None:
    """The choices of a form with a single field; richer forms are in the schema."""
    if schema is None:
        return None
    form = msgspec.json.decode(schema)
    fields = form.get("properties") if isinstance(form, dict) else None
    if not isinstance(fields, dict) or len(fields) != 1:
        return None
    field = next(iter(fields.values()))
    if not isinstance(field, dict):
        return None
    if isinstance(field.get("enum"), list):
        return [str(choice) for choice in field["enum"]]
    if isinstance(field.get("oneOf"), list):
        return [str(choice.get("const")) for choice in field["oneOf"] if isinstance(choice, dict)]
    return ["true", "false"] if field.get("type") == "boolean" else None
