"""Updates so large that looking at all of them would hold everybody up: emitted in pieces, or by their beginning.

Rule 1: a text is emitted in pieces that make up all of it: many chunks instead of one.
Rule 2: of a call, what it shows and carries is emitted by its beginning, and so is a plan; the update itself is passed on whole.
Rule 3: a JSON string is cut between two characters: not within an escape, a pair of surrogates or a byte sequence of UTF-8.
Rule 4: one pass over the bytes at most, and no copy of more than a piece.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from trunkline import decoders
from trunkline.dialects.acp.reading.decode import decode_plain_chunk
from trunkline.dialects.outside import BROKEN, NOT_JSON
from trunkline.errors import Invalid

LARGE_UPDATE: Final = 8 << 20
"""Bytes from which on an update is large. To read one of this size in full takes some 50 ms; an image of 6 MB is smaller."""

PIECE_BYTES: Final = 256 << 10
"""Bytes of a piece of text."""

BEGINNING_BYTES: Final = PIECE_BYTES + 4096
"""Bytes of the beginning of each long text of a call that is emitted: so many that whoever cuts it for an event marks that."""

NAME_BYTES: Final = 32 << 10
"""Bytes of a path or an id in a long request, as JSON, which may take six for one: whoever reads it bounds it further."""

KEPT_MEMBERS: Final = 1000
"""Members and items of what a call carries that are emitted."""

_GAP_CHARS: Final = 256
"""White space between two lines of a plan that is skipped."""

_json: Final = json.JSONDecoder()
_QUOTE, _BRACE, _BRACKET = b'"{['
_CHUNK, _HEAD_BYTES = b"_chunk", 1024
"""What the kind of a chunk has in it, and how near to its beginning that stands."""
_CUT_ESCAPE = re.compile(rb"\\+u[0-9a-fA-F]{0,3}\Z")
_HIGH_SURROGATE = re.compile(rb"\\+u[dD][89abAB][0-9a-fA-F]{2}\Z")


class _Item(Struct, omit_defaults=True):
    """What a call shows, its long members as they stand in it."""

    type: Raw | UnsetType = UNSET
    content: dict[str, Raw] | UnsetType = UNSET
    path: Raw | UnsetType = UNSET
    oldText: Raw | UnsetType = UNSET
    newText: Raw | UnsetType = UNSET
    terminalId: Raw | UnsetType = UNSET
    _meta: Raw | UnsetType = UNSET


class _Call(Struct, omit_defaults=True):
    """A call's update."""

    sessionUpdate: Raw
    toolCallId: Raw
    title: Raw | UnsetType = UNSET
    name: Raw | UnsetType = UNSET
    kind: Raw | UnsetType = UNSET
    status: Raw | UnsetType = UNSET
    content: list[_Item] | UnsetType | None = UNSET
    locations: Raw | UnsetType = UNSET
    rawInput: Raw | UnsetType = UNSET
    rawOutput: Raw | UnsetType = UNSET
    _meta: Raw | UnsetType = UNSET


class _Plan(Struct, kw_only=True, tag_field="sessionUpdate", tag="plan", gc=False):
    """A plan, its lines as they stand in it."""

    entries: Raw


class LargeWrite(Struct):
    """A request to write a long text, which is left where the line has it, as a JSON string."""

    session_id: str
    path: str
    content: Raw


class _Write(Struct, rename="camel"):
    """The same as it came: which of its members are long is not known before it is looked at."""

    session_id: Raw
    path: Raw
    content: Raw


_read_write = decoders.of(_Write).decode
_read_string = decoders.of(str).decode
_read_call = decoders.of(_Call).decode
_read_plan = decoders.of(_Plan).decode
_read_members = decoders.of(dict[str, Raw]).decode
_encode = msgspec.json.Encoder().encode


class Abridged(Struct, frozen=True):
    """An update by its beginning. ``input_cut``: not all that a call was given is in it."""

    update: bytes
    input_cut: bool


def split_chunk(update: Raw | bytes) -> Iterator[bytes]:
    """A chunk of plain text as many chunks that say the same; nothing where the update is anything else."""
    found = _text_in(update)
    if found is None:
        return
    text, head, tail = found
    start, end = 1, len(text) - 1
    while start < end:
        piece = whole_characters(bytes(text[start:min(start + PIECE_BYTES, end)]), is_last=start + PIECE_BYTES >= end)
        yield b"".join((head, piece, tail))
        start += len(piece)


def strings_of(text: memoryview) -> Iterator[str]:
    """A long JSON string in pieces; raises as decoding does."""
    start, end = 1, len(text) - 1
    while start < end:
        piece = whole_characters(bytes(text[start:min(start + PIECE_BYTES, end)]), is_last=start + PIECE_BYTES >= end)
        yield _read_string(b'"%b"' % piece)
        start += len(piece)


def large_write(params: bytes) -> LargeWrite:
    """The params of a long ``fs/write_text_file``; raises Invalid."""
    try:
        ask = _read_write(params)
        for named in (ask.session_id, ask.path):
            if len(memoryview(named)) > NAME_BYTES:
                raise Invalid(f"a path or an id has at most {NAME_BYTES} bytes")
        write = LargeWrite(_read_string(ask.session_id), _read_string(ask.path), ask.content)
    except BROKEN as error:
        raise Invalid(f"params of over {LARGE_UPDATE} bytes: {error}") from None
    if memoryview(ask.content)[0] != _QUOTE:
        raise Invalid("content must be a string")
    return write


