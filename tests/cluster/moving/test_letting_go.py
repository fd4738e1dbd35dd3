"""An owner lets a session go, and keeps it where nobody comes for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.aio import eventually, run
from tests.cluster.moving.world import node
from tests.cluster.shipping.owner import set_up
from tests.tooling.nats import NatsServer
from trunkline.cluster.moving.letting_go import let_go
from trunkline.errors import NodeSilent, NotOwner, TurnInProgress
from trunkline.hub import content_blocks


def test_a_session_that_nobody_comes_for_goes_on_where_it_is(nats: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with node(nats.url, "box", tmp_path) as box:
            session = await box.session()
            await let_go(box.node, box.hub, session.id, "den", force=False, held_s=0.3)
            assert not session.agent.running
            with pytest.raises(NotOwner, match="is being moved to den"):
                await box.hub.session(session.id)
            await eventually(lambda: session.id not in box.hub._sessions._held)
            again = await box.hub.session(session.id)
            await again.turns.send(content_blocks("/echo again"), by="ada")
            await eventually(lambda: again.fold.turns == 2 and again.fold.turn is None)

    run(go())


def test_what_cannot_be_shipped_in_time_stays(nats: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with node(nats.url, "box", tmp_path) as box:
            session = await box.session()
            nats.kill()
            await eventually(lambda: not box.node.connection.up)
            await session.rename("only here", by="ada")
            with pytest.raises(NodeSilent, match="it stays there"):
                await let_go(box.node, box.hub, session.id, "den", force=False, shipped_within_s=0.2)
            assert (await box.hub.session(session.id)).fold.title == "only here"
            nats.start()
            nats.wait_ready()

    run(go())


def test_a_turn_is_not_cut_off_unless_somebody_insists(nats: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with node(nats.url, "box", tmp_path) as box:
            session = await box.session()
            await session.turns.send(content_blocks("/slow 60"), by="ada")
            with pytest.raises(TurnInProgress):
                await let_go(box.node, box.hub, session.id, "den", force=False)
            assert session.fold.turn is not None
            await let_go(box.node, box.hub, session.id, "den", force=True)
            assert box.node.shipper.row(session.id).seq == session.fold.seq and session.fold.turn is None

    run(go())
