"""What a node has put aside is counted, over restarts too; the newest files are told of."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from tests.aio import run
from tests.cluster.test_nodes import row
from tests.journal.samples import entries
from tests.journal.samples import row as row_of
from trunkline.cluster.connection import Address, Connection
from trunkline.cluster.directory import Directory
from trunkline.cluster.moving.giving_up import TOLD_MOST, GivingUp
from trunkline.cluster.shipping.ledger import ShippedRow
from trunkline.cluster.shipping.quarantine import FOLDER, asides
from trunkline.cluster.shipping.shipper import Lost
from trunkline.journal.base import Group
from trunkline.journal.stores.memory import MemoryJournal


def test_the_newest_files_of_the_quarantine_are_told_of_with_their_entries(tmp_path: Path) -> None:
    assert asides(tmp_path, TOLD_MOST) == {}
    folder = tmp_path / FOLDER
    folder.mkdir()
    for number in range(TOLD_MOST + 5):
        path = folder / f"ses_{number}-{number + 2}.jsonl"
        path.write_text("{}\n" * number)
        os.utime(path, (number, number))
    found = asides(tmp_path, TOLD_MOST)
    assert len(found) == TOLD_MOST and next(iter(found.items())) == ("ses_104:106", 104)
    assert "ses_4:6" not in found and found["ses_5:7"] == 5


class Shipper:
    """One that has one session, in epoch 3."""

    pool = "farm"

    def row(self, session_id: str) -> ShippedRow:
        return ShippedRow(session_id, 3, 5, 9) if session_id == "ses_1" else ShippedRow(session_id, 1, 0, 0)


def test_what_a_node_put_aside_is_noted_once_for_each_epoch_that_there_was() -> None:
    async def go() -> None:
        noted: list[tuple[str, int, str, int]] = []

        async def note(*what: Any) -> None:
            noted.append(what)

        async def put_away(*what: Any) -> None:
            raise AssertionError(what)

        connection = Connection(Address(servers=("nats://127.0.0.1:1",), node="box"))
        giving_up = GivingUp("box", None, Directory(connection, pool="farm", owner="box"))
        giving_up.use(Shipper(), MemoryJournal())  # type: ignore[arg-type]
        giving_up.begin(put_away, note)
        aside = {f"ses_1:{epoch}": 2 for epoch in (2, 3, 4, 10 ** 17)} | {"ses_2:1": 1, "ses_1:x": 1, "odd": 1}
        for _ in range(2):
            giving_up.on_node("bax", row("bax", pool="farm", aside=aside))
            await asyncio.sleep(0)
        assert noted == [("ses_1", 2, "bax", 2), ("ses_1", 3, "bax", 2)]
        await giving_up.close()

    run(go())


class LostOne:
    """A shipper that has found out, while the hub starts, that its session is another node's."""

    pool = "farm"

    def rows(self) -> list[ShippedRow]:
        return [self.row("ses_1")]

    def row(self, session_id: str) -> ShippedRow:
        return ShippedRow(session_id, 2, 5, 9, over=True)


def test_what_is_found_out_while_a_hub_starts_is_put_aside_once_and_as_it_was(tmp_path: Path) -> None:
    async def go() -> None:
        journal, gone = MemoryJournal(), asyncio.Event()
        await journal.append(Group({"ses_1": entries(1, 9)}, {"ses_1": row_of("ses_1")}))
        connection = Connection(Address(servers=("nats://127.0.0.1:1",), node="box"))
        giving_up = GivingUp("box", tmp_path, Directory(connection, pool="farm", owner="box"))
        giving_up.use(LostOne(), journal)  # type: ignore[arg-type]

        async def put_away(session_id: str, why: Any) -> None:
            await journal.delete(session_id)
            gone.set()

        async def note(*what: Any) -> None:
            raise AssertionError(what)

        await giving_up.on_taken(Lost("ses_1", 3, 6, 9))
        giving_up.begin(put_away, note)
        await gone.wait()
        assert giving_up.aside == {"ses_1:3": 3}
        await giving_up.close()

    run(go())
    assert asides(tmp_path, TOLD_MOST) == {"ses_1:3": 3}
