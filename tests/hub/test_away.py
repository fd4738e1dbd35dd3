"""Whether the person is away: said, kept, and forgotten by nobody."""

from __future__ import annotations

from pathlib import Path

from tests.aio import run
from trunkline.hub.away import Away


def test_who_left_is_away_for_the_next_hub_too(tmp_path: Path) -> None:
    async def check() -> None:
        away = Away(tmp_path / "away.json")
        away.load()
        assert not away.is_away
        await away.set(True, at=7, by="me")
        again = Away(tmp_path / "away.json")
        again.load()
        assert (again.is_away, again.since, again.by) == (True, 7, "me")
        assert (tmp_path / "away.json").stat().st_mode & 0o777 == 0o600

    run(check())


def test_a_file_that_cannot_be_read_says_that_the_person_is_here(tmp_path: Path) -> None:
    (tmp_path / "away.json").write_text("nonsense")
    away = Away(tmp_path / "away.json")
    away.load()
    assert not away.is_away


def test_a_hub_without_files_keeps_it_in_memory() -> None:
    async def check() -> None:
        away = Away(None)
        away.load()
        await away.set(True, at=1, by="me")
        assert away.is_away

    run(check())
