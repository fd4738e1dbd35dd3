"""Diffs are made a few at a time: one of a session, and so many of the hub."""

from __future__ import annotations

import asyncio

import pytest

from tests.aio import run
from trunkline.errors import Unavailable
from trunkline.server.files import comparing
from trunkline.server.files.comparing import DIFFS_AT_ONCE, Comparing


class Makers:
    """Requests for diffs, and whose are being made."""

    def __init__(self) -> None:
        self.comparing = Comparing()
        self.made: list[str] = []
        self._over = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def ask(self, *sessions: str) -> None:
        self._tasks += [asyncio.create_task(self._make(session)) for session in sessions]
        await asyncio.sleep(0)

    async def end(self) -> None:
        self._over.set()
        await asyncio.gather(*self._tasks)

    async def _make(self, session: str) -> None:
        async with self.comparing.room(session):
            self.made.append(session)
            await self._over.wait()


def test_of_one_session_one_diff_is_made_at_a_time_and_of_the_hub_a_few() -> None:
    async def story() -> None:
        makers = Makers()
        await makers.ask("a", "a", "a", "b", "c", "d")
        assert makers.made == ["a", "b"] and len(makers.made) == DIFFS_AT_ONCE
        await makers.end()
        assert sorted(makers.made) == ["a", "a", "a", "b", "c", "d"]

    run(story())


def test_whoever_waits_too_long_for_a_diff_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "WAIT_S", 0.01)

    async def story() -> None:
        makers = Makers()
        await makers.ask("a")
        with pytest.raises(Unavailable, match="other diffs are being made"):
            async with makers.comparing.room("a"):
                raise AssertionError("there is no room")
        async with makers.comparing.room("b"):
            await makers.end()
        async with makers.comparing.room("a"):
            pass

    run(story())
