"""Small files of what is owed or shown: private, and begun anew where they are damaged."""

from __future__ import annotations

import logging
import stat
from pathlib import Path

import pytest

from tests.aio import run
from trunkline.server.delivery.records import StateFile

log = logging.getLogger("trunkline.notify")


def record(path: Path | None, content: list[int] | None = None) -> StateFile[list[int]]:
    return StateFile(path, list[int], lambda: content or [], log)


def test_what_was_saved_is_there_for_the_next_hub_and_for_nobody_else(tmp_path: Path) -> None:
    async def check() -> None:
        path = tmp_path / "record"
        assert record(path).load() is None
        made = record(path, [1, 2])
        made.save_soon()
        await made.saved()
        assert record(path).load() == [1, 2]
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    run(check())


def test_a_damaged_file_is_begun_anew_and_the_log_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "record").write_text("{")
    assert record(tmp_path / "record").load() is None
    assert "begun anew" in caplog.text


def test_what_cannot_be_written_is_no_error_and_without_a_path_nothing_is(tmp_path: Path) -> None:
    async def check() -> None:
        for path in (tmp_path / "missing" / "record", None):
            made = record(path, [1])
            made.save_soon()
            await made.saved()
            assert made.load() is None

    run(check())
