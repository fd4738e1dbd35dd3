"""How a tool call ends: by its result, by its error, or with its turn because nobody said how it went.

Rule 1: what a call did (files, git, web, sub-agents) is emitted after its result, by entries without update and packet.
Rule 2: a permission that was given under an id which no call has did not fail: nobody said so.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Literal

import msgspec

from trunkline.dialects.context.events import Event, GitOperationEvent, ToolCallErrorEvent, ToolCallResultEvent, WebOperationEvent
from trunkline.dialects.context.types import ErrorInfo, to_raw
from trunkline.session.fold import Fold, OpenCall
from trunkline.session.interpret.asks.denied import denied_message, denied_meta
from trunkline.session.interpret.asks.joined import NEAR_CALLS, joined_to
from trunkline.session.interpret.calls.facts import Facts, name_of
from trunkline.session.interpret.calls.long_outputs import spliceable
from trunkline.session.interpret.calls.outcome import failure_of
from trunkline.session.interpret.calls.output import title_news
from trunkline.session.interpret.calls.structured import command_output, structured_of
from trunkline.session.interpret.effects import changes, git, subagents, web
from trunkline.session.interpret.effects.changes import Change, changes_of
from trunkline.session.interpret.writer import Carried, Writer

Ending = Literal["denied", "cancelled", "abandoned"]

_ENDINGS: dict[str, str] = {
    "cancelled": "The work was cancelled before this tool call ended.",
    "abandoned": "The agent stopped and never said how this tool call went.",
}


class Endings:
    """Emits how calls end, and what they did."""

    def __init__(self, writer: Writer, facts: Callable[[OpenCall], Facts]) -> None:
        self._writer = writer
        self._facts = facts

    def finish(self, call: OpenCall, carried: Carried, token: memoryview | None) -> None:
        """The agent reported that a call is over."""
        facts = self._facts(call)
        done: list[Change] = []
        output: bytes | memoryview | None = None
        event: Event
        if call.state.status == "completed" and not self._was_denied(call):
            done = changes_of(facts, self._writer.fold.files)
            output = spliceable(token if token is not None else facts.text_token)
            event = self._result(facts, done, whole=output is None)
        else:
            event = self._error(facts)
        call.changed_files = bool(done)
        seq = self._writer.add(event, update=carried.update, packet=carried.packet, raw=carried.raw, output=output)
        self._aftermath(facts, done, seq, isinstance(event, ToolCallResultEvent))
        call.evidence = None

    def _result(self, facts: Facts, done: list[Change], *, whole: bool) -> Event:
        """The result's event; unless ``whole``, its output is put in by the writer."""
        output, cut = self._writer.cut(facts.text) if whole else ("", None)
        structured, more = structured_of(facts, done)
        if len(done) == 1:
            more = {**more, **changes.diff_left_out(done[0], changes.diff_url(self._writer.fold, self._writer.fold.seq + 1))}
        failure = failure_of(facts) if facts.role in changes.CHANGING else None
        meta = {**(cut or {}), **({"structured": more} if more else {}), **({"failed": failure} if failure else {}),
                **title_news(facts.call)}
        return ToolCallResultEvent(
            tool_call_id=facts.state.tool_call_id, name=name_of(facts.state), output=output, duration=self._took_ms(facts.call),
            structured=structured or msgspec.UNSET, meta=meta or msgspec.UNSET,
        )

    def _error(self, facts: Facts) -> Event:
        turn, output, cut = self._writer.fold.turn, *self._writer.cut(facts.text)
        code = "denied" if facts.call.denied else "cancelled" if turn is not None and turn.cancelled else "tool_failed"
        if code == "tool_failed":
            self._writer.fold.errors += 1
        ended = command_output(facts)[0] if facts.role == "terminal" and not facts.call.denied else None
        unsaid = denied_message(facts.call.denial) if code == "denied" else "The tool failed."
        error = ErrorInfo(
            code=code, message=output or unsaid, recoverable=True,
            details=to_raw(ended) if ended is not None else msgspec.UNSET,
        )
        return ToolCallErrorEvent(
            tool_call_id=facts.state.tool_call_id, name=name_of(facts.state), error=error, duration=self._took_ms(facts.call),
            meta={**(cut or {}), **denied_meta(facts.call.denial), **title_news(facts.call)} or msgspec.UNSET,
        )

    def _aftermath(self, facts: Facts, done: list[Change], seq: int, succeeded: bool) -> None:
        """What the call did, beyond its result."""
        writer, call_id = self._writer, facts.state.tool_call_id
        changes.emit_changes(writer, facts, done, seq)
        if not facts.call.denied:
            for operation in git.operations_of(facts):
                writer.add(GitOperationEvent(operation=operation, tool_call_id=call_id))
        if succeeded and (visited := web.operation_of(facts)) is not None:
            writer.add(WebOperationEvent(operation=visited, tool_call_id=call_id))
        if not facts.call.denied:
            subagents.spawn(writer, facts)
        subagents.complete(writer, facts, failed=None if succeeded else facts.text or "The task failed.")

    def end_open(self, call: OpenCall, ending: Ending, packet: Callable[[], bytes]) -> None:
        """Nobody said how a call went, and nobody will; ``packet`` gives all that is known of it."""
        facts = self._facts(call)
        # Some agents ask for an edit under an id of its own and never say how it went. It was allowed: report it, with doubt.
        allowed = ending == "abandoned" and call.asked and not waits(self._writer.fold, call)
        joined = joined_to(call, reversed(self._writer.fold.calls.values()), self._facts) if allowed else None
        untold = joined is None or not joined.changed_files
        done = changes_of(facts, self._writer.fold.files) if allowed and untold and facts.evidence.diffs else []
        event = self._ended_ask(facts, joined) if allowed and not call.counted else self._ended_call(facts, ending)
        seq = self._writer.add(event, packet=packet())
        changes.emit_changes(self._writer, facts, done, seq, {"unconfirmed": True})
        subagents.complete(self._writer, facts, failed=_ENDINGS.get(ending, "It was not allowed."))
        call.evidence = None

    def _ended_ask(self, facts: Facts, joined: OpenCall | None) -> Event:
        """A permission that was given under an id which no call has: nobody said that anything failed."""
        facts.state.status = "completed"
        about = {"joinedTo": joined.state.tool_call_id} if joined is not None else {"unconfirmed": True}
        meta = {"ask": about, **title_news(facts.call)}
        return ToolCallResultEvent(tool_call_id=facts.state.tool_call_id, name=name_of(facts.state), output="",
                                   duration=self._took_ms(facts.call), meta=meta)

    def _ended_call(self, facts: Facts, ending: Ending) -> Event:
        call, state = facts.call, facts.state
        message = denied_message(call.denial) if ending == "denied" else _ENDINGS[ending]
        state.status = "failed"
        if state.raw_output is None:
            state.raw_output = bytes(to_raw({"error": message}))
        return ToolCallErrorEvent(
            tool_call_id=state.tool_call_id, name=name_of(state), duration=self._took_ms(call),
            error=ErrorInfo(code=ending, message=message, recoverable=True),
            meta={**denied_meta(call.denial), **title_news(call)} or msgspec.UNSET)

    def _took_ms(self, call: OpenCall) -> int:
        return (self._writer.at - call.since) // 1000

    def _was_denied(self, call: OpenCall) -> bool:
        """Whether a call was not allowed, though its agent calls it completed; the no may stand under the ask's own id."""
        if not call.denied and not call.asked and call.state.raw_input is not None:
            near = islice(reversed(self._writer.fold.calls.values()), NEAR_CALLS)
            asks = (each for each in near if each.denied and not each.counted and each.since >= call.since)
            about = next((each for each in asks if each.state.raw_input == call.state.raw_input), None)
            call.denied, call.denial = about is not None, about.denial if about is not None else None
        return call.denied


def waits(fold: Fold, call: OpenCall) -> bool:
    """Whether somebody is asked just now to let the call run."""
    return any(call.state.tool_call_id in view.call_ids for view in fold.approvals.values())
