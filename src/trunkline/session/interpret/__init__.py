"""The one fold: signals of any agent and acts of any client in, numbered entries out.

    writer.py      numbers entries and encodes events
    text.py        messages and thoughts          tools.py        tool calls and plans
    asks.py        permissions and questions      conditions.py   modes, usage, commands, titles
    turns.py       prompts, ends, the queue

Rule 1: pure. No I/O, no clock: ``at`` (microseconds) comes with every call, ids come from the caller.
Rule 2: nothing here knows which agent it is, and no input breaks it: what makes no sense is journaled as ``custom``.
Rule 3: every method leaves its entries in the writer; ``take`` hands them over in order.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from trunkline.dialects import acp, context, packets
from trunkline.dialects.signals import (
    AskWithdrawn,
    Malformed,
    Note,
    PermissionAsk,
    QuestionAsk,
    Signal,
    TurnEnd,
    Update,
)
from trunkline.journal.base import Entry
from trunkline.session.fold import Artifact, Fold
from trunkline.session.interpret.asks import AskStory
from trunkline.session.interpret.conditions import ConditionStory
from trunkline.session.interpret.lifecycle import LifecycleStory
from trunkline.session.interpret.text import TextStory
from trunkline.session.interpret.tools import ToolStory
from trunkline.session.interpret.turns import TurnStory
from trunkline.session.interpret.writer import Writer

DEFAULT_APPROVAL_TIMEOUT_S = 600.0


class Interpreter:
    """Folds one session. ``turns``, ``asks`` and ``conditions`` take the clients' acts, ``hear`` what the agent says."""

    def __init__(self, fold: Fold, *, approval_timeout_s: float = DEFAULT_APPROVAL_TIMEOUT_S, chain_key: bytes = b"",
                 home: str | None = None) -> None:
        self.fold = fold
        self.writer = Writer(fold)
        self.text = TextStory(self.writer)
        self.tools = ToolStory(self.writer, self.text)
        self.asks = AskStory(self.writer, self.tools, int(approval_timeout_s * 1e6), chain_key=chain_key, home=home)
        self.lifecycle = LifecycleStory(self.writer)
        self.conditions = ConditionStory(self.writer)
        self.turns = TurnStory(self.writer, self.text, self.tools, self.asks)

    def at(self, at: int) -> Interpreter:
        """Set the time of what follows."""
        self.writer.at = at
        return self

    def take(self) -> list[Entry]:
        """The entries written since the last take."""
        return self.writer.take()

    def hear(self, signals: Iterable[Signal]) -> None:
        """Fold what the agent said, in order. Ends of turns are not folded here: the session ends turns."""
        usual_text, said = acp.usual_text, self.text.said
        for signal in signals:
            if type(signal) is Update:
                raw = signal.raw
                token = usual_text(raw)
                if token is not None:
                    said(False, None, token, raw)
                else:
                    self._update(raw)
            else:
                self._other(signal)

    def artifact(self, artifact: Artifact, preview_url: str | None) -> None:
        """Something that the agent made was found on disk, or found changed."""
        self.fold.artifacts[artifact.path] = artifact
        info = packets.ArtifactInfo(
            id=artifact.id, type=artifact.type, name=artifact.name, path=artifact.relative_path,  # type: ignore[arg-type]
            preview_url=preview_url,
        )
        self.writer.custom("artifact_created", artifact, packet=packets.artifact_packet(info, self.writer.at))

    def _update(self, raw: bytes) -> None:
        chunk = acp.text_chunk(raw)
        if chunk is not None and chunk.kind != "user_message_chunk":
            self.text.chunk(chunk, raw)
            return
        update, wire = acp.read_update(raw)
        kept = None if wire is raw else raw
        match update:
            case acp.ToolCall() | acp.ToolCallUpdate():
                self.tools.told(update, wire, kept)
            case acp.UserMessageChunk():
                # The hub wrote the prompt itself; an agent's echo would show it twice.
                self.writer.custom("user_message_echo", msgspec.Raw(wire), namespace="acp", raw=raw)
            case acp.AgentMessageChunk() | acp.AgentThoughtChunk():
                self._chunk(update, wire, kept)
            case _:
                self.conditions.told(update, wire, kept)

    def _chunk(self, update: acp.AgentMessageChunk | acp.AgentThoughtChunk, wire: bytes, kept: bytes | None) -> None:
        """A chunk off the hot path: one that was normalised, or that is no plain text."""
        chunk = acp.text_chunk(wire)
        if chunk is not None:
            self.text.chunk(chunk, wire)
            return
        self.text.block(update.content, wire, packets.chunk_packet(update, self.writer.at), kept)

    def _other(self, signal: Signal) -> None:
        match signal:
            case PermissionAsk():
                self.asks.permission(signal)
            case QuestionAsk():
                self.asks.question(signal)
            case AskWithdrawn():
                self._withdrawn(signal.request_id)
            case Note():
                self.writer.custom(signal.kind, context.as_object(signal.data), namespace="agent")
            case Malformed():
                data = {"line": signal.line.decode("utf-8", errors="replace"), "why": signal.why, "size": signal.size}
                self.writer.custom("malformed", data)
            case TurnEnd() | Update():
                raise AssertionError("turn ends and updates are handled before")

    def _withdrawn(self, request_id: str) -> None:
        if request_id in self.fold.approvals:
            self.asks.resolve(request_id, approved=False, resolved_by="policy", who="agent", reason="the agent withdrew it")
        elif request_id in self.fold.questions:
            self.asks.answered(request_id, action="cancel", content=None, who="agent")
