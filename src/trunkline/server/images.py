"""Pictures that are too large for an event: served from the entry that carries them.

Rule: what an agent sends is data. It is served as a picture or not at all, and nothing in it can run.
"""

from __future__ import annotations

import base64
import binascii
import re

import msgspec
from starlette.responses import Response

from trunkline.dialects.acp import ImageContent
from trunkline.dialects.outside import BROKEN, whole_number
from trunkline.errors import NotFound
from trunkline.server.call import Call, Reply

HEADERS = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
           "X-Content-Type-Options": "nosniff",
           "Cache-Control": "private, max-age=31536000, immutable"}


_PICTURE = re.compile(r"image/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}")
"""A type as RFC 6838 writes it. It becomes a header: nothing else may stand in it."""


class _Carrier(msgspec.Struct):
    content: ImageContent


async def image(call: Call) -> Reply:
    """The picture in one entry of a session."""
    session = await call.session()
    seq = whole_number("seq", call.part("seq"))
    entries = await session.feed.read(after=seq - 1, before=seq + 1) if seq else []
    try:
        picture = msgspec.json.decode(entries[0].update or b"null", type=_Carrier).content if entries else None
        data = base64.b64decode(picture.data, validate=True) if picture is not None else None
    except (*BROKEN, binascii.Error):
        picture = data = None
    if picture is None or data is None or not _PICTURE.fullmatch(picture.mime_type):
        raise NotFound(f"entry {seq} of this session carries no picture")
    return Response(data, media_type=picture.mime_type, headers=HEADERS)
