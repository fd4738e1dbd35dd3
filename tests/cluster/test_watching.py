"""Whether somebody watches at another gateway is asked of all of them."""

from __future__ import annotations

import math

from tests.aio import eventually, run
from tests.cluster.connecting import connected
from tests.cluster.test_roles import Keyed, keyed  # noqa: F401 - a fixture
from tests.tooling.nats import NatsServer
from trunkline.cluster import watching
from trunkline.cluster.connection import Connection
from trunkline.cluster.watching import Watching


def shows(*sessions: str, until: float = math.inf) -> watching.ShownHere:
    """A node at which these sessions were shown until then."""
    def shown_here(session_id: str, event_type: str, *, since: float = math.inf) -> bool:
        return session_id in sessions and event_type == "session:error" and until >= since

    return shown_here


async def answering(connection: Connection, shown_here: watching.ShownHere) -> Watching:
    made = Watching(connection, shown_here)
    await made.start()
    await connection.client.flush()
    return made


def test_a_session_that_is_shown_at_another_gateway_is_watched(keyed: Keyed) -> None:  # noqa: F811 - the fixture
    async def go() -> None:
        async with keyed.as_("web") as web, keyed.as_("home") as home:
            sender = await answering(home, shows("own"))
            other = await answering(web, shows("ses_1", until=100.0))
            assert await sender.elsewhere("ses_1", "session:error", 100.0)
            assert not await sender.elsewhere("ses_1", "session:error", 101.0)
            assert not await sender.elsewhere("ses_1", "message:delta", 100.0)
            assert not await sender.elsewhere("own", "session:error", math.inf)  # that it knows itself
            assert await other.elsewhere("own", "session:error", math.inf)
            await other.close()
            assert not await sender.elsewhere("ses_1", "session:error", 100.0)

    run(go())


def test_without_the_cluster_nobody_watches_elsewhere(nats: NatsServer) -> None:
    async def go() -> None:
        async with connected(nats.url) as connection:
            nats.kill()
            await eventually(lambda: not connection.up)
            assert not await Watching(connection, shows()).elsewhere("ses_1", "session:error", math.inf)

    run(go())
