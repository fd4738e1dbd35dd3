"""A session without its surroundings: steps go into the fold as a session would put them there, and come out as entries.

``Player`` guards the interpreter just as ``session/`` does (a turn starts when none runs, only what is open is answered) and
nothing more; ``check`` holds what came out to the rules that every journal keeps.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from tests.dialects.acp.schema import faults
from tests.dialects.packets.shapes_check import validate_packet
from tests.tooling.transcripts import Cancel, Decision, Printed, Prompt, Step
from trunkline.dialects.acp.reading.decode import decode_update
from trunkline.dialects.acp.updates import UnknownUpdate
from trunkline.dialects.calls import ToolNames
from trunkline.dialects.context.envelope import UnknownEvent, decode_event
from trunkline.dialects.context.events import (
    ApprovalRequestedEvent,
    ApprovalResolvedEvent,
    CustomEvent,
    Event,
    MessageCompleteEvent,
    MessageDeltaEvent,
    MessageStartEvent,
    ThinkingCompleteEvent,
    ThinkingDeltaEvent,
    ThinkingStartEvent,
    ToolCallErrorEvent,
    ToolCallResultEvent,
    ToolCallStartEvent,
)
from trunkline.dialects.context.unions import TextPart
from trunkline.dialects.signals import PermissionAsk, Signal, TurnEnd
from trunkline.errors import AgentError, HubRestarted
from trunkline.journal.base import Entry
from trunkline.server.packets.frames import packet_of
from trunkline.session.fold import Fold, checkpoint, restore
from trunkline.session.interpret import Interpreter
from trunkline.session.interpret.text import chunk_text

SESSION = "ses_story"
STEP_US = 1_500
START = 1_790_000_000_000_000


class Player:
    """Plays steps into an interpreter and keeps the entries."""

    def __init__(self, tools: ToolNames | None = None) -> None:
        self.fold = Fold(session_id=SESSION, agent="recorded", cwd="/home/dev/project", created_at=START, updated_at=START)
        self._tools = tools
        self.interpreter = Interpreter(self.fold, tools=tools)
        self.entries: list[Entry] = []
        self.restarts: set[int] = set()
        """The last entries of hubs that crashed: what came to its end may begin again after it."""
        self._turns = itertools.count(1)
        self._at = START
        self._saved = checkpoint(self.fold)

    def play(self, step: Step) -> None:
        """Play one step."""
        self._at += STEP_US
        now = self.interpreter.at(self._at)
        match step:
            case Prompt(blocks):
                self._prompt(now, blocks)
            case Cancel():
                self._cancel(now)
            case Decision(request_id, option_id):
                self._decide(now, request_id, option_id)
            case Printed():
                now.tools.terminals.keep(*step)
            case TurnEnd():
                self._end(now, step)
            case _:
                self._hear(now, step)
        self._written()

    def act(self, act: Callable[[Interpreter], object]) -> None:
        """Do something else that a client may do."""
        self._at += STEP_US
        act(self.interpreter.at(self._at))
        self._written()

    def answer_first_question(self) -> None:
        """Somebody accepts the oldest question, if one is open."""
        question_id = next(iter(self.fold.questions), None)
        if question_id is not None:
            content = msgspec.Raw(b'{"name":"x"}')
            self.act(lambda now: now.questions.answered(question_id, action="accept", content=content, who="tester"))

    def drop_first_queued(self) -> None:
        """Somebody takes the oldest waiting prompt back, if one waits."""
        if self.fold.queue:
            self.act(lambda now: now.turns.drop_queued(self.fold.queue[0].turn_id, by="tester"))

    def reload(self) -> None:
        """The hub crashed and came back: what was open is closed, and the session is opened anew when it is needed."""
        self._restore()
        self.act(self._deny_all)
        self.stop()
        self._restore()
        self.restarts.add(self.fold.seq)

    def _restore(self) -> None:
        """The checkpoint is all that is left of the fold; the words of an open text are in the journal."""
        self.fold = restore(self._saved)
        self.fold.seq = self.entries[-1].seq
        self.interpreter = Interpreter(self.fold, tools=self._tools)
        self._reread_open_text()

    def _reread_open_text(self) -> None:
        """As ``Session.reread_open_text`` does from the journal."""
        text = self.fold.text
        if text is not None:
            for entry in self.entries[text.start_seq - 1:]:
                token = chunk_text(entry.update) if entry.update is not None else None
                if token is not None:
                    self.interpreter.text.collect(text, token)

    def _written(self) -> None:
        """As ``Pen.write`` does: the checkpoint is stored with entries that change more than text."""
        writer = self.interpreter.writer
        self.entries += writer.take()
        if writer.dirty:
            self._saved = checkpoint(self.fold)
            writer.dirty = False

    def _deny_all(self, now: Interpreter) -> None:
        for request_id in list(self.fold.approvals):
            now.asks.resolve(request_id, approved=False, resolved_by="policy", who="hub", reason="hub_restarted")

    def stop(self) -> None:
        """The hub goes: what is open is closed."""
        if self.fold.turn is not None:
            self.act(lambda now: now.turns.fail(HubRestarted("the story ends here")))

    def _prompt(self, now: Interpreter, blocks: list[msgspec.Raw]) -> None:
        turn_id = f"turn_{next(self._turns)}"
        if self.fold.turn is None:
            now.turns.start(turn_id, blocks, by="tester")
        else:
            now.turns.queue(turn_id, blocks, by="tester")

    def _cancel(self, now: Interpreter) -> None:
        now.turns.cancelling(by="tester")
        for request_id in list(self.fold.approvals):
            now.asks.resolve(request_id, approved=False, resolved_by="user", who="tester", reason="the work was cancelled")
        for question_id in list(self.fold.questions):
            now.questions.answered(question_id, action="cancel", content=None, who="tester")

    def _decide(self, now: Interpreter, request_id: str, option_id: str | None) -> None:
        view = self.fold.approvals.get(request_id)
        if view is None:
            return
        chosen = next((option for option in view.options if option.option_id == option_id), None)
        approved = chosen is not None and chosen.kind.startswith("allow")
        now.asks.resolve(request_id, approved=approved, resolved_by="user", who="tester", option_id=option_id)

    def _end(self, now: Interpreter, end: TurnEnd) -> None:
        turn = self.fold.turn
        if turn is None:
            now.writer.custom("late_turn_end", {"stopReason": end.stop})
        elif end.error is not None and not turn.cancelled:
            now.turns.fail(AgentError(end.error.message, agent_code=str(end.error.code)), rpc_code=end.error.code)
        else:
            stop = "cancelled" if turn.cancelled else end.stop or "end_turn"
            now.turns.end(stop, end.usage, usage_of_session=end.usage_of_session)
        if self.fold.turn is None and self.fold.queue:
            now.turns.start_queued()

    def _hear(self, now: Interpreter, signal: Signal) -> None:
        now.on_signals([signal])
        turn = self.fold.turn
        if isinstance(signal, PermissionAsk) and (turn is None or turn.cancelled):
            now.asks.resolve(signal.request_id, approved=False, resolved_by="user", who="hub", reason="the work was cancelled")


def played(steps: Sequence[Step], tools: ToolNames | None = None) -> Player:
    """A whole story, played to its end; ``tools`` are the agent's names for its tools."""
    player = Player(tools)
    for step in steps:
        player.play(step)
    player.stop()
    return player


