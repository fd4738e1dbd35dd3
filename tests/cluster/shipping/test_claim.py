"""Taking over: one of those who try wins, the owner before is stopped, and what it had alone is put aside."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.aio import eventually, run
from tests.cluster.connecting import connected
from tests.cluster.shipping.owner import messages, owner, set_up, shipped_seqs
from tests.journal.samples import entries
from tests.tooling.nats import NatsServer
from trunkline.cluster import wire
from trunkline.cluster.shipping.claim import claim, last_known
from trunkline.cluster.shipping.ending import remove_session
from trunkline.cluster.shipping.ledger import ShippedRow
from trunkline.cluster.shipping.quarantine import put_aside
from trunkline.errors import Conflict, SessionNotFound
from trunkline.journal.base import Group


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with NatsServer(tmp_path_factory.mktemp("stream")) as server:
        run(set_up(server.url))
        yield server


def test_of_ten_who_claim_at_once_one_wins(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box:
            await box.ship("ses_race", entries(1, 5))
            known = await last_known(box.connection, "box", "ses_race")
            done = await asyncio.gather(*(claim(box.connection, "box", "ses_race", known, incarnation=f"i{number}", why="")
                                          for number in range(10)), return_exceptions=True)
            won = [each for each in done if isinstance(each, ShippedRow)]
            assert len(won) == 1 and sum(isinstance(each, Conflict) for each in done) == 9
            found = await messages(box.connection, "ses_race")
            assert [message.headers[wire.KIND] for message in found] == ["entries", "claim"]
            assert won == [ShippedRow("ses_race", 2, 5, found[-1].seq, 5)]

    run(go())


def test_an_adopted_session_goes_on_and_the_owner_before_puts_its_rest_aside(stream: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with owner(stream.url) as old, owner(stream.url, node="new") as new:
            await old.ship("ses_adopt", entries(1, 5))
            known = await last_known(new.connection, "box", "ses_adopt")
            row = await claim(new.connection, "box", "ses_adopt", known, incarnation="j", why="asked by ada")
            await new.journal.append(Group({"ses_adopt": entries(1, 5)}, {}))
            await new.shipper.adopt(row)
            await new.ship("ses_adopt", entries(6, 8))
            await old.commit("ses_adopt", entries(6, 9))
            await eventually(lambda: old.lost)
            path, count = await put_aside(tmp_path, old.journal, old.lost[0])
            assert path is not None and count == 4
            kept = [json.loads(line) for line in path.read_text().splitlines()]
            assert [each["seq"] for each in kept] == [6, 7, 8, 9] and kept[0]["event"].startswith("6:")
            assert path.stat().st_mode & 0o077 == 0
            assert await shipped_seqs(new.connection, "ses_adopt") == list(range(1, 9))

    run(go())


def test_a_claim_of_what_went_on_meanwhile_is_refused(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box, connected(stream.url, node="new") as new:
            await box.ship("ses_late", entries(1, 2))
            known = await last_known(new, "box", "ses_late")
            await box.ship("ses_late", entries(3, 4))
            with pytest.raises(Conflict):
                await claim(new, "box", "ses_late", known, incarnation="j", why="")
            await box.ship("ses_late", entries(5, 5))

    run(go())


def test_an_ended_session_is_gone_from_the_stream_and_cannot_be_claimed(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box:
            await box.ship("ses_end", entries(1, 50))
            assert not (await remove_session(box.connection, "box", box.shipper.row("ses_end"))).why
            [left] = await messages(box.connection, "ses_end")
            assert left.headers[wire.KIND] == wire.END
            with pytest.raises(SessionNotFound):
                await last_known(box.connection, "box", "ses_end")
            with pytest.raises(SessionNotFound):
                await last_known(box.connection, "box", "ses_never")

    run(go())


def test_who_was_taken_over_cannot_end_the_session(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box, connected(stream.url, node="new") as new:
            await box.ship("ses_keep", entries(1, 2))
            row = box.shipper.row("ses_keep")
            await claim(new, "box", "ses_keep", await last_known(new, "box", "ses_keep"), incarnation="j", why="")
            assert (await remove_session(box.connection, "box", row)).why.startswith("another node has the session")
            assert await shipped_seqs(new, "ses_keep") == [1, 2]

    run(go())
