"""A session as clients and agents find it: prompts, queue, cancel, approvals, ends."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.aio import run
from tests.session.script import ScriptedDriver, Stage, text, update
from trunkline.dialects.acp.content import TextContent
from trunkline.dialects.signals import AgentFault, AskWithdrawn, QuestionAsk, TurnEnd
from trunkline.errors import AgentStartFailed, AlreadyResolved, HubStopping, Invalid, NotFound, TurnInProgress
from trunkline.journal.base import Group
from trunkline.journal.memory import MemoryJournal
from trunkline.session.commands.requests import Answer, Decision
from trunkline.session.services import Limits


def types(packets: list[dict[str, Any]]) -> list[str]:
    return [packet["type"] for packet in packets]


def test_a_prompt_is_in_the_journal_before_the_agent_hears_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        accepted = await stage.send("hello")
        assert stage.session.feed.last_seq > accepted.seq
        stored = await stage.journal.read("ses-1", after=accepted.seq)
        assert any(b"hello" in entry.event for entry in stored)
        await asyncio.sleep(0)
        assert stage.driver.told_of("prompt") == [("prompt", [b'{"type":"text","text":"hello"}'])]

    run(scenario())


def test_a_turn_streams_its_text_and_ends_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        accepted = await stage.send()
        stage.driver.say(text("Hel"), text("lo"))
        stage.driver.end()
        packets = await stage.packets("prompt_response", after=accepted.seq)
        assert types(packets) == ["user_message_chunk", "agent_message_chunk", "agent_message_chunk", "prompt_response"]
        assert "".join(p["content"]["text"] for p in packets[1:3]) == "Hello"
        assert stage.outcomes == ["end_turn"]
        assert stage.session.view().status == "idle"
        assert stage.session.view().last_text == "Hello"

    run(scenario())


def test_a_second_answer_to_the_same_prompt_changes_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        stage.driver.say(TurnEnd(stop="end_turn"), TurnEnd(stop="refusal"), text("late"))
        await stage.packets("prompt_response")
        await stage.send("again")
        stage.driver.end("max_tokens")
        packets = await stage.packets("prompt_response", 2)
        ends = [p["stopReason"] for p in packets if p["type"] == "prompt_response"]
        assert ends == ["end_turn", "max_tokens"]
        assert any(p["type"] == "agent_message_chunk" and p["content"]["text"] == "late" for p in packets)

    run(scenario())


def test_a_busy_session_refuses_or_queues(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send("one")
        with pytest.raises(TurnInProgress):
            await stage.send("two")
        queued = await stage.send("two", when_busy="queue")
        dropped = await stage.send("three", when_busy="queue")
        assert queued.queued and [waiting.turn_id for waiting in session.view().queue] == [queued.turn_id, dropped.turn_id]
        await session.edit_queued(queued.turn_id, [TextContent(text="two, better")], by="test")
        await session.drop_queued(dropped.turn_id, by="test")
        with pytest.raises(NotFound):
            await session.drop_queued(dropped.turn_id, by="test")
        stage.driver.end()
        await stage.until(lambda: len(stage.driver.told_of("prompt")) == 2)
        assert b"two, better" in stage.driver.told_of("prompt")[1][1][0]
        assert session.view().queue == []

    run(scenario())


def test_the_same_idempotency_key_sends_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        first = await stage.send("x", idempotency_key="k")
        again = await stage.send("x", idempotency_key="k")
        assert (again.turn_id, again.seq) == (first.turn_id, first.seq)
        await asyncio.sleep(0)
        assert len(stage.driver.told_of("prompt")) == 1

    run(scenario())


def test_a_permission_waits_and_is_answered_by_option_id(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.ask()
        asked = next(p for p in await stage.packets("approval_requested") if p["type"] == "approval_requested")
        assert asked["preview"] == {"type": "command", "command": "make", "workingDir": str(tmp_path)}
        assert session.view().status == "waiting_for_approval"
        with pytest.raises(Invalid, match="yes, forever, no"):
            await session.decide("req-1", Decision(option_id="maybe"), by="ann")
        await session.decide("req-1", Decision(decision="deny", reason="too risky"), by="ann")
        assert stage.driver.told_of("permission") == [("permission", "req-1", "no")]
        resolved = next(p for p in await stage.packets("approval_resolved") if p["type"] == "approval_resolved")
        assert (resolved["approved"], resolved["resolvedBy"], resolved["reason"]) == (False, "user", "too risky")
        with pytest.raises(AlreadyResolved, match="ann"):
            await session.decide("req-1", Decision(decision="allow"), by="bob")
        assert session.view().status == "running"

    run(scenario())


class SlowDisk(MemoryJournal):
    """A journal that stores when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.let = asyncio.Event()
        self.let.set()

    def append_now(self, group: Group) -> bool:
        return self.let.is_set() and super().append_now(group)

    async def append(self, group: Group) -> None:
        await self.let.wait()
        super().append_now(group)


