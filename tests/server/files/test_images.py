"""Pictures from entries: read in pieces, off the loop."""

from __future__ import annotations

import base64
import json
import os

import pytest

from tests.aio import run
from tests.tooling.rows import every_row
from trunkline.server.files.images import Picture, picture_of


def update(data: object, kind: str = "image/png", **more: str) -> bytes:
    return json.dumps({"sessionUpdate": "agent_message_chunk", "content": {
        "type": "image", "mimeType": kind, "data": data, **more}}).encode()


@every_row("size", [0, 1, 2, 3, 4, 196_607, 196_608, 196_609, 1_000_001])
def test_a_picture_of_any_length_comes_whole(size: int) -> None:
    data = os.urandom(size)
    told = update(base64.b64encode(data).decode())
    assert picture_of(told) == Picture("image/png", data)
    assert picture_of(told.replace(b"/", b"\\/").replace(b"image\\/png", b"image/png")) == Picture("image/png", data)


@every_row("told", [
    b"null", b"{", b"[]", update(7), update(None), update("YQ==YQ=="), update("Y" * 300_000 + "=" + "Y" * 300_003), update("a"),
    update("a b="), update("YQ==", kind="text/html"), update("YQ==", type="audio"),
])
def test_what_is_no_picture_is_none(told: bytes) -> None:
    assert picture_of(told) is None


def test_it_is_not_read_on_the_loop() -> None:
    async def check() -> None:
        with pytest.raises(RuntimeError, match="event loop"):
            picture_of(update("YQ=="))

    run(check())
