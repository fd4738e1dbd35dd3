"""What goes back to whoever asked: stored first, sent once."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.aio import loop_turns, run
from tests.session.script import Stage
from trunkline.journal.base import Group
from trunkline.journal.stores.memory import MemoryJournal
from trunkline.session.approvals.answers import Resolution
from trunkline.session.commands.requests import Decision


class SlowDisk(MemoryJournal):
    """A journal that stores when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.let = asyncio.Event()
        self.let.set()
        self.waits = asyncio.Event()
        """Somebody wants to store something, and is not let."""

    def append_now(self, group: Group) -> bool:
        return self.let.is_set() and super().append_now(group)

    async def append(self, group: Group) -> None:
        self.waits.set()
        await self.let.wait()
        self.waits.clear()
        super().append_now(group)


def test_nothing_is_told_to_the_agent_before_it_is_in_the_journal(tmp_path: Path) -> None:
    async def scenario() -> None:
        journal = SlowDisk()
        stage = Stage(tmp_path, journal=journal)
        session = await stage.open()
        journal.let.clear()
        sending = asyncio.create_task(stage.send())
        await journal.waits.wait()
        await loop_turns()
        assert not sending.done() and stage.driver.known_call("prompt") == []
        journal.let.set()
        await sending
        stage.driver.ask()
        await stage.packets("approval_requested")
        journal.let.clear()
        deciding = asyncio.create_task(session.approvals.decide("req-1", Decision(decision="allow"), by="ann"))
        await journal.waits.wait()
        await loop_turns()
        assert not deciding.done() and stage.driver.known_call("permission") == []
        journal.let.set()
        await deciding
        assert stage.driver.known_call("permission") == [("permission", "req-1", "yes")]

    run(scenario())


def test_the_hub_itself_may_ask_and_only_that_ask_is_its_own(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        answers = session.agent.permits._approvals.answers
        mine = answers.expect("ours")
        assert answers.is_ours("ours") and not answers.is_ours("theirs")
        await answers.send("ours", Resolution(approved=True, resolved_by="user", who="ann"))
        assert (await mine).who == "ann"
        await loop_turns()
        assert not answers.is_ours("ours") and stage.driver.known_call("permission") == [], "the agent did not ask"

    run(scenario())


def test_an_ask_of_the_hub_that_nobody_waits_for_any_more_is_not_its_own(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        answers = session.agent.permits._approvals.answers
        answers.expect("ours").cancel()
        await loop_turns()
        assert not answers.is_ours("ours")

    run(scenario())


def test_whoever_asked_is_told_that_there_will_be_no_answer(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        answers = session.agent.permits._approvals.answers
        mine = answers.expect("ours")
        answers.dismiss(["theirs", "ours"], ["question"])
        assert stage.driver.told[-2:] == [("permission", "theirs", None), ("question", "question", "cancel", None)]
        assert not (await mine).approved
        stage.driver.die()
        answers.dismiss(["late"], [])
        assert ("permission", "late", None) not in stage.driver.told, "nobody is there"

    run(scenario())