def test_nothing_is_told_to_the_agent_before_it_is_in_the_journal(tmp_path: Path) -> None:
    async def scenario() -> None:
        journal = SlowDisk()
        stage = Stage(tmp_path, journal=journal)
        session = await stage.open()
        journal.let.clear()
        sending = asyncio.create_task(stage.send())
        await asyncio.sleep(0.02)
        assert not sending.done() and stage.driver.told_of("prompt") == []
        journal.let.set()
        await sending
        stage.driver.ask()
        await stage.packets("approval_requested")
        journal.let.clear()
        deciding = asyncio.create_task(session.decide("req-1", Decision(decision="allow"), by="ann"))
        await asyncio.sleep(0.02)
        assert not deciding.done() and stage.driver.told_of("permission") == []
        journal.let.set()
        await deciding
        assert stage.driver.told_of("permission") == [("permission", "req-1", "yes")]

    run(scenario())


@pytest.mark.parametrize("decision", [Decision(decision="allow", scope="always"), Decision(option_id="forever")])
def test_always_answers_allow_once_and_later_asks_by_rule(tmp_path: Path, decision: Decision) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.ask("req-1")
        await stage.packets("approval_requested")
        await session.decide("req-1", decision, by="ann")
        stage.driver.ask("req-2", toolCallId="call-2")
        stage.driver.ask("req-3", toolCallId="call-3", rawInput={"command": "make install"})
        await stage.until(lambda: len(stage.driver.told_of("permission")) == 2)
        assert stage.driver.told_of("permission") == [("permission", "req-1", "yes"), ("permission", "req-2", "yes")]
        assert [view.request_id for view in session.view().pending_approvals] == ["req-3"]
        resolved = [p for p in await stage.packets("approval_resolved", 2) if p["type"] == "approval_resolved"]
        assert [p["resolvedBy"] for p in resolved] == ["user", "policy"]

    run(scenario())


def test_an_approval_that_nobody_answers_times_out_closed(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path, limits=Limits(approval_s=0.05))
        await stage.open()
        await stage.send()
        stage.driver.ask()
        resolved = next(p for p in await stage.packets("approval_resolved") if p["type"] == "approval_resolved")
        assert (resolved["approved"], resolved["resolvedBy"]) == (False, "timeout")
        await stage.until(lambda: bool(stage.driver.told_of("permission")))
        assert stage.driver.told_of("permission") == [("permission", "req-1", "no")]

    run(scenario())


