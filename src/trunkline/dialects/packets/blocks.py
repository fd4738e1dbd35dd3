"""What packets are made of: content blocks, what a tool call shows, and where. The rules of ``shapes.py`` hold here too."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Raw, Struct, field

Null = dict[str, Any] | None
"""Written as null; may be an object when read."""


class TextBlock(Struct, kw_only=True, frozen=True, gc=False):
    """A piece of text."""

    meta: Null = field(default=None, name="_meta")
    annotations: Null = None
    text: str
    type: Literal["text"] = "text"


class ImageBlock(Struct, kw_only=True, frozen=True, gc=False, rename="camel"):
    """An image, base64."""

    meta: Null = field(default=None, name="_meta")
    annotations: Null = None
    data: str
    mime_type: str
    uri: str | None = None
    type: Literal["image"] = "image"


class AudioBlock(Struct, kw_only=True, frozen=True, gc=False, rename="camel"):
    """Sound, base64."""

    meta: Null = field(default=None, name="_meta")
    annotations: Null = None
    data: str
    mime_type: str
    type: Literal["audio"] = "audio"


class ResourceLinkBlock(Struct, kw_only=True, frozen=True, gc=False, rename="camel"):
    """A pointer to a file or page."""

    meta: Null = field(default=None, name="_meta")
    annotations: Null = None
    description: str | None = None
    mime_type: str | None = None
    name: str
    size: int | None = None
    title: str | None = None
    uri: str
    type: Literal["resource_link"] = "resource_link"


class TextResource(Struct, kw_only=True, frozen=True, gc=False, rename="camel"):
    """A file's text, inside a resource block."""

    meta: Null = field(default=None, name="_meta")
    mime_type: str | None = None
    text: str
    uri: str


class BlobResource(Struct, kw_only=True, frozen=True, gc=False, rename="camel"):
    """A file's bytes as base64, inside a resource block."""

    meta: Null = field(default=None, name="_meta")
    blob: str
    mime_type: str | None = None
    uri: str


class ResourceBlock(Struct, kw_only=True, frozen=True, gc=False):
    """A file that travels with the message: a TextResource or BlobResource, raw since no tag distinguishes them."""

    meta: Null = field(default=None, name="_meta")
    annotations: Null = None
    resource: Raw
    type: Literal["resource"] = "resource"


Block = TextBlock | ImageBlock | AudioBlock | ResourceLinkBlock | ResourceBlock


class ContentItem(Struct, kw_only=True, frozen=True, gc=False):
    """A tool's output to show: one content block."""

    meta: Null = field(default=None, name="_meta")
    content: Raw
    type: Literal["content"] = "content"


class DiffItem(Struct, kw_only=True, frozen=True, gc=False, rename="camel"):
    """What a tool did to a file; an empty ``old_text`` means the file is new."""

    meta: Null = field(default=None, name="_meta")
    new_text: str
    old_text: str
    path: str
    type: Literal["diff"] = "diff"


class TerminalItem(Struct, kw_only=True, frozen=True, gc=False, rename="camel"):
    """The terminal that a tool runs in."""

    meta: Null = field(default=None, name="_meta")
    terminal_id: str
    type: Literal["terminal"] = "terminal"


Item = ContentItem | DiffItem | TerminalItem


class Location(Struct, kw_only=True, frozen=True, gc=False):
    """A place in a file that a tool looks at."""

    meta: Null = field(default=None, name="_meta")
    line: int | None = None
    path: str
