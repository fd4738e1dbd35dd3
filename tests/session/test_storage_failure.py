"""A journal that cannot be written: nothing is acted on, nothing is lost, and work goes on when it can be written again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.aio import run
from tests.session.script import Stage, text
from trunkline.errors import StorageError
from trunkline.journal.base import Group
from trunkline.journal.stores.memory import MemoryJournal
from trunkline.session import recorder
from trunkline.session.commands.requests import Decision


class FullDisk(MemoryJournal):
    """A journal that refuses while ``full``."""

    full = False
    refused = 0

    def append_now(self, group: Group) -> bool:
        if self.full:
            self.refused += 1
            raise StorageError("database or disk is full")
        return super().append_now(group)


def test_a_prompt_that_cannot_be_stored_is_refused_and_never_reaches_the_agent(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(recorder, "STORAGE_RETRY_S", 0.02)
        journal = FullDisk()
        stage = Stage(tmp_path, journal=journal)
        await stage.open()
        seen = stage.session.feed.last_seq
        journal.full = True
        with pytest.raises(StorageError):
            await stage.send("lost?")
        assert stage.session.feed.last_seq == seen
        assert stage.driver.known_call("prompt") == [] and stage.driver.paused
        journal.full = False
        packets = await stage.packets("error")
        assert packets[-1]["details"]["code"] == "storage_error"
        assert stage.driver.known_call("prompt") == []
        await stage.until(lambda: not stage.driver.paused)
        await stage.send("now")
        await stage.until(lambda: bool(stage.driver.known_call("prompt")))
        entries = await journal.read("ses-1", after=0)
        assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1)), "no seq is lost or used twice"

    run(scenario())


def test_what_the_agent_says_meanwhile_is_kept_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(recorder, "STORAGE_RETRY_S", 0.02)
        journal = FullDisk()
        stage = Stage(tmp_path, journal=journal)
        await stage.open()
        await stage.send()
        await stage.until(lambda: bool(stage.driver.known_call("prompt")))
        journal.full = True
        for word in ("a", "b", "c"):
            stage.driver.say(text(word))
            await stage.until(lambda: stage.driver.paused)
        journal.full = False
        stage.driver.end()
        packets = await stage.packets("prompt_response")
        assert "".join(p["content"]["text"] for p in packets if p["type"] == "agent_message_chunk") == "abc"

    run(scenario())


def test_a_disk_that_stays_full_for_long_is_tried_again_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(recorder, "STORAGE_RETRY_S", 0.01)
        journal = FullDisk()
        stage = Stage(tmp_path, journal=journal)
        session = await stage.open()
        journal.full = True
        for _ in range(5):
            with pytest.raises(StorageError):
                await session.rename("a title", by="ann")
            enough = journal.refused + 3
            await stage.until(lambda enough=enough: journal.refused > enough)  # type: ignore[misc]
        journal.full = False
        await stage.until(lambda: session.feed.last_seq == session.fold.seq)
        await session.rename("another", by="ann")
        assert session.view().title == "another"

    run(scenario())


def test_a_decision_made_while_the_disk_is_full_reaches_the_agent_when_it_is_stored(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(recorder, "STORAGE_RETRY_S", 0.01)
        journal = FullDisk()
        stage = Stage(tmp_path, journal=journal)
        session = await stage.open()
        await stage.send()
        stage.driver.ask()
        journal.full = True
        with pytest.raises(StorageError):
            await session.approvals.decide("req-1", Decision(decision="allow"), by="ann")
        assert stage.driver.known_call("permission") == []
        journal.full = False
        await stage.until(lambda: bool(stage.driver.known_call("permission")))
        assert stage.driver.known_call("permission") == [("permission", "req-1", "yes")]

    run(scenario())


def test_a_cancel_while_the_disk_is_full_is_refused_at_once_and_reaches_the_agent_when_it_is_stored(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(recorder, "STORAGE_RETRY_S", 0.01)
        journal = FullDisk()
        stage = Stage(tmp_path, journal=journal)
        session = await stage.open()
        await stage.send()
        await stage.until(lambda: bool(stage.driver.known_call("prompt")))
        journal.full = True
        with pytest.raises(StorageError):
            await session.turns.cancel(by="ann")
        assert stage.driver.known_call("cancel") == []
        journal.full = False
        await stage.until(lambda: bool(stage.driver.known_call("cancel")))
        stage.driver.end()
        packets = await stage.packets("prompt_response")
        assert packets[-1]["stopReason"] == "cancelled"

    run(scenario())


def test_a_turn_that_ended_before_its_cancel_was_stored_leaves_nothing_running(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(recorder, "STORAGE_RETRY_S", 0.02)
        journal = FullDisk()
        stage = Stage(tmp_path, journal=journal)
        session = await stage.open()
        await stage.send()
        await stage.until(lambda: bool(stage.driver.known_call("prompt")))
        journal.full = True
        with pytest.raises(StorageError):
            await session.turns.cancel(by="ann")
        stage.driver.end()
        await stage.until(lambda: session.fold.turn is None)
        journal.full = False
        await stage.until(lambda: bool(stage.driver.known_call("cancel_late")))
        assert stage.driver.known_call("cancel") == [], "the agent has nothing to cancel any more"

    run(scenario())
