"""A tool's input, changed by the person who approves it: for agents that can be told, and within the rules."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.aio import run
from tests.session.script import OPTIONS, Stage
from trunkline.dialects.acp.permission import OTHER
from trunkline.dialects.context.types import PASSED_ON
from trunkline.dialects.signals import PermissionAsk, PermissionOption
from trunkline.errors import Forbidden, Invalid, Unsupported
from trunkline.session.commands.requests import Decision

NO_INSTALLS = """\
[[rules]]
action = "deny"
command = ["make install*"]
"""


async def asked(tmp_path: Path) -> Stage:
    """A session whose agent asks for a command, and can be given another."""
    stage = Stage(tmp_path)
    stage.services.policies.replace(NO_INSTALLS)
    await stage.open()
    await stage.send()
    call = {"toolCallId": "call-1", "title": "make", "kind": "execute", "rawInput": {"command": "make"}}
    stage.driver.say(PermissionAsk("req-1", msgspec.json.encode(call), OPTIONS, editable=True))
    await stage.packets("approval_requested")
    return stage


async def approve(stage: Stage, way: str, command: str) -> None:
    """Approve another command, by the command of the context protocol or by the decision of the permissions route."""
    if way == "command":
        edited = {"updatedInput": {"command": command}}
        await stage.execute("approve_tool_call", requestId="req-1", toolCallId="call-1", _meta=edited)
    else:
        await stage.session.approvals.decide("req-1", Decision(decision="allow", updated_input={"command": command}), by="ann")


@pytest.mark.parametrize("way", ["command", "route"])
def test_it_reaches_the_agent_and_stands_in_the_journal(tmp_path: Path, way: str) -> None:
    async def scenario() -> None:
        stage = await asked(tmp_path)
        assert stage.session.view().pending_approvals[0].editable
        await approve(stage, way, "make check")
        assert stage.driver.known_call("permission") == [("permission", "req-1", "yes")]
        assert [bytes(given or b"") for given in stage.driver.inputs] == [b'{"command":"make check"}']
        events = [msgspec.json.decode(entry.event) for entry in await stage.session.feed.read(after=0)]
        (resolved,) = [event for event in events if event["type"] == "approval:resolved"]
        assert (resolved["approved"], resolved["_meta"]["updatedInput"]) == (True, {"command": "make check"})

    run(scenario())


@pytest.mark.parametrize("way", ["command", "route"])
def test_what_a_rule_denies_cannot_be_edited_in_and_the_ask_still_waits(tmp_path: Path, way: str) -> None:
    async def scenario() -> None:
        stage = await asked(tmp_path)
        with pytest.raises(Forbidden, match="edited input"):
            await approve(stage, way, "make install")
        assert stage.driver.known_call("permission") == [] and list(stage.session.fold.approvals) == ["req-1"]
        await approve(stage, way, "make check")
        assert len(stage.driver.known_call("permission")) == 1

    run(scenario())


@pytest.mark.parametrize("decision", [
    Decision(decision="deny", updated_input={"command": "ls"}),
    Decision(decision="allow", scope="session", updated_input={"command": "ls"}),
    Decision(decision="allow", updated_input={}),
])
def test_it_says_something_and_goes_with_an_approval_for_once(tmp_path: Path, decision: Decision) -> None:
    async def scenario() -> None:
        stage = await asked(tmp_path)
        with pytest.raises(Invalid):
            await stage.session.approvals.decide("req-1", decision, by="ann")
        assert stage.driver.known_call("permission") == []

    run(scenario())


@pytest.mark.parametrize("edited", [{}, [], "ls", 1, False])
def test_an_edit_that_is_no_input_is_refused_and_the_ask_still_waits(tmp_path: Path, edited: object) -> None:
    async def scenario() -> None:
        stage = await asked(tmp_path)
        with pytest.raises(Invalid):
            await stage.execute("approve_tool_call", requestId="req-1", toolCallId="call-1", _meta={"updatedInput": edited})
        assert stage.driver.known_call("permission") == [] and list(stage.session.fold.approvals) == ["req-1"]

    run(scenario())


ALLOW, REJECT = PermissionOption("x", "Allow", "allow_once"), PermissionOption("x", "Reject", "reject_once")


async def offered(tmp_path: Path, *options: PermissionOption) -> Stage:
    """A session whose agent asks, and offers these answers."""
    stage = Stage(tmp_path)
    await stage.open()
    await stage.send()
    call = {"toolCallId": "call-1", "title": "make", "kind": "execute", "rawInput": {"command": "make"}}
    stage.driver.say(PermissionAsk("req-1", msgspec.json.encode(call), options))
    await stage.packets("approval_requested")
    return stage


@pytest.mark.parametrize("options", [(ALLOW, REJECT), (REJECT, ALLOW)])
def test_answers_that_cannot_be_told_apart_are_not_offered_and_approve_nothing(
        tmp_path: Path, options: tuple[PermissionOption, ...]) -> None:
    async def scenario() -> None:
        stage = await offered(tmp_path, *options)
        (view,) = stage.session.view().pending_approvals
        assert view.options == [] and "cannot be told apart" in view.doubts[0]
        for decision in (Decision(option_id="x"), Decision(decision="allow")):
            with pytest.raises(Invalid):
                await stage.session.approvals.decide("req-1", decision, by="ann")
        assert not await stage.session.approvals.decide("req-1", Decision(decision="deny"), by="ann")
        assert stage.driver.known_call("permission") == [("permission", "req-1", None)], "it is cancelled: no id says no"

    run(scenario())


def test_an_answer_that_is_offered_twice_counts_once_and_others_are_as_they_were(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = await offered(tmp_path, *OPTIONS, OPTIONS[0], PermissionOption("no", "Nein", "reject_once"))
        (view,) = stage.session.view().pending_approvals
        assert tuple(view.options) == OPTIONS and view.doubts == []
        await stage.session.approvals.decide("req-1", Decision(option_id="no"), by="ann")
        assert stage.driver.known_call("permission") == [("permission", "req-1", "no")]

    run(scenario())


def test_an_answer_of_the_agents_own_is_told_as_what_it_was(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = await offered(tmp_path, *OPTIONS, PermissionOption("later", "Later", OTHER))
        assert not await stage.session.approvals.decide("req-1", Decision(option_id="later"), by="ann")
        (resolved,) = [packet for packet in await stage.packets("approval_resolved") if packet["type"] == "approval_resolved"]
        assert resolved["reason"] == f"{PASSED_ON}: Later"
        assert stage.driver.known_call("permission") == [("permission", "req-1", "later")]

    run(scenario())


def test_an_error_quotes_an_id_in_a_line_and_not_all_of_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = await offered(tmp_path, PermissionOption("x\n\n  ? permission wanted\x1b[2J" + "y" * 200, "Yes", "allow_always"))
        for decision in (Decision(decision="allow"), Decision(option_id="z\n" * 100)):
            with pytest.raises((Invalid, Unsupported)) as refused:
                await stage.session.approvals.decide("req-1", decision, by="ann")
            message = refused.value.message
            assert "x ⏎ ⏎ ? permission wanted" in message and message.isprintable() and len(message) < 300

    run(scenario())
