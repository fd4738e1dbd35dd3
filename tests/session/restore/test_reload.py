"""The fold of a session that is not in memory: from its checkpoint and the steps after it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.aio import run
from tests.session.script import Stage
from trunkline.errors import SessionUnreadable
from trunkline.session import recorder
from trunkline.session.restore.reload import refold, stored_view


def test_a_state_of_an_older_trunkline_is_read(tmp_path: Path) -> None:
    async def play() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.session.lifecycle.store_row()
        row = await stage.row()
        old = {key: value for key, value in msgspec.json.decode(row.checkpoint).items() if key != "callsUntracked"}
        row.checkpoint = msgspec.json.encode(old)
        assert (await refold(stage.journal, row)).session_id == "ses-1"

    run(play())


def test_a_checkpoint_and_the_steps_after_it_are_the_fold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "ROW_GAP_S", 1000.0)

    async def play() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await session.lifecycle.store_row()
        await session.rename("a title", by="ann")
        row = await stage.row()
        assert row.checkpoint_seq < row.last_seq, "the title is in a step"
        fold = await refold(stage.journal, row)
        assert (fold.title, fold.seq) == ("a title", session.fold.seq)

    run(play())


def test_a_checkpoint_that_cannot_be_read_costs_nothing_that_the_entries_tell(tmp_path: Path) -> None:
    async def play() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await session.rename("a title", by="ann")
        row = await stage.row()
        row.checkpoint = b"\x00 no JSON"
        assert (await refold(stage.journal, row)).title == "a title"

    run(play())


def test_only_what_is_stored_is_shown_while_nothing_can_be_stored(tmp_path: Path) -> None:
    async def play() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await session.snapshot()
        view = await stored_view(stage.journal, session.id)
        assert (view.id, view.last_seq) == ("ses-1", (await stage.row()).last_seq)
        with pytest.raises(SessionUnreadable, match="not stored yet"):
            await stored_view(stage.journal, "ses-2")

    run(play())
