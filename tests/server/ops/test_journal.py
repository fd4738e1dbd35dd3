"""How the journal is: whole, hurt, or full; and who reads it learns where, never what was in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.aio import run
from tests.server.site import Site, site
from trunkline.journal.base import Damage, JournalHealth

LOST = Damage(number=3, at=1_790_000_000_000_000, session="ses-1", first=4, last=9, what="a page is damaged")


def health(monkeypatch: pytest.MonkeyPatch, hub: Site, found: JournalHealth) -> None:
    async def journal_health() -> JournalHealth:
        return found

    monkeypatch.setattr(hub.hub, "journal_health", journal_health)


def test_a_journal_without_damage_is_whole(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            found = (await hub.ask("GET", "/journal")).json()
            assert found == {"state": "whole", "damages": [], "asides": [], "unwritable": None}

    run(check())


@pytest.mark.parametrize("found", [JournalHealth(damages=[LOST]), JournalHealth(asides=["/data/journal.db.1"])])
def test_what_is_damaged_or_was_put_aside_makes_it_hurt(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: JournalHealth) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            health(monkeypatch, hub, found)
            told = (await hub.ask("GET", "/journal")).json()
            assert told["state"] == "hurt" and told["asides"] == found.asides
            if found.damages:
                (damage,) = told["damages"]
                assert (damage["number"], damage["sessionId"], damage["from"], damage["to"]) == (3, "ses-1", 4, 9)

    run(check())


def test_a_journal_that_cannot_be_written_says_why_and_the_hub_is_not_ready(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            health(monkeypatch, hub, JournalHealth(damages=[LOST], unwritable="the disk is full"))
            told = (await hub.ask("GET", "/journal")).json()
            assert (told["state"], told["unwritable"]) == ("unwritable", "the disk is full")
            ready = await hub.ask("GET", "/readyz")
            assert (ready.status, ready.json()["code"]) == (503, "storage_error")

    run(check())
