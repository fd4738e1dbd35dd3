"""The one fold: signals of any agent and acts of any client in, numbered entries out.

    writer.py      numbers entries and encodes events
    text.py        messages and thoughts          calls/          tool calls
    asks/          permissions and questions      effects/        what calls did: files, git, web, sub-agents
    turns.py       prompts, ends, the queue       conditions.py   modes, options, commands, titles
    usage.py       tokens, money, context window  plans.py        the agent's plan
    lifecycle.py   start, pause, end, environment notes.py        what the protocol has no word for
    options.py     an agent's own settings        capability_flags.py  what the session has shown that it can
    followed.py    a session that others run: its file, and a live line ahead of that

Rule 1: pure. No I/O, no clock: ``at`` (microseconds) comes with every call, ids come from the caller.
Rule 2: nothing here knows which agent it is, and no input breaks it: what makes no sense is journaled as ``custom``.
Rule 3: every method leaves its entries in the writer; ``take`` hands them over in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from trunkline.dialects.acp.content import TextContent
from trunkline.dialects.acp.reading.decode import read_update, text_chunk, usual_text
from trunkline.dialects.acp.reading.large import abridged
from trunkline.dialects.acp.updates import (
    AgentMessageChunk,
    AgentThoughtChunk,
    ToolCall,
    ToolCallUpdate,
    UnknownUpdate,
    UserMessageChunk,
)
from trunkline.dialects.acp.usage import chunk_usage
from trunkline.dialects.calls import ToolNames
from trunkline.dialects.notes import AgentNote, CustomNote
from trunkline.dialects.packets.derive import chunk_packet
from trunkline.dialects.packets.notices import artifact_packet
from trunkline.dialects.packets.shapes import ArtifactInfo
from trunkline.dialects.signals import (
    AskWithdrawn,
    LargeUpdate,
    Malformed,
    PermissionAsk,
    QuestionAsk,
    Signal,
    TurnEnd,
    Update,
)
from trunkline.journal.base import Entry
from trunkline.session.fold import KEPT_ARTIFACTS, KEPT_COMMANDS, Artifact, CommandAnswer, Disk, Fold, remember
from trunkline.session.interpret.asks.asks import NO_TEXTS, Announced, AskInterpreter
from trunkline.session.interpret.asks.policy_asks import PolicyAsks
from trunkline.session.interpret.asks.questions import QuestionInterpreter
from trunkline.session.interpret.asks.tool_questions import emit_questions
from trunkline.session.interpret.asks.waiting import WaitingAsks
from trunkline.session.interpret.calls.blocks import tool_part
from trunkline.session.interpret.calls.evidence import keep_before, unread, with_strays
from trunkline.session.interpret.calls.facts import name_of
from trunkline.session.interpret.calls.tools import ToolInterpreter
from trunkline.session.interpret.conditions import ConditionInterpreter
from trunkline.session.interpret.followed import FollowedInterpreter
from trunkline.session.interpret.lifecycle import LifecycleInterpreter
from trunkline.session.interpret.notes import NoteInterpreter
from trunkline.session.interpret.text import TextInterpreter
from trunkline.session.interpret.turns import TurnInterpreter
from trunkline.session.interpret.usage import UsageInterpreter, usage_of
from trunkline.session.interpret.writer import Carried, Writer

DEFAULT_APPROVAL_TIMEOUT_S = 600.0


class Interpreter:
    """Folds one session. ``turns``, ``asks``, ``questions`` and ``conditions`` take the clients' acts, ``on_signals`` what comes
    of the agent."""

    def __init__(self, fold: Fold, *, approval_timeout_s: float = DEFAULT_APPROVAL_TIMEOUT_S, tools: ToolNames | None = None,
                 home: str | None = None, roots: Sequence[str] = (), guarded: Sequence[str] = (), chain_key: bytes = b"",
                 raw_as_sent: bool = False) -> None:
        self.fold = fold
        self.writer = Writer(fold)
        self.text = TextInterpreter(self.writer)
        self.tools = ToolInterpreter(self.writer, self.text, tools, home=home, roots=roots, raw_as_sent=raw_as_sent)
        self.waiting = WaitingAsks(self.writer, self.tools.calls, int(approval_timeout_s * 1e6))
        self.policy_asks = PolicyAsks(self.writer, self.tools.calls, roots=roots, home=home, guarded=guarded)
        self.asks = AskInterpreter(self.writer, self.tools, self.waiting, self.policy_asks, chain_key=chain_key, roots=roots,
                                   home=home)
        self.questions = QuestionInterpreter(self.writer, self.waiting)
        self.lifecycle = LifecycleInterpreter(self.writer, self.text, self.tools, seal=self.asks.seal)
        self.followed = FollowedInterpreter(self.writer)
        self.usage = UsageInterpreter(self.writer)
        self.conditions = ConditionInterpreter(self.writer, self.usage, self.lifecycle)
        self.notes = NoteInterpreter(self.writer, self.text, self.tools, self.usage, self.lifecycle)
        self.turns = TurnInterpreter(self.writer, self.text, self.tools, self.asks, self.questions, self.usage)
        self._names = tools or ToolNames()
        self._parent_path = self._names.parent_call.split(".") if self._names.parent_call else []
        self._can_ask = "ask_user" in self._names.roles.values()
        self.replaying = False
        """The agent replays its history: what the person said in it is news to us."""

    def at(self, at: int) -> Interpreter:
        """Set the time of what follows."""
        self.writer.at = at
        return self

    def take(self) -> list[Entry]:
        """The entries written since the last take."""
        return self.writer.take()

    def on_signals(self, signals: Iterable[Signal], *, looks: bool = False) -> list[Signal]:
        """Fold what the agent sent, in order. Ends of turns are not folded here: the session ends turns.

        Who ``looks`` is left with a result for which the disk has to be looked at (``tools.disk.wanted``), and gets back
        what stands behind it."""
        rest = iter(signals)
        signal = self.on_text(rest)
        if signal is None:
            return []
        disk = self.tools.disk
        disk.looks, disk.is_news = looks, not self.replaying
        while signal is not None:
            if type(signal) is Update:
                self._update(signal.raw)
            else:
                self._other(signal)
            if disk.wanted is not None:
                return list(rest)
            signal = self.on_text(rest)
        return []

    def on_text(self, signals: Iterator[Signal]) -> Signal | None:
        """Fold what the agent sent as long as it is text; returns what is not, unfolded, and leaves what stands behind it."""
        append = self.text.append
        for signal in signals:
            if type(signal) is not Update:
                return signal
            raw = signal.raw
            token = usual_text(raw)
            if token is not None:
                append(False, None, token, raw)
            elif not self._on_chunk(raw):
                return signal
        return None

    def request(self, announced: Announced, texts: Mapping[str, str] = NO_TEXTS, disk: Disk | None = None) -> None:
        """Put an ask to a person that was announced (``asks.announce``); ``texts`` and ``disk`` were found on the disk."""
        keep_before(announced.own.call, texts)
        tool_call_id = announced.own.call.state.tool_call_id
        self._plan_of(tool_call_id)  # what is agreed to is read before it is asked about
        self.asks.request(announced, texts, disk)
        self._after_call(tool_call_id)

    def replayed(self) -> None:
        """The agent has replayed all of its history: what is open in it does not go on."""
        self.replaying = False
        self.text.close()
        self._close_calls()

    def command_done(self, command_id: str, done: CommandAnswer) -> None:
        """Keep what came of a command, for who sends it again under its id."""
        remember(self.fold.commands, command_id, done, KEPT_COMMANDS)

    def artifact(self, artifact: Artifact, preview_url: str | None) -> None:
        """Something that the agent made was found on disk, or found changed."""
        remember(self.fold.artifacts, artifact.path, artifact, KEPT_ARTIFACTS)
        info = ArtifactInfo(
            id=artifact.id, type=artifact.type, name=artifact.name, path=artifact.relative_path,  # type: ignore[arg-type]
            preview_url=preview_url,
        )
        self.writer.custom("artifact_created", artifact, packet=artifact_packet(info, self.writer.at))

    def _on_chunk(self, raw: bytes) -> bool:
        """Fold a chunk of the agent's text or thoughts; False where it is none."""
        chunk = text_chunk(raw)
        if chunk is None or chunk.kind == "user_message_chunk":
            return False
        self.text.chunk(chunk, raw)
        return True

    def _update(self, raw: bytes) -> None:
        update, wire = read_update(raw)
        kept = None if wire is raw else raw
        match update:
            case ToolCall() | ToolCallUpdate():
                self.tools.on_update(with_strays(update, raw), wire, kept)
                self._after_call(update.tool_call_id)
            case UserMessageChunk():
                self._user_chunk(update, wire, raw)
            case AgentMessageChunk() | AgentThoughtChunk():
                self._chunk(update, wire, kept)
            case UnknownUpdate() if (part := tool_part(wire)) is not None:
                self.text.parts(part[0], [part[1]], Carried(wire, None, kept))
            case _:
                self.conditions.on_update(update, wire, kept)

    def _large(self, raw: bytes) -> None:
        """An update of many megabytes: of a call its beginning is emitted, and the entry has all of it."""
        short = abridged(raw)
        if short is None:
            if not self._on_chunk(raw):
                self._update(raw)
            return
        update, wire = read_update(short.update)
        if isinstance(update, ToolCall | ToolCallUpdate):
            self.tools.on_update(unread(update), wire, raw, input_cut=short.input_cut)
            self._after_call(update.tool_call_id)
        else:
            self.conditions.on_update(update, wire, raw)

    def _chunk(self, update: AgentMessageChunk | AgentThoughtChunk, wire: bytes, kept: bytes | None) -> None:
        """A chunk off the hot path: one that was normalised, that has remarks on it, or that is no plain text."""
        chunk = text_chunk(wire)
        if chunk is not None:
            self.text.chunk(chunk, wire)
            return
        carried = Carried(wire, chunk_packet(update, self.writer.at), kept)
        content, count = update.content, chunk_usage(wire)
        if count is not None and isinstance(content, TextContent) and not content.text:
            self.usage.tokens(usage_of(count), thought=count.thought_tokens, carried=carried)
            return
        if isinstance(content, TextContent):
            self.text.remarked(update, content.text, carried, _parent_in(update.meta, self._parent_path))
        else:
            self.text.block(content, carried)
        if count is not None:
            self.usage.tokens(usage_of(count), thought=count.thought_tokens)

    def _user_chunk(self, update: UserMessageChunk, wire: bytes, raw: bytes) -> None:
        if not self.replaying and self.turns.echo.takes(update.content):
            # The hub wrote the prompt itself; an agent's echo would show it twice.
            self.writer.custom("user_message_echo", msgspec.Raw(wire), namespace="acp", raw=raw)
            return
        if self.replaying and not self.text.user_goes_on(update.message_id):
            self.text.close()
            self._close_calls()
        packet = chunk_packet(update, self.writer.at)
        self.text.append_user(update, Carried(wire, packet, None if wire is raw else raw), replayed=self.replaying)

    def _close_calls(self) -> None:
        self.tools.close_all(cancelled=False)
        self.tools.calls.forget_all()

    def _after_call(self, tool_call_id: str) -> None:
        """What a call's input says beyond the call itself: a plan, a question."""
        self._plan_of(tool_call_id)
        call = self.fold.calls.get(tool_call_id)
        if call is None:
            return
        if self._can_ask and not call.questioned and self._names.role_of(name_of(call.state)) == "ask_user":
            emit_questions(self.writer, call)

    def _plan_of(self, tool_call_id: str) -> None:
        call = self.fold.calls.get(tool_call_id)
        if call is not None and call.state.kind == "switch_mode":
            self.conditions.plan_shown(call.state)

    def _other(self, signal: Signal) -> None:
        match signal:
            case LargeUpdate():
                self._large(bytes(signal.raw))
            case PermissionAsk():
                self.request(self.asks.announce(signal))
            case QuestionAsk():
                self.questions.request(signal)
            case AskWithdrawn():
                self._withdrawn(signal)
            case AgentNote():
                self.notes.on_note(signal)
            case CustomNote():
                self.notes.custom(signal)
            case Malformed():
                data = {"line": signal.line.decode("utf-8", errors="replace"), "why": signal.why, "size": signal.size}
                self.writer.custom("malformed", data)
            case TurnEnd() | Update():
                raise AssertionError("turn ends and updates are handled before")

    def _withdrawn(self, taken: AskWithdrawn) -> None:
        request_id, decided = self.asks.standing_for(taken.request_id), taken.approved is not None
        if request_id in self.fold.approvals:
            self.asks.resolve(request_id, approved=taken.approved is True, resolved_by="user" if decided else "policy",
                              who=taken.by, reason=taken.reason, decides=decided or taken.by == "agent")
            self.asks.forget(request_id)
        elif request_id in self.fold.questions:
            self.questions.answered(request_id, action="cancel", content=None, who=taken.by)


def _parent_in(meta: dict[str, Any] | None, path: list[str]) -> str | None:
    """The call whose sub-agent a remark names; None where it names none."""
    value: Any = meta if path else None
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else None
