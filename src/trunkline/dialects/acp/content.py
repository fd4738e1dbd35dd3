"""Content blocks: what prompts, messages and tool results are made of."""

from __future__ import annotations

from typing import Annotated, Literal

from trunkline.dialects.acp.shape import SKIP, Shape
from trunkline.dialects.outside import Whole

Role = Literal["assistant", "user"]


class Annotations(Shape, frozen=True, kw_only=True):
    """Hints on how to show a block, and to whom."""

    audience: Annotated[list[Role] | None, SKIP] = None
    last_modified: str | None = None
    priority: float | None = None


class TextContent(Shape, frozen=True, kw_only=True, tag_field="type", tag="text"):
    """Plain or markdown text."""

    text: str
    annotations: Annotations | None = None


class ImageContent(Shape, frozen=True, kw_only=True, tag_field="type", tag="image"):
    """An image; ``data`` is base64."""

    data: str
    mime_type: str
    uri: str | None = None
    annotations: Annotations | None = None


class AudioContent(Shape, frozen=True, kw_only=True, tag_field="type", tag="audio"):
    """A sound; ``data`` is base64."""

    data: str
    mime_type: str
    annotations: Annotations | None = None


class ResourceLink(Shape, frozen=True, kw_only=True, tag_field="type", tag="resource_link"):
    """A thing the agent can fetch itself."""

    uri: str
    name: str
    mime_type: str | None = None
    title: str | None = None
    description: str | None = None
    size: Whole | None = None
    annotations: Annotations | None = None


class ResourceContents(Shape, frozen=True, kw_only=True):
    """A resource's body: ``text``, or ``blob`` in base64 (the schema's TextResourceContents and BlobResourceContents)."""

    uri: str
    text: str | None = None
    blob: str | None = None
    mime_type: str | None = None

    def __post_init__(self) -> None:
        if self.text is None and self.blob is None:
            raise ValueError("a resource needs text or blob")


class EmbeddedResource(Shape, frozen=True, kw_only=True, tag_field="type", tag="resource"):
    """A resource with its body."""

    resource: ResourceContents
    annotations: Annotations | None = None


ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource
