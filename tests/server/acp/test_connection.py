"""One editor's connection: answers go to who waits for them, and nobody waits for an editor that has left."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from tests.aio import loop_turns, run
from trunkline.dialects import jsonrpc
from trunkline.errors import Invalid, NotFound, Unavailable, Unsupported
from trunkline.server.acp.connection import EditorLine, EditorRequest
from trunkline.server.websocket import PeerGone


class Wire:
    """Keeps what is sent, with the stream that it belongs to."""

    keeps = False

    def __init__(self) -> None:
        self.sent: list[tuple[dict[str, Any], str | None]] = []
        self.is_gone = False

    async def send(self, lines: Sequence[bytes], stream: str | None) -> None:
        if self.is_gone:
            raise PeerGone
        self.write_now(lines, stream)

    def can_take(self, stream: str | None) -> bool:
        return not self.is_gone

    def write_now(self, lines: Sequence[bytes], stream: str | None) -> None:
        self.sent += [(json.loads(line), stream) for line in lines]


def said(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode()


def test_a_request_is_handed_on_and_its_answer_has_its_id_and_stream() -> None:
    async def check() -> None:
        wire = Wire()
        line = EditorLine(wire)
        (request,) = line.receive(said(id="a1", method="session/list", params={}))
        assert isinstance(request, jsonrpc.Request) and request.method == "session/list"
        await line.reply(EditorRequest(request.id, b"{}", "s"), {"sessions": []})
        assert wire.sent == [({"jsonrpc": "2.0", "id": "a1", "result": {"sessions": []}}, "s")]

    run(check())


def test_who_asks_the_editor_gets_its_answer() -> None:
    async def check() -> None:
        wire = Wire()
        line = EditorLine(wire)
        asking = asyncio.ensure_future(line.call("fs/read_text_file", b'{"path":"/w/a"}', "s"))
        await loop_turns()
        ((sent, stream),) = wire.sent
        assert (sent["method"], sent["params"], stream) == ("fs/read_text_file", {"path": "/w/a"}, "s")
        assert line.receive(said(id=sent["id"], result={"content": "hi"})) == [], "an answer is no request"
        assert msgspec.json.decode(await asking) == {"content": "hi"}

    run(check())


@pytest.mark.parametrize(("code", "kind"), [(-32002, NotFound), (-32601, Unsupported), (-32000, Invalid), (7, Invalid)])
def test_a_refusal_of_the_editors_is_an_error_that_names_what_was_asked(code: int, kind: type[Exception]) -> None:
    async def check() -> None:
        wire = Wire()
        line = EditorLine(wire)
        asking = asyncio.ensure_future(line.call("fs/read_text_file", b"{}", "s"))
        await loop_turns()
        line.receive(said(id=wire.sent[0][0]["id"], error={"code": code, "message": "not here"}))
        with pytest.raises(kind, match="refused fs/read_text_file: not here"):
            await asking

    run(check())


def test_a_request_that_nobody_waits_for_any_more_is_taken_back_and_its_answer_not_read() -> None:
    async def check() -> None:
        wire = Wire()
        line = EditorLine(wire)
        asking = asyncio.ensure_future(line.call("fs/read_text_file", b"{}", "s"))
        await loop_turns()
        asking.cancel()
        await loop_turns()
        sent, cancel = (message for message, _ in wire.sent)
        assert (cancel["method"], cancel["params"]) == ("$/cancel_request", {"requestId": sent["id"]})
        assert line.receive(said(id=sent["id"], result={})) == []

    run(check())


def test_whoever_waits_for_an_editor_that_leaves_learns_so_and_so_does_who_comes_later() -> None:
    async def check() -> None:
        line = EditorLine(Wire())
        asking = asyncio.ensure_future(line.call("fs/read_text_file", b"{}", "s"))
        await loop_turns()
        line.close()
        for call in (asking, line.call("fs/read_text_file", b"{}", "s")):
            with pytest.raises(Unavailable, match="has left"):
                await call

    run(check())


def test_an_editor_that_is_gone_when_it_is_asked_is_unavailable() -> None:
    async def check() -> None:
        wire = Wire()
        wire.is_gone = True
        with pytest.raises(Unavailable, match="has left"):
            await EditorLine(wire).call("fs/read_text_file", b"{}", "s")

    run(check())


def test_no_two_connections_begin_with_the_same_id() -> None:
    firsts = {EditorLine(Wire()).ask("fs/read_text_file", b"{}", lambda answer: None)[0] for _ in range(5)}
    assert len(firsts) == 5
