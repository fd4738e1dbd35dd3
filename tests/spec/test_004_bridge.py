"""Seed 004, "What Our Bridge Gets Wrong": each of its three faults, looked for in our own bridge."""

from __future__ import annotations

from pathlib import Path

from tests.aio import run
from tests.server.acp.editor import Json, editor, hub_site, result_of


def test_fault_1_an_update_is_told_by_session_update_and_never_by_type(tmp_path: Path) -> None:
    async def check() -> list[Json]:
        async with hub_site(tmp_path) as site, editor(site, "puppet") as made:
            session_id = await made.new(site.folder)
            packet = {"type": "tool_call_start", "toolCallId": "t", "title": "bash", "kind": "execute", "status": "pending"}
            await made.play(session_id, ["update", packet], ["say", "hi"])
            return made.updates(session_id)

    updates = run(check())
    assert [each["sessionUpdate"] for each in updates][:2] == ["tool_call", "agent_message_chunk"]
    assert not [each for each in updates if "type" in each]


def test_fault_2_a_permission_is_a_request_and_the_agent_waits_for_its_answer(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            session_id = await made.new(site.folder)
            turn = made.prompt(session_id, "/ask")
            ask = await made.asked()
            assert ask["id"] is not None and not turn.done()
            assert (await site.hub.session(session_id)).fold.status == "waiting_for_approval"
            made.answer(ask, {"outcome": {"outcome": "selected", "optionId": ask["params"]["options"][0]["optionId"]}})
            assert result_of(await turn) == {"stopReason": "end_turn"}

    run(check())


def test_fault_3_a_permission_reaches_the_client_and_its_answer_reaches_the_agent(tmp_path: Path) -> None:
    async def check() -> None:
        kinds = {"go-on": "allow_once", "stop": "reject_once"}
        options = [{"optionId": option, "name": option, "kind": kind} for option, kind in kinds.items()]
        async with hub_site(tmp_path) as site, editor(site, "puppet") as made:
            session_id = await made.new(site.folder)
            turn = made.play(session_id, ["ask", "session/request_permission", {
                "toolCall": {"toolCallId": "t", "title": "Run", "rawInput": {"command": "make"}}, "options": options}])
            ask = await made.asked()
            assert ask["params"]["options"] == options, "the agent's own options, under its own ids"
            made.answer(ask, {"outcome": {"outcome": "selected", "optionId": "stop"}})
            await turn
            assert '"optionId": "stop"' in made.text(session_id)

    run(check())