def abridged(update: bytes) -> Abridged | None:
    """The beginning of a call's update or of a plan; None where it is anything else, or has another shape than it should."""
    try:
        call = _read_call(update)
    except BROKEN:
        return _abridged_plan(update)
    for name in ("title", "name", "kind", "status", "locations", "_meta"):
        setattr(call, name, _beginning(getattr(call, name)))
    given = call.rawInput
    call.rawInput, call.rawOutput = _beginning(given), _beginning(call.rawOutput)
    if isinstance(call.content, list):
        call.content = [_shortened(item) for item in call.content[:KEPT_MEMBERS]]
    input_cut = given is not UNSET and len(memoryview(given)) > BEGINNING_BYTES
    call._meta = _with_size(call._meta, len(update))
    return Abridged(_encode(call), input_cut)


def _abridged_plan(update: bytes) -> Abridged | None:
    try:
        entries = memoryview(_read_plan(update).entries)
    except BROKEN:
        return None
    if entries[0] != _BRACKET:
        return None
    lines = b",".join(_first_items(bytes(entries[:BEGINNING_BYTES]).decode("utf-8", "ignore")))
    return Abridged(b'{"sessionUpdate":"plan","entries":[%b],"_meta":%b}' % (lines, _with_size(UNSET, len(update))), False)


def _first_items(array: str) -> list[bytes]:
    """The items at the beginning of an array, as they stand in it, up to the one that is cut."""
    items: list[bytes] = []
    at = 1
    while len(items) <= KEPT_MEMBERS:
        at += len(array[at:at + _GAP_CHARS]) - len(array[at:at + _GAP_CHARS].lstrip(", \t\r\n"))
        try:
            end = _json.raw_decode(array, at)[1]
        except NOT_JSON:
            break
        items.append(array[at:end].encode())
        at = end
    return items


def _text_in(update: Raw | bytes) -> tuple[memoryview, bytes, bytes] | None:
    """The JSON string of a plain chunk, and what stands around it."""
    if _CHUNK not in bytes(memoryview(update)[:_HEAD_BYTES]):
        return None  # a quick look: whatever begins otherwise is read in full, and is none
    try:
        chunk = decode_plain_chunk(update)
    except BROKEN:
        return None
    text = memoryview(chunk.content.text)
    if text[0] != _QUOTE:
        return None
    named = b"" if chunk.messageId is None else b',"messageId":' + _encode(chunk.messageId)
    kind = _encode(chunk.sessionUpdate)
    return text, b'{"sessionUpdate":%b,"content":{"type":"text","text":"' % kind, b'"}%b}' % named


def _with_size(meta: Raw | UnsetType, size: int) -> Raw:
    """The remarks on an update, and how long it is in full."""
    try:
        members = _read_members(meta) if meta is not UNSET else {}
    except BROKEN:
        members = {}
    return Raw(_encode({**members, "trunkline": {"truncated": {"bytes": size}}}))


def _shortened(item: _Item) -> _Item:
    item.oldText, item.newText, item.path = _beginning(item.oldText), _beginning(item.newText), _beginning(item.path)
    if isinstance(item.content, dict):
        item.content = _members_of(item.content)
    return item


def _members_of(members: dict[str, Raw]) -> dict[str, Raw]:
    kept: dict[str, Raw] = {}
    for name, value in list(members.items())[:KEPT_MEMBERS]:
        short = _beginning(value, within=False)
        if short is not UNSET:
            kept[name[:KEPT_MEMBERS]] = short
    return kept


def _beginning(value: Raw | UnsetType, *, within: bool = True) -> Any:
    """A value, by its beginning where it is long: of a string its first characters, of an object its members, else nothing."""
    if value is UNSET:
        return UNSET
    view = memoryview(value)
    if len(view) <= BEGINNING_BYTES:
        return Raw(bytes(view))  # a copy: it must not hold the line that it came in
    if view[0] == _QUOTE:
        return Raw(b'"%b"' % whole_characters(bytes(view[1:BEGINNING_BYTES]), is_last=False))
    if view[0] == _BRACE and within:
        try:
            return Raw(_encode(_members_of(_read_members(value))))
        except BROKEN:
            return UNSET
    return UNSET


def whole_characters(piece: bytes, *, is_last: bool) -> bytes:
    """A piece of a JSON string that ends where a character does."""
    if is_last:
        return piece
    if (len(piece) - len(piece.rstrip(b"\\"))) % 2:
        piece = piece[:-1]
    for broken in (_CUT_ESCAPE, _HIGH_SURROGATE):
        found = broken.search(piece, max(0, len(piece) - 64))
        if found is not None and _is_escape(piece, found.end()):
            piece = piece[:piece.rindex(b"\\", 0, found.end())]
    return piece[:len(piece) - _of_cut_sequence(piece[-4:])]


def _is_escape(piece: bytes, end: int) -> bool:
    """Whether the last backslash before ``end`` is not itself escaped."""
    last = piece.rindex(b"\\", 0, end)
    run = piece[:last + 1]
    return (len(run) - len(run.rstrip(b"\\"))) % 2 == 1


def _of_cut_sequence(tail: bytes) -> int:
    """Bytes at the end that begin a character of UTF-8 and do not end it."""
    for back in range(1, len(tail) + 1):
        byte = tail[-back]
        if byte < 0x80:
            return 0
        if byte >= 0xC0:
            return back if back < (2 if byte < 0xE0 else 3 if byte < 0xF0 else 4) else 0
    return 0
