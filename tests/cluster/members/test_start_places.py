"""Start keys of a cluster: one node for all who ask with the same key, at whichever gateway."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tests.aio import eventually, run
from tests.cluster.tables.world import two_nodes
from tests.tooling.nats import NatsServer
from trunkline.cluster import subjects
from trunkline.cluster.members import start_places
from trunkline.cluster.members.start_places import StartPlaces
from trunkline.errors import Conflict, KeyReused


def choosing(node: str) -> Callable[[], Awaitable[str]]:
    async def choose() -> str:
        return node

    return choose


def test_two_gateways_that_are_asked_at_once_start_it_at_one_node(nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(nats.url, subjects.AUTH) as (one, two):
            first, second = StartPlaces(one), StartPlaces(two)
            for number in range(20):
                placed = await asyncio.gather(first.place(f"key {number}", "d", choosing("box")),
                                              second.place(f"key {number}", "d", choosing("other")))
                assert placed[0] == placed[1] and placed[0].node in ("box", "other")
            again = await second.place("key 0", "d", choosing("a third"))
            assert again.node in ("box", "other")

    run(go())


def test_a_key_for_something_else_is_refused(nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(nats.url, subjects.AUTH) as (one, two):
            await StartPlaces(one).place("key", "this", choosing("box"))
            with pytest.raises(KeyReused):
                await StartPlaces(two).place("key", "that", choosing("box"))
            assert not any("key" in key.removeprefix("start.") for key in one.rows())  # a hash of it

    run(go())


def test_a_start_key_that_cannot_be_read_starts_nothing(nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(nats.url, subjects.AUTH) as (one, two):
            await StartPlaces(one).place("key", "d", choosing("box"))
            (key,) = one.rows()
            await one.put(key, b"junk")
            with pytest.raises(Conflict):
                await StartPlaces(two).place("key", "d", choosing("other"))
            await StartPlaces(two).moved("key", "other")
            assert (await StartPlaces(two).place("another", "d", choosing("other"))).node == "other"

    run(go())


def test_what_could_not_be_started_may_be_started_elsewhere(nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(nats.url, subjects.AUTH) as (one, two):
            first, second = StartPlaces(one), StartPlaces(two)
            refused = await first.place("key", "d", choosing("full"))
            await first.forget("key", refused)
            placed = await second.place("key", "d", choosing("box"))
            assert placed.node == "box"
            await first.forget("key", refused)  # a late one takes nothing away that is another's
            assert (await first.place("key", "d", choosing("full"))) == placed

    run(go())


def test_a_start_key_ends_by_itself(nats: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_places, "KEPT_S", 1.0)

    async def go() -> None:
        async with two_nodes(nats.url, subjects.AUTH) as (one, _):
            places = StartPlaces(one)
            assert (await places.place("key", "d", choosing("box"))).node == "box"
            await eventually(lambda: not one.rows())
            assert (await places.place("key", "other", choosing("web"))).node == "web"

    run(go())
