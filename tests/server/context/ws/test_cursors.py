"""Where a client is: it goes on after its cursor, in each session and in all of them."""

from __future__ import annotations

from pathlib import Path

from tests.aio import run
from tests.server.context.ws.socket import connected
from tests.server.context.ws.streams import events_of, play, stream_of
from tests.server.site import site


def test_with_a_cursor_the_stream_goes_on_after_it(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            session = await hub.session()
            await play(hub, session, "/burst 50 20")
            for after in (0, 1, 7, session.feed.last_seq):
                socket.say("subscribe", id=f"s{after}", sessions=[session.id], after=after)
                assert (await socket.until("ack", id=f"s{after}"))["ok"]
                assert await socket.until("resumed") == {
                    "type": "resumed", "subscription": f"s{after}", "sessionId": session.id, "seq": after}
                if after < session.feed.last_seq:
                    assert await stream_of(socket, f"s{after}", session.feed.last_seq) == (await events_of(session))[after:]

    run(check())


def test_a_cursor_beyond_the_end_is_a_gap_and_a_snapshot(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            session = await hub.session()
            last = session.feed.last_seq
            socket.say("subscribe", id="s", sessions=[session.id], after=last + 5)
            assert (await socket.hear())["ok"]
            assert await socket.hear() == {"type": "gap", "subscription": "s", "sessionId": session.id, "from": last + 5,
                                           "floor": 0, "seq": last}
            assert (await socket.hear())["type"] == "snapshot"
            await session.rename("on it goes", by="test")
            assert (await socket.until("event"))["event"]["seq"] == last + 1

    run(check())


def test_several_sessions_have_a_cursor_each(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            one, two, three = [await hub.session() for _ in range(3)]
            ids = [one.id, two.id, three.id]
            socket.say("subscribe", id="s", sessions=ids, after={one.id: 0, two.id: two.feed.last_seq})
            frames = [await socket.hear() for _ in range(4)]
            assert [frame["type"] for frame in frames] == ["ack", "resumed", "resumed", "snapshot"]
            assert [frame.get("sessionId") for frame in frames[1:]] == ids
            await stream_of(socket, "s", one.feed.last_seq)
            await two.rename("two", by="test")
            await three.rename("three", by="test")
            found = [(await socket.until("event"))["event"] for _ in range(2)]
            assert [(event["sessionId"], event["seq"]) for event in found] == [
                (two.id, two.feed.last_seq), (three.id, three.feed.last_seq)]

    run(check())


def test_all_sessions_can_be_taken_up_again_at_any_pos(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            session = await hub.session()
            await play(hub, session, "/burst 30 10")
            last = hub.hub.everything.last_pos
            for after in (0, 3, last - 1):
                socket.say("subscribe", id=str(after), sessions="*", after=after)
                await socket.until("resumed", subscription=str(after), seq=after)
                found: list[int] = []
                while not found or found[-1] < last:
                    found.append((await socket.until("event", subscription=str(after)))["pos"])
                assert found == list(range(after + 1, last + 1))
            socket.say("subscribe", id="far", sessions="*", after=last + 1)
            gap = await socket.until("gap")
            assert (gap["sessionId"], gap["from"], gap["seq"]) == ("*", last + 1, last)

    run(check())
