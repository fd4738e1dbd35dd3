"""``--commit all`` as people meet it: what the stream does not have is shown by no face of the owner itself, and nobody who looks
waits for it for ever."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.aio import POLL_S, run
from tests.cluster.shipping.owner import set_up
from tests.cluster.showing.world import Node, node
from tests.server.site import STREAM
from tests.tooling.nats import NatsServer
from trunkline.cluster import node as cluster_node
from trunkline.journal.stores.memory import MemoryJournal

WORD = "quixotic"
SHOWS_STATE = ("", "/snapshot", "/export?format=markdown")
SHOWS_ENTRIES = ("/messages", "/history", "/history?joined=true")


async def stored_here(box: Node, session_id: str) -> int:
    """The last entry that the owner's own journal has."""
    assert isinstance(box.cluster.journal, MemoryJournal)
    return (await box.cluster.journal.read(session_id, tail=True, limit=1))[0].seq


def test_what_the_stream_does_not_have_is_shown_by_no_face(nats: NatsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                           ) -> None:
    monkeypatch.setattr(cluster_node, "SHOWN_WITHIN_S", 0.05)

    async def go() -> None:
        await set_up(nats.url)
        async with node(nats.url, "box", tmp_path, commit="all") as box:
            session = await box.session()
            path, before = f"/sessions/{session.id}", session.feed.last_seq
            following = [box.open("GET", each, headers=STREAM) for each in (f"{path}/events?after={before}", "/events")]
            for stream in following:
                await stream.start()
            nats.freeze()
            prompt = asyncio.create_task(box.ask("POST", f"{path}/send-message", json_body={"content": f"/echo {WORD}"},
                                                 headers=STREAM))
            while await stored_here(box, session.id) == before:  # noqa: ASYNC110 - nobody tells, which is the point
                await asyncio.sleep(POLL_S)
            for route in (*(path + each for each in SHOWS_STATE), "/sessions", f"/search?q={WORD}"):
                answer = await box.ask("GET", route)
                assert (answer.status, answer.json()["code"]) == (503, "cluster_unavailable"), route
            for route in (path + each for each in SHOWS_ENTRIES):
                answer = await box.ask("GET", route)
                assert answer.status == 200 and WORD.encode() not in answer.body, route
            assert session.feed.last_seq == before and not prompt.done()
            nats.thaw()
            assert WORD.encode() in (await prompt).body
            for route in (*(path + each for each in (*SHOWS_STATE[2:], *SHOWS_ENTRIES)), f"/search?q={WORD}"):
                assert WORD.encode() in (await box.ask("GET", route)).body, route
            for stream in following:
                await stream.leave()

    run(go())
