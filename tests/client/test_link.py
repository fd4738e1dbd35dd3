"""The client's WebSocket against a real server, through a line that breaks wherever a test wants it to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.aio import run
from tests.server.http.test_listen import listening
from tests.server.site import TOKEN, Site
from tests.tooling.examples import examples
from trunkline.client import Client, ContextEvent, Endpoint, Link, Watch, WatchSnapshot
from trunkline.client import link as watches
from trunkline.dialects.acp.content import TextContent
from trunkline.dialects.context.events import MessageDeltaEvent
from trunkline.errors import AlreadyResolved, Invalid, SessionDeleted, SessionNotFound, Unauthorized, Unavailable
from trunkline.hub import Decision, Session


class Line:
    """A proxy to the server that cuts a connection after so many bytes from it; without a number, never."""

    def __init__(self, port: int, lives: Iterator[int | None]) -> None:
        self._port = port
        self._lives = lives
        self._tasks: set[asyncio.Task[None]] = set()
        self.connections = 0
        self.url = ""

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._carry(reader, writer))
        self._tasks.add(task)

    async def end(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        left = next(self._lives, None)
        inner, outer = await asyncio.open_connection("127.0.0.1", self._port)
        up = asyncio.create_task(_copy(reader, outer))
        try:
            while data := await inner.read(65536):
                cut = left is not None and len(data) >= left
                writer.write(data[:left] if cut else data)
                if cut:
                    return
                left = None if left is None else left - len(data)
        except ConnectionError:
            return
        finally:
            up.cancel()
            for end in (outer, writer):
                end.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()


@asynccontextmanager
async def line(port: int, lives: list[int]) -> AsyncIterator[Line]:
    proxy = Line(port, iter(lives))
    server = await asyncio.start_server(proxy.accept, "127.0.0.1", 0)
    proxy.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        try:
            yield proxy
        finally:
            await proxy.end()


async def events_of(session: Session) -> list[dict[str, Any]]:
    found = await session.feed.read(after=0, limit=1_000_000, max_bytes=1 << 40)
    return [json.loads(entry.event) for entry in found]


async def read_until(watch: Watch, seq: int) -> list[ContextEvent]:
    """The events of a watch up to a seq; snapshots are skipped."""
    found: list[ContextEvent] = []
    while not found or found[-1].seq < seq:
        thing = await anext(watch)
        if isinstance(thing, ContextEvent):
            found.append(thing)
    return found


async def ask_something(session: Session) -> str:
    await session.turns.send([TextContent(text="/ask")], by="test")
    while not session.fold.approvals:
        await session.feed.wait(session.feed.last_seq)
    return next(iter(session.fold.approvals))


@asynccontextmanager
async def linked(folder: Path, lives: list[int] | None = None, token: str = TOKEN) -> AsyncIterator[tuple[Site, Link, Line]]:
    """A hub, a line and a client on it."""
    async with listening(folder) as served, line(served.port, lives or []) as wire, Client(wire.url, token) as client, \
            client.connect() as link:
        yield served.hub, link, wire


def test_a_watch_is_a_snapshot_and_then_every_event(tmp_path: Path) -> None:
    async def check() -> None:
        async with linked(tmp_path) as (hub, link, _):
            session = await hub.session()
            watch = link.watch(session.id)
            first = await anext(watch)
            assert isinstance(first, WatchSnapshot)
            assert (first.session_id, first.seq, first.session().id, first.after_gap) == (
                session.id, session.feed.last_seq, session.id, False)
            await hub.turn(session, "/burst 20 10")
            found = await read_until(watch, session.feed.last_seq)
            assert [dict(event) for event in found] == (await events_of(session))[first.seq:]
            assert watch.position == session.feed.last_seq
            assert any(isinstance(event.typed(), MessageDeltaEvent) for event in found)

    run(check())


@settings(max_examples=examples(8), deadline=None)
@given(lives=st.lists(st.one_of(st.integers(0, 600), st.integers(0, 12_000)), max_size=8), wide=st.booleans())
def test_a_line_that_is_cut_at_any_byte_gives_the_same_events(tmp_path_factory: pytest.TempPathFactory, lives: list[int],
                                                             wide: bool) -> None:
    async def check() -> None:
        async with listening(tmp_path_factory.mktemp("cut")) as served, line(served.port, lives) as wire, \
                Client(wire.url, TOKEN) as client:
            hub = served.hub
            session = await hub.session()
            async with client.connect() as link:
                watch = link.watch(after=0) if wide else link.watch(session.id, after=0)
                for prompt in ("/burst 40 30", "/echo one"):
                    await hub.turn(session, prompt)
                found = await read_until(watch, session.feed.last_seq)
            assert [dict(event) for event in found] == await events_of(session)

    run(check())


def test_a_program_that_is_slow_is_served_from_the_journal_and_misses_nothing(tmp_path: Path,
                                                                              monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watches, "KEPT", 10)

    async def check() -> None:
        async with linked(tmp_path) as (hub, link, _):
            session = await hub.session()
            watch = link.watch(session.id, after=0)
            await hub.turn(session, "/burst 300 30")
            async with asyncio.timeout(60):
                while not watch.behind:  # noqa: ASYNC110  nothing is told when a program is found to be slow
                    await asyncio.sleep(0)
            assert len(watch._things) == 10
            found = await read_until(watch, session.feed.last_seq)
            assert [dict(event) for event in found] == await events_of(session)

    run(check())


def test_what_waits_for_somebody_is_known_whatever_is_watched(tmp_path: Path) -> None:
    async def check() -> None:
        async with linked(tmp_path) as (hub, link, _):
            session = await hub.session()
            changes = link.asks()
            assert await anext(changes) == []
            request_id = await ask_something(session)
            (ask,) = await anext(changes)
            assert ask.session_id == session.id
            assert ask.approval is not None and ask.approval.request_id == request_id
            assert ask.approval.options and ask.approval.expires_at
            await session.approvals.decide(request_id, Decision(decision="deny"), by="test")
            assert await anext(changes) == link.pending == []
            await changes.aclose()

    run(check())


def test_what_was_asked_and_answered_while_the_line_was_down_is_known_after_it(tmp_path: Path) -> None:
    async def check() -> None:
        async with listening(tmp_path) as served:
            hub = served.hub
            session = await hub.session()
            request_id = await ask_something(session)
            async with line(served.port, [2_500]) as wire, Client(wire.url, TOKEN) as client, client.connect() as link:
                assert [ask.approval.request_id for ask in link.pending if ask.approval] == [request_id]
                watch = link.watch(after=0)
                await session.approvals.decide(request_id, Decision(decision="deny"), by="test")
                while session.fold.turn is not None:
                    await session.feed.wait(session.feed.last_seq)
                await read_until(watch, session.feed.last_seq)
                assert link.connections == 2
                assert link.pending == []

    run(check())


def test_a_command_is_answered_or_raises_why_not(tmp_path: Path) -> None:
    async def check() -> None:
        async with linked(tmp_path) as (hub, link, _):
            session = await hub.session()
            request_id = await ask_something(session)
            ids = {"requestId": request_id, "toolCallId": session.fold.approvals[request_id].tool_call_id}
            await link.command(session.id, {"command": "deny_tool_call", **ids})
            with pytest.raises(AlreadyResolved):
                await link.command(session.id, {"command": "approve_tool_call", **ids})
            with pytest.raises(SessionNotFound):
                await link.command("none", {"command": "cancel"})

    run(check())


@pytest.mark.parametrize("life", [300, 400, 500, 700, 1_000, 2_000, 3_000])
def test_a_command_whose_answer_was_lost_is_sent_again_and_done_once(tmp_path: Path, life: int) -> None:
    async def check() -> None:
        async with listening(tmp_path) as served, line(served.port, [life, life + 50]) as wire, \
                Client(wire.url, TOKEN) as client, client.connect() as link:
            session = await served.hub.session()
            link.watch(session.id)  # what it brings uses the line up
            for number in range(4):
                await link.command(session.id, {"command": "send_message", "message": f"/echo {number}",
                                                "_meta": {"whenBusy": "queue"}})
            while session.fold.turn is not None or session.fold.queue:
                await session.feed.wait(session.feed.last_seq)
            said = [event["content"][0]["text"] for event in await events_of(session)
                    if event["type"] == "message:complete" and event["role"] == "user"]
            assert said == [f"/echo {number}" for number in range(4)]
            assert link.connections > 1

    run(check())


def test_a_command_over_http_does_the_same(tmp_path: Path) -> None:
    async def check() -> None:
        async with listening(tmp_path) as served, Client(f"http://127.0.0.1:{served.port}", TOKEN) as client:
            session = await served.hub.session()
            first = await client.command(session.id, {"command": "send_message", "message": "/echo one"}, key="k")
            assert await client.command(session.id, {"command": "send_message", "message": "/echo one"}, key="k") == first
            with pytest.raises(Invalid):
                await client.command(session.id, {"command": "dance"})

    run(check())


def test_a_wrong_token_is_told_at_once_and_not_tried_again(tmp_path: Path) -> None:
    async def check() -> None:
        async with listening(tmp_path) as served, Client(f"http://127.0.0.1:{served.port}", "wrong") as client:
            with pytest.raises(Unauthorized):
                async with client.connect():
                    raise AssertionError("it was let in")

    run(check())


def test_a_hub_that_is_not_there_is_waited_for_and_then_given_up(tmp_path: Path) -> None:
    async def check() -> None:
        async with Client("http://127.0.0.1:9", TOKEN, reconnect_s=0.1) as client:
            with pytest.raises(Unavailable):
                async with client.connect():
                    raise AssertionError("there is no hub")

    run(check())


def test_a_hub_that_moved_is_found_again(tmp_path: Path) -> None:
    async def check() -> None:
        async with listening(tmp_path) as served, line(served.port, [1_500]) as first:
            async def find() -> Endpoint:
                return Endpoint(f"http://127.0.0.1:{served.port}", TOKEN)

            session = await served.hub.session()
            async with Client(first.url, TOKEN, find=find) as client, client.connect() as link:
                watch = link.watch(session.id, after=0)
                await served.hub.turn(session, "/burst 50 20")
                found = await read_until(watch, session.feed.last_seq)
                assert [dict(event) for event in found] == await events_of(session)
                assert (client.endpoint.url, first.connections) == (f"http://127.0.0.1:{served.port}", 1)

    run(check())


def test_a_session_that_is_not_there_or_goes_ends_its_watch_only(tmp_path: Path) -> None:
    async def check() -> None:
        async with linked(tmp_path) as (hub, link, _):
            gone, kept = await hub.session(), await hub.session()
            with pytest.raises(SessionNotFound):
                await anext(link.watch("none"))
            watch, other = link.watch(gone.id), link.watch(kept.id)
            await anext(watch)
            await anext(other)
            await hub.hub.delete(gone.id)
            with pytest.raises(SessionDeleted):
                while True:
                    await anext(watch)
            await kept.rename("kept", by="test")
            assert [event.seq for event in await read_until(other, kept.feed.last_seq)] == [kept.feed.last_seq]

    run(check())


def test_a_closed_link_ends_its_watches(tmp_path: Path) -> None:
    async def check() -> None:
        async with linked(tmp_path) as (_, link, _):
            watch = link.watch()
            await anext(watch)
            await link.close()
            with pytest.raises(Unavailable):
                await anext(watch)
            with pytest.raises(Unavailable):
                link.watch()
            with pytest.raises(Unavailable):
                await link.command("x", {"command": "cancel"})

    run(check())


def test_what_is_not_watched_any_more_does_not_come(tmp_path: Path) -> None:
    async def check() -> None:
        async with linked(tmp_path) as (hub, link, _):
            session = await hub.session()
            watch, other = link.watch(session.id), link.watch(session.id)
            await anext(watch)
            await anext(other)
            await link.unwatch(watch)
            await session.rename("unseen", by="test")
            assert await read_until(other, session.feed.last_seq)
            with pytest.raises(Unavailable):
                await anext(watch)

    run(check())


# Events over Server-Sent Events


def test_events_over_sse_survive_cuts_too(tmp_path: Path) -> None:
    async def check() -> None:
        async with listening(tmp_path) as served, line(served.port, [700, 3_000, 1, 900]) as wire, \
                Client(wire.url, TOKEN) as client:
            session = await served.hub.session()
            await served.hub.turn(session, "/burst 40 30")
            seen: list[dict[str, Any]] = []
            async with aclosing(client.events(session.id)) as stream:
                async for seq, event in stream:
                    seen.append(dict(event))
                    assert seq == event.seq
                    if seq == session.feed.last_seq:
                        break
            assert seen == await events_of(session)
            deltas = client.events(session.id, types="message:delta")
            assert (await anext(deltas))[1].type == "message:delta"
            await deltas.aclose()

    run(check())


def test_all_events_begin_now_and_keep_their_place_over_a_cut(tmp_path: Path) -> None:
    async def check() -> None:
        async with listening(tmp_path) as served, line(served.port, [450]) as wire, Client(wire.url, TOKEN) as client:
            session = await served.hub.session()
            start = served.hub.hub.everything.last_pos
            stream = client.all_events()
            first = asyncio.create_task(anext(stream))
            while not served.hub.hub.everything.waiting:  # noqa: ASYNC110  nothing is told when a reader has come
                await asyncio.sleep(0)
            await served.hub.turn(session, "/burst 30 20")
            last = served.hub.hub.everything.last_pos
            seen = [(await first)[0]]
            while seen[-1] < last:
                seen.append((await anext(stream))[0])
            await stream.aclose()
            assert seen == list(range(start + 1, last + 1))
            assert wire.connections == 2

    run(check())


def test_history_and_snapshots_are_typed(tmp_path: Path) -> None:
    async def check() -> None:
        async with listening(tmp_path) as served, Client(f"http://127.0.0.1:{served.port}", TOKEN) as client:
            session = await served.hub.session()
            await served.hub.turn(session, "/burst 9 9")
            page = await client.history(session.id, limit=5)
            assert ([event.seq for event in page.records()], page.next_after, page.last_seq) == (
                [1, 2, 3, 4, 5], 5, session.feed.last_seq)
            last = await client.history(session.id, before=session.feed.last_seq + 1, limit=2)
            assert [event.seq for event in last.records()] == [session.feed.last_seq - 1, session.feed.last_seq]
            joined = await client.history(session.id, types="message:delta", joined=True)
            plain = await client.history(session.id, types="message:delta")
            assert len(joined.events) < len(plain.events)
            snapshot = await client.snapshot(session.id)
            assert (snapshot.seq, snapshot.state.id) == (session.feed.last_seq, session.id)

    run(check())
