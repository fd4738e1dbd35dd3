"""The streams and buckets: made as asked, brought to what is asked for, never emptied."""

from __future__ import annotations

from typing import Any

import pytest

from tests.aio import run
from tests.cluster.connecting import connected
from tests.tooling.nats import NatsCluster, NatsServer
from trunkline.cluster import jetstream, subjects
from trunkline.cluster.jetstream import Ack
from trunkline.cluster.streams import Config, Sizes, configs, info, make_all
from trunkline.errors import ClusterUnavailable

SMALL = Sizes(journal=64 << 20, parts=64 << 20, checkpoints=16 << 20, tables=8 << 20)


async def settings_of(*urls: str) -> dict[str, Config]:
    async with connected(*urls) as connection:
        return {config["name"]: (await info(connection, config["name"]))["config"] for config in configs(1, SMALL)}


def test_all_are_made_and_a_second_time_changes_nothing(nats: NatsServer) -> None:
    async def go() -> list[list[str]]:
        async with connected(nats.url) as connection:
            return [await make_all(connection, configs(1, SMALL)) for _ in range(2)]

    first, second = run(go())
    names = [subjects.JOURNAL, subjects.PARTS, subjects.CHECKPOINTS, *(f"KV_{bucket}" for bucket in subjects.BUCKETS)]
    assert first == [f"{name}: made" for name in names]
    assert second == [f"{name}: there" for name in names]


def test_none_of_them_forgets_in_silence(nats: NatsServer) -> None:
    async def go() -> dict[str, Config]:
        async with connected(nats.url) as connection:
            await make_all(connection, configs(1, SMALL))
        return await settings_of(nats.url)

    found = run(go())
    assert {config["discard"] for config in found.values()} == {"new"}
    assert all(config["max_bytes"] > 0 and config["max_age"] == 0 for config in found.values())
    assert found[subjects.JOURNAL]["republish"] == {"src": "tl.j.>", "dest": "tl.live.>"}


def test_a_larger_size_is_taken_over_and_what_is_stored_stays(nats: NatsServer) -> None:
    async def go() -> tuple[list[str], Any]:
        async with connected(nats.url) as connection:
            await make_all(connection, configs(1, SMALL))
            assert isinstance(await jetstream.publish(connection, subjects.journal("box", "ses_1"), b"kept", {}), Ack)
            larger = Sizes(journal=128 << 20, parts=64 << 20, checkpoints=16 << 20, tables=8 << 20)
            said = await make_all(connection, configs(1, larger))
            return said, await jetstream.last_message(connection, subjects.JOURNAL, subjects.journal("box", "ses_1"))

    said, kept = run(go())
    assert said[0] == "TL_J: changed" and said[1] == "TL_B: there"
    assert kept is not None and kept.data == b"kept"


def test_on_three_servers_all_are_on_three(shared_three: NatsCluster) -> None:
    async def go() -> dict[str, Config]:
        async with connected(*shared_three.urls) as connection:
            await make_all(connection, configs(3, SMALL))
        return await settings_of(*shared_three.urls)

    assert {config["num_replicas"] for config in run(go()).values()} == {3}


def test_a_cluster_that_was_never_set_up_says_what_to_run(nats: NatsServer) -> None:
    async def go() -> None:
        async with connected(nats.url) as connection:
            await info(connection, subjects.JOURNAL)

    with pytest.raises(ClusterUnavailable, match="run trunkline cluster init"):
        run(go())