def test_an_ask_that_the_agent_withdraws_is_resolved_and_not_answered(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.ask()
        stage.driver.say(AskWithdrawn("req-1"))
        resolved = next(p for p in await stage.packets("approval_resolved") if p["type"] == "approval_resolved")
        assert resolved["resolvedBy"] == "policy" and "withdrew" in resolved["reason"]
        assert session.view().pending_approvals == [] and stage.driver.told_of("permission") == []

    run(scenario())


def test_cancel_answers_open_asks_and_ends_as_cancelled_whatever_the_agent_says(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.ask()
        await stage.packets("approval_requested")
        assert await session.cancel(by="ann")
        assert stage.driver.told[-2:] == [("cancel",), ("permission", "req-1", None)]
        stage.driver.ask("req-2", toolCallId="call-2")
        await stage.until(lambda: len(stage.driver.told_of("permission")) == 2)
        assert stage.driver.told_of("permission")[1] == ("permission", "req-2", None)
        stage.driver.say(TurnEnd(error=AgentFault(-32603, "interrupted")))
        packets = await stage.packets("prompt_response")
        assert packets[-1]["stopReason"] == "cancelled"
        assert not await session.cancel(by="ann")

    run(scenario())


def test_a_second_cancel_stops_an_agent_that_will_not_end(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        await session.cancel(by="ann")
        assert session.busy
        await session.cancel(by="ann")
        packets = await stage.packets("prompt_response")
        assert packets[-1]["stopReason"] == "cancelled"
        await stage.until(lambda: bool(stage.driver.told_of("stop")))

    run(scenario())


def test_a_dying_agent_ends_its_turn_with_one_error_and_starts_again_for_the_next(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        stage.driver.say(update(sessionUpdate="tool_call", toolCallId="c", title="T", status="in_progress"))
        stage.driver.die(3, "no space left\n")
        packets = await stage.packets("error")
        error = packets[-1]
        assert (error["code"], error["details"]["code"], error["details"]["exitCode"]) == (None, "agent_exited", 3)
        assert "no space left" in error["message"]
        assert [p["status"] for p in packets if p["type"] == "tool_call_progress"] == ["in_progress", "failed"]
        await stage.send("again")
        await stage.until(lambda: len(stage.drivers) == 2 and bool(stage.driver.told_of("prompt")))
        assert stage.driver.told[0] == ("start", "agent-1")
        assert any(event.meta and event.meta.get("how") == "new" for event in await stage.events()
                   if type(event).__name__ == "SessionResumedEvent")

    run(scenario())


def test_an_agent_that_cannot_start_fails_the_turn_with_its_own_code(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        stage.driver.die()
        make = stage._make_driver

        def broken(opened: Any) -> Any:
            driver = make(opened)
            driver.refuses_to_start = AgentStartFailed("it exited at once")
            return driver

        session._link._make_driver = lambda: broken(session)
        await stage.send()
        packets = await stage.packets("error")
        assert packets[-1]["details"]["code"] == "agent_start_failed"
        assert session.view().status == "error"

    run(scenario())


def test_silence_cancels_then_ends_the_turn_but_not_while_a_person_is_waited_for(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path, limits=Limits(silence_s=0.05))
        session = await stage.open()
        await stage.send()
        stage.driver.ask()
        await stage.packets("approval_requested")
        await asyncio.sleep(0.15)
        assert not stage.driver.told_of("cancel"), "the clock stands still while an approval is open"
        await session.decide("req-1", Decision(decision="allow"), by="ann")
        await stage.until(lambda: bool(stage.driver.told_of("cancel")))
        stage.driver.end("cancelled")
        packets = await stage.packets("error")
        assert packets[-1]["details"]["code"] == "idle_timeout"

    run(scenario())


def test_a_question_is_asked_and_answered(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        schema = msgspec.json.encode({"type": "object", "properties": {"db": {"type": "string", "enum": ["pg", "sqlite"]}}})
        stage.driver.say(QuestionAsk("q-1", "Which database?", schema))
        asked = (await stage.packets("question_requested"))[-1]
        assert (asked["question"], asked["options"]) == ("Which database?", ["pg", "sqlite"])
        assert session.view().status == "waiting_for_input"
        await session.answer("q-1", Answer(content={"db": "pg"}), by="ann")
        assert stage.driver.told_of("question") == [("question", "q-1", "accept", {"db": "pg"})]
        with pytest.raises(AlreadyResolved):
            await session.answer("q-1", Answer(action="decline"), by="bob")

    run(scenario())


def test_closing_ends_the_turn_with_an_error_and_every_reader(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        waiting = asyncio.create_task(session.feed.wait(10_000))
        await asyncio.sleep(0)
        await session.close(HubStopping("the hub was stopped"))
        await waiting
        assert session.feed.closed
        stored = await stage.journal.read("ses-1", after=0)
        errors = [msgspec.json.decode(entry.packet) for entry in stored if entry.packet and b'"type":"error"' in entry.packet]
        assert [error["details"]["code"] for error in errors] == ["hub_stopping"]

    run(scenario())


def test_mode_options_and_title_are_journaled(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await session.set_mode("plan", by="ann")
        await session.set_config("model", "large", by="ann")
        await session.rename("  A title ", by="ann")
        assert (session.view().mode, session.view().title) == ("plan", "A title")
        assert stage.driver.told[-2:] == [("mode", "plan"), ("config", "model", "large")]
        with pytest.raises(Invalid):
            await session.rename("  ", by="ann")
        stage.driver.say(update(sessionUpdate="session_info_update", title="the agent's title"))
        assert session.view().title == "A title", "a person's title wins over the agent's"

    run(scenario())


def test_a_denial_for_good_denies_the_same_again_by_rule(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.ask("req-1")
        await session.decide("req-1", Decision(decision="deny", scope="always"), by="ann")
        stage.driver.ask("req-2", toolCallId="call-2")
        await stage.until(lambda: len(stage.driver.told_of("permission")) == 2)
        assert stage.driver.told_of("permission") == [("permission", "req-1", "no"), ("permission", "req-2", "no")]
        rules = [event for event in await stage.events() if getattr(event, "event_name", "") == "rule_added"]
        assert len(rules) == 1 and rules[0].meta == {"by": "ann"}, "the rule is in the journal, with who made it"

    run(scenario())


def test_a_question_that_nobody_answers_is_cancelled_in_time(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path, limits=Limits(approval_s=0.05))
        session = await stage.open()
        await stage.send()
        stage.driver.say(QuestionAsk("q-1", "Well?"))
        assert session.view().pending_questions[0].expires_at
        await stage.until(lambda: bool(stage.driver.told_of("question")))
        assert stage.driver.told_of("question") == [("question", "q-1", "cancel", None)]

    run(scenario())


def test_an_ask_behind_the_end_of_its_turn_leaves_the_session_idle(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.end()
        await stage.packets("prompt_response")
        stage.driver.ask("late")
        await stage.until(lambda: bool(stage.driver.told_of("permission")))
        assert session.view().status == "idle" and session.view().pending_approvals == []

    run(scenario())


def test_an_agent_that_comes_back_gets_its_mode_and_options_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await session.set_mode("plan", by="ann")
        await session.set_config("model", "large", by="ann")
        ScriptedDriver.modes_of_new = msgspec.Raw(b'{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"}]}')
        stage.driver.die()
        await stage.send()
        await stage.until(lambda: len(stage.drivers) == 2 and bool(stage.driver.told_of("prompt")))
        told = [what[0] for what in stage.driver.told]
        assert told == ["start", "mode", "config", "prompt"], "before the prompt, so that nothing runs in the wrong mode"
        assert session.view().mode == "plan"

    try:
        run(scenario())
    finally:
        ScriptedDriver.modes_of_new = None


def test_whatever_goes_wrong_in_the_hub_a_turn_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
        stage = Stage(tmp_path)
        session = await stage.open()

        async def broken() -> None:
            raise RuntimeError("a bug")

        stage.driver.die()
        monkeypatch.setattr(session._link, "ensure", broken)
        await stage.send()
        packets = await stage.packets("error")
        assert "a bug" in packets[-1]["message"] and packets[-1]["details"]["code"] == "internal"
        assert session.view().status == "error"

    run(scenario())


def test_what_an_agent_makes_through_its_client_is_found_and_what_people_upload_is_not_its_work(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send("talk")
        stage.driver.end()
        await stage.packets("prompt_response")
        (tmp_path / "mine.txt").write_text("a person's")
        await session.uploaded(str(tmp_path / "mine.txt"))
        await stage.send("write")
        session.acted()
        (tmp_path / "made.txt").write_text("the agent's")
        (tmp_path / b"\xff".decode("utf-8", "surrogateescape")).write_text("no name at all")
        stage.driver.end()
        packets = await stage.packets("prompt_response", 2)
        assert types(packets)[-2:] == ["artifact_created", "prompt_response"]
        assert [artifact.name for artifact in session.artifacts()] == ["made.txt"]

    run(scenario())


def test_an_agent_started_for_a_mode_is_stopped_when_nobody_uses_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path, limits=Limits(agent_idle_s=0.05))
        session = await stage.open()
        await stage.until(lambda: not session.agent_running)
        await session.set_mode("plan", by="ann")
        assert session.agent_running
        await stage.until(lambda: not session.agent_running)

    run(scenario())
