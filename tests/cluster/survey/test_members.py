"""Who is there, who has what, and when a node was last heard of."""

from __future__ import annotations

import pytest

from tests.aio import eventually, run
from tests.cluster.connecting import connected
from tests.cluster.shipping.owner import set_up
from tests.cluster.test_directory import directory
from tests.cluster.test_nodes import joined
from tests.cluster.test_nodes import row as node_row
from tests.journal.samples import row
from tests.tooling.nats import NatsServer
from trunkline.cluster.survey import members
from trunkline.cluster.survey.members import heard_ago_s, read_nodes, read_owners
from trunkline.errors import ClusterUnavailable


def test_nodes_and_their_sessions_are_told_also_of_a_node_that_is_away(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with joined(nats.url, node_row("web")) as web, connected(nats.url) as looking:
            async with directory(nats.url, "box") as box:
                box.put(row("ses_1"))
                box.put(row("ses_2"))
                await eventually(lambda: len(box.places) == 2)
            await eventually(lambda: set(web.rows) == {"web"})
            assert [*await read_nodes(looking)] == ["web"] and await read_owners(looking) == {"box": 2}
            heard = await heard_ago_s(looking, "web")
            assert heard is not None and heard < 60 and await heard_ago_s(looking, "box") is None
            assert (await heard_ago_s(looking, "web", ahead_s=-1000)) == 0.0

    run(go())


def test_tables_that_are_not_there_are_said_to_be_so(nats: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "WITHIN_S", 0.2)

    async def go() -> None:
        async with connected(nats.url) as looking:
            for read in (read_nodes, read_owners):
                with pytest.raises(ClusterUnavailable, match="cluster init"):
                    await read(looking)

    run(go())
