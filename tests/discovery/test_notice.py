"""What the kernel says about files, for any number of listeners."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.aio import eventually, run
from trunkline.discovery import notice


async def written_until(holds: Callable[[], bool], file: Path) -> None:
    """Write to a file until it holds: when a watch is on, nobody says."""

    def written() -> bool:
        with file.open("a") as more:
            more.write("\n")
        return holds()

    await eventually(written)


def test_many_listeners_share_one_watch_and_the_last_one_ends_it(tmp_path: Path) -> None:
    file = tmp_path / "file"

    async def scenario() -> None:
        before = asyncio.all_tasks()
        heard: list[asyncio.Event] = [asyncio.Event() for _ in range(100)]
        stops = [notice.listen(str(tmp_path), lambda changes, event=event: event.set()) for event in heard]  # type: ignore[misc]
        [watching] = asyncio.all_tasks() - before
        await written_until(heard[0].is_set, file)
        for event in heard:
            await event.wait()
        for stop in stops:
            stop()
            stop()
        await watching
        assert asyncio.all_tasks() == before

    run(scenario())


def test_where_the_kernel_does_not_tell_everybody_is_asked_to_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                                    caplog: pytest.LogCaptureFixture) -> None:
    def refuses(*_: object, **__: object) -> object:
        raise OSError("the limit on watches is reached")

    monkeypatch.setattr("watchfiles.awatch", refuses)

    async def scenario() -> None:
        asked: asyncio.Queue[notice.Changes] = asyncio.Queue()
        stop = notice.listen(str(tmp_path), asked.put_nowait)
        assert await asked.get() == []
        stop()

    run(scenario())
    assert "looked at every" in caplog.text
