"""Asks that devices were told of are remembered beyond a restart, and no longer than they could be shown."""

from __future__ import annotations

import stat
from pathlib import Path

from trunkline.server.delivery.push.notes import PushNote
from trunkline.server.delivery.push.shown import SHOWN_FILE, SHOWN_MOST, ShownAsk, ShownAsks


def ask(number: int, until: float = 1_000.0) -> PushNote:
    return PushNote(kind="approval", session_id="s", ask=f"r{number}", text="rm -rf secret", until=until)


def loaded(folder: Path) -> ShownAsks:
    """What a hub that comes next knows."""
    told = ShownAsks(folder)
    told.load()
    return told


def test_what_was_told_is_remembered_without_what_it_said(tmp_path: Path) -> None:
    loaded(tmp_path).add(ask(1), frozenset({"phone"}))
    assert stat.S_IMODE((tmp_path / SHOWN_FILE).stat().st_mode) == 0o600
    assert "secret" not in (tmp_path / SHOWN_FILE).read_text()
    told = loaded(tmp_path)
    assert [note.ask for note in told.left(0)] == ["r1"]
    assert told.left(1_000) == []
    found = told.get("r1")
    assert found is not None and found.devices == {"phone"} and told.get("r2") is None
    told.drop("r1")
    assert told.get("r1") is None and loaded(tmp_path).get("r1") is None
    assert loaded(tmp_path).left(0) == []


def test_the_number_of_asks_is_bounded(tmp_path: Path) -> None:
    told = loaded(tmp_path)
    for number in range(SHOWN_MOST + 1):
        told._asks[f"r{number}"] = ShownAsk(ask(number), frozenset())
    told.add(ask(SHOWN_MOST + 1), frozenset())
    assert len(told._asks) == SHOWN_MOST and told.get("r0") is None and told.get(f"r{SHOWN_MOST + 1}") is not None


def test_a_damaged_file_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / SHOWN_FILE).write_text("{")
    told = loaded(tmp_path)
    assert told.left(0) == []
    told.add(ask(1), frozenset())
    assert len(loaded(tmp_path).left(0)) == 1
