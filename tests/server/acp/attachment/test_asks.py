"""Permissions and questions: put to editors as requests, raced, taken back from who lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.server.acp.editor import Json, editor, hub_site, result_of, when
from trunkline.session.commands.requests import Answer, Decision

FORM: dict[str, Any] = {"elicitation": {"form": {}}}


def choice(option: str) -> Json:
    """An answer to a permission."""
    return {"outcome": {"outcome": "selected", "optionId": option}}


def permission(call_id: str = "c1", **call: Any) -> list[Any]:
    """The puppet's step that asks for one."""
    kinds = {"y": "allow_once", "a": "allow_always", "n": "reject_once"}
    options = [{"optionId": option, "name": kind, "kind": kind} for option, kind in kinds.items()]
    return ["ask", "session/request_permission", {"toolCall": {"toolCallId": call_id, **call}, "options": options}]


def test_a_permission_is_a_request_that_waits_for_the_editors_answer(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            session_id = await made.new(site.folder)
            turn = made.prompt(session_id, "/ask")
            ask = await made.asked()
            assert ask["params"]["sessionId"] == session_id
            call = ask["params"]["toolCall"]
            assert call["toolCallId"] in [each["toolCallId"] for each in made.updates(session_id, "tool_call")]
            assert {option["kind"] for option in ask["params"]["options"]} >= {"allow_once", "reject_once"}
            chosen = next(option for option in ask["params"]["options"] if option["kind"] == "allow_once")
            made.answer(ask, choice(chosen["optionId"]))
            assert result_of(await turn) == {"stopReason": "end_turn"}
            assert "Approved." in made.text(session_id)

    run(check())


@pytest.mark.parametrize(("answer", "told"), [
    (choice("y"), '"optionId": "y"'), (choice("n"), '"optionId": "n"'),
    (choice("a"), '"optionId": "y"'), ({"outcome": {"outcome": "cancelled"}}, '"optionId": "n"'),
    (choice("unheard of"), '"optionId": "n"'), ({}, '"optionId": "n"'),
])
def test_the_agent_hears_the_option_that_was_meant_and_what_is_unclear_is_a_no(tmp_path: Path, answer: Json, told: str) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet") as made:
            session_id = await made.new(site.folder)
            turn = made.play(session_id, permission(title="Run", kind="execute", rawInput={"command": "make"}))
            made.answer(await made.asked(), answer)
            await turn
            assert told in made.text(session_id)

    run(check())


def test_a_call_that_the_agent_never_told_of_is_told_before_it_is_asked_about(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet") as made:
            session_id = await made.new(site.folder)
            turn = made.play(session_id, permission("new", title="Run make", kind="execute", rawInput={"command": "make"}))
            ask = await made.asked()
            before = made.heard[:made.heard.index(ask)]
            (told,) = [each["params"]["update"] for each in before if each.get("method") == "session/update"]
            assert (told["sessionUpdate"], told["toolCallId"], told["title"]) == ("tool_call", "new", "Run make")
            made.answer(ask, choice("y"))
            await turn

    run(check())


def test_the_first_of_two_editors_wins_and_the_other_is_taken_back(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet") as one, editor(site, "puppet") as two:
            session_id = await one.new(site.folder)
            await two.ask("session/resume", {"sessionId": session_id, "cwd": str(site.folder)})
            turn = one.play(session_id, permission(title="Run", rawInput={"command": "make"}))
            first, second = await one.asked(), await two.asked()
            two.answer(second, choice("n"))
            assert result_of(await turn) == {"stopReason": "end_turn"}
            assert '"optionId": "n"' in one.text(session_id)
            assert one.notified("$/cancel_request") == [{"requestId": first["id"]}]
            assert two.notified("$/cancel_request") == []
            one.say({"id": first["id"], "error": {"code": -32800, "message": "cancelled"}})
            await one.ask("session/list")

    run(check())


def test_an_editor_that_joins_is_asked_what_is_open(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet") as one:
            session_id = await one.new(site.folder)
            turn = one.play(session_id, permission(title="Run", rawInput={"command": "make"}))
            await one.asked()
            async with editor(site, "puppet") as two:
                await two.ask("session/load", {"sessionId": session_id, "cwd": str(site.folder), "mcpServers": []})
                ask = await two.asked()
                answered = [index for index, each in enumerate(two.heard) if "result" in each][-1]
                assert two.heard.index(ask) > answered, "a load is answered first"
                two.answer(ask, choice("y"))
                assert result_of(await turn) == {"stopReason": "end_turn"}

    run(check())


def test_a_cancel_takes_back_what_is_open(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet") as made:
            session_id = await made.new(site.folder)
            turn = made.play(session_id, permission(title="Run", rawInput={"command": "make"}))
            ask = await made.asked()
            made.notify("session/cancel", {"sessionId": session_id})
            made.answer(ask, {"outcome": {"outcome": "cancelled"}})
            assert result_of(await turn) == {"stopReason": "cancelled"}
            assert '"outcome": "cancelled"' in made.text(session_id)

    run(check())


def test_an_editor_that_cannot_answer_leaves_it_to_the_others(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet") as made:
            session_id = await made.new(site.folder)
            turn = made.play(session_id, permission(title="Run", rawInput={"command": "make"}))
            ask = await made.asked()
            made.answer(ask, Exception({"code": -32601, "message": "no such thing here"}))
            session = await site.hub.session(session_id)
            (request_id,) = session.fold.approvals
            await session.approvals.decide(request_id, Decision(decision="allow"), by="phone")
            assert result_of(await turn) == {"stopReason": "end_turn"}

    run(check())


def test_a_question_goes_to_an_editor_that_has_forms(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, **FORM) as made, editor(site) as plain:
            session_id = await made.new(site.folder)
            await plain.ask("session/resume", {"sessionId": session_id, "cwd": str(site.folder)})
            turn = made.prompt(session_id, "/question")
            ask = await made.asked("elicitation/create")
            assert ask["params"]["mode"] == "form" and ask["params"]["requestedSchema"]["type"] == "object"
            assert plain.asks == []
            made.answer(ask, {"action": "decline"})
            assert result_of(await turn) == {"stopReason": "end_turn"}

    run(check())


def test_an_answer_that_does_not_fit_the_question_is_asked_for_again(tmp_path: Path) -> None:
    async def check() -> None:
        schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        step = ["ask", "elicitation/create", {"message": "How many?", "mode": "form", "requestedSchema": schema}]
        async with hub_site(tmp_path) as site, editor(site, "puppet", **FORM) as made:
            session_id = await made.new(site.folder)
            turn = made.play(session_id, step)
            made.answer(await made.asked("elicitation/create"), {"action": "accept", "content": {"n": "many"}})
            again = await made.asked("elicitation/create")
            assert again["params"]["message"].startswith("How many?\n(")
            made.answer(again, {"action": "accept", "content": {"n": 3}})
            assert result_of(await turn) == {"stopReason": "end_turn"}
            assert '"n": 3' in made.text(session_id)

    run(check())


def test_a_question_answered_elsewhere_is_taken_back(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, **FORM) as made:
            session_id = await made.new(site.folder)
            turn = made.prompt(session_id, "/question")
            ask = await made.asked("elicitation/create")
            session = await site.hub.session(session_id)
            await when(session, lambda: session.fold.questions)
            (question_id,) = session.fold.questions
            await session.approvals.answer(question_id, Answer(action="decline"), by="phone")
            await turn
            assert made.notified("$/cancel_request") == [{"requestId": ask["id"]}]

    run(check())


CONFIRM = {"title": "Confirm Agent Actions", "kind": "other"}


def tells(call_id: str, command: str) -> list[Any]:
    """The puppet's step that announces a call."""
    return ["update", {"sessionUpdate": "tool_call", "toolCallId": call_id, "title": command, "kind": "execute",
                       "rawInput": {"command": command}}]


@pytest.mark.parametrize("option", ["y", "a", "n"])
def test_an_ask_that_says_nothing_shows_every_call_that_it_is_about_and_always_counts_once(tmp_path: Path, option: str) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet") as made:
            session_id, before = await made.new(site.folder), site.hub.policies.policy
            turn = made.play(session_id, tells("a", "touch one"), tells("b", "touch two"), permission("confirm-1", **CONFIRM))
            ask = await made.asked()
            shown = ask["params"]["toolCall"]
            assert (shown["toolCallId"], shown["title"]) == ("confirm-1", "Confirm Agent Actions")
            words = shown["content"][0]["content"]["text"]
            assert "touch one" in words and "touch two" in words
            about = ask["params"]["_meta"]["trunkline"]
            assert [each["command"] for each in about["calls"]] == ["touch one", "touch two"]
            made.answer(ask, choice(option))
            await turn
            assert f'"optionId": "{"n" if option == "n" else "y"}"' in made.text(session_id)
            ends = [each["status"] for each in made.updates(session_id, "tool_call_update") if each["toolCallId"] == "confirm-1"]
            assert ends == ["completed"], "the editor is left with nothing that waits"
            session = await site.hub.session(session_id)
            assert site.hub.policies.policy == before and session.fold.rules == []

    run(check())


def test_an_editor_is_told_what_is_not_sure(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet") as made:
            session_id = await made.new(site.folder)
            turn = made.play(session_id, permission("confirm-1", **CONFIRM))
            ask = await made.asked()
            about = ask["params"]["_meta"]["trunkline"]
            assert (about["riskLevel"], about["sure"], about["doubts"]) == ("high", False, ["not known what this does"])
            made.answer(ask, choice("n"))
            await turn

    run(check())
