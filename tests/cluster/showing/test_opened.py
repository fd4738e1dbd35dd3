"""Which sessions of other nodes are followed: those that somebody reads, and for a while those that nobody does."""

from __future__ import annotations

import asyncio
import gc

import pytest

from tests.aio import eventually, loop_turns, run
from trunkline.cluster.showing import opened
from trunkline.cluster.showing.opened import OpenSessions
from trunkline.cluster.showing.remote import RemoteSession
from trunkline.errors import SessionNotFound
from trunkline.feeds.session import Feed, TailBudget
from trunkline.journal.stores.memory import MemoryJournal


class Followed(RemoteSession):
    """A session without a cluster: it notes what becomes of it."""

    def __init__(self, session_id: str) -> None:
        self.id = session_id
        self.feed = Feed(session_id, MemoryJournal(), 0, TailBudget())  # type: ignore[assignment]
        self.used_at = 0.0
        self.is_heard = False

    async def open(self) -> None:
        await asyncio.sleep(0)
        if self.id == "gone":
            raise SessionNotFound("no such session")
        self.wake()

    def wake(self) -> None:
        self.used_at, self.is_heard = asyncio.get_running_loop().time(), True

    async def catch_up(self) -> None:
        self.wake()

    async def doze(self) -> None:
        self.is_heard = False

    async def end(self) -> None:
        self.feed.close()

    async def stop(self) -> None:
        self.is_heard = False


def heard(*sessions: RemoteSession) -> list[str]:
    """Those that are followed."""
    return [each.id for each in sessions if isinstance(each, Followed) and each.is_heard]


def test_of_one_id_there_is_one_however_many_open_it() -> None:
    async def go() -> None:
        sessions = OpenSessions(Followed)
        found = await asyncio.gather(*(sessions.find("s") for _ in range(5)))
        assert len({id(each) for each in found}) == 1 and len(sessions) == 1
        with pytest.raises(SessionNotFound):
            await sessions.find("gone")
        assert len(sessions) == 1
        await sessions.close()

    run(go())


def test_what_nobody_reads_is_followed_no_more_and_comes_back_as_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    async def go() -> None:
        monkeypatch.setattr(opened, "LOOK_S", 0.005)
        monkeypatch.setattr(opened, "LINGER_S", 0.01)
        sessions = OpenSessions(Followed)
        read, left = await sessions.find("read"), await sessions.find("left")
        reading = asyncio.create_task(read.feed.wait(0))
        await eventually(lambda: len(sessions) == 1)
        assert heard(read, left) == ["read"]
        assert await sessions.find("left") is left, "somebody still had it"
        assert heard(read, left) == ["read", "left"]
        reading.cancel()
        await sessions.close()

    run(go())


def test_no_more_than_so_many_are_followed_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    async def go() -> None:
        monkeypatch.setattr(opened, "LOOK_S", 0.005)
        monkeypatch.setattr(opened, "KEPT", 3)
        sessions = OpenSessions(Followed)
        for number in range(8):
            await sessions.find(f"s{number}")
        await eventually(lambda: len(sessions) == 3)
        assert list(sessions) == ["s5", "s6", "s7"]
        gc.collect()
        assert (await sessions.find("s0")).id == "s0"
        await sessions.close()

    run(go())


def test_a_session_that_was_deleted_ends_for_its_readers() -> None:
    async def go() -> None:
        sessions = OpenSessions(Followed)
        session = await sessions.find("s")
        sessions.gone("s")
        await loop_turns()
        assert session.feed.closed and len(sessions) == 0
        assert (await sessions.find("s")) is not session
        await sessions.close()

    run(go())
