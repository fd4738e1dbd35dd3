"""What the model says, from the pieces of an answer (``stream_event``) and from whole blocks (``assistant``): never both.

Rule 1: a piece is emitted when it comes. Of a whole block only that is emitted which did not come in pieces: all of
it where the CLI sends no pieces, nothing where it sent every one.
Rule 2: an answer that broke off and is asked for again repeats itself. What was emitted is not emitted again: as long as the
new answer says the same, it goes on where the old one broke off. Where it says something else it is an answer of its own.
Rule 3: the main conversation and each sub-agent say one thing at a time; what they say in between each other is kept apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec

from trunkline.dialects.claude.calls.calls import ToolCalls
from trunkline.dialects.claude.calls.tools import text_in
from trunkline.dialects.claude.conversation.blocks import TextPieces, block_of, rest_of
from trunkline.dialects.claude.conversation.usage import TokenAccount
from trunkline.dialects.claude.frames.types import AssistantFrame, Message, StreamFrame
from trunkline.dialects.claude.settings import SYNTHETIC
from trunkline.dialects.notes import AgentNote, RedactedThinking
from trunkline.dialects.outside import Json
from trunkline.dialects.signals import Signal, Update

TEXTS: Final = {"text": "agent_message_chunk", "thinking": "agent_thought_chunk"}
"""Kinds of blocks that are texts, and the updates that carry them."""

_encode = msgspec.json.Encoder().encode


class OpenAnswer(msgspec.Struct):
    """An answer of the model. ``shown_id`` is the id that its texts are emitted under: its own, or that of the broken attempt."""

    id: str
    model: str = ""
    shown_id: str = ""
    blocks: dict[int, TextPieces] = {}
    usage: Any = None
    has_end: bool = False
    """The model reported why it stopped. An answer that is closed without that broke off."""
    is_done: bool = False
    repeats: list[tuple[str, str]] = []
    """The texts of the attempts that broke off before it, which it has yet to repeat: their kinds and what was emitted."""


class Messages:
    """The messages of one CLI process."""

    def __init__(self, calls: ToolCalls, account: TokenAccount, new_id: Callable[[str], str]) -> None:
        self._calls = calls
        self._account = account
        self._new_id = new_id
        self._current: dict[str | None, OpenAnswer] = {}
        """By the call that started the sub-agent; None is the main conversation."""
        self.has_text = False
        """Whether the main conversation had any text for people since the turn began."""

    def piece(self, frame: StreamFrame) -> list[Signal]:
        """A piece of an answer."""
        event, parent = frame.event, frame.parent_tool_use_id
        if event.type == "content_block_delta":
            return self._delta(event.index, event.delta if isinstance(event.delta, dict) else {}, parent)
        match event.type:
            case "message_start":
                return self._start(event.message or Message(), parent)
            case "content_block_start":
                return self._open(event.index, event.content_block if isinstance(event.content_block, dict) else {}, parent)
            case "message_delta":
                return self._spent(event.usage, parent)
            case "message_stop":
                return self._stop(parent)
        return []

    def whole(self, frame: AssistantFrame) -> list[Signal]:
        """Whole blocks of an answer."""
        return [signal for step in self.whole_in_steps(frame, {}) for signal in step]

    def whole_in_steps(self, frame: AssistantFrame, texts: Mapping[int, Iterator[str]]) -> Iterator[list[Signal]]:
        """The same, some at a time. ``texts`` are those that are too long for the frame, by the places of their blocks."""
        message, parent = frame.message, frame.parent_tool_use_id
        yield self._same_or_next(message, parent)
        titles = _titles(frame.tool_use_meta)
        for index, block in enumerate(message_blocks(message.content)):
            if index in texts:
                yield from self._long_text(self._current[parent], text_in(block, "type"), texts[index], parent)
            else:
                yield self._block(self._current[parent], block, parent, titles)

    def piece_in_steps(self, frame: StreamFrame, texts: Iterator[str]) -> Iterator[list[Signal]]:
        """A piece of an answer that is too long for its frame."""
        event = frame.event
        delta = event.delta if isinstance(event.delta, dict) else {}
        name = next((name for name in ("text", "thinking", "partial_json") if name in delta), "text")
        for text in texts:
            yield self._delta(event.index, {**delta, name: text}, frame.parent_tool_use_id)

    def emit_text(self, text: str) -> list[Signal]:
        """Something that the CLI says outside of any answer."""
        return [self._chunk("text", text, self._new_id("msg"), None)] if text else []

    def emit_text_in_steps(self, texts: Iterator[str]) -> Iterator[list[Signal]]:
        """The same, where it is long."""
        message_id = self._new_id("msg")
        for text in texts:
            yield [self._chunk("text", text, message_id, None)]

    def turn_ended(self) -> list[Signal]:
        """Nothing more will come of the main conversation's answer."""
        self.has_text = False
        return self._drop(None)

    def sub_agent_ended(self, call_id: str) -> list[Signal]:
        """Nothing more will come of a sub-agent's answer."""
        return self._drop(call_id)

    def _drop(self, parent: str | None) -> list[Signal]:
        answer = self._current.pop(parent, None)
        return self._calls.break_off(_unfinished(answer)) if answer is not None else []

    def _start(self, message: Message, parent: str | None) -> list[Signal]:
        before = self._current.get(parent)
        broken = before if before is not None and not before.is_done else None
        answer = self._current[parent] = OpenAnswer(message.id, message.model, message.id)
        if broken is None:
            return []
        texts = [(block.kind, block.shown()) for block in broken.blocks.values() if block.kind in TEXTS]
        answer.repeats = [*(each for each in texts if each[1]), *broken.repeats]
        if answer.repeats:
            answer.shown_id = broken.shown_id
        return self._calls.break_off(_unfinished(broken))

    def _same_or_next(self, message: Message, parent: str | None) -> list[Signal]:
        """See to it that the answer which a whole block belongs to is the current one."""
        answer = self._current.get(parent)
        if answer is not None and answer.id == message.id:
            return []
        if message.model == SYNTHETIC and answer is not None:
            answer.is_done = True  # the CLI speaks itself: it does not repeat the model's text
        signals = self._start(message, parent)
        self._current[parent].is_done = True
        return signals

    def _open(self, index: int, block: Json, parent: str | None) -> list[Signal]:
        answer = self._answer(parent)
        kind = text_in(block, "type")
        opened = answer.blocks[index] = TextPieces(kind)
        if kind.endswith("tool_use"):
            opened.call_id = text_in(block, "id")
            return self._calls.begin(opened.call_id, text_in(block, "name"), parent)
        return self._text(answer, opened, text_in(block, kind), parent) if kind in TEXTS else []

    def _delta(self, index: int, delta: Json, parent: str | None) -> list[Signal]:
        answer = self._answer(parent)
        block = answer.blocks.get(index)
        match delta.get("type"):
            case "text_delta":
                kind, piece = "text", text_in(delta, "text")
            case "thinking_delta":
                kind, piece = "thinking", text_in(delta, "thinking")
            case "input_json_delta":
                return self._calls.delta(block.call_id, text_in(delta, "partial_json")) if block is not None else []
            case _:
                return []
        if block is None or block.kind != kind:
            block = answer.blocks[index] = TextPieces(kind)
        return self._text(answer, block, piece, parent)

    def _text(self, answer: OpenAnswer, block: TextPieces, piece: str, parent: str | None) -> list[Signal]:
        """The next piece of a text, as far as it is news."""
        if not piece:
            return []
        if not block.size:
            block.echo = _echo(answer, block.kind)
        echo, so_far = block.echo, block.text() + piece if block.echo else ""
        block.add(piece)
        if not echo:
            return [self._chunk(block.kind, piece, answer.shown_id, parent)]
        if echo.startswith(so_far):
            return []
        block.echo = ""
        if so_far.startswith(echo):
            return [self._chunk(block.kind, so_far[len(echo):], answer.shown_id, parent)]
        answer.shown_id, answer.repeats = answer.id, []
        return [self._chunk(block.kind, so_far, answer.shown_id, parent)]

    def _block(self, answer: OpenAnswer, block: Json, parent: str | None, titles: dict[str, str]) -> list[Signal]:
        kind = text_in(block, "type")
        if kind in TEXTS:
            return self._whole_text(answer, kind, text_in(block, kind), parent)
        if kind.endswith("tool_use"):
            call_id, given = text_in(block, "id"), block.get("input")
            self.has_text = self.has_text or parent is None
            return self._calls.whole(call_id, text_in(block, "name"), given if isinstance(given, dict) else {}, parent,
                                     titles.get(call_id, ""))
        if kind.endswith("tool_result") and text_in(block, "tool_use_id"):
            content = block.get("content")
            failed = isinstance(content, dict) and text_in(content, "type").endswith("error")
            return self._calls.end(text_in(block, "tool_use_id"), content, None, failed=failed, parent=parent)
        if kind == "redacted_thinking":
            return [AgentNote(RedactedThinking())]
        return []

    def _whole_text(self, answer: OpenAnswer, kind: str, text: str, parent: str | None) -> list[Signal]:
        """A complete text: what of it did not come in pieces."""
        if not text:
            return []
        block = _block_for(answer, kind, text)
        return self._text(answer, block, rest_of(block, text), parent)

    def _long_text(self, answer: OpenAnswer, kind: str, texts: Iterator[str], parent: str | None) -> Iterator[list[Signal]]:
        """The same, of a text that comes in parts."""
        if kind not in TEXTS:
            return
        begin = next(texts, "")
        block = _block_for(answer, kind, begin)
        skip = block.size - len(begin)
        if skip < 0:
            yield self._text(answer, block, rest_of(block, begin), parent)
        for text in texts:
            if skip < len(text):
                yield self._text(answer, block, text[max(skip, 0):], parent)
            skip -= len(text)

    def _spent(self, usage: Any, parent: str | None) -> list[Signal]:
        """The answer's tokens are known; they count when it is complete, since several such events may come."""
        answer = self._answer(parent)
        answer.usage, answer.has_end = usage, True
        return []

    def _stop(self, parent: str | None) -> list[Signal]:
        answer = self._answer(parent)
        if answer.is_done:
            return []
        answer.is_done = answer.has_end
        signals = self._calls.break_off(_unfinished(answer))
        if not answer.has_end:
            return signals
        return signals + self._account.message(answer.shown_id, answer.model, answer.usage) if parent is None else signals

    def _answer(self, parent: str | None) -> OpenAnswer:
        answer = self._current.get(parent)
        if answer is None:
            answer = self._current[parent] = OpenAnswer("", shown_id="")
        return answer

    def _chunk(self, kind: str, text: str, message_id: str, parent: str | None) -> Signal:
        if parent is None:
            self.has_text = self.has_text or kind == "text"
            tail = b',"messageId":%b}' % _encode(message_id) if message_id else b"}"
        else:
            tail = b',"messageId":%b,"_meta":{"claudeCode":{"parentToolUseId":%b}}}' % (_encode(message_id), _encode(parent))
        head = b'{"sessionUpdate":"%b","content":{"type":"text","text":' % TEXTS[kind].encode()
        return Update(b"%b%b}%b" % (head, _encode(text), tail))


