"""What the CLI writes, line by line, as signals; and the lines that answer what it asks for. One translator per CLI process.

    frames/        the lines, typed                          calls/      tool calls and plans
    conversation/  texts and thoughts, turns and their ends  control/    permissions, questions, requests
    settings.py    modes, options, commands                  remarks.py  retries, limits, hooks, compaction

Rule 1: pure and stateful: no I/O, no clock. What has to be written is returned, or waits in ``control.take_output``.
Rule 2: nothing that the CLI sends raises. A line that is no object is ``Malformed``; an unknown type is a ``CustomNote``.
Rule 3: exactly one TurnEnd for each prompt, behind all that its turn brought. A turn that nobody asked for ends in a note.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from trunkline.dialects.acp.reading.large import strings_of
from trunkline.dialects.claude.calls.calls import ToolCalls
from trunkline.dialects.claude.calls.results import is_sent_off
from trunkline.dialects.claude.calls.tools import text_in
from trunkline.dialects.claude.control.requests import ControlRequests
from trunkline.dialects.claude.conversation.messages import Messages, message_blocks
from trunkline.dialects.claude.conversation.stops import stop_of, unqueued, withdrawal
from trunkline.dialects.claude.conversation.turns import CliTurns
from trunkline.dialects.claude.conversation.usage import TokenAccount
from trunkline.dialects.claude.frames.large import Large, marked, read_large
from trunkline.dialects.claude.frames.reading import read_frame
from trunkline.dialects.claude.frames.types import (
    ApiRetryFrame,
    AssistantFrame,
    Broken,
    CommandLifecycleFrame,
    CommandsChangedFrame,
    CompactBoundaryFrame,
    ControlCancelFrame,
    ControlRequestFrame,
    ControlResponseFrame,
    ConversationResetFrame,
    HookFrame,
    InformationalFrame,
    InitFrame,
    KeepAliveFrame,
    Known,
    LocalCommandOutputFrame,
    NotificationFrame,
    RateLimitFrame,
    RefusalFrame,
    ResultFrame,
    StatusFrame,
    StreamFrame,
    System,
    TaskFrame,
    TitleFrame,
    ToolProgressFrame,
    UnknownFrame,
    UserFrame,
)
from trunkline.dialects.claude.remarks import SILENT, Remarks
from trunkline.dialects.claude.settings import ClaudeSettings
from trunkline.dialects.notes import AgentNote, CustomNote, OwnTurn, SessionIdChanged
from trunkline.dialects.outside import Json
from trunkline.dialects.signals import AgentFault, Malformed, Signal, TurnEnd, Update

INTERRUPTED: Final = "[Request interrupted by user"
KEPT_OF_BROKEN: Final = 4096
_PRINTED: Final = re.compile(r"<(/?)local-command-(?:stdout|stderr)>")
"""The tags around what a slash command printed. One at a time: a pattern of both would seek the end again at each beginning."""

_encode = msgspec.json.Encoder().encode


class Translator:
    """Translates one CLI process."""

    def __init__(self, new_id: Callable[[str], str]) -> None:
        self._calls = ToolCalls()
        self._account = TokenAccount()
        self._messages = Messages(self._calls, self._account, new_id)
        self.settings = ClaudeSettings()
        self._turns = CliTurns()
        self.control = ControlRequests(new_id, self._calls, self._turns)
        self._remarks = Remarks(self._account, new_id)
        self._interrupted = False
        self._error: str | None = None
        """What the CLI called the failure that it reported in this turn."""
        self.session_id: str | None = None
        """The CLI's id of the conversation; another one after ``/clear``."""
        self.failure: AgentFault | None = None
        """The newest error result that ended no prompt: why a start failed (an unknown id to resume, no login)."""

    @property
    def working(self) -> bool:
        """Whether a turn runs: a prompt's, or one that the CLI began of its own accord."""
        return self._turns.working

    def receive(self, line: bytes) -> list[Signal]:
        """What one line of stdout means."""
        line = line.strip()
        if not line:
            return []
        kind, frame = read_frame(line)
        if isinstance(frame, Broken):
            return [Malformed(line[:KEPT_OF_BROKEN], frame.why, len(line))]
        return self._signals_of(kind, frame, line)

    def receive_large(self, line: bytes) -> Iterator[list[Signal]]:
        """What a line of over LARGE_LINE means, step by step: others have their turn in between."""
        large: Large | str = ""
        for large in read_large(line):  # noqa: B007 the last one counts
            yield []
        if isinstance(large, str):
            yield [Malformed(bytes(line[:KEPT_OF_BROKEN]), large, len(line))]
            return
        kind, frame = read_frame(large.frame)
        if isinstance(frame, Broken):
            yield [Malformed(large.frame[:KEPT_OF_BROKEN], frame.why, len(line))]
            return
        for step in self._signals_in_steps(kind, frame, large):
            yield [marked(signal, len(line)) for signal in step]

    def opening(self, *, is_opening: bool) -> None:
        """Whether the CLI has yet to answer: what it says until then begins no turn."""
        self._turns.is_opening = is_opening

    def prompted(self, uuid: str | None = None) -> None:
        """A user message was written, with this uuid: the next turn is its own, and its result comes as TurnEnd."""
        self._turns.prompted(uuid)

    def _signals_of(self, kind: str, frame: Known | System | UnknownFrame, line: bytes) -> list[Signal]:
        if not isinstance(frame, UnknownFrame) and frame.session_id and self.session_id is None:
            self.session_id = frame.session_id
        match frame:
            case StreamFrame():
                return self._messages.piece(frame)
            case AssistantFrame():
                return self._assistant(frame)
            case UserFrame():
                return self._user(frame, line)
            case ResultFrame():
                return self._result(frame, line)
            case ControlRequestFrame():
                return self.control.on_request(frame.request_id, frame.request, line)
            case ControlResponseFrame():
                return self._answered(frame)
            case ControlCancelFrame():
                return self.control.withdraw(frame.request_id)
            case InitFrame():
                return self._init(frame)
            case CommandLifecycleFrame():
                return self._became(frame.command_uuid, frame.state)
            case ConversationResetFrame():
                return self._reset(line)
        return self._remark(kind, frame, line)

    def _signals_in_steps(self, kind: str, frame: Known | System | UnknownFrame, large: Large) -> Iterator[list[Signal]]:
        """What a long line means: its texts in pieces, all else by its beginning. What would have to be looked at is refused."""
        texts = {path: strings_of(text) for path, text in large.texts.items()}
        match frame:
            case StreamFrame() if texts:
                yield from self._messages.piece_in_steps(frame, next(iter(texts.values())))
                return
            case AssistantFrame() if texts:
                if not self._is_repeated(frame):
                    places = {path[2] if len(path) > 2 else 0: text for path, text in texts.items()}
                    yield from self._messages.whole_in_steps(frame, {int(at): text for at, text in places.items()})
                return
            case ResultFrame() if texts and not self._messages.has_text and not frame.is_error:
                yield from self._messages.emit_text_in_steps(texts[("result",)])
            case ControlRequestFrame():
                yield self.control.refuse(frame.request_id, frame.request)
                return
            case ControlResponseFrame():
                pending, frame.response.pending_permission_requests = frame.response.pending_permission_requests, None
                for ask in pending if isinstance(pending, list) else []:
                    yield self.control.refuse(text_in(ask, "request_id"), ask.get("request")) if isinstance(ask, dict) else []
        yield self._signals_of(kind, frame, large.frame)

    def _remark(self, kind: str, frame: Known | System | UnknownFrame, line: bytes) -> list[Signal]:
        remarks = self._remarks
        match frame:
            case StatusFrame():
                self._turns.taken(frame.user_message_uuids or [])
                return self.settings.switched(frame.permission_mode) + remarks.status(frame)
            case CompactBoundaryFrame():
                return remarks.boundary(frame, line)
            case ApiRetryFrame():
                return remarks.retry(frame)
            case RateLimitFrame():
                return remarks.limits(frame, line)
            case HookFrame():
                return remarks.hook(kind, frame, line)
            case TaskFrame():
                return self._task(kind, frame, line)
            case ToolProgressFrame():
                return remarks.tool_runs(frame)
            case InformationalFrame() | NotificationFrame() | RefusalFrame():
                return remarks.notice(frame)
            case TitleFrame():
                return [_update({"sessionUpdate": "session_info_update", "title": frame.title})] if frame.title else []
            case CommandsChangedFrame():
                return self.settings.changed(frame)
            case LocalCommandOutputFrame():
                return self._messages.emit_text(_printed(frame.content))
            case KeepAliveFrame():
                return []
        return [] if kind in SILENT else [CustomNote(kind, line)]

    def _init(self, frame: InitFrame) -> list[Signal]:
        """A turn begins."""
        signals: list[Signal] = []
        if frame.session_id and frame.session_id != self.session_id:
            signals.append(AgentNote(SessionIdChanged(frame.session_id, self.session_id)))
            self.session_id = frame.session_id
        if self._turns.begun():
            signals.append(AgentNote(OwnTurn("started")))
        return signals + self.settings.begun(frame)

    def _assistant(self, frame: AssistantFrame) -> list[Signal]:
        return [] if self._is_repeated(frame) else self._messages.whole(frame)

    def _is_repeated(self, frame: AssistantFrame) -> bool:
        """Whether this was emitted before; where it was not, its error is kept for the turn's end."""
        if self._remarks.is_repeated(frame.uuid):
            return True
        if frame.error is not None and frame.parent_tool_use_id is None:
            self._error = frame.error
        return False

    def _user(self, frame: UserFrame, line: bytes) -> list[Signal]:
        """Results of tools; what the CLI says in the person's name is no message of theirs."""
        if self._remarks.is_repeated(frame.uuid):
            return []
        blocks = message_blocks(frame.message.content)
        signals: list[Signal] = []
        for block in blocks:
            if block.get("type") == "tool_result":
                signals += self._tool_result(block, frame)
        if any(block.get("type") == "tool_result" for block in blocks) or frame.parent_tool_use_id is not None:
            return signals
        return self._user_text("".join(text_in(block, "text") for block in blocks), frame, line)

    def _user_text(self, text: str, frame: UserFrame, line: bytes) -> list[Signal]:
        if text.lstrip().startswith(INTERRUPTED):
            self._interrupted = True
            return []
        if text.lstrip().startswith("<local-command-"):
            return self._messages.emit_text(_printed(text))
        if frame.is_replay:
            self._turns.taken([frame.uuid])
            return []
        return self._remarks.summary(text) or [CustomNote("synthetic_message" if frame.is_synthetic else "user_message", line)]

    def _tool_result(self, block: Json, frame: UserFrame) -> list[Signal]:
        call_id = text_in(block, "tool_use_id")
        went_off = is_sent_off(self._calls.name_of(call_id), frame.tool_use_result)
        signals = self._remarks.sent_off(call_id) if went_off else self._messages.sub_agent_ended(call_id)
        return signals + self._calls.end(call_id, block.get("content"), frame.tool_use_result,
                                      failed=block.get("is_error") is True, parent=frame.parent_tool_use_id)

    def _result(self, frame: ResultFrame, line: bytes) -> list[Signal]:
        """A turn is over: what text is left, what it took, its end."""
        end = stop_of(frame, interrupted=self._interrupted, error=self._error)
        signals: list[Signal] = []
        if frame.result and not self._messages.has_text and end.error is None:
            signals += self._messages.emit_text(frame.result)
        signals += self._closed(cancelled=end.stop == "cancelled")
        if frame.session_id:
            self.session_id = frame.session_id
        rest = self._account.rest(frame)
        usage, spent = self._account.turn(frame)
        signals += spent
        was_working = self._turns.working
        if self._turns.ended(frame):
            return [*signals, msgspec.structs.replace(end, usage=usage)]
        if end.error is not None:
            self.failure = end.error
        if not was_working:
            return [*signals, CustomNote("result", line)]
        if rest.any:
            signals.append(AgentNote(rest.as_spent()))
        return [*signals, _own_turn_ended(end, frame)]

    def _closed(self, *, cancelled: bool) -> list[Signal]:
        """Nothing more comes of this turn."""
        signals = self._messages.turn_ended() + self._remarks.turn_ended(cancelled=cancelled)
        self._calls.turn_ended()
        self._interrupted, self._error = False, None
        return signals

    def _became(self, prompt: str, state: str) -> list[Signal]:
        """What became of a prompt. One that ended by its result has ended already."""
        if state == "started":
            self._turns.taken([prompt])
        end = withdrawal(state)
        if end is None or not self._turns.withdrawn(prompt):
            return []
        return [end] if self._turns.working else [*self._closed(cancelled=end.error is None), end]

    def _answered(self, frame: ControlResponseFrame) -> list[Signal]:
        answer = self.control.on_answer(frame)
        signals: list[Signal] = []
        if answer.ok:
            self.settings.answered(answer.body)
            signals += [signal for prompt in unqueued(answer.body) for signal in self._became(prompt, "cancelled")]
        return signals + self.control.on_pending(frame.response.pending_permission_requests)

    def _task(self, kind: str, frame: TaskFrame, line: bytes) -> list[Signal]:
        self.control.follow_task(kind, frame)
        ended = kind == "task_notification" and frame.tool_use_id
        signals = self._messages.sub_agent_ended(frame.tool_use_id) if ended else []
        return signals + self._remarks.task(kind, frame, line, is_open=self._calls.is_open(frame.tool_use_id))

    def _reset(self, line: bytes) -> list[Signal]:
        """``/clear``: the next turn names the new id."""
        self._account.cleared()
        return [*self._calls.cleared(), CustomNote("conversation_reset", line)]


def _own_turn_ended(end: TurnEnd, frame: ResultFrame) -> AgentNote:
    return AgentNote(OwnTurn("ended", stop_reason=end.stop, error=end.error.message if end.error is not None else None,
                             origin=frame.origin.kind if frame.origin is not None else None))


def _printed(text: str) -> str:
    """What a slash command printed, out of the tags that the CLI puts around it."""
    found: list[str] = []
    begun: int | None = None
    for tag in _PRINTED.finditer(text):
        if tag[1] and begun is not None:
            found.append(text[begun:tag.start()].strip())
            begun = None
        elif not tag[1] and begun is None:
            begun = tag.end()
    return "\n".join(filter(None, found)) if found else text.strip()


def _update(update: Json) -> Update:
    return Update(_encode(update))
