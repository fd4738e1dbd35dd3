"""Turns: a prompt, what came of it, and exactly one end. Also the queue of prompts behind it.

Rule 1: a turn ends once, with one ``prompt_response`` or one ``error`` packet, on the entry that moves the status; where the
session is held, and stays so, on a ``turn_ended``.
Rule 2: after a turn that failed the status is ``error`` until the next prompt; the session can be used all the same.
Rule 3: whatever a turn left open is closed before its end is recorded, but for what goes on in the background: text, then
approvals and questions, then calls, so that a call that was waited for says that it was not allowed, and why. (Of very many
calls those that nobody was asked about are ended before, in pieces: ``session/turns/turn.py``.)
"""

from __future__ import annotations

from typing import Any

import msgspec

from trunkline import decoders
from trunkline.dialects.acp.content import ContentBlock
from trunkline.dialects.acp.reading.decode import text_chunk
from trunkline.dialects.acp.reading.lenient import read_lenient
from trunkline.dialects.context.envelope import iso_ms
from trunkline.dialects.context.events import MessageCompleteEvent, MessageDeltaEvent, MessageStartEvent, SessionErrorEvent
from trunkline.dialects.context.types import ErrorInfo, SessionStatus, to_raw
from trunkline.dialects.context.unions import MessageContent
from trunkline.dialects.packets.notices import error_packet, prompt_response_packet
from trunkline.dialects.signals import StopReason
from trunkline.errors import TrunklineError
from trunkline.session.fold import KEPT_KEYS, Failure, Fold, QueuedPrompt, Sent, Turn
from trunkline.session.interpret.asks.asks import AskInterpreter
from trunkline.session.interpret.asks.questions import QuestionInterpreter
from trunkline.session.interpret.calls.tools import ToolInterpreter
from trunkline.session.interpret.echo import Echo
from trunkline.session.interpret.lifecycle import standing
from trunkline.session.interpret.text import TextInterpreter, entitle, part_of
from trunkline.session.interpret.usage import UsageInterpreter
from trunkline.session.interpret.writer import Writer

FAILURE_SHOWN = 500
"""Characters of an error that the state of the session keeps; all of it is in the event."""