def packets_of(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """The packets, decoded."""
    return [json.loads(packet) for entry in entries if (packet := packet_of(entry)) is not None]


def check(player: Player) -> None:
    """Everything that must hold for the entries of any session."""
    entries = player.entries
    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1)), "seqs are consecutive from 1"
    events = [_event(entry) for entry in entries]
    for entry in entries:
        _check_packet(entry)
        _check_update(entry)
    _check_texts(events)
    _check_turns(entries, events, player.restarts)
    _check_asks(events)
    again = restore(checkpoint(player.fold))
    assert (again.seq, again.status, list(again.approvals)) == (player.fold.seq, player.fold.status, list(player.fold.approvals))


def _event(entry: Entry) -> Event:
    assert b"\n" not in entry.event and b"\r" not in entry.event, f"an event is one line: {entry.event[:300]!r}"
    event = decode_event(entry.event)
    assert not isinstance(event, UnknownEvent), f"{event.why}: {entry.event[:500]!r}"
    assert (event.seq, event.session_id) == (entry.seq, SESSION)
    return event


def _check_packet(entry: Entry) -> None:
    packet = packet_of(entry)
    if packet is not None:
        assert b"\n" not in packet and b"\r" not in packet, f"a packet is one line: {packet[:300]!r}"
        validate_packet(json.loads(packet))