def message_blocks(content: Any) -> list[Json]:
    """The blocks of a message; a plain string is one block of text."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _block_for(answer: OpenAnswer, kind: str, text: str) -> TextPieces:
    """The block that a complete text is, or a new one; it is complete now."""
    block = block_of(answer.blocks.values(), kind, text)
    if block is None:
        block = answer.blocks[max(answer.blocks, default=-1) + 1] = TextPieces(kind)
    block.confirmed = True
    return block


def _echo(answer: OpenAnswer, kind: str) -> str:
    """What the next text of an answer is expected to repeat; asked when it says something, since a block may stay silent."""
    if not answer.repeats:
        return ""
    if answer.repeats[0][0] == kind:
        return answer.repeats.pop(0)[1]
    answer.shown_id, answer.repeats = answer.id, []
    return ""


def _unfinished(answer: OpenAnswer) -> list[str]:
    return [block.call_id for block in answer.blocks.values() if block.call_id]


def _titles(meta: Any) -> dict[str, str]:
    """The CLI's own titles of calls to MCP servers."""
    found = {}
    for each in meta if isinstance(meta, list) else []:
        if isinstance(each, dict) and text_in(each, "id") and text_in(each, "display_name"):
            server = text_in(each, "server_display_name")
            found[text_in(each, "id")] = text_in(each, "display_name") + (f" ({server})" if server else "")
    return found
