"""Messages and thoughts: streamed text, opened by its first chunk and completed by whatever comes next.

Rule 1: a text chunk is the hot path. Its text travels as the JSON token that the agent wrote and is spliced, never decoded.
Rule 2: one open text at a time; another kind, another message id, a tool call or the turn's end completes it.
Rule 3: what the agent says that the person said is a message too, in its history and live, and is completed in the same way; only
an echo of the prompt is none (``echo.py``).
"""

from __future__ import annotations

import msgspec

from trunkline import decoders
from trunkline.dialects.acp.content import (
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceContents,
    ResourceLink,
    TextContent,
)
from trunkline.dialects.acp.reading.decode import TextChunk, decode_update, text_chunk
from trunkline.dialects.acp.updates import AgentMessageChunk, AgentThoughtChunk, UserMessageChunk
from trunkline.dialects.context.envelope import DeltaPrefix, delta_event, delta_prefix, stamp_ms
from trunkline.dialects.context.events import (
    Event,
    MessageCompleteEvent,
    MessageDeltaEvent,
    MessageStartEvent,
    ThinkingCompleteEvent,
    ThinkingStartEvent,
)
from trunkline.dialects.context.types import MessageRole, to_raw
from trunkline.dialects.context.unions import ImagePart, MessageContent, TextPart
from trunkline.journal.base import Entry
from trunkline.session.fold import Fold, OpenText, OpenUserMessage
from trunkline.session.interpret.writer import NOTHING_CARRIED, TEXT_LIMIT, Carried, Writer

IMAGE_IN_EVENT = 64 << 10
"""Images up to this many base64 characters travel in events as ``data:`` URLs; for larger ones the hub has an address."""

LAST_TEXT = 200
"""Characters of the newest message kept for lists of sessions."""

TITLE_LENGTH = 80
TITLE_SOUGHT = 4 << 10
"""Characters of a text in which its first line is sought: a prompt may have megabytes, and none begins with so many blanks."""


Chunk = AgentMessageChunk | AgentThoughtChunk
_KIND_OF = {False: "agent_message_chunk", True: "agent_thought_chunk"}
"""The kind of the chunks of a message, and of a thought."""

_decode_text = decoders.of(str).decode


