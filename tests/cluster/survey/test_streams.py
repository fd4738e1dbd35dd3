"""How streams are told: what is missing, what is hidden from a key, what is set otherwise, and which copies are behind."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.aio import POLL_S, run
from tests.cluster.connecting import connected
from tests.cluster.tables.world import SMALL
from tests.tooling.nats import NatsCluster, NatsServer
from trunkline.cluster import jetstream, subjects
from trunkline.cluster.connection import Connection
from trunkline.cluster.roles import new_member, server_config
from trunkline.cluster.streams import configs, make_all
from trunkline.cluster.survey.streams import ALL, Stream, read_streams, stream_of
from trunkline.errors import ClusterUnavailable, NodeSilent


def test_what_was_never_made_is_missing_and_what_was_is_as_it_should_be(nats: NatsServer) -> None:
    async def go() -> None:
        async with connected(nats.url) as connection:
            assert [each.state for each in await read_streams(connection)] == ["missing"] * len(ALL)
            await make_all(connection, configs(1, SMALL))
            await jetstream.publish(connection, subjects.journal("box", "ses_1"), bytes(1 << 20), {})
            found = {each.name: each for each in await read_streams(connection)}
            assert [*found] == [*ALL] and {each.state for each in found.values()} == {"there"}
            assert [each.wrong for each in found.values() if each.wrong] == []
            journal = found[subjects.JOURNAL]
            assert (journal.messages, journal.most, journal.replicas, journal.current) == (1, 64 << 20, 1, 1)
            assert 1 << 20 < journal.bytes < 2 << 20 and 0.015 < journal.part < 0.02

    run(go())


def test_a_setting_that_somebody_changed_is_named(nats: NatsServer) -> None:
    async def go() -> None:
        async with connected(nats.url) as connection:
            wanted = configs(1, SMALL)
            await make_all(connection, [{**wanted[0], "discard": "old", "allow_direct": False}, *wanted[1:]])
            found = {each.name: each.wrong for each in await read_streams(connection)}
            assert found.pop(subjects.JOURNAL) == ["discard", "allow_direct"] and not any(found.values())
            await make_all(connection, wanted)
            assert not any(each.wrong for each in await read_streams(connection)), "init sets it right"

    run(go())


@pytest.mark.slow
def test_on_three_servers_the_leader_is_named_and_a_copy_that_is_away_too(three: NatsCluster) -> None:
    async def go() -> None:
        async with connected(*three.urls) as connection:
            await make_all(connection, configs(3, SMALL))

            while {each.current for each in await streams_at_last(connection)} != {3}:  # noqa: ASYNC110 - no event of ours tells of it
                await asyncio.sleep(POLL_S)
            journal = (await streams_at_last(connection))[0]
            assert journal.leader in {"n1", "n2", "n3"} and len(journal.copies) == 2
            gone = journal.copies[0].server
            three.named(gone).kill()
            while (found := (await streams_at_last(connection))[0]).current != 2:  # noqa: ASYNC110 - the same
                await asyncio.sleep(POLL_S)
            assert [each.server for each in found.copies if not each.is_current] == [gone]

    run(go())


async def streams_at_last(connection: Connection) -> list[Stream]:
    """All of them; while servers look for a leader nobody may answer at all, and the one that was asked may be gone."""
    while True:
        with suppress(NodeSilent, ClusterUnavailable):
            await connection.wait_until_up()
            return await read_streams(connection)


def test_a_stream_without_a_leader_has_none() -> None:
    config: dict[str, Any] = next(each for each in configs(3, SMALL) if each["name"] == subjects.JOURNAL)
    found = stream_of({"config": config, "state": {"messages": 0, "bytes": 0}, "cluster": {"replicas": [
        {"name": "n2", "current": False, "lag": 7}, {"name": "n3", "current": True, "offline": True}]}})
    assert (found.leader, found.current) == ("", 1) and [each.behind for each in found.copies] == [7, 0]


def test_where_nobody_answers_for_any_that_is_an_error(tmp_path: Path) -> None:
    """A key that was made for another node gets no answers at all: that is no state of the streams."""
    member, seed = new_member("box", "runner", "box")
    (tmp_path / "seed").write_text(seed)
    (tmp_path / "seed").chmod(0o600)

    async def go(url: str) -> None:
        async with connected(url, node="other", credentials=tmp_path / "seed") as connection:
            with pytest.raises(NodeSilent):
                await read_streams(connection)

    with NatsServer(tmp_path / "nats", more=server_config("ours", [member])) as server:
        run(go(server.url))
