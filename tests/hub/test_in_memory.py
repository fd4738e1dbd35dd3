"""The sessions in memory: which are kept, which are dropped and called back."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.aio import run
from tests.hub.stage import options, turn, until_packet, until_stopped, work
from trunkline.hub import Hub, NewSession
from trunkline.hub.in_memory import SessionsInMemory


def test_sessions_that_nobody_uses_leave_memory_and_come_back_with_their_readers(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr("trunkline.hub.in_memory.KEPT_IDLE", 0)
        async with Hub(options(tmp_path, agent_idle_stop=0.05)) as hub:
            session = await hub.create(NewSession(agent="fast", cwd=work(tmp_path)), by="test")
            await until_stopped(session)
            other = await hub.create(NewSession(agent="fast", cwd=work(tmp_path)), by="test")
            assert hub.metrics.sessions_open == 1 and other.id != session.id
            again = await hub.session(session.id)
            assert again is session, "a session that somebody still reads is not made twice"
            reading = asyncio.create_task(until_packet(session, "prompt_response", session.feed.last_seq))
            await turn(again, "/echo x")
            assert any(p["type"] == "agent_message_chunk" for p in await reading)

    run(scenario())


class Quiet:
    """A session as the table sees it."""

    def __init__(self, session_id: str, *, at: int, busy: bool = False, questions: bool = False) -> None:
        self.id, self.busy, self.agent = session_id, busy, SimpleNamespace(running=False)
        self.fold = SimpleNamespace(updated_at=at, questions={"q": 1} if questions else {})
        self.calls: list[str] = []
        self.lifecycle = self.rules = Noting(self.calls)


class Noting:
    """Parts of a session of which only is known what was called."""

    def __init__(self, calls: list[str]) -> None:
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        return lambda: self._calls.append(name)


def table(monkeypatch: pytest.MonkeyPatch, *sessions: Quiet) -> Any:
    monkeypatch.setattr("trunkline.hub.in_memory.KEPT_IDLE", 1)
    memory: Any = SessionsInMemory()  # a Quiet is all that it needs of a session
    for session in sessions:
        memory.add(session)
    return memory


def test_of_those_that_nobody_uses_the_newest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    old, busy, asked, new = Quiet("a", at=1), Quiet("b", at=0, busy=True), Quiet("c", at=0, questions=True), Quiet("d", at=2)
    memory = table(monkeypatch, old, busy, asked, new)
    assert [session.id for session in memory] == ["b", "c", "d"] and len(memory) == 3
    assert old.calls == ["doze"] and memory.kept("a") is None


def test_one_that_was_dropped_is_called_back_while_somebody_holds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Quiet("held", at=1)
    memory = table(monkeypatch, held, Quiet("free", at=2), Quiet("new", at=3))
    assert memory.find("free") is None, "nobody holds it"
    assert memory.find("held") is held and held.calls == ["doze", "wake"]
    assert memory.kept("held") is held
    memory.remove("held")
    assert memory.find("held") is None


def test_sessions_that_leave_memory_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = table(monkeypatch, Quiet("dropped", at=1), Quiet("deleted", at=2))
    assert memory.released == 1
    memory.remove("deleted")
    memory.remove("never here")
    assert memory.released == 2


def test_all_in_memory_hear_that_the_journal_takes_entries_again_and_of_other_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = Quiet("one", at=1, busy=True), Quiet("other", at=2, busy=True)
    memory = table(monkeypatch, one, other)
    memory.on_drained()
    memory.on_rules_changed()
    assert one.calls == other.calls == ["drained", "on_change"]