class TextInterpreter:
    """The open message or thought of a session."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._fold = writer.fold
        self._prefix: DeltaPrefix | None = None

    def chunk(self, chunk: TextChunk, raw: bytes) -> None:
        """One piece of text from the agent."""
        self.append(chunk.kind == "agent_thought_chunk", chunk.message_id, chunk.text, raw)

    def append(self, thinking: bool, message_id: str | None, token: bytes, raw: bytes) -> None:
        """The same, taken apart: the text is a JSON string token."""
        fold = self._fold
        text = fold.text
        carried: bytes | None = raw
        if (text is None or text.thinking is not thinking
                or (message_id is not None and message_id != text.agent_message_id)):
            text = self._open(thinking, message_id, Carried(raw))
            carried = None
        prefix = self._prefix
        if prefix is None:
            if text.parent is not None:
                # What is open is a sub-agent's; these are the agent's own words.
                text = self._open(thinking, message_id, Carried(raw))
                carried = None
            prefix = self._prefix_of(text)
        self.collect(text, token)
        fold.seq += 1
        writer = self._writer
        writer.add_encoded(delta_event(prefix, fold.seq, stamp_ms(writer.at), token), carried)

    def open_for(self, update: bytes) -> tuple[bytes, OpenText, DeltaPrefix] | None:
        """The text of an update that was folded just now, and what is open, where the next one with these members only goes on
        with that (``goes_on``)."""
        chunk, text, prefix = text_chunk(update), self._fold.text, self._prefix
        if chunk is None or text is None or prefix is None or chunk.kind != _KIND_OF[text.thinking] \
                or chunk.message_id not in (None, text.agent_message_id):
            return None
        return chunk.text, text, prefix

    def goes_on(self, text: OpenText, prefix: DeltaPrefix, token: bytes, update: bytes, at: int) -> Entry | None:
        """``append`` of one more piece of the text that is open, as the entry that it makes; None, and nothing done, where
        another is open, or more is to be written than this."""
        fold, writer, size = self._fold, self._writer, text.size
        if fold.text is not text or self._prefix is not prefix or size > TEXT_LIMIT or writer.size or writer.dirty:
            return None
        text.parts.append(token[1:-1])
        text.size = size + (len(token) - 2 if b"\\" not in token else len(_decode_text(token).encode()))
        seq = fold.seq = fold.seq + 1
        writer.at = at
        before, after = prefix
        return Entry(seq, at, b'{"seq":%d%b%b%b%b}' % (seq, before, stamp_ms(at), after, token), update)

    def remarked(self, update: Chunk, text: str, carried: Carried, parent: str | None = None) -> None:
        """A piece of text with remarks of the agent's own on it: it is emitted like any other, and carries what was sent.

        ``parent`` is the call whose sub-agent says it: what several say at once is kept apart."""
        thinking = isinstance(update, AgentThoughtChunk)
        open_text = self._fold.text
        if (open_text is None or open_text.thinking is not thinking or open_text.parent != parent
                or (update.message_id is not None and update.message_id != open_text.agent_message_id)):
            open_text = self._open(thinking, update.message_id, carried, parent)
            carried = NOTHING_CARRIED
        prefix = self._prefix or self._prefix_of(open_text)
        token = msgspec.json.encode(text)
        self.collect(open_text, token)
        self._fold.seq += 1
        writer = self._writer
        writer.add_encoded(delta_event(prefix, self._fold.seq, stamp_ms(writer.at), token), *carried)
        writer.size += sum(len(body or b"") for body in carried[1:])

    def user_goes_on(self, agent_message_id: str | None) -> bool:
        """Whether a piece of what the person said belongs to the message of theirs that is open."""
        message = self._fold.user_message
        return message is not None and agent_message_id in (None, message.agent_message_id)

    def append_user(self, update: UserMessageChunk, carried: Carried, *, replayed: bool) -> None:
        """A piece of what the person said: once, as the agent replays it, or just now, and not through the hub."""
        message = self._fold.user_message
        if message is None or not self.user_goes_on(update.message_id):
            message = self._open_user(update.message_id, carried, replayed)
            carried = NOTHING_CARRIED
        writer, block = self._writer, update.content
        if isinstance(block, TextContent):
            delta, meta = writer.cut(block.text)
            event = MessageDeltaEvent(
                message_id=message.message_id, role="user", delta=delta, meta=meta or msgspec.UNSET)
            writer.add(event, update=carried.update, packet=carried.packet, raw=carried.raw)
        elif carried.update is not None:
            writer.custom("user_content", {"messageId": message.message_id}, update=carried.update, packet=carried.packet,
                          raw=carried.raw)
        part = part_of(block, self._fold.session_id, self._fold.seq)
        message.size += len(to_raw(part))
        if message.size <= TEXT_LIMIT:
            message.parts.append(part)

    def _open_user(self, agent_message_id: str | None, carried: Carried, replayed: bool) -> OpenUserMessage:
        self.close()
        message = self._fold.user_message = OpenUserMessage(f"msg-{self._fold.seq + 1}", agent_message_id, replayed=replayed)
        started = MessageStartEvent(
            message_id=message.message_id, role="user", meta={"replayed": True} if replayed else msgspec.UNSET)
        self._writer.add(started, update=carried.update, packet=carried.packet, raw=carried.raw)
        return message

    def block(self, block: ContentBlock, carried: Carried) -> None:
        """A chunk that is no plain text (an image, a resource): a message of its own."""
        self.close()
        message_id = f"msg-{self._writer.fold.seq + 1}"
        started = MessageStartEvent(message_id=message_id, role="assistant")
        seq = self._writer.add(started, update=carried.update, packet=carried.packet, raw=carried.raw)
        content = [part_of(block, self._fold.session_id, seq)]
        self._writer.add(MessageCompleteEvent(message_id=message_id, role="assistant", content=content))
        self._fold.messages += 1

    def redacted(self) -> None:
        """The agent thought something that its provider does not show."""
        text = self._open(True, None, NOTHING_CARRIED)
        self._fold.text, self._prefix = None, None
        self._writer.add(ThinkingCompleteEvent(message_id=text.message_id, content="", redacted=True))

    def parts(self, role: MessageRole, content: list[MessageContent], carried: Carried) -> None:
        """A message of its own, whole."""
        self.close()
        message_id = f"msg-{self._writer.fold.seq + 1}"
        started = MessageStartEvent(message_id=message_id, role=role)
        self._writer.add(started, update=carried.update, packet=carried.packet, raw=carried.raw)
        self._writer.add(MessageCompleteEvent(message_id=message_id, role=role, content=content))
        self._fold.messages += 1

    def close(self, stop_reason: str | None = None) -> None:
        """Complete the open text, if there is one."""
        fold = self._writer.fold
        text = fold.text
        if text is None:
            self._close_user()
            return
        fold.text = None
        self._prefix = None
        whole, meta = self._whole(text)
        if text.thinking:
            done: Event = ThinkingCompleteEvent(message_id=text.message_id, content=whole, meta=meta)
        else:
            newest = whole if text.size <= TEXT_LIMIT else _decode_text(text.newest) or whole
            if text.parent is None:
                fold.last_text = last_words(newest)
            fold.messages += 1
            fold.last_message = (text.message_id, text.agent_message_id)
            done = MessageCompleteEvent(
                message_id=text.message_id, role="assistant", content=[TextPart(text=whole)], meta=meta,
                stop_reason=stop_reason or msgspec.UNSET, model=fold.model.id if fold.model is not None else msgspec.UNSET,
            )
        self._writer.add(done)

    def _close_user(self) -> None:
        fold = self._fold
        message = fold.user_message
        if message is None:
            return
        fold.user_message = None
        fold.messages += 1
        content = message.parts
        meta = {**({"replayed": True} if message.replayed else {}),
                **({"truncated": {"bytes": message.size}} if message.size > TEXT_LIMIT else {})}
        self._writer.add(MessageCompleteEvent(
            message_id=message.message_id, role="user", content=content, meta=meta or msgspec.UNSET))
        entitle(fold, content)

    def _open(self, thinking: bool, agent_message_id: str | None, carried: Carried, parent: str | None = None) -> OpenText:
        self.close()
        writer = self._writer
        writer.thinking(thinking)
        seq = writer.fold.seq + 1
        message_id = f"msg-{seq}"
        about = {"agentMessageId": agent_message_id, "parentToolCallId": parent}
        meta = {name: value for name, value in about.items() if value is not None} or msgspec.UNSET
        started: Event
        if thinking:
            started = ThinkingStartEvent(message_id=message_id, meta=meta)
        else:
            started = MessageStartEvent(message_id=message_id, role="assistant", meta=meta)
        writer.add(started, update=carried.update, packet=carried.packet, raw=carried.raw)
        text = writer.fold.text = OpenText(thinking, message_id, seq, agent_message_id, parent=parent)
        if writer.fold.turn is not None:
            writer.fold.turn.showed_work = True
        return text

    def collect(self, text: OpenText, token: bytes) -> None:
        """Keep the text for its completion, but no more of it than that event may carry."""
        size = text.size
        if size <= TEXT_LIMIT:
            text.parts.append(token[1:-1])
        else:
            text.newest = token
        text.size = size + (len(token) - 2 if b"\\" not in token else len(_decode_text(token).encode()))

    def _prefix_of(self, text: OpenText) -> DeltaPrefix:
        """What its deltas begin with; kept for the next one, unless the status still has to follow."""
        prefix = delta_prefix(self._writer.fold.session_id, text.message_id, None if text.thinking else "assistant")
        if self._writer.thinking(text.thinking) and text.parent is None:
            self._prefix = prefix
        return prefix

    def _whole(self, text: OpenText) -> tuple[str, dict[str, object] | msgspec.UnsetType]:
        """The text in one piece, cut where it is too long for an event."""
        whole = _decode_text(b'"' + b"".join(text.parts) + b'"')
        if text.size <= TEXT_LIMIT:
            return whole, msgspec.UNSET
        fold = self._writer.fold
        url = f"/sessions/{fold.session_id}/messages?after={text.start_seq - 1}&before={fold.seq + 1}"
        short = whole.encode()[:TEXT_LIMIT].decode("utf-8", errors="ignore")
        return short, {"truncated": {"bytes": text.size, "url": url}}


def chunk_text(update: bytes) -> bytes | None:
    """The JSON token of a chunk's text, with or without remarks on it; None where it is no text."""
    chunk = text_chunk(update)
    if chunk is not None:
        return chunk.text
    decoded = decode_update(update)
    if isinstance(decoded, AgentMessageChunk | AgentThoughtChunk) and isinstance(decoded.content, TextContent):
        return msgspec.json.encode(decoded.content.text)
    return None


