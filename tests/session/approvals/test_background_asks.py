"""What an agent does in the background goes on when its turn has ended: it may ask, and its calls are not over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from tests.aio import run
from tests.session.script import OPTIONS, Stage, text, update
from trunkline.dialects.calls import ToolNames
from trunkline.dialects.notes import AgentNote, SubAgentReport
from trunkline.dialects.signals import PermissionAsk, QuestionAsk
from trunkline.errors import HubRestarted, HubStopping
from trunkline.session.commands.requests import Answer, Decision


def ask(request_id: str = "req-1", **fields: Any) -> PermissionAsk:
    call = {"toolCallId": "call-9", "title": "Run it", "kind": "execute", "rawInput": {"command": "make"}, **fields}
    return PermissionAsk(request_id, msgspec.json.encode(call), OPTIONS, beyond_turn=True)


def test_an_ask_between_turns_waits_for_a_person_who_answers_it(tmp_path: Path) -> None:
    async def check() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        stage.driver.say(ask())
        assert list(session.fold.approvals) == ["req-1"] and session.busy
        assert session.fold.status == "waiting_for_approval"
        await session.approvals.decide("req-1", Decision(decision="allow"), by="ann")
        assert stage.driver.known_call("permission") == [("permission", "req-1", "yes")]
        assert session.fold.status == "idle"
        await session.lifecycle.close(HubStopping("over"))

    run(check())


def test_an_ask_of_the_background_still_waits_when_the_turn_has_ended(tmp_path: Path) -> None:
    async def check() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.say(ask(), QuestionAsk("ques-1", "Which?", beyond_turn=True))
        stage.driver.end()
        await stage.packets("prompt_response")
        assert (list(session.fold.approvals), list(session.fold.questions)) == (["req-1"], ["ques-1"])
        assert session.fold.status == "waiting_for_approval"
        assert stage.driver.known_call("permission") == [], "nobody denied it"
        await session.approvals.decide("req-1", Decision(decision="deny"), by="ann")
        await session.approvals.answer("ques-1", Answer(action="decline"), by="ann")
        assert stage.driver.known_call("permission") == [("permission", "req-1", "no")]
        assert session.fold.status == "idle"
        await session.lifecycle.close(HubStopping("over"))

    run(check())


def test_an_ask_of_the_turn_itself_ends_with_it(tmp_path: Path) -> None:
    async def check() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.ask()
        stage.driver.end()
        await stage.packets("prompt_response")
        assert not session.fold.approvals
        await session.lifecycle.close(HubStopping("over"))

    run(check())


def test_asks_of_the_background_end_with_the_agent(tmp_path: Path) -> None:
    async def check() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        stage.driver.say(ask())
        stage.driver.die()
        assert not session.fold.approvals
        assert "approval:resolved" in await stage.types()
        await session.lifecycle.close(HubStopping("over"))

    run(check())


def test_a_call_of_a_sub_agent_that_was_sent_off_is_not_over_with_the_turn(tmp_path: Path) -> None:
    async def check() -> None:
        stage = Stage(tmp_path)
        stage.services = msgspec.structs.replace(stage.services, tool_names=lambda agent: ToolNames(parent_call="x.parent"))
        stage.session = stage.new(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.say(
            update(sessionUpdate="tool_call", toolCallId="sent-off", title="Task", kind="think", status="completed"),
            update(sessionUpdate="tool_call", toolCallId="inner", title="Run", kind="execute", status="in_progress",
                   _meta={"x": {"parent": "sent-off"}}),
            update(sessionUpdate="tool_call", toolCallId="own", title="Run", kind="execute", status="in_progress"))
        stage.driver.end()
        await stage.packets("prompt_response")
        await stage.send()
        stage.driver.say(text("meanwhile"), update(sessionUpdate="tool_call_update", toolCallId="inner", status="completed"))
        stage.driver.end()
        await stage.packets("prompt_response", 2)
        events = [msgspec.json.decode(entry.event) for entry in await session.feed.read(after=0)]
        over = [(event["toolCallId"], event["type"]) for event in events if event["type"] in ("tool:result", "tool:error")]
        assert over == [("sent-off", "tool:result"), ("own", "tool:error"), ("inner", "tool:result")]
        await session.lifecycle.close(HubStopping("over"))

    run(check())


def test_what_is_in_the_background_is_told_to_have_ended_when_the_agent_dies(tmp_path: Path) -> None:
    async def check() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.say(AgentNote(SubAgentReport("c", "background")))
        stage.driver.end()
        await stage.packets("prompt_response")
        assert session.fold.sub_agents == {"c": "c"} and "subagent:completed" not in await stage.types()
        stage.driver.die()
        assert session.fold.sub_agents == {}
        assert (await stage.types()).count("subagent:completed") == 1
        await session.lifecycle.close(HubStopping("over"))

    run(check())


async def ends_of(stage: Stage, *kinds: str) -> list[str]:
    return [kind for kind in await stage.types() if kind in kinds]


def test_an_agent_that_dies_has_its_asks_resolved_before_the_calls_that_waited(tmp_path: Path) -> None:
    async def check() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        other = {"toolCallId": "call-2", "rawInput": {"command": "ls"}}
        stage.driver.say(ask(), PermissionAsk("req-2", msgspec.json.encode(other), OPTIONS))
        session.fold.calls["call-9"].in_background = True
        stage.driver.die()
        await stage.packets("error")
        assert await ends_of(stage, "approval:resolved", "tool:error") == [
            "approval:resolved", "tool:error", "approval:resolved", "tool:error"]
        assert session.fold.approvals == {}
        await session.lifecycle.close(HubStopping("over"))

    run(check())


def test_a_hub_that_stops_or_was_killed_resolves_asks_of_the_background_before_their_calls(tmp_path: Path) -> None:
    async def check(killed: bool) -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        stage.driver.say(ask(), QuestionAsk("ques-1", "Which?", beyond_turn=True))
        session.fold.calls["call-9"].in_background = True
        if killed:
            session.lifecycle.recover(HubRestarted("the hub was killed"))
        await session.lifecycle.close(HubStopping("over"))
        assert await ends_of(stage, "approval:resolved", "tool:error") == ["approval:resolved", "tool:error"]
        assert (session.fold.approvals, session.fold.questions, session.fold.status) == ({}, {}, "idle")

    run(check(killed=False))
    run(check(killed=True))


def test_what_an_agent_says_after_its_turn_is_complete_when_it_is_stopped(tmp_path: Path) -> None:
    async def check() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.end()
        await stage.packets("prompt_response")
        stage.driver.say(text("one more thing"), update(sessionUpdate="tool_call", toolCallId="c", title="T"), text("and"))
        await session.lifecycle.close(HubStopping("over"))
        assert await ends_of(stage, "message:start") == 3 * ["message:start"]
        assert await ends_of(stage, "message:complete") == 3 * ["message:complete"]
        assert await ends_of(stage, "tool:start", "tool:error") == ["tool:start", "tool:error"]

    run(check())
