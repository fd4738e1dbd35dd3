"""A session as markdown for people: one event in, a piece of text out.

Rule 1: pure, and constant in memory: what is remembered is what is open, never the conversation.
Rule 2: text is written as it came, piece by piece. What tools put out is fenced so that it cannot end its own
fence, and cut where it is long, with the number of characters that were left out.
Rule 3: what was approved says who decided.
Rule 4: who prints the file to a terminal obeys nobody: what programs wrote to theirs is left out, and any other character that is
not seen, or that reorders what is, is shown as a picture of itself or by its number.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import UNSET

from trunkline.dialects.calls.describe import carried_reading
from trunkline.dialects.context.envelope import decode_event
from trunkline.dialects.context.events import (
    ApprovalRequestedEvent,
    ApprovalResolvedEvent,
    CostUpdateEvent,
    CustomEvent,
    FileChangeBatchEvent,
    FileChangeEvent,
    GitOperationEvent,
    MessageCompleteEvent,
    MessageDeltaEvent,
    NotificationEvent,
    SessionErrorEvent,
    SubAgentCompletedEvent,
    SubAgentSpawnedEvent,
    ThinkingCompleteEvent,
    ThinkingDeltaEvent,
    TodoUpdateEvent,
    TokenUsageEvent,
    ToolCallErrorEvent,
    ToolCallExecutingEvent,
    ToolCallResultEvent,
    UserQuestionEvent,
    WebOperationEvent,
)
from trunkline.dialects.context.types import CostBreakdown, FileBatchChange, TokenUsage
from trunkline.dialects.context.unions import (
    CommandOutput,
    FileDiffOutput,
    ImagePart,
    MessageContent,
    TextPart,
    ToolResultPart,
    ToolUsePart,
)
from trunkline.dialects.outside import BROKEN
from trunkline.dialects.terminal_sequences import without_sequences
from trunkline.dialects.visible import shown
from trunkline.errors import Invalid

OUTPUT_MOST = 8_000
"""Characters of a tool's input or output."""
DIFF_MOST = 40_000
VALUE_MOST = 200
"""Characters of one field of an input."""
LINES_MOST = 2_000
"""The same of a field of several lines."""
CALLS_MOST = 256
"""Calls that are remembered while they run."""

_UNREADABLE = "> *An event could not be read.*"
_MARKS = {"completed": "x", "in_progress": "~"}
_LINE_ENDS = re.compile(r"\r+\n?")
_BACKTICKS = re.compile(r"`{3,}")
_ANY_BACKTICKS = re.compile(r"`+")


