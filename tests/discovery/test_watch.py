"""A store that is watched: sessions that appear, change and go away."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.aio import run
from trunkline.dialects.context.types import SessionDiscoveryEvent
from trunkline.discovery import notice, watch
from trunkline.discovery.claude import ClaudeStore

ONE = "11111111-2222-4333-8444-555555555555"


class Heard:
    """What a watcher was told."""

    def __init__(self) -> None:
        self._news: asyncio.Queue[SessionDiscoveryEvent] = asyncio.Queue()
        self.callback: Callable[[SessionDiscoveryEvent], None] = self._news.put_nowait

    async def next(self, kind: str) -> SessionDiscoveryEvent:
        """The next news of a kind; what the kernel repeats is passed over."""
        while (event := await self._news.get()).type != kind:
            continue
        return event

    def nothing(self) -> bool:
        return self._news.empty()


async def settled(heard: Heard, file: Path) -> None:
    """The watch is on: write until the first news comes."""
    while heard.nothing():
        _touch(file)
        await asyncio.sleep(0.05)


def _touch(file: Path) -> None:
    with file.open("a") as more:
        more.write("\n")


def test_a_session_that_appears_changes_and_goes_away_is_told(tmp_path: Path) -> None:
    project = tmp_path / "projects" / "-p"
    project.mkdir(parents=True)
    probe, file = project / f"{ONE.replace('1', '2')}.jsonl", project / f"{ONE}.jsonl"

    async def scenario() -> None:
        heard = Heard()
        stop = watch.watch_store(lambda: ClaudeStore(str(tmp_path / "projects")), "agent", heard.callback)
        await settled(heard, probe)
        (project / "notes.txt").write_text("no session")
        file.write_text("{}\n")
        created = await heard.next("session_created")
        while created.session_id != ONE:
            created = await heard.next("session_created")
        assert created == SessionDiscoveryEvent(type="session_created", session_id=ONE, agent="agent")
        with file.open("a") as more:
            more.write("{}\n")
        assert (await heard.next("session_updated")).session_id in (ONE, probe.stem)
        file.unlink()
        assert (await heard.next("session_removed")).session_id == ONE
        stop()
        stop()

    run(scenario(), 30)


def test_a_store_that_does_not_exist_yet_is_watched_once_it_does(tmp_path: Path) -> None:
    project = tmp_path / "projects" / "-p"

    async def scenario() -> None:
        heard = Heard()
        stop = watch.watch_store(lambda: ClaudeStore(str(tmp_path / "projects")), "agent", heard.callback)
        await asyncio.sleep(0)
        project.mkdir(parents=True)
        await settled(heard, project / f"{ONE}.jsonl")
        stop()

    look, notice.ABSENT_LOOK_S = notice.ABSENT_LOOK_S, 0.01
    try:
        run(scenario(), 30)
    finally:
        notice.ABSENT_LOOK_S = look


def test_a_listener_that_fails_goes_on_being_told(tmp_path: Path) -> None:
    shutil.copytree(Path(__file__).parents[1] / "data" / "claude" / "projects", tmp_path / "projects")
    file = tmp_path / "projects" / "-home-dev-project" / f"{ONE}.jsonl"

    async def scenario() -> None:
        calls: list[str] = []
        reported = asyncio.Event()
        asyncio.get_running_loop().set_exception_handler(lambda loop, told: reported.set())

        def fails(event: SessionDiscoveryEvent) -> None:
            calls.append(event.type)
            raise RuntimeError("my fault")

        stop = watch.watch_store(lambda: ClaudeStore(str(tmp_path / "projects")), "agent", fails)
        while len(calls) < 2:
            _touch(file)
            await asyncio.sleep(0.05)
        assert reported.is_set()
        stop()

    run(scenario(), 30)


def test_many_listeners_share_one_watch_and_the_last_one_ends_it(tmp_path: Path) -> None:
    file = tmp_path / "file"

    async def scenario() -> None:
        before = len(asyncio.all_tasks())
        heard: list[asyncio.Event] = [asyncio.Event() for _ in range(100)]
        stops = [notice.listen(str(tmp_path), lambda changes, event=event: event.set()) for event in heard]  # type: ignore[misc]
        assert len(asyncio.all_tasks()) == before + 1
        while not heard[0].is_set():
            _touch(file)
            await asyncio.sleep(0.05)
        for event in heard:
            await event.wait()
        for stop in stops:
            stop()
            stop()
        while len(asyncio.all_tasks()) > before:  # noqa: ASYNC110 - the watch's thread ends by itself
            await asyncio.sleep(0.01)

    run(scenario(), 30)


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

    run(scenario(), 30)
    assert "looked at every" in caplog.text
