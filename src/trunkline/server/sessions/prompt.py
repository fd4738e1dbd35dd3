"""What a prompt may look like on the wire: plain text, or content blocks as the Agent Client Protocol has them."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from trunkline.dialects.acp.content import ContentBlock
from trunkline.errors import Invalid
from trunkline.hub import Accepted, content_blocks
from trunkline.hub.sight import ShownSession


class SendMessage(msgspec.Struct, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """A prompt, and what to do when a turn is running: refuse it, or let it wait."""

    content: str | list[ContentBlock]
    when_busy: Literal["reject", "queue"] = "reject"


class EditQueued(msgspec.Struct, forbid_unknown_fields=True):
    """What a waiting prompt says from now on."""

    content: str | list[ContentBlock]


class Prompted(NamedTuple):
    """A prompt that the session's owner has taken, and from where on its sender reads the turn here."""

    session: ShownSession
    accepted: Accepted
    seen: int


def prompt_blocks(content: str | list[ContentBlock]) -> list[ContentBlock]:
    """A prompt's content as blocks, or Invalid when it says nothing."""
    if not content:
        raise Invalid("content must not be empty", details={"field": "content"})
    return content_blocks(content)