class MarkdownTranscript:
    """Turns events into markdown, in order."""

    def __init__(self) -> None:
        self._text_of: str | None = None
        """The message whose text is being written."""
        self._in_thought = False
        self._speaker = ""
        self._spoken: set[str] = set()
        """Messages that are open and of which text was written."""
        self._calls: dict[str, None] = {}
        """Calls that are written already, the newest last."""
        self._todos = ""
        self._brought_todos: str | None = None
        self._cost: CostBreakdown | None = None
        self._tokens: TokenUsage | None = None

    def head(self, *, title: str, agent: str, folder: str, started: str) -> str:
        """What stands above all."""
        facts = (("Agent", agent), ("Folder", f"`{folder}`"), ("Started", started))
        head = f"# {_line(title) or 'Untitled session'}\n\n" + "".join(f"- {name}: {value}\n" for name, value in facts)
        return shown(head)

    def render(self, raw: bytes) -> str:
        """An event as text; empty where it is not for reading."""
        try:
            return shown(self._event(raw))
        except BROKEN:  # what is kept as it came may be damaged where the event itself can be read
            return self._block(_UNREADABLE)

    def _event(self, raw: bytes) -> str:
        try:
            event = decode_event(raw)
        except Invalid:
            return self._block(_UNREADABLE)
        if isinstance(event, MessageDeltaEvent | ThinkingDeltaEvent):
            return self._delta(event)
        if isinstance(event, MessageCompleteEvent | ThinkingCompleteEvent):
            return self._complete(event)
        paragraph = self._paragraph(event)
        return self._block(paragraph) if paragraph else ""

    def end(self) -> str:
        """What stands below all: what it cost, as far as the agent says."""
        lines = []
        if self._cost is not None:
            lines.append(f"- Cost: {self._cost.total:g} {self._cost.currency}")
        if self._tokens is not None:
            lines.append(f"- Tokens: {self._tokens.input_tokens} in, {self._tokens.output_tokens} out")
        return self._close() + ("\n---\n\n" + "\n".join(lines) + "\n" if lines else "")

    # Text

    def _delta(self, event: MessageDeltaEvent | ThinkingDeltaEvent) -> str:
        opening = ""
        if self._text_of != event.message_id:
            thinking = isinstance(event, ThinkingDeltaEvent)
            opening = self._close() + (self._thought() if thinking else self._heading(event))
            self._text_of, self._in_thought = event.message_id, thinking
        self._spoken.add(event.message_id)
        return opening + event.delta

    def _complete(self, event: MessageCompleteEvent | ThinkingCompleteEvent) -> str:
        if isinstance(event, ThinkingCompleteEvent):
            self._spoken.discard(event.message_id)
            return self._close()
        parts = [part for part in event.content if not isinstance(part, TextPart) or event.message_id not in self._spoken]
        self._spoken.discard(event.message_id)
        texts = [text for part in parts if (text := _part(part))]
        heading = self._heading(event) if texts and self._text_of != event.message_id else ""
        closing = self._close()
        return closing + heading + "".join(f"\n{text}\n" for text in texts)

    def _heading(self, event: Any) -> str:
        speaker = {"user": "You", "assistant": "Agent"}.get(event.role, "System")
        if speaker == self._speaker and speaker != "You":
            return "\n"
        self._speaker = speaker
        return f"\n## {speaker}\n\n"

    def _thought(self) -> str:
        return "\n<details><summary>Thinking</summary>\n\n"

    def _close(self) -> str:
        """End the text that is being written."""
        if self._text_of is None:
            return ""
        ending = "\n\n</details>\n" if self._in_thought else "\n"
        self._text_of, self._in_thought = None, False
        return ending

    def _block(self, text: str) -> str:
        return f"{self._close()}\n{text}\n"

    # Everything else

    def _paragraph(self, event: Any) -> str:
        match event:
            case ToolCallExecutingEvent():
                return "" if event.requires_approval else self._call(event.tool_call_id, event.name, event.input, event.meta)
            case ToolCallResultEvent():
                return self._result(event)
            case ToolCallErrorEvent():
                self._calls.pop(event.tool_call_id, None)
                return _failure(_line(event.name), _printed(event.error.message).strip())
            case FileChangeEvent():
                return _change(event)
            case FileChangeBatchEvent():
                return "\n\n".join(_change(change) for change in event.changes)
            case ApprovalRequestedEvent():
                call = self._call(event.tool_call_id, event.tool_name, event.tool_input, event.meta)
                ask = f"> **Approval needed** (risk {event.risk_level}): {_line(event.description)}"
                return f"{call}\n\n{ask}" if call else ask
            case ApprovalResolvedEvent():
                return _decision(event)
            case UserQuestionEvent():
                options = "" if event.options is UNSET else "".join(f"\n> - {_line(option)}" for option in event.options)
                return f"> **Question**: {_quoted(event.question)}{options}"
            case SessionErrorEvent():
                return f"> **Error**: {_quoted(event.error.message)}"
            case NotificationEvent():
                return f"> **{_line(event.title)}**: {_line(event.message)}"
            case TodoUpdateEvent():
                return self._todo_list(event)
            case SubAgentSpawnedEvent():
                return f"> **Sub-agent**: {_quoted(event.task)}"
            case SubAgentCompletedEvent():
                return f"> **Sub-agent done**: {_quoted(event.result)}"
            case GitOperationEvent() | WebOperationEvent():
                return _operation(event.operation)
            case CustomEvent(namespace="trunkline", event_name="question_resolved"):
                return _answer(event)
            case CostUpdateEvent():
                self._cost = event.cumulative
            case TokenUsageEvent():
                self._tokens = event.cumulative
        return ""

    def _call(self, call_id: str, name: str, given: msgspec.Raw, meta: object) -> str:
        """A call and its command or its input; empty where it is written already."""
        if call_id in self._calls:
            return ""
        while len(self._calls) >= CALLS_MOST:
            del self._calls[next(iter(self._calls))]
        self._calls[call_id] = None
        command = carried_reading(meta).command
        written = _input(given) if command is None else fenced(_cut(command, OUTPUT_MOST), "sh")
        return f"### Tool: {_line(name)}" + (f"\n\n{written}" if written else "")

    def _todo_list(self, event: TodoUpdateEvent) -> str:
        """The list, if it is another than the last one. The call that brought it has nothing more to say."""
        self._brought_todos = next(reversed(self._calls), None)
        todos = "\n".join(f"- [{_MARKS.get(todo.status, ' ')}] {_line(todo.content)}" for todo in event.todos)
        before, self._todos = self._todos, todos
        return todos if todos != before else ""

    def _result(self, event: ToolCallResultEvent) -> str:
        is_newest = next(reversed(self._calls), None) == event.tool_call_id
        self._calls.pop(event.tool_call_id, None)
        # A changed file has an event of its own, with its diff.
        if isinstance(event.structured, FileDiffOutput) or event.tool_call_id == self._brought_todos:
            return ""
        output = _printed(event.output)
        parts = [fenced(_cut(output, OUTPUT_MOST))] if output.strip() else []
        if isinstance(event.structured, CommandOutput):
            parts.append(f"Exit code: {event.structured.exit_code}")
        if parts and not is_newest:
            parts.insert(0, f"Result of **{_line(event.name)}**:")
        return "\n\n".join(parts)


