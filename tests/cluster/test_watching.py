"""Whether somebody watches at another gateway is asked of all of them."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from tests.aio import POLL_S, eventually, run
from tests.cluster.connecting import connected
from tests.cluster.test_roles import Keyed, keyed  # noqa: F401 - a fixture
from tests.tooling.nats import NatsServer
from trunkline.cluster import subjects, watching
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


@pytest.mark.parametrize("wanted", ["tl.j.home.ses_1", "$KV.tl_sessions.home.ses_1", "$KV.tl_nodes.home.home", "_INBOX.home.a.b",
                                    ""])
def test_no_answer_goes_where_only_this_node_may_publish(keyed: Keyed, wanted: str) -> None:  # noqa: F811 - the fixture
    """A stolen gateway's key writes no journal, nor has a hub do it."""
    async def go() -> None:
        async with keyed.as_("web") as web, keyed.as_("home") as home:
            published: list[str] = []
            really = home.publish

            async def publish(subject: str, *args: Any, **more: Any) -> None:
                published.append(subject)
                await really(subject, *args, **more)

            home.publish = publish  # type: ignore[method-assign]
            answers = await answering(home, shows("ses_1"))
            await web.publish(subjects.watching("web"), b'["ses_1","session:error",1.0]', reply=wanted)
            asking = Watching(web, shows())
            while not await asking.elsewhere("ses_1", "session:error", 1.0):  # noqa: ASYNC110 - a machine that is busy answers late
                await asyncio.sleep(POLL_S)
            assert published and all(each.startswith("_INBOX.web.") for each in published)
            await answers.close()

    run(go())


def test_without_the_cluster_nobody_watches_elsewhere(nats: NatsServer) -> None:
    async def go() -> None:
        async with connected(nats.url) as connection:
            nats.kill()
            await eventually(lambda: not connection.up)
            assert not await Watching(connection, shows()).elsewhere("ses_1", "session:error", math.inf)

    run(go())
