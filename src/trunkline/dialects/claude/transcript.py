"""A transcript of Claude Code (``projects/<folder>/<session>.jsonl``), line by line, as the signals that the fold takes.

Rule 1: lines are emitted in the order in which they were written. A branch that was left later was lived through, and is emitted.
Rule 2: nothing raises. A line that is no JSON is ``Malformed``; kinds of lines that say nothing to a reader (attachments with
the system prompt, snapshots, queues) are left out, and so is what sub-agents wrote into their parent's file. The files that
they have of their own are read under the call that started each.
Rule 3: a message is spread over several lines with the same id, a block each, and each repeats the usage of the whole. The usage
is emitted once, and the turn ends once, when another message begins or ``settle`` is called since nothing follows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from trunkline import decoders
from trunkline.dialects.claude.calls import results, tools
from trunkline.dialects.claude.calls.calls import under
from trunkline.dialects.claude.conversation.usage import count_of
from trunkline.dialects.jsonrpc.lines import utf8_fault
from trunkline.dialects.notes import AgentNote, CustomNote, ModelUsed, RedactedThinking, SubAgentReport
from trunkline.dialects.outside import BROKEN, Json
from trunkline.dialects.signals import Malformed, Signal, StopReason, TurnEnd, Update

Timed = tuple[int, Signal]
"""A signal and when it was: UTC, microseconds."""

INTERRUPTED = "[Request interrupted by user"
NOTIFIES = "<task-notification>"
TOLD_CHARS = 16 << 10
"""Characters of such a notification that are looked at."""
HIDDEN = ("<command-", "<local-command-", "<bash-", "<task-notification>", "<system-reminder>", "Caveat: The messages below")
"""Beginnings of user lines that no person wrote."""

ENDS: dict[str, StopReason] = {
    "end_turn": "end_turn", "stop_sequence": "end_turn", "max_tokens": "max_tokens", "refusal": "refusal"}
TITLES = ("custom-title", "ai-title", "summary")
"""Lines that name the session, the kind that counts most first."""

_encode = msgspec.json.Encoder().encode


class AgentMeta(msgspec.Struct, rename="camel"):
    """What lies beside a sub-agent's file: the call that started it, in newer versions."""

    tool_use_id: str = ""


class TranscriptLine(msgspec.Struct, rename="camel"):
    """The members of a line that matter; any may be missing."""

    type: str = ""
    subtype: str = ""
    uuid: str = ""
    timestamp: str = ""
    cwd: str = ""
    is_sidechain: bool = False
    is_meta: bool = False
    is_compact_summary: bool = False
    message: Any = None
    tool_use_result: Any = None
    custom_title: str = ""
    ai_title: str = ""
    summary: str = ""


_read = decoders.of(TranscriptLine, strict=False).decode


def read_line(raw: bytes) -> TranscriptLine | None:
    """One line; None where it is no such object (a torn write, another format)."""
    if utf8_fault(raw) is not None:  # members that are left as they came would not notice
        return None
    try:
        return _read(raw)
    except BROKEN:
        return None