def _failure(name: str, why: str) -> str:
    return f"**{name} failed**: {_line(why)}" if "\n" not in why else f"**{name} failed**:\n\n{fenced(_cut(why, OUTPUT_MOST))}"


def fenced(text: str, language: str = "") -> str:
    """Text as a code block that it cannot end itself."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}"


def _input(raw: msgspec.Raw) -> str:
    """An input by its fields, each on a line: what it changes is in its diff."""
    given = msgspec.json.decode(raw)
    if not isinstance(given, dict):
        return ""
    return "\n".join(f"- {_line(name)}: {_value(value)}" for name, value in given.items())


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    if "\n" in text.strip():
        return "\n\n" + _indented(fenced(_cut(_printed(text), LINES_MOST))) + "\n"
    line = _line(text)
    return _code(line) if len(line) <= VALUE_MOST else f"{_code(line[:VALUE_MOST])} … ({len(text)} characters)"


def _indented(block: str) -> str:
    """A block that belongs to an item of a list."""
    return "\n".join(f"  {line}" for line in block.split("\n"))


def _quoted(text: str) -> str:
    """Words in a quote, with their lines as they are: code among them stays code."""
    return "\n> ".join(line.rstrip() for line in _printed(text).strip().split("\n"))


def _code(text: str) -> str:
    """Text between as many backticks as it needs."""
    if not text:
        return "``"
    fence = "`" * (max((len(run) for run in _ANY_BACKTICKS.findall(text)), default=0) + 1)
    pad = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _change(event: FileChangeEvent | FileBatchChange) -> str:
    added, removed = (0 if count is UNSET else count for count in (event.lines_added, event.lines_removed))
    head = f"**{event.change_type}** {_code(_line(event.path))} (+{added} −{removed})"
    return head if event.diff is UNSET or not event.diff else f"{head}\n\n{fenced(_cut(event.diff, DIFF_MOST), 'diff')}"


def _decision(event: ApprovalResolvedEvent) -> str:
    meta = {} if event.meta is UNSET else event.meta
    who = _line(str(meta.get("by") or event.resolved_by))
    reason = "" if event.reason is UNSET else f": {_line(event.reason)}"
    return f"> **{'Approved' if event.approved else 'Denied'}** by {who}{reason}"


def _answer(event: CustomEvent) -> str:
    meta = {} if event.meta is UNSET else event.meta
    data = msgspec.json.decode(event.data)
    content = data.get("content")
    answer = f": {_line(msgspec.json.encode(content).decode())}" if content is not None else ""
    return f"> **Answered** ({_line(str(data.get('action', '')))}) by {_line(str(meta.get('by', '')))}{answer}"


def _operation(operation: Any) -> str:
    facts = msgspec.to_builtins(operation)
    kind = facts.pop("kind")
    listed = ", ".join(f"{name} {_line(str(value))}" for name, value in facts.items() if not isinstance(value, list))
    family = "Web" if kind in ("search", "fetch") else "Git"
    return f"> **{family} {kind.replace('_', ' ')}**: {listed}"


def _part(part: MessageContent) -> str:
    match part:
        case TextPart():
            return part.text
        case ImagePart():
            return "*[an image]*" if part.url.startswith("data:") else f"![an image]({part.url})"
        case ToolUsePart():
            return f"*[calls {_line(part.name)}]*"
        case ToolResultPart():
            return fenced(_cut(_printed(part.content), OUTPUT_MOST))


def _printed(text: str) -> str:
    """What a program printed, without what it wrote for its terminal; a line that it wrote over is a line of its own."""
    return _LINE_ENDS.sub("\n", without_sequences(text))


def _line(text: str) -> str:
    """On one line."""
    return " ".join(text.split())


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}\n… {len(text) - most} more characters"
