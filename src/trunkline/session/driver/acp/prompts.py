"""What an ACP agent takes in a prompt: refused, or made into what it takes."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from trunkline.dialects.acp.content import AudioContent, ContentBlock, EmbeddedResource, ImageContent, TextContent
from trunkline.dialects.acp.initialize import PromptCapabilities
from trunkline.dialects.acp.lenient import read_lenient
from trunkline.dialects.acp.shape import encode_acp
from trunkline.errors import Unsupported


def check_prompt(blocks: Sequence[msgspec.Raw], takes: PromptCapabilities, agent: str) -> None:
    """Raise Unsupported when the agent cannot take one of the blocks."""
    for raw in blocks:
        block = read_lenient(bytes(raw), ContentBlock)
        if isinstance(block, ImageContent) and not takes.image:
            raise Unsupported(f"{agent} takes no images in prompts")
        if isinstance(block, AudioContent) and not takes.audio:
            raise Unsupported(f"{agent} takes no audio in prompts")


def as_taken(raw: msgspec.Raw, takes: PromptCapabilities) -> msgspec.Raw:
    """An embedded resource becomes plain text for agents that take none; everything else goes as it is."""
    if takes.embedded_context:
        return raw
    block = read_lenient(bytes(raw), ContentBlock)
    if not isinstance(block, EmbeddedResource):
        return raw
    resource = block.resource
    inside = resource.text if isinstance(resource.text, str) else "(binary)"
    return msgspec.Raw(encode_acp(TextContent(text=f"{resource.uri}:\n\n{inside}")))
