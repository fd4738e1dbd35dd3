"""Content blocks, tool content and locations in the packets' full form: every null written out, no ``_meta`` of the agent's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

import msgspec
from msgspec import Raw

from trunkline.dialects.acp.content import (
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceContents,
    ResourceLink,
    TextContent,
)
from trunkline.dialects.acp.tools import Content, Diff, Terminal, ToolCallContent, ToolCallLocation
from trunkline.dialects.packets.blocks import (
    AudioBlock,
    BlobResource,
    Block,
    ContentItem,
    DiffItem,
    ImageBlock,
    Item,
    Location,
    ResourceBlock,
    ResourceLinkBlock,
    TerminalItem,
    TextBlock,
    TextResource,
)

_encoder = msgspec.json.Encoder()


def block_of(block: ContentBlock) -> Block:
    """A content block as packets show it."""
    match block:
        case TextContent():
            return TextBlock(text=block.text)
        case ImageContent():
            return ImageBlock(data=block.data, mime_type=block.mime_type, uri=block.uri)
        case AudioContent():
            return AudioBlock(data=block.data, mime_type=block.mime_type)
        case ResourceLink():
            return _link_of(block)
        case EmbeddedResource():
            return ResourceBlock(resource=Raw(_encoder.encode(_resource_of(block.resource))))
        case _:
            assert_never(block)


def _link_of(link: ResourceLink) -> ResourceLinkBlock:
    return ResourceLinkBlock(
        description=link.description, mime_type=link.mime_type, name=link.name, size=link.size, title=link.title, uri=link.uri
    )


def _resource_of(resource: ResourceContents) -> TextResource | BlobResource:
    if resource.text is not None:
        return TextResource(mime_type=resource.mime_type, text=resource.text, uri=resource.uri)
    return BlobResource(blob=resource.blob or "", mime_type=resource.mime_type, uri=resource.uri)


def block_json(block: ContentBlock) -> Raw:
    """A content block as packets show it, encoded."""
    return Raw(_encoder.encode(block_of(block)))


def item_of(item: ToolCallContent) -> Item:
    """One item of a tool's content; a diff without old text gets the empty one that means "new file"."""
    match item:
        case Content():
            return ContentItem(content=block_json(item.content))
        case Diff():
            return DiffItem(new_text=item.new_text, old_text=item.old_text or "", path=item.path)
        case Terminal():
            return TerminalItem(terminal_id=item.terminal_id)
        case _:
            assert_never(item)


def items_json(content: Sequence[ToolCallContent] | None) -> list[Raw] | None:
    """A tool's content, encoded item by item; null while there is nothing to show."""
    return [Raw(_encoder.encode(item_of(item))) for item in content] if content else None


ANY_TEXT = Raw(_encoder.encode(item_of(Content(content=TextContent(text="|")))))
"""One item of text, in whose place ``with_text`` puts another text."""


def with_text(packet: bytes, token: bytes | memoryview) -> bytes:
    """A packet whose content begins with ``ANY_TEXT``, with the text that is the JSON string ``token``."""
    before, after = packet.split(b'"|"', 1)
    return b"".join((before, token, after))


def locations_of(locations: Sequence[ToolCallLocation] | None) -> list[Location] | None:
    """The places a tool looks at; null when the agent never named any."""
    return None if locations is None else [Location(line=place.line, path=place.path) for place in locations]


def on_one_line(raw: bytes | Raw) -> Raw:
    """Somebody's JSON as it is; only line ends between tokens, which would break a line-based stream, are taken out."""
    body = bytes(raw)
    return Raw(msgspec.json.format(body, indent=-1)) if b"\r" in body or b"\n" in body else Raw(body)
