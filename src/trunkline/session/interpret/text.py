"""Messages and thoughts: streamed text, opened by its first chunk and completed by whatever comes next.

Rule 1: a text chunk is the hot path. Its text travels as the JSON token that the agent wrote and is spliced, never decoded.
Rule 2: one open text at a time; another kind, another message id, a tool call or the turn's end completes it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from trunkline.dialects import acp, context
from trunkline.session.fold import OpenText
from trunkline.session.interpret.writer import TEXT_LIMIT, Writer

IMAGE_IN_EVENT = 64 << 10
"""Images up to this many base64 characters travel in events as ``data:`` URLs; larger ones are in the update."""

LAST_TEXT = 200
"""Characters of the newest message kept for lists of sessions."""


class TextStory:
    """The open message or thought of a session."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._fold = writer.fold
        self._prefix: context.DeltaPrefix | None = None

    def chunk(self, chunk: acp.TextChunk, raw: bytes) -> None:
        """One piece of text from the agent."""
        self.said(chunk.kind == "agent_thought_chunk", chunk.message_id, chunk.text, raw)

    def said(self, thinking: bool, message_id: str | None, token: bytes, raw: bytes) -> None:
        """The same, taken apart: the text is a JSON string token."""
        fold = self._fold
        text = fold.text
        carried: bytes | None = raw
        if (text is None or text.thinking is not thinking
                or (message_id is not None and message_id != text.agent_message_id)):
            text = self._open(thinking, message_id, raw)
            carried = None
        prefix = self._prefix
        if prefix is None:
            prefix = self._prefix = self._prefix_of(text)
        self.collect(text, token)
        fold.seq += 1
        writer = self._writer
        writer.add_encoded(context.delta_event(prefix, fold.seq, context.stamp_ms(writer.at), token), carried)

    def block(self, block: acp.ContentBlock, wire: bytes, packet: bytes, raw: bytes | None) -> None:
        """A chunk that is no plain text (an image, a resource): a message of its own."""
        self.close()
        message_id = f"msg-{self._writer.fold.seq + 1}"
        started = context.MessageStartEvent(message_id=message_id, role="assistant")
        self._writer.add(started, update=wire, packet=packet, raw=raw)
        self._writer.add(context.MessageCompleteEvent(message_id=message_id, role="assistant", content=content_of([block])))

    def close(self, stop_reason: str | None = None) -> None:
        """Complete the open text, if there is one."""
        fold = self._writer.fold
        text = fold.text
        if text is None:
            return
        fold.text = None
        self._prefix = None
        whole, meta = self._whole(text)
        if text.thinking:
            done: context.Event = context.ThinkingCompleteEvent(message_id=text.message_id, content=whole, meta=meta)
        else:
            newest = whole if text.size <= TEXT_LIMIT else _decode_text(text.newest) or whole
            fold.last_text = newest[-LAST_TEXT:].strip()
            done = context.MessageCompleteEvent(
                message_id=text.message_id, role="assistant", content=[context.TextPart(text=whole)], meta=meta,
                stop_reason=stop_reason or msgspec.UNSET,
            )
        self._writer.add(done)

    def _open(self, thinking: bool, agent_message_id: str | None, raw: bytes) -> OpenText:
        self.close()
        writer = self._writer
        writer.thinking(thinking)
        seq = writer.fold.seq + 1
        message_id = f"msg-{seq}"
        meta = {"agentMessageId": agent_message_id} if agent_message_id is not None else msgspec.UNSET
        started: context.Event
        if thinking:
            started = context.ThinkingStartEvent(message_id=message_id, meta=meta)
        else:
            started = context.MessageStartEvent(message_id=message_id, role="assistant", meta=meta)
        writer.add(started, update=raw)
        text = writer.fold.text = OpenText(thinking, message_id, seq, agent_message_id)
        if writer.fold.turn is not None:
            writer.fold.turn.said_something = True
        return text

    def collect(self, text: OpenText, token: bytes) -> None:
        """Keep the text for its completion, but no more of it than that event may carry."""
        size = text.size
        if size <= TEXT_LIMIT:
            text.parts.append(token[1:-1])
        else:
            text.newest = token
        text.size = size + (len(token) - 2 if b"\\" not in token else len(_decode_text(token).encode()))

    def _prefix_of(self, text: OpenText) -> context.DeltaPrefix:
        return context.delta_prefix(self._writer.fold.session_id, text.message_id, None if text.thinking else "assistant")

    def _whole(self, text: OpenText) -> tuple[str, dict[str, object] | msgspec.UnsetType]:
        """The text in one piece, cut where it is too long for an event."""
        whole = _decode_text(b'"' + b"".join(text.parts) + b'"')
        if text.size <= TEXT_LIMIT:
            return whole, msgspec.UNSET
        fold = self._writer.fold
        url = f"/sessions/{fold.session_id}/messages?after={text.start_seq - 1}&before={fold.seq + 1}"
        short = whole.encode()[:TEXT_LIMIT].decode("utf-8", errors="ignore")
        return short, {"truncated": {"bytes": text.size, "url": url}}


def _decode_text(token: bytes) -> str:
    return msgspec.json.decode(token, type=str)


def content_of(blocks: Sequence[acp.ContentBlock]) -> list[context.MessageContent]:
    """ACP content blocks as the Agent Context Protocol's message content."""
    return [_part_of(block) for block in blocks]


def _part_of(block: acp.ContentBlock) -> context.MessageContent:
    match block:
        case acp.TextContent():
            return context.TextPart(text=block.text)
        case acp.ImageContent():
            if len(block.data) > IMAGE_IN_EVENT:
                return context.TextPart(text=f"[image, {block.mime_type}, {len(block.data)} characters]")
            return context.ImagePart(url=f"data:{block.mime_type};base64,{block.data}", mime_type=block.mime_type)
        case acp.AudioContent():
            return context.TextPart(text=f"[audio, {block.mime_type}]")
        case acp.ResourceLink():
            return context.TextPart(text=f"[{block.name}]({block.uri})")
        case acp.EmbeddedResource():
            return context.TextPart(text=f"[{block.resource.uri}]({block.resource.uri})")
