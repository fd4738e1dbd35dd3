"""A store that is watched: sessions that appear, change and go away."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.aio import eventually, run
from tests.discovery.test_notice import written_until
from trunkline.dialects.context.types import SessionDiscoveryEvent
from trunkline.discovery import notice, watch
from trunkline.discovery.claude import ClaudeStore
from trunkline.discovery.notice import What

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
    await written_until(lambda: not heard.nothing(), file)


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
        while (await heard.next("session_updated")).session_id != ONE:
            continue
        file.unlink()
        assert (await heard.next("session_removed")).session_id == ONE
        stop()
        stop()

    run(scenario())


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
        run(scenario())
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
        await written_until(lambda: len(calls) >= 2, file)
        assert reported.is_set()
        stop()

    run(scenario())


@pytest.mark.parametrize(("burst", "kind"), [
    (("changed",), "session_updated"),
    (("deleted", "changed"), "session_removed"),
    (("changed", "deleted"), "session_removed"),
    (("deleted", "added", "changed"), "session_created"),
    (("added", "deleted"), "session_created"),
])
def test_a_burst_of_changes_is_one_piece_of_news_in_any_order(tmp_path: Path, burst: tuple[What, ...], kind: str) -> None:
    path = str(tmp_path / "-p" / f"{ONE}.jsonl")
    assert watch._news(ClaudeStore(str(tmp_path)), [(what, path) for what in burst]) == [(kind, ONE)]


def test_what_is_in_a_folder_that_has_just_come_is_told_though_nobody_saw_it_written(tmp_path: Path) -> None:
    projects = tmp_path / "projects"

    async def scenario() -> None:
        heard = Heard()
        stop = watch.watch_store(lambda: ClaudeStore(str(projects)), "agent", heard.callback)
        await eventually(lambda: str(projects) in notice._loops.get(asyncio.get_running_loop(), {}))
        shutil.copytree(Path(__file__).parents[1] / "data" / "claude" / "projects", tmp_path / "made")
        (tmp_path / "made").rename(projects)
        assert (await heard.next("session_created")).session_id == ONE
        stop()

    look, notice.ABSENT_LOOK_S = notice.ABSENT_LOOK_S, 0.01
    try:
        run(scenario())
    finally:
        notice.ABSENT_LOOK_S = look