def _check_update(entry: Entry) -> None:
    if entry.update is None or isinstance(decode_update(entry.update), UnknownUpdate):
        return  # what nobody knows yet travels as it came
    assert not (why := faults("SessionUpdate", entry.update)), f"{why}: {entry.update[:500]!r}"


def _check_texts(events: Sequence[Event]) -> None:
    """Every message and thought that starts is completed, with what its deltas said."""
    open_texts: dict[str, list[str]] = {}
    for event in events:
        match event:
            case MessageStartEvent() | ThinkingStartEvent():
                assert event.message_id not in open_texts
                open_texts[event.message_id] = []
            case MessageDeltaEvent() | ThinkingDeltaEvent():
                open_texts[event.message_id].append(event.delta)
            case ThinkingCompleteEvent():
                _same_text("".join(open_texts.pop(event.message_id)), event.content, event.meta)
            case MessageCompleteEvent():
                said = "".join(open_texts.pop(event.message_id))
                if said and event.role == "assistant":
                    whole = "".join(part.text for part in event.content if isinstance(part, TextPart))
                    _same_text(said, whole, event.meta)
            case _:
                pass
    assert len(open_texts) <= 1, f"more than one text is open: {list(open_texts)}"


def _same_text(said: str, whole: str, meta: Any) -> None:
    is_cut = meta is not msgspec.UNSET and "truncated" in meta
    assert said.startswith(whole) if is_cut else said == whole


def _check_turns(entries: Sequence[Entry], events: Sequence[Event], restarts: set[int]) -> None:
    """Each turn ends once, and every call that starts in it ends in it, unless it goes on in the background."""
    in_turn = False
    calls: dict[str, bool] = {}
    background: set[str] = set()
    for entry, event in zip(entries, events, strict=True):
        kind = _packet_type(entry)
        if isinstance(event, CustomEvent) and event.event_name == "turn_started" and event.namespace == "trunkline":
            assert not in_turn, "a turn starts when none runs"
            assert all(ended or call in background for call, ended in calls.items()), f"calls were left open: {calls}"
            in_turn, calls = True, {call: False for call, ended in calls.items() if not ended}
        elif kind in ("prompt_response", "error"):
            assert in_turn, "a turn ends once"
            in_turn = False
            assert all(ended or call in background for call, ended in calls.items()), f"calls were left open: {calls}"
        if isinstance(event, ToolCallStartEvent) and _parent_ended(event, calls):
            background.add(event.tool_call_id)
        if kind == "tool_call_start":
            tool_call_id = json.loads(entry.packet or b"")["toolCallId"]
            assert tool_call_id not in calls, "a call starts once in its turn"
            calls[tool_call_id] = False
        elif kind == "tool_call_progress":
            assert json.loads(entry.packet or b"")["toolCallId"] in calls, "a call starts before it goes on"
        if isinstance(event, ToolCallResultEvent | ToolCallErrorEvent):
            assert calls[event.tool_call_id] is False, "a call ends once"
            calls[event.tool_call_id] = True
        if entry.seq in restarts:
            calls = {key: ended for key, ended in calls.items() if not ended}
    assert not in_turn, "the last turn has no end"


def _parent_ended(event: ToolCallStartEvent, calls: dict[str, bool]) -> bool:
    """Whether a sub-agent that was sent off to work by itself makes the call."""
    meta = event.meta if isinstance(event.meta, dict) else {}
    return calls.get(str(meta.get("parentToolCallId"))) is True


def _check_asks(events: Sequence[Event]) -> None:
    """Every approval is resolved once."""
    asked = [event.request_id for event in events if isinstance(event, ApprovalRequestedEvent)]
    resolved = [event.request_id for event in events if isinstance(event, ApprovalResolvedEvent)]
    assert len(set(asked)) == len(asked)
    assert sorted(asked) == sorted(resolved)


def _packet_type(entry: Entry) -> str | None:
    if entry.packet is None:
        return None
    kind: str = json.loads(entry.packet)["type"]
    return kind
