"""Pictures that are too large for an event: served from the entry that carries them.

Rule 1: what an agent sends is data. It is served as a picture or not at all, and nothing in it can run.
Rule 2: a picture may be as long as a line: it is read off the loop, and piece by piece, since no other thread runs meanwhile.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from trunkline import decoders
from trunkline.dialects.acp.reading.large import strings_of
from trunkline.dialects.outside import BROKEN, whole_number
from trunkline.errors import NotFound
from trunkline.server.call import HttpCall, Reply
from trunkline.server.http.messages import Response
from trunkline.threads import check_off_loop

HEADERS = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
           "X-Content-Type-Options": "nosniff",
           "Cache-Control": "private, max-age=31536000, immutable"}


_PICTURE = re.compile(r"image/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}")
"""A type as RFC 6838 writes it. It becomes a header: nothing else may stand in it."""


class _Content(msgspec.Struct, rename="camel", tag_field="type", tag="image"):
    mime_type: str
    data: msgspec.Raw


class _Carrier(msgspec.Struct):
    content: _Content


class Picture(NamedTuple):
    """A picture, and its type."""

    kind: str
    data: bytes


async def image(call: HttpCall) -> Reply:
    """The picture in one entry of a session."""
    session = await call.shown()
    seq = whole_number("seq", call.part("seq"))
    entries = await session.feed.read(after=seq - 1, before=seq + 1) if seq else []
    picture = await session.lane.run(picture_of, entries[0].update or b"null") if entries else None
    if picture is None:
        raise NotFound(f"entry {seq} of this session carries no picture")
    return Response(picture.data, media_type=picture.kind, headers=HEADERS)


def picture_of(update: bytes) -> Picture | None:
    """The picture that an update carries; None where it carries none."""
    check_off_loop()
    try:
        content = decoders.decode(update, _Carrier).content
        if _PICTURE.fullmatch(content.mime_type):
            return Picture(content.mime_type, b"".join(_pieces(memoryview(content.data))))
    except (*BROKEN, binascii.Error):
        pass
    return None


def _pieces(written: memoryview) -> Iterator[bytes]:
    """What a JSON string holds in base64; only its end may be filled up."""
    if bytes(written[:1]) != b'"':
        raise binascii.Error("no text")
    rest = ""
    for text in strings_of(written):
        rest += text
        whole = (len(rest) - 1) // 4 * 4  # the last four wait: they may be the end
        if "=" in rest[:whole]:
            raise binascii.Error("filled up before its end")
        yield base64.b64decode(rest[:whole], validate=True)
        rest = rest[whole:]
    yield base64.b64decode(rest, validate=True)
