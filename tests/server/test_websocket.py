"""The hub's end of a WebSocket: what goes through it, and what a peer learns when it ends."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from tests.aio import loop_turns, run
from tests.tooling.rows import every_row
from trunkline.errors import HubStopping
from trunkline.server.http.open_socket import binary_frame, text_frame
from trunkline.server.websocket import FAILED, NOT_LET_IN, STOPPING, PeerGone, Socket


class Peer:
    """The other end: what it sends, and what it got."""

    def __init__(self, *messages: dict[str, Any], failure: Exception | None = None) -> None:
        self.got: list[Any] = []
        self._messages = deque(messages)
        self._failure = failure

    async def receive(self) -> dict[str, Any]:
        return self._messages.popleft()

    async def send(self, message: Any) -> None:
        if self._failure is not None:
            raise self._failure
        self.got.append(message)

    def socket(self) -> Socket:
        return Socket(self.receive, self.send)


class Direct:
    """A server's way out without a wait, which can be told to take no more, and whose peer can leave."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []
        self.flows = asyncio.Event()
        self.flows.set()
        self.is_gone = False

    @property
    def can_take(self) -> bool:
        return self.flows.is_set() and not self.is_gone

    def write(self, frames: bytes) -> None:
        assert self.can_take
        self.writes.append(frames)

    async def room(self) -> None:
        await self.flows.wait()
        if self.is_gone:
            raise OSError("gone")


def test_messages_go_both_ways_until_the_peer_leaves() -> None:
    async def check() -> None:
        peer = Peer({"type": "websocket.connect"}, {"type": "websocket.receive", "text": "hello"},
                    {"type": "websocket.receive", "bytes": b"x"}, {"type": "websocket.disconnect"})
        socket = peer.socket()
        await socket.accept()
        assert await socket.receive() == "hello"
        assert await socket.receive() is None
        await socket.send_text("yes")
        await socket.send_bytes(b"no")
        with pytest.raises(PeerGone):
            await socket.receive()
        assert [message.get("text") or message.get("bytes") for message in peer.got] == [None, "yes", b"no"]

    run(check())


def test_what_belongs_together_is_one_write_where_the_server_offers_that() -> None:
    async def check() -> None:
        peer, direct = Peer(), Direct()
        with_it, without = Socket(peer.receive, peer.send, direct), peer.socket()
        await with_it.send_texts([b"one", b"two"])
        await with_it.send_bytes(b"three")
        assert direct.writes == [text_frame(b"one") + text_frame(b"two"), binary_frame(b"three")] and peer.got == []
        assert with_it.can_take and not without.can_take
        await without.send_texts([b"one", b"two"])
        assert [message["text"] for message in peer.got] == ["one", "two"]

    run(check())


def test_a_peer_that_stalls_is_waited_for_and_one_that_left_is_gone() -> None:
    async def check() -> None:
        peer, direct = Peer(), Direct()
        socket = Socket(peer.receive, peer.send, direct)
        direct.flows.clear()
        sending = asyncio.create_task(socket.send_texts([b"one"]))
        await loop_turns()
        assert not sending.done() and direct.writes == [] and not socket.can_take
        direct.flows.set()
        await sending
        assert direct.writes == [text_frame(b"one")]
        direct.is_gone = True
        with pytest.raises(PeerGone):
            await socket.send_texts([b"two"])
        with pytest.raises(PeerGone):
            await socket.send_bytes(b"two")

    run(check())


@pytest.mark.parametrize("failure", [ConnectionResetError(), RuntimeError("closed already")])
def test_sending_to_a_peer_that_is_gone_says_so(failure: Exception) -> None:
    with pytest.raises(PeerGone):
        run(Peer(failure=failure).socket().send_text("x"))


def test_a_reason_is_cut_to_what_a_close_frame_holds() -> None:
    peer = Peer()
    run(peer.socket().close(FAILED, "ä" * 500))
    assert len(peer.got[0]["reason"].encode()) <= 120


async def cancelled() -> None:
    raise asyncio.CancelledError


def failing(error: Exception) -> Callable[[], Any]:
    async def work() -> None:
        raise error

    return work


@every_row(("work", "is_live", "code"), [
    (cancelled, True, STOPPING), (cancelled, False, NOT_LET_IN), (failing(HubStopping("stopping")), True, STOPPING),
    (failing(ValueError("broken")), True, FAILED), (failing(PeerGone()), True, None)])
def test_a_peer_that_is_still_there_learns_why_it_ends(work: Callable[[], Any], is_live: bool, code: int | None) -> None:
    async def check() -> None:
        peer, task = Peer(), asyncio.create_task(work())
        await asyncio.wait([task])
        await peer.socket().close_after(task, is_live=is_live, is_stopping=False)
        assert [message["code"] for message in peer.got] == ([code] if code is not None else [])

    run(check())


@pytest.mark.parametrize(("error", "code"), [(ValueError("closed"), STOPPING), (PeerGone(), None)])
def test_what_fails_while_the_hub_stops_is_told_as_that_and_not_logged(
        error: Exception, code: int | None, caplog: pytest.LogCaptureFixture) -> None:
    async def check() -> None:
        peer, task = Peer(), asyncio.create_task(failing(error)())
        await asyncio.wait([task])
        await peer.socket().close_after(task, is_live=True, is_stopping=True)
        assert [message["code"] for message in peer.got] == ([code] if code is not None else [])
        assert caplog.text == ""

    run(check())
