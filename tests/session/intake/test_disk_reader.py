"""Looks at the disk for what an agent sends: a look that fails or is stopped found nothing, and what follows goes on."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.session.script import Stage
from trunkline.dialects.acp.calls import CallState
from trunkline.session.fold import OpenCall, SeenFile
from trunkline.session.intake import disk_reader
from trunkline.session.intake.disk_reader import DiskReader
from trunkline.session.interpret.effects.disk import Wanted


def wanted(*paths: str) -> Wanted:
    return Wanted(list(paths), OpenCall(CallState(tool_call_id="c"), 0), frozenset(), None, None)


def reader_of(tmp_path: Path) -> DiskReader:
    stage = Stage(tmp_path)
    return DiskReader(stage.session._recorder, stage.session.workspace)


def test_the_files_of_a_result_are_seen_as_they_are(tmp_path: Path) -> None:
    async def check() -> None:
        (tmp_path / "a.txt").write_text("words")
        reader = reader_of(tmp_path)
        assert await reader.see(wanted("a.txt", "gone.txt")) == {
            "a.txt": SeenFile(exists=True, size=5, text="words"), "gone.txt": SeenFile(exists=False)}
        assert await reader.see(wanted()) == {}

    run(check())


def test_nothing_is_looked_at_for_an_agent_that_is_gone_until_another_is_there(tmp_path: Path) -> None:
    async def check() -> None:
        (tmp_path / "a.txt").write_text("words")
        reader = reader_of(tmp_path)
        reader.stop()
        assert await reader.see(wanted("a.txt")) == {}
        reader.resume()
        assert list(await reader.see(wanted("a.txt"))) == ["a.txt"]

    run(check())


def test_a_look_that_is_under_way_when_the_agent_goes_found_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    began = asyncio.Event()

    async def hangs(*_: Any) -> dict[str, SeenFile]:
        began.set()
        await asyncio.Event().wait()
        raise AssertionError

    async def check() -> None:
        monkeypatch.setattr(disk_reader, "see", hangs)
        reader = reader_of(tmp_path)
        seeing = asyncio.ensure_future(reader.see(wanted("a.txt")))
        await began.wait()
        reader.stop()
        assert await seeing == {}

    run(check())


def test_a_look_that_fails_is_logged_and_found_nothing(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    async def breaks(*_: Any) -> dict[str, SeenFile]:
        raise RuntimeError("a bug")

    monkeypatch.setattr(disk_reader, "see", breaks)
    with caplog.at_level(logging.ERROR, "trunkline.session"):
        assert run(reader_of(tmp_path).see(wanted("a.txt"))) == {}
    assert "a look at the disk failed" in caplog.text
