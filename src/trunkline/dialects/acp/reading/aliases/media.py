"""A prompt that a client of the hub sends outside of the protocol: its blocks, with ``mimeType`` where they say ``mediaType``."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from trunkline.dialects.acp.reading.aliases.members import Members, items_of, members_of, rename
from trunkline.dialects.acp.reading.aliases.tables import MEDIA

_PROMPTS = ("content", "prompt")
"""The members of a body that hold blocks."""


def with_mime_types(body: bytes) -> bytes:
    """A JSON body whose blocks spell ``mimeType`` as the schema does; every other body as it is."""
    if b'"mediaType"' not in body:
        return body
    members = members_of(body)
    if members is None or not any(name in members for name in _PROMPTS):
        return body
    return msgspec.json.encode({name: _blocks(value) if name in _PROMPTS else value for name, value in members.items()})


def _blocks(raw: Raw) -> Raw | list[Raw | Members]:
    blocks = items_of(raw)
    return raw if blocks is None else [_block(each) for each in blocks]


def _block(raw: Raw) -> Raw | Members:
    members = members_of(raw)
    if members is None:
        return raw
    named = rename(MEDIA, members)
    inner = named.get("resource")
    resource = None if inner is None else members_of(inner)
    return named if resource is None else {**named, "resource": Raw(msgspec.json.encode(rename(MEDIA, resource)))}
