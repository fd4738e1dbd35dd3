"""One stream to one reader: silence, stalls, leaving, ending."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.server.site import TOKEN, Site, frames, site
from tests.virtual_time import run_in_virtual_time, time_passes
from trunkline.errors import StorageError
from trunkline.hub import Hub, HubOptions, Session
from trunkline.server.app import build_app
from trunkline.server.options import ServerOptions
from trunkline.server.packets.frames import failure_frame
from trunkline.server.sse import EventStream, Outlet, Streams


class Pipe:
    """Both ends of an exchange without an app: what was sent, and when the reader leaves."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.left = asyncio.Event()
        self.open = asyncio.Event()
        self.open.set()
        self.wrote = asyncio.Event()

    async def receive(self) -> dict[str, str]:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        await self.open.wait()
        self.sent.append(message)
        self.wrote.set()

    async def written(self, count: int) -> None:
        """Return when that many bodies were written."""
        while len(self.bodies()) < count:
            self.wrote.clear()
            await self.wrote.wait()

    def bodies(self) -> list[bytes]:
        """What was written."""
        return [message["body"] for message in self.sent[1:]]


async def stream(pump: Any, pipe: Pipe, *, keepalive_s: float = 15.0, streams: Streams | None = None) -> None:
    """Run a stream over a pipe."""
    reply = EventStream(pump, Streams() if streams is None else streams, failure_frame, token_id="", keepalive_s=keepalive_s)
    await reply({"method": "GET"}, pipe.receive, pipe.send)


def test_silence_is_broken_by_comments_that_name_the_position_and_carry_no_id() -> None:
    async def check() -> None:
        pipe, heard = Pipe(), asyncio.Event()

        async def pump(outlet: Outlet) -> None:
            outlet.position = 41
            await heard.wait()

        task = asyncio.create_task(stream(pump, pipe, keepalive_s=0.01))
        await pipe.written(3)
        heard.set()
        await task
        assert set(pipe.bodies()[:3]) == {b": keepalive 41\n\n"}
        assert pipe.bodies()[-1] == b""

    run(check())


def test_a_stream_that_speaks_sends_no_keep_alive() -> None:
    async def check() -> None:
        pipe = Pipe()

        async def pump(outlet: Outlet) -> None:
            for _ in range(20):
                await outlet.write(b"data: x\n\n")
                await time_passes(9)

        await stream(pump, pipe, keepalive_s=10)
        assert pipe.bodies() == [b"data: x\n\n"] * 20 + [b""]

    run_in_virtual_time(check())


def test_a_reader_that_stalls_gets_no_keep_alives_on_top() -> None:
    async def check() -> None:
        pipe = Pipe()
        stalling = asyncio.Event()

        async def pump(outlet: Outlet) -> None:
            pipe.open.clear()
            stalling.set()
            await outlet.write(b"data: 1\n\n")

        task = asyncio.create_task(stream(pump, pipe, keepalive_s=1))
        await stalling.wait()
        await time_passes(10)
        pipe.open.set()
        await task
        assert pipe.bodies() == [b"data: 1\n\n", b""]

    run_in_virtual_time(check())


def test_a_reader_that_leaves_ends_the_pump_and_nothing_more_is_sent() -> None:
    async def check() -> None:
        pipe, running, ended = Pipe(), asyncio.Event(), asyncio.Event()
        streams = Streams()

        async def pump(outlet: Outlet) -> None:
            running.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        task = asyncio.create_task(stream(pump, pipe, streams=streams))
        await running.wait()
        assert len(streams) == 1
        pipe.left.set()
        await task
        assert ended.is_set()
        assert len(streams) == 0
        assert len(pipe.sent) == 1

    run(check())


def test_who_watched_until_a_moment_ago_is_remembered_for_what_happened_before() -> None:
    async def check() -> None:
        streams, began = Streams(), time.time()

        async def watch() -> None:
            return

        pump = asyncio.create_task(watch())
        streams.opened(pump, lambda session_id, event_type: session_id == "watched", "")
        assert streams.watching("watched")
        await pump
        await asyncio.sleep(0)  # for the callback of its end
        assert not streams.watching("watched")
        assert streams.watching("watched", since=began)
        assert not streams.watching("watched", since=time.time() + 1), "it happened after they left"
        assert not streams.watching("other", since=began)

    run(check())


def test_the_end_of_a_stream_says_whose_it_was() -> None:
    async def check() -> None:
        left: list[str] = []
        streams = Streams(on_left=left.append)
        pump = asyncio.create_task(asyncio.sleep(0))
        streams.opened(pump, lambda session_id, event_type: True, "phone")
        assert left == []
        await pump
        await asyncio.sleep(0)  # for the callback of its end
        assert left == ["phone"]

    run(check())


def test_ending_all_streams_closes_each_of_them_properly() -> None:
    async def check() -> None:
        streams = Streams()
        pipes = [Pipe() for _ in range(3)]
        running = asyncio.Event()

        async def pump(outlet: Outlet) -> None:
            if len(streams) == 3:
                running.set()
            await asyncio.Event().wait()

        tasks = [asyncio.create_task(stream(pump, pipe, streams=streams)) for pipe in pipes]
        await running.wait()
        streams.end_all()
        await asyncio.gather(*tasks)
        assert [pipe.sent[-1] for pipe in pipes] == [{"type": "http.response.body", "body": b""}] * 3

    run(check())