def instant(stamp: str) -> int:
    """A timestamp in microseconds; 0 for what is none."""
    try:
        read = datetime.fromisoformat(stamp)
    except ValueError:
        return 0
    return int((read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp() * 1e6)


def given_title(line: TranscriptLine) -> str:
    """The title that this line gives; "" for any other line."""
    return {"custom-title": line.custom_title, "ai-title": line.ai_title, "summary": line.summary}.get(line.type, "")


def prompt_text(line: TranscriptLine) -> str:
    """What a person typed in this line; "" for anything else."""
    if line.type != "user" or line.is_meta or line.is_sidechain or line.is_compact_summary:
        return ""
    text = "\n".join(_text(block) for block in _blocks(line.message) if block.get("type") == "text")
    return "" if not text.strip() or text.lstrip().startswith((INTERRUPTED, *HIDDEN)) else text


def task_text(line: TranscriptLine) -> str:
    """The task that a sub-agent's file begins with."""
    return "\n".join(_text(block) for block in _blocks(line.message)) if line.type == "user" else ""


def answer_text(line: TranscriptLine) -> str:
    """What the agent answered in this line; "" for anything else."""
    if line.type != "assistant" or line.is_sidechain:
        return ""
    return "\n".join(_text(block) for block in _blocks(line.message) if block.get("type") == "text").strip()


def model_of(line: TranscriptLine) -> str:
    """The model that answered in this line; "" for anything else."""
    model = line.message.get("model") if line.type == "assistant" and isinstance(line.message, dict) else None
    return model if isinstance(model, str) and model != "<synthetic>" else ""


class ClaudeTranscript:
    """Reads one session's lines, from the first one on."""

    def __init__(self, parent: str | None = None) -> None:
        """``parent``: the file is a sub-agent's, which this call started: its words and calls are told under that, and whatever
        is the session's own (prompts, turns, the plan, usage) is not."""
        self._parent = parent
        self._at = 0
        self._answered_at = 0
        """When the agent's newest message was written."""
        self._message_id = ""
        self._counted = ""
        """The message whose usage was emitted last."""
        self._usage: Json | None = None
        self._end: TurnEnd | None = None
        self._model = ""
        self._calls: dict[str, tuple[str, Json]] = {}
        self._sent_off: set[str] = set()
        """Calls whose sub-agents go on in the background."""

    @property
    def at(self) -> int:
        """The time of the newest line that had one."""
        return self._at

    def task_of(self, prompt: str) -> str | None:
        """The open call that gave a sub-agent this task."""
        return next((call_id for call_id, (_, given) in self._calls.items() if given.get("prompt") == prompt), None)

    def line(self, raw: bytes) -> list[Timed]:
        """What a line means, and when; the time is 0 where no line has had one yet."""
        line = read_line(raw)
        if line is None:
            return [(self._at, Malformed(raw[:4096], "not a line of a transcript", len(raw)))]
        at = instant(line.timestamp) or self._at
        held = self.settle() if self._is_news(line) else []
        self._at = at
        return held + [(at, signal) for signal in self._signals_of(line)]

    def settle(self) -> list[Timed]:
        """Nothing follows for now: what was held back until it was sure, as of the line that had it."""
        held = self._usage_note() + self._turn_end()
        return [(self._answered_at, signal) for signal in held] if self._parent is None else []

    def _is_news(self, line: TranscriptLine) -> bool:
        """Whether this line shows that the message before it is complete."""
        if self._is_aside(line) or line.type not in ("user", "assistant"):
            return False
        return line.type == "user" or _message_id(line) != self._message_id

    def _signals_of(self, line: TranscriptLine) -> list[Signal]:
        if self._is_aside(line):
            return []
        match line.type:
            case "user":
                return self._user(line)
            case "assistant":
                return self._assistant(line)
            case "system" if self._parent is None:
                return self._system(line)
        title = given_title(line) if self._parent is None else ""
        return [_update({"sessionUpdate": "session_info_update", "title": title})] if title else []

    def _is_aside(self, line: TranscriptLine) -> bool:
        """Whether the line is not of the conversation that this file is about."""
        return line.is_meta or (line.is_sidechain and self._parent is None)

    def _user(self, line: TranscriptLine) -> list[Signal]:
        results = [block for block in _blocks(line.message) if block.get("type") == "tool_result"]
        if results:
            return [signal for block in results for signal in self._result(block, line.tool_use_result)]
        if self._parent is not None:
            return []  # the task, which its call has
        if line.is_compact_summary:
            return [CustomNote("compact_summary", _encode({"uuid": line.uuid}))]
        blocks = [content for block in _blocks(line.message) if (content := _content(block)) is not None]
        text = "".join(block.get("text", "") for block in blocks)
        if text.lstrip().startswith(INTERRUPTED):
            return [TurnEnd(stop="cancelled")]
        if text.lstrip().startswith(NOTIFIES):
            return self._notified(text)
        if not blocks or text.lstrip().startswith(HIDDEN):
            return []
        return [_update({"sessionUpdate": "user_message_chunk", "content": block, "messageId": line.uuid or "user"})
                for block in blocks]

    def _assistant(self, line: TranscriptLine) -> list[Signal]:
        message = line.message if isinstance(line.message, dict) else {}
        self._message_id, self._answered_at = _message_id(line), self._at
        signals: list[Signal] = []
        signals += self._model_note(message.get("model"))
        for block in _blocks(message):
            signals += self._block(block)
        self._usage = message["usage"] if isinstance(message.get("usage"), dict) else self._usage
        reason = message.get("stop_reason")
        stop = ENDS.get(reason) if isinstance(reason, str) else None
        self._end = TurnEnd(stop=stop, agent_stop=reason if reason == "stop_sequence" else None) if stop is not None else None
        return signals

    def _block(self, block: Json) -> list[Signal]:
        match block.get("type"):
            case "text" if _text(block):
                return [self._chunk("agent_message_chunk", _text(block))]
            case "thinking" if isinstance(block.get("thinking"), str) and block["thinking"]:
                return [self._chunk("agent_thought_chunk", block["thinking"])]
            case "redacted_thinking":
                return [AgentNote(RedactedThinking())]
            case "tool_use":
                return self._call(block)
        return []

    def _call(self, block: Json) -> list[Signal]:
        call_id, name = block.get("id"), block.get("name")
        given = block.get("input")
        if not isinstance(call_id, str) or not isinstance(name, str):
            return []
        given = given if isinstance(given, dict) else {}
        self._calls[call_id] = (name, given)
        if name == tools.TODOS:
            update = tools.plan(given) if self._parent is None else None
        else:
            update = under(tools.announced(call_id, name, given), self._parent)
        return [_update(update)] if update is not None else []

    def _result(self, block: Json, record: Any) -> list[Signal]:
        call_id = block.get("tool_use_id")
        name, given = self._calls.pop(call_id, ("", {})) if isinstance(call_id, str) else ("", {})
        if not isinstance(call_id, str) or name == tools.TODOS:
            return []
        ended = results.ended(call_id, name, given, block.get("content"), record, block.get("is_error") is True)
        return [*self._background(call_id, name, record), _update(under(ended, self._parent))]

    def _background(self, call_id: str, name: str, record: Any) -> list[Signal]:
        """That a sub-agent goes on without the call that ends now."""
        if not results.is_sent_off(name, record):
            return []
        self._sent_off.add(call_id)
        return [AgentNote(SubAgentReport(sub_agent_id=call_id, state="background", parent_tool_call_id=call_id))]

    def _notified(self, text: str) -> list[Signal]:
        """A sub-agent in the background has ended."""
        told = {name: found[1].strip() for name in ("tool-use-id", "status", "summary")
                if (found := re.search(rf"<{name}>([^<]{{0,4000}})</{name}>", text[:TOLD_CHARS]))}
        call_id = told.get("tool-use-id", "")
        if call_id not in self._sent_off:
            return []
        self._sent_off.discard(call_id)
        return [AgentNote(SubAgentReport(
            sub_agent_id=call_id, state="completed", parent_tool_call_id=call_id, result=told.get("summary", ""),
            failed=told.get("status", "completed") != "completed"))]

    def _system(self, line: TranscriptLine) -> list[Signal]:
        if line.subtype in ("compact_boundary", "api_error"):
            return [CustomNote(line.subtype, _encode({"uuid": line.uuid}))]
        return []

    def _model_note(self, model: Any) -> list[Signal]:
        if not isinstance(model, str) or model in (self._model, "", "<synthetic>") or self._parent is not None:
            return []
        self._model = model
        return [AgentNote(ModelUsed(model, provider="anthropic"))]

    def _usage_note(self) -> list[Signal]:
        usage, self._usage = self._usage, None
        if usage is None or self._counted == self._message_id:
            return []
        self._counted = self._message_id
        count = count_of(usage)
        return [AgentNote(count.as_spent(self._message_id))] if count.any else []

    def _turn_end(self) -> list[Signal]:
        end, self._end = self._end, None
        return [end] if end is not None else []

    def _chunk(self, kind: str, text: str) -> Signal:
        chunk = {"sessionUpdate": kind, "content": {"type": "text", "text": text}, "messageId": self._message_id}
        return _update(under(chunk, self._parent))


def _message_id(line: TranscriptLine) -> str:
    message_id = line.message.get("id") if isinstance(line.message, dict) else None
    return message_id if isinstance(message_id, str) else line.uuid


def _update(update: Json) -> Update:
    return Update(_encode(update))


def _blocks(message: Any) -> Sequence[Json]:
    """The content blocks of a message; a plain string is one block of text."""
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _content(block: Json) -> Json | None:
    """What a person sent, as a content block of the Agent Client Protocol."""
    if block.get("type") == "text" and _text(block):
        return {"type": "text", "text": _text(block)}
    source = block.get("source")
    if block.get("type") == "image" and isinstance(source, dict) and isinstance(source.get("data"), str):
        return {"type": "image", "data": source["data"], "mimeType": str(source.get("media_type", "image/png"))}
    return None


def _text(block: Json) -> str:
    value = block.get("text")
    return value if isinstance(value, str) else ""