class TurnInterpreter:
    """The running turn and the prompts that wait."""

    def __init__(self, writer: Writer, text: TextInterpreter, tools: ToolInterpreter,
                 asks: AskInterpreter, questions: QuestionInterpreter, usage: UsageInterpreter) -> None:
        self._writer = writer
        self._text = text
        self._tools = tools
        self._asks = asks
        self._questions = questions
        self._usage = usage
        self.echo = Echo()

    def keep_key(self, key: str, turn_id: str) -> None:
        """A prompt under this key goes out, and its turn begins when it comes back."""
        _keep(self._writer.fold, key, Sent(turn_id, self._writer.fold.seq, False))

    def start(self, turn_id: str, blocks: list[msgspec.Raw], *, by: str, key: str | None = None) -> Turn:
        """A prompt begins its turn: it is written down before the agent gets it."""
        writer, fold = self._writer, self._writer.fold
        self._text.close()
        self._tools.forget_turn()
        fold.turns += 1
        fold.failed = fold.missed = None
        turn = fold.turn = Turn(turn_id=turn_id, started_at=iso_ms(writer.at), by=by, seq=fold.seq)
        if key is not None:
            _keep(fold, key, Sent(turn_id, fold.seq, False))
        writer.custom("turn_started", {"turnId": turn_id, "turn": fold.turns}, meta={"by": by, "turnId": turn_id})
        self._write_prompt(turn_id, blocks, by)
        self.echo.expect(blocks)
        writer.status("running", reason="a prompt came", meta={"turnId": turn_id})
        return turn

    def end(self, stop: StopReason, usage: bytes | None = None, *, usage_of_session: bool = False,
            agent_stop: str | None = None) -> None:
        """The agent is done. ``usage`` is what it says the turn took, or the session so far; ``agent_stop`` its own word for the
        end, which packets carry."""
        turn = self._close(stop)
        if usage is not None:
            self._usage.turn_took(usage, turn, of_session=usage_of_session)
        meta: dict[str, Any] = {"turnId": turn.turn_id, "stopReason": stop}
        if stop == "end_turn" and not turn.showed_work:
            meta["empty"] = True
        packet = prompt_response_packet(agent_stop if agent_stop is not None and stop == "end_turn" else stop, self._writer.at)
        to = _at_rest(self._writer.fold)
        if self._writer.fold.status == to:
            self._writer.custom("turn_ended", {"turnId": turn.turn_id, "stopReason": stop}, packet=packet, meta=meta)
        else:
            self._writer.status(to, reason=stop, packet=packet, meta=meta)

    def fail(self, error: TrunklineError, *, rpc_code: int | None = None) -> None:
        """The turn broke off. The session itself can go on."""
        writer = self._writer
        turn = self._close(None, why=error.code)
        details = {"code": error.code, **(error.details or {})}
        if error.agent_code is not None:
            details["agentCode"] = error.agent_code
        info = ErrorInfo(
            code=error.code, message=error.message, recoverable=error.recoverable, details=to_raw(details),
            agent_code=error.agent_code or msgspec.UNSET,
        )
        packet = error_packet(error.message, writer.at, rpc_code, details)
        writer.fold.errors += 1
        writer.fold.failed = Failure(error.code, error.message[:FAILURE_SHOWN], iso_ms(writer.at))
        writer.add(SessionErrorEvent(error=info, meta={"turnId": turn.turn_id}), packet=packet)
        writer.status(_at_rest(writer.fold), reason=error.code)

    def queue(self, turn_id: str, blocks: list[msgspec.Raw], *, by: str, key: str | None = None) -> None:
        """A prompt waits for its turn."""
        writer, fold = self._writer, self._writer.fold
        waiting = QueuedPrompt(turn_id=turn_id, content=blocks, queued_at=iso_ms(writer.at), by=by)
        fold.queue.append(waiting)
        if key is not None:
            _keep(fold, key, Sent(turn_id, fold.seq, True))
        writer.custom("prompt_queued", waiting, meta={"by": by})

    def edit_queued(self, turn_id: str, blocks: list[msgspec.Raw], *, by: str) -> None:
        """A waiting prompt gets other words. The caller has checked that it waits."""
        waiting = self._waiting(turn_id)
        waiting.content = blocks
        self._writer.custom("prompt_edited", {"turnId": turn_id, "content": blocks}, meta={"by": by})

    def drop_queued(self, turn_id: str, *, by: str) -> None:
        """A waiting prompt is taken back."""
        self._writer.fold.queue.remove(self._waiting(turn_id))
        self._writer.custom("prompt_dropped", {"turnId": turn_id}, meta={"by": by})

    def clear_queue(self, *, by: str) -> None:
        """Every waiting prompt is taken back."""
        for waiting in list(self._writer.fold.queue):
            self.drop_queued(waiting.turn_id, by=by)

    def start_queued(self) -> tuple[Turn, list[msgspec.Raw]]:
        """The first waiting prompt begins."""
        waiting = self.take_queued()
        return self.start(waiting.turn_id, waiting.content, by=waiting.by), waiting.content

    def take_queued(self) -> QueuedPrompt:
        """The first waiting prompt waits no more."""
        return self._writer.fold.queue.pop(0)

    def worked(self, worked_us: int) -> None:
        """So much time was spent in turns, the one that ends now included."""
        self._writer.fold.worked_us = worked_us

    def cancelling(self, *, by: str) -> None:
        """Somebody asked to end the turn."""
        turn = self._writer.fold.turn
        if turn is not None:
            turn.cancelled = True
            self._writer.custom("cancel_requested", {"turnId": turn.turn_id}, meta={"by": by})

    def _waiting(self, turn_id: str) -> QueuedPrompt:
        return next(waiting for waiting in self._writer.fold.queue if waiting.turn_id == turn_id)

    def _write_prompt(self, turn_id: str, blocks: list[msgspec.Raw], by: str) -> None:
        writer = self._writer
        message_id = f"user-{turn_id}"
        content: list[MessageContent] = []
        for index, block in enumerate(blocks):
            update: bytes | None = b'{"sessionUpdate":"user_message_chunk","content":%b}' % bytes(block)
            text = text_chunk(update) if update else None
            if index == 0:
                started = MessageStartEvent(message_id=message_id, role="user", meta={"by": by, "turnId": turn_id})
                writer.add(started, update=update)
                update = None
            seq = writer.fold.seq + (update is not None)
            content.append(part_of(read_lenient(bytes(block), ContentBlock), writer.fold.session_id, seq))
            if text is not None:
                delta = decoders.decode(text.text, str)
                writer.add(MessageDeltaEvent(message_id=message_id, role="user", delta=delta), update=update)
            elif update is not None:
                writer.custom("user_content", {"messageId": message_id, "index": index}, update=update)
        writer.add(MessageCompleteEvent(message_id=message_id, role="user", content=content, meta={"by": by}))
        writer.fold.messages += 1
        entitle(writer.fold, content)

    def _close(self, stop: StopReason | None, *, why: str = "the agent is done") -> Turn:
        fold = self._writer.fold
        turn = fold.turn
        assert turn is not None, "only a running turn ends"
        self._text.close(stop)
        self._writer.still = True  # the turn's end moves the status, from what was asked straight to rest
        try:
            self._close_asks(why)
        finally:
            self._writer.still = False
        self._tools.close_turn(cancelled=turn.cancelled or stop == "cancelled")
        fold.turn = None
        if any(rule.turn is not None for rule in fold.rules):
            fold.rules[:] = self._asks.rules_in_force()
        return turn

    def _close_asks(self, why: str) -> None:
        fold = self._writer.fold
        asks, questions = fold.asks_of_turn()
        for request_id in asks:
            self._asks.resolve(request_id, approved=False, resolved_by="policy", who="hub", reason=why)
            self._asks.forget(request_id)
        for question_id in questions:
            self._questions.answered(question_id, action="cancel", content=None, who="hub")


def _at_rest(fold: Fold) -> SessionStatus:
    """The status between turns: something in the background may still ask."""
    return "paused" if fold.paused is not None else standing(fold)


def _keep(fold: Fold, key: str, sent: Sent) -> None:
    """Remember what a key was answered with. Keys of prompts that wait or run are kept however many there are: who sent one
    may ask again, and learns of its end."""
    fold.sent[key] = sent
    if len(fold.sent) <= KEPT_KEYS:
        return
    alive = {waiting.turn_id for waiting in fold.queue} | ({fold.turn.turn_id} if fold.turn is not None else set())
    over = [old for old, answer in fold.sent.items() if answer.turn_id not in alive]
    for old in over[:max(0, len(over) - KEPT_KEYS)]:
        del fold.sent[old]
