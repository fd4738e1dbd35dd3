"""Whom a line concerns that cannot be read (half a character, no UTF-8, too deep, too long): who waits must not wait for ever.

Rule 1: what is looked at is bounded. A line up to READ_AGAIN_BYTES is read once more by a decoder that takes more than ours; of a
longer one, or one that that cannot read either, the beginning and the end: where serializers put an id.
Rule 2: nothing is guessed. An id counts as a member of the line's own object; where it is not found the line is noise, and
whoever waits does so until its own time is over.
"""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from trunkline.dialects import late_re as re
from trunkline.dialects.jsonrpc.messages import ID_BYTES, NULL
from trunkline.dialects.outside import NOT_JSON

READ_AGAIN_BYTES: Final = 256 << 10
"""A broken line up to this length is read once more, by a slower reader."""

EDGE_BYTES: Final = 4096
"""What is looked at of each end of a longer one. Of one that was thrown away the beginning is all that is left."""

_TEXT = rb'"(?:[^"\\]|\\.){0,%d}"' % ID_BYTES
_VALUE = rb"(?:%b|-?\d[\d.eE+-]{0,%d}|null|true|false)" % (_TEXT, ID_BYTES)
_MEMBER = re.compile(rb'\s*"([^"\\]{1,64})"\s*:\s*(?:(%b)\s*(?=[,}])|(?=\S))' % _VALUE)
_LAST = re.compile(rb'[{,]\s*"(id|method|jsonrpc)"\s*:\s*(%b)\s*(?=[,}])' % _VALUE)
_BEGINNING = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{")


class Concerned(Struct, frozen=True, gc=False):
    """Who waits: the peer for an answer to its request ``id``, or we for the answer that this was to be."""

    id: Raw
    asks: bool


def concerned(line: bytes) -> Concerned | None:
    """Whom a broken line concerns; None where that is nobody, or cannot be read off it."""
    if _BEGINNING.match(line) is None:
        return None  # no object: an agent that prints may print very many of these
    members = _read_again(line) if len(line) <= READ_AGAIN_BYTES else None
    if members is None:
        members = _edges(line)
    if "id" not in members or not {"method", "result", "error"} & members.keys():
        return None
    return Concerned(_id(members["id"]), "method" in members)


def _read_again(line: bytes) -> dict[str, Any] | None:
    try:
        # What is no UTF-8 becomes halves of characters: in an id they make it one that nobody can say again.
        members = json.loads(bytes(line).decode("utf-8", "surrogateescape"))
    except NOT_JSON:
        return None
    return members if isinstance(members, dict) else {}


def _id(value: object) -> Raw:
    """The id as it is sent back; null where it cannot be, or is no id."""
    try:
        raw = msgspec.json.encode(value)
    except (UnicodeError, OverflowError):
        return NULL
    return Raw(raw) if len(raw) <= ID_BYTES and raw[:1] not in (b"{", b"[") else NULL


def _edges(line: bytes) -> dict[str, Any]:
    """The members at the beginning of an object, up to the first that is no plain value, and the plain ones at its end."""
    begins = _BEGINNING.match(line)
    if begins is None:
        return {}
    return {**_at_end(bytes(line[-EDGE_BYTES:])), **_at_beginning(bytes(line[begins.end():begins.end() + EDGE_BYTES]))}


def _at_beginning(head: bytes) -> dict[str, Any]:
    found: dict[str, Any] = {}
    at = 0
    while (member := _MEMBER.match(head, at)) is not None:
        found[member[1].decode("latin-1")] = _plain(member[2] or b"null")
        if member[2] is None or head[member.end():member.end() + 1] != b",":
            break
        at = member.end() + 1
    return found


def _at_end(tail: bytes) -> dict[str, Any]:
    """The members that stand one behind the other right before the object's end."""
    tail = tail.rstrip()
    members = list(_LAST.finditer(tail))
    found: dict[str, Any] = {}
    at = len(tail) - 1 if tail.endswith(b"}") else -1
    for member in reversed(members):
        if member.end() != at:
            break
        found[member[1].decode()] = _plain(member[2])
        at = member.start()
    return found


def _plain(raw: bytes) -> object:
    try:
        return json.loads(raw.decode("utf-8", "surrogateescape"))
    except NOT_JSON:
        return None