def last_words(text: str) -> str:
    """The end of a message for lists of sessions; where it is cut, it begins with a whole word."""
    end = text[-LAST_TEXT:].strip()
    if len(text) <= LAST_TEXT or not text[-LAST_TEXT:-LAST_TEXT + 1].strip():
        return end
    _, *rest = end.split(maxsplit=1)
    return f"… {rest[0]}" if rest else end


def entitle(fold: Fold, content: list[MessageContent]) -> None:
    """A session without a title takes the first line of the first thing that a person said."""
    if fold.title:
        return
    for part in content:
        if isinstance(part, TextPart) and (begins := part.text[:TITLE_SOUGHT].strip()):
            fold.title = begins.splitlines()[0][:TITLE_LENGTH]
            return


def part_of(block: ContentBlock, session_id: str, seq: int) -> MessageContent:
    """An ACP content block as a part of a message; ``seq`` is the entry whose update carries it."""
    match block:
        case TextContent():
            return TextPart(text=block.text)
        case ImageContent():
            if len(block.data) > IMAGE_IN_EVENT:
                return ImagePart(url=f"/sessions/{session_id}/images/{seq}", mime_type=block.mime_type)
            return ImagePart(url=f"data:{block.mime_type};base64,{block.data}", mime_type=block.mime_type)
        case AudioContent():
            return TextPart(text=f"[audio, {block.mime_type}]")
        case ResourceLink():
            return TextPart(text=f"[{block.name}]({block.uri})")
        case EmbeddedResource():
            return TextPart(text=_resource_text(block.resource))


def _resource_text(resource: ResourceContents) -> str:
    """Where a resource is, and its text where it has one that an event may carry; a body in bytes is in the update."""
    link = f"[{resource.uri}]({resource.uri})"
    if not resource.text:
        return link
    fits = len(resource.text) * 4 <= TEXT_LIMIT or len(resource.text.encode("utf-8", "replace")) <= TEXT_LIMIT
    return f"{link}\n{resource.text}" if fits else link
