"""Whoever reads much waits for whoever reads little, and everybody comes to an end."""

from __future__ import annotations

import asyncio

import pytest

from tests.aio import run
from trunkline.journal.read_turns import FORGOTTEN_S, ReadTurns


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Stage:
    """Readers of pages, and the order in which they had their turns."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.turns = ReadTurns(self.clock)
        self.order: list[str] = []
        self._held = asyncio.Event()
        self._grew = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def begin(self, name: str, about: str, pages: int = 1) -> asyncio.Task[None]:
        """Somebody who asks for so many pages; returns when the first was asked for."""
        task = asyncio.create_task(self._read(name, about, pages))
        self._tasks.append(task)
        await asyncio.sleep(0)
        return task

    def go_on(self) -> None:
        """From here on a page is read as soon as its turn comes."""
        self._held.set()

    async def until(self, count: int) -> None:
        """So many turns were had."""
        while len(self.order) < count:
            self._grew.clear()
            await self._grew.wait()

    async def to_the_end(self) -> list[str]:
        self._held.set()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        return self.order

    async def _read(self, name: str, about: str, pages: int) -> None:
        for _ in range(pages):
            async with self.turns.taken(about):
                self.order.append(name)
                self._grew.set()
                await self._held.wait()


def test_a_page_is_read_while_no_other_is() -> None:
    async def story() -> None:
        stage = Stage()
        for name in "abc":
            await stage.begin(name, "one")
        assert stage.order == ["a"]
        assert sorted(await stage.to_the_end()) == ["a", "b", "c"]

    run(story())


def test_whoever_is_new_waits_for_few_pages_however_many_replay() -> None:
    async def story() -> None:
        stage = Stage()
        for number in range(100):
            await stage.begin(f"replay {number}", "one", pages=50)
        stage.go_on()
        await stage.until(1_000)
        came = len(stage.order)
        await stage.begin("new, the same session", "one")
        await stage.begin("new, another session", "two")
        order = await stage.to_the_end()
        assert order.index("new, another session") - came <= 5
        assert order.index("new, the same session") - came <= 5

    run(story())


def test_whoever_reads_what_others_do_not_passes_a_crowd_that_comes_at_once() -> None:
    async def story() -> None:
        stage = Stage()
        for number in range(100):
            await stage.begin(f"replay {number}", "one")
        await stage.begin("other", "two")
        assert (await stage.to_the_end()).index("other") <= 4

    run(story())


def test_a_replay_comes_to_its_end_though_others_are_always_newer() -> None:
    async def story() -> None:
        stage = Stage()
        replay = await stage.begin("replay", "one", pages=20)
        for number in range(5):
            await stage.begin(f"new {number}", str(number))
        stage.go_on()
        while not replay.done():
            await stage.until(len(stage.order) + 1)
            await stage.begin("newer", str(len(stage.order)))
        assert len(stage.order) < 20 * 14, "of the six or seven who wait, it has its turn"
        await stage.to_the_end()

    run(story())


def test_whoever_did_without_for_a_while_is_new_again() -> None:
    async def story() -> None:
        stage = Stage()
        task = asyncio.current_task()
        assert task is not None
        async with stage.turns.taken("one"):
            pass
        assert stage.turns._had_lately(task) == 1
        stage.clock.now += FORGOTTEN_S + 0.1
        assert stage.turns._had_lately(task) == 0

    run(story())


@pytest.mark.parametrize("has_turn", [False, True])
def test_whoever_leaves_while_waiting_keeps_nobody_from_a_turn(has_turn: bool) -> None:
    async def story() -> None:
        stage = Stage()
        first = await stage.begin("first", "one")
        second = await stage.begin("second", "one")
        await stage.begin("third", "one")
        if has_turn:  # it was granted its turn and has not heard of it yet
            stage.go_on()
            await first
        second.cancel()
        order = await stage.to_the_end()
        assert order[0] == "first" and order[-1] == "third"

    run(story())
