"""Who is there: a lease per node, one hub per name."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from tests.aio import eventually, run
from tests.cluster.connecting import connected
from tests.cluster.shipping.owner import set_up
from tests.tooling.nats import NatsServer
from trunkline.cluster import jetstream, subjects
from trunkline.cluster import nodes as leases
from trunkline.cluster.nodes import LATELY_S, LEASE_S, NodeRow, Nodes
from trunkline.cluster.table import Table
from trunkline.errors import Conflict


def row(node: str, **more: Any) -> NodeRow:
    return NodeRow(**{"node": node, "home": f"home of {node}", "incarnation": "i", "role": "hub", "pool": node, "labels": {},
                      "version": "0", **more})


@asynccontextmanager
async def joined(url: str, own: NodeRow) -> AsyncIterator[Nodes]:
    async with connected(url, node=own.node) as connection:
        nodes = Nodes(connection, lambda: own)
        nodes.start()
        try:
            await nodes.loaded.wait()
            yield nodes
        finally:
            await nodes.close()


def test_nodes_see_each_other_and_one_that_leaves_is_gone_at_once(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with joined(nats.url, row("box", running=3)) as box:
            async with joined(nats.url, row("web", role="gateway")) as web:
                await eventually(lambda: set(box.rows) == set(web.rows) == {"box", "web"})
                assert web.rows["box"].running == 3 and web.is_there("box") and not web.is_there("nobody")
            await eventually(lambda: set(box.rows) == {"box"})

    run(go())


def test_what_a_node_says_of_its_shipping_counts_until_it_should_have_said_it_again(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with joined(nats.url, row("box")) as box, joined(nats.url, row("busy", behind=3)):
            await eventually(lambda: set(box.rows) == {"box", "busy"})
            assert box.has_shipped("box") and not box.has_shipped("busy") and not box.has_shipped("nobody")
            box._heard["box"] -= LATELY_S
            assert not box.has_shipped("box")

    run(go())


def test_a_node_that_could_not_renew_its_lease_knows_that_it_may_be_taken_for_away(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with joined(nats.url, row("box")) as box:
            await eventually(lambda: box.holds_lease)
            box._renewed_at -= LEASE_S
            assert not box.holds_lease
            await box.renew()
            assert box.holds_lease

    run(go())


def test_a_second_hub_of_the_same_name_is_refused_and_the_first_stays(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with joined(nats.url, row("box")) as first:
            await eventually(lambda: "box" in first.rows)
            async with joined(nats.url, row("box", home="elsewhere")) as second:
                await eventually(lambda: second.refused)
            assert first.refused is None and first.is_there("box")
            await first.renew()
            assert first.rows["box"].home == "home of box"

    run(go())


def test_a_name_that_nobody_renews_is_free_though_its_row_stays(nats: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that was stolen left it behind; what is renewed is somebody's."""
    monkeypatch.setattr(leases, "LEASE_S", 1)
    monkeypatch.setattr(leases, "RENEW_S", 0.2)

    async def go() -> None:
        await set_up(nats.url)
        async with connected(nats.url, node="thief") as thief:
            left = msgspec.json.encode(row("box", home="the thief's"))
            await jetstream.publish(thief, subjects.key(subjects.NODES, "box.box"), left, {})
        async with joined(nats.url, row("box")) as box:
            await box.check_name(30)
            assert box.refused is None and box.rows["box"].home == "home of box"
            monkeypatch.setattr(leases, "LEASE_S", 30)
            async with joined(nats.url, row("box", home="elsewhere")) as second:
                with pytest.raises(Conflict):
                    await second.check_name(30)

    run(go())


def test_a_hub_that_has_changed_its_pool_stays_when_its_older_row_goes(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with connected(nats.url, node="box") as before:
            table = Table(before, subjects.NODES)
            await table.put("mill.box", msgspec.json.encode(row("box", pool="mill")))
            async with joined(nats.url, row("box", pool="farm")) as box, joined(nats.url, row("web")) as web:
                await eventually(lambda: "box" in web.rows and web.rows["box"].pool == "farm")
                await table.delete("mill.box")
                await table.put("den.den", msgspec.json.encode(row("den")))
                await eventually(lambda: "den" in web.rows and "den" in box.rows)
                assert web.rows["box"].pool == box.rows["box"].pool == "farm"

    run(go())


def test_the_same_hub_started_again_has_its_name_at_once(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with joined(nats.url, row("box")) as first:
            await eventually(lambda: "box" in first.rows)
            async with joined(nats.url, row("box", incarnation="j")) as second:
                await eventually(lambda: second.rows["box"].incarnation == "j")
                assert second.refused is None

    run(go())


def test_a_node_that_fell_silent_is_away_after_its_lease_by_our_own_clock(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with joined(nats.url, row("web")) as web:
            await eventually(lambda: "web" in web.rows)
            web._heard["web"] -= LEASE_S
            assert not web.is_there("web")
            web._drop_silent()
            assert web.rows == {}

    run(go())
