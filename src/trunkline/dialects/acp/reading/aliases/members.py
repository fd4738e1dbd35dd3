"""The members of one JSON object, each still encoded, so that untouched parts keep their bytes."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from trunkline import decoders
from trunkline.dialects.outside import BROKEN

Members = dict[str, Raw]
"""One JSON object: each member's value still encoded."""

_OBJECT = decoders.of(Members)
_ARRAY = decoders.of(list[Raw])
_STRING = decoders.of(str)
_encode = msgspec.json.Encoder().encode


def members_of(raw: bytes | None) -> Members | None:
    """The members of an object, or None when it is none."""
    try:
        return None if raw is None else _OBJECT.decode(raw)
    except BROKEN:
        return None


def items_of(raw: bytes | None) -> list[Raw] | None:
    """The items of an array, or None when it is none."""
    try:
        return None if raw is None else _ARRAY.decode(raw)
    except BROKEN:
        return None


def text_of(raw: bytes | None) -> str | None:
    """A string, or None when it is none."""
    try:
        return None if raw is None else _STRING.decode(raw)
    except BROKEN:
        return None


def as_raw(value: object) -> Raw:
    return Raw(_encode(value))


_TEXT = as_raw("text")


def is_null(raw: Raw | None) -> bool:
    return raw is None or bytes(raw) == b"null"


def text_block(text: Raw) -> Members:
    return {"type": _TEXT, "text": text}


def rename(table: dict[str, str], members: Members) -> Members:
    """Right names for wrong ones; where both are there, the right one stands."""
    renamed = {name: value for name, value in members.items() if name not in table}
    for wrong, right in table.items():
        if wrong in members and is_null(renamed.get(right)):
            renamed[right] = members[wrong]
    return renamed