def test_a_stream_whose_token_was_revoked_while_it_was_opened_ends_at_once() -> None:
    async def check() -> None:
        async def pump(outlet: Outlet) -> None:
            await asyncio.Event().wait()

        pipe = Pipe()
        await stream(pump, pipe, streams=Streams(lambda token_id: False))
        assert pipe.sent[-1] == {"type": "http.response.body", "body": b""}

    run(check())


def test_a_stream_ends_when_its_token_expires_and_is_not_looked_at_any_more() -> None:
    async def check() -> None:
        left = [0.02, 0.01, 0.0]
        looks: list[str] = []

        def left_s(token_id: str) -> float:
            looks.append(token_id)
            return left.pop(0)

        async def pump(outlet: Outlet) -> None:
            await asyncio.Event().wait()

        pipe, streams = Pipe(), Streams(lambda token_id: bool(left), left_s)
        await stream(pump, pipe, streams=streams)
        assert pipe.sent[-1] == {"type": "http.response.body", "body": b""}
        assert len(looks) == 3, "a clock that runs late is looked at again"
        assert (len(streams), streams._looks) == (0, {})

    run(check())


def test_a_failure_of_ours_is_told_as_an_error_packet_without_an_id() -> None:
    async def check() -> None:
        pipe = Pipe()

        async def pump(outlet: Outlet) -> None:
            raise StorageError("the disk is full", details={"path": "/data"})

        await stream(pump, pipe)
        told = pipe.bodies()[0]
        assert told.startswith(b"event: message\ndata: {")
        assert b"\nid:" not in told
        assert b'"details":{"path":"/data","code":"storage_error"}' in told
        assert pipe.bodies()[1] == b""

    run(check())


def test_a_failure_that_nobody_foresaw_reaches_the_server() -> None:
    async def check() -> None:
        async def pump(outlet: Outlet) -> None:
            raise RuntimeError("a bug")

        with pytest.raises(RuntimeError, match="a bug"):
            await stream(pump, Pipe())

    run(check())


def test_a_stream_that_the_server_cancels_leaves_no_task_behind() -> None:
    async def check() -> None:
        running = asyncio.Event()

        async def pump(outlet: Outlet) -> None:
            running.set()
            await asyncio.Event().wait()

        before = len(asyncio.all_tasks())
        task = asyncio.create_task(stream(pump, Pipe()))
        await running.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(asyncio.all_tasks()) == before

    run(check())


async def _turn(hub: Site, session: Session, content: str) -> None:
    sent = await hub.ask("POST", f"/sessions/{session.id}/send-message", json_body={"content": content})
    assert sent.status == 202
    while session.view().turn is not None:
        await session.feed.wait(session.feed.last_seq)


def test_a_reader_that_stalls_and_comes_back_gets_everything_and_held_nothing_meanwhile(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            reader = hub.open("GET", f"/sessions/{session.id}/packets?after={session.feed.last_seq}")
            await reader.start()
            reader.stalled.clear()
            await _turn(hub, session, "/burst 9000 100")
            assert reader.pieces_waiting() == 0
            reader.stalled.set()
            seen: list[tuple[int, dict[str, Any]]] = []
            while not seen or seen[-1][1]["type"] != "prompt_response":
                seen += frames(await reader.piece() or b"")
            await reader.leave()
            chunks = [packet["content"]["text"] for _, packet in seen if packet["type"] == "agent_message_chunk"]
            assert len(chunks) == 9000
            assert [seq for seq, _ in seen] == sorted({seq for seq, _ in seen})

    run(check())


def test_no_write_is_much_larger_than_a_quarter_of_a_mebibyte(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            await _turn(hub, session, "/burst 5000 200")
            reader = hub.open("GET", f"/sessions/{session.id}/packets")
            await reader.start()
            sizes, seen = [], b""
            while b"prompt_response" not in seen:
                seen = await reader.piece() or b""
                sizes.append(len(seen))
            await reader.leave()
            assert len(sizes) > 3
            assert max(sizes) < 600_000

    run(check())


def test_readers_at_one_position_share_their_bytes(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            readers = [hub.open("GET", f"/sessions/{session.id}/packets?after={session.feed.last_seq}") for _ in range(10)]
            for reader in readers:
                await reader.start()
            await _turn(hub, session, "/echo hello")
            first = [await reader.piece() for reader in readers]
            assert all(piece is first[0] for piece in first)
            for reader in readers:
                await reader.leave()

    run(check())


def test_a_reader_that_lags_behind_when_the_hub_stops_is_let_go_quietly(tmp_path: Path) -> None:
    async def check() -> None:
        (tmp_path / "work").mkdir()
        async with Hub(HubOptions(data=tmp_path / "data")) as hub:
            app = build_app(hub, ServerOptions(data=tmp_path / "data", port=7420, token=TOKEN))
            here = Site(hub, app, tmp_path / "work")
            session = await here.session()
            await here.turn(session, "/burst 8000 100")
            reader = here.open("GET", f"/sessions/{session.id}/packets")
            await reader.start()
            seen = frames(await reader.piece() or b"")
            reader.stalled.clear()
        reader.stalled.set()
        while (piece := await reader.piece()) is not None:
            seen += frames(piece)
        assert [seq for seq, _ in seen] == sorted({seq for seq, _ in seen})
        assert len(seen) < 8000
        assert "error" not in {packet["type"] for _, packet in seen}

    run(check())
