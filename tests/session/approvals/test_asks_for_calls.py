"""Asks that say nothing of their own, in a session: rules, people, what the disk says, and rules that are saved meanwhile."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.session.script import Stage, update
from trunkline.dialects.acp.tools import Diff
from trunkline.dialects.context.events import ApprovalRequestedEvent, ApprovalResolvedEvent
from trunkline.dialects.context.types import AutoApprove, PermissionPolicy
from trunkline.errors import Invalid
from trunkline.session.commands.requests import Decision
from trunkline.session.fold import DISK_PLACES, Disk
from trunkline.session.policy.decide import Policy, PolicyAsk, Rule
from trunkline.session.policy.text import parse_policy, written_rule
from trunkline.session.workspace.look import DiskLook, spelled_place

CONFIRM: dict[str, Any] = {"toolCallId": "confirmation-1", "title": "Confirm Agent Actions", "kind": "other", "rawInput": None}
EVERYTHING = PermissionPolicy(auto_approve=AutoApprove(reads=True, writes=True, commands=True, searches=True))
ALLOW = '[[rules]]\ncommand = ["make*"]\naction = "allow"\n'
DENY = '[[rules]]\ncommand = ["cat *"]\nreason = "no cats"\naction = "deny"\n'


def announces(stage: Stage, *commands: str) -> None:
    """The agent tells of calls that it wants to make."""
    stage.driver.say(*(update(sessionUpdate="tool_call", toolCallId=f"c{number}", title=command, kind="execute",
                              rawInput={"command": command}) for number, command in enumerate(commands)))


async def confirming(stage: Stage, *commands: str, policy: str = "", **ask: Any) -> Stage:
    """A session whose agent asks for all of these at once."""
    if policy:
        stage.services.policies.replace(policy)
    await stage.open()
    await stage.send()
    announces(stage, *commands)
    stage.driver.ask("req-1", **{**CONFIRM, **ask})
    await stage.packets("approval_requested")
    return stage


async def resolved(stage: Stage, count: int = 1) -> list[ApprovalResolvedEvent]:
    await stage.packets("approval_resolved", count)
    return [event for event in await stage.events() if isinstance(event, ApprovalResolvedEvent)]


@pytest.mark.parametrize(("commands", "policy", "chosen"), [
    (("make a", "make b"), ALLOW, "yes"), (("make a", "touch b"), ALLOW, None), (("make a", "cat b"), ALLOW + DENY, "no"),
    (("make a", "make b", "cat c"), DENY, "no"), ((), ALLOW, None), (("make a",), ALLOW, "yes"), (("cat c",), DENY, "no"),
])
def test_rules_have_to_cover_every_call_and_one_that_is_denied_denies_all(
    tmp_path: Path, commands: tuple[str, ...], policy: str, chosen: str | None,
) -> None:
    async def scenario() -> None:
        stage = await confirming(Stage(tmp_path), *commands, policy=policy)
        if chosen is None:
            assert list(stage.session.fold.approvals) == ["req-1"]
            return
        (event,) = await resolved(stage)
        await stage.until(lambda: bool(stage.driver.known_call("permission")))
        assert stage.driver.known_call("permission") == [("permission", "req-1", chosen)]
        assert (event.approved, event.resolved_by) == (chosen == "yes", "policy")
        calls = stage.session.fold.calls
        assert all((call.approved, call.denied) == (chosen == "yes", chosen == "no") for call in calls.values())

    run(scenario())


@pytest.mark.parametrize("ask", [
    {}, {"kind": "read"}, {"kind": "search", "title": "Grep"}, {"kind": "edit"}, {"kind": "execute"}])
def test_what_says_nothing_is_approved_by_no_permission_policy_and_no_rule_that_does_not_name_it(
    tmp_path: Path, ask: dict[str, Any],
) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        stage.session.fold.permission_policy = EVERYTHING
        rule = '[[rules]]\ntool = ["*"]\nrisk = ["low", "medium", "high"]\naction = "allow"\n'
        await confirming(stage, policy=rule, **{"title": "Confirm", **ask})
        (view,) = stage.session.fold.approvals.values()
        assert (view.risk_level, view.sure, view.always) == ("high", False, None)
        for decision in (Decision(decision="allow", scope="always"), Decision(decision="deny", scope="session"),
                         Decision(option_id="forever")):
            with pytest.raises(Invalid, match="not known what this does"):
                await stage.session.approvals.decide("req-1", decision, by="ann")
        with pytest.raises(Invalid, match="not known what this does"):
            await stage.execute("approve_tool_call", requestId="req-1", toolCallId=view.tool_call_id, _meta={"scope": "always"})
        assert list(stage.session.fold.approvals) == ["req-1"], "it still waits"
        assert await stage.session.approvals.decide("req-1", Decision(decision="allow"), by="ann") is True

    run(scenario())


def test_a_command_that_is_only_in_words_is_approved_once_and_never_for_always(tmp_path: Path) -> None:
    async def scenario() -> None:
        words = [{"type": "content", "content": {"type": "text", "text": "Requesting approval to Running: make x"}}]
        stage = await confirming(Stage(tmp_path), policy=ALLOW, title="Bash", content=words)
        (view,) = stage.session.fold.approvals.values()
        assert view.about is not None and (view.about.command, view.always, view.sure) == ("make x", None, False)
        with pytest.raises(Invalid, match="only in its words"):
            await stage.session.approvals.decide("req-1", Decision(decision="allow", scope="always"), by="ann")
        assert await stage.session.approvals.decide("req-1", Decision(decision="allow"), by="ann") is True

    run(scenario())


def test_always_is_refused_for_several_calls_and_offered_for_the_only_one(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = await confirming(Stage(tmp_path), "make a", "make b")
        with pytest.raises(Invalid, match="about 2 calls"):
            await stage.session.approvals.decide("req-1", Decision(decision="allow", scope="always"), by="ann")
        await stage.session.approvals.decide("req-1", Decision(decision="allow"), by="ann")
        stage.driver.say(update(sessionUpdate="tool_call", toolCallId="late", title="Run", kind="execute",
                                rawInput={"command": "make c"}))
        stage.driver.ask("req-2", **CONFIRM)
        await stage.packets("approval_requested", 2)
        await stage.session.approvals.decide("req-2", Decision(decision="allow", scope="always"), by="ann")
        (rule,) = stage.services.policies.policy.rules
        assert (rule.command, rule.saved_by) == (["make c"], "ann")

    run(scenario())


def test_what_a_confirmed_call_has_the_hub_do_is_not_asked_about_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = await confirming(Stage(tmp_path), "make a", "make b")
        await stage.session.approvals.decide("req-1", Decision(decision="allow"), by="ann")
        for command in ("make a", "make b"):
            async with stage.session.agent.permits.run(command, (), None, {}) as where:
                assert where == tmp_path
        assert list(stage.session.fold.approvals) == []

    run(scenario())


def test_what_several_calls_write_was_not_shown_and_is_asked_about(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        target = tmp_path / "a.txt"
        stage.driver.say(update(sessionUpdate="tool_call", toolCallId="w", title="Write", kind="edit",
                                rawInput={"path": str(target), "content": "x"}))
        announces(stage, "make a")
        stage.driver.ask("req-1", **CONFIRM)
        await stage.packets("approval_requested")
        assert len(stage.session.fold.approvals["req-1"].calls) == 2
        await stage.session.approvals.decide("req-1", Decision(decision="allow"), by="ann")
        writing = stage.session.agent.permits.write(str(target), "x")
        task = asyncio.get_running_loop().create_task(writing.__aenter__())
        await stage.packets("approval_requested", 2)
        (view,) = stage.session.fold.approvals.values()
        assert view.tool_call_id == "w" and view.preview is not None
        await stage.session.approvals.decide(view.request_id, Decision(decision="deny"), by="ann")
        with pytest.raises(Exception, match="not approved"):
            await task

    run(scenario())


def test_a_join_by_text_lets_nothing_be_done(tmp_path: Path) -> None:
    """An ask under an id of its own is joined to a call for display; what that call says later was not approved."""
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        target = tmp_path / "a.txt"
        given = {"path": str(target), "content": "shown"}
        content = [{"type": "diff", "path": str(target), "oldText": None, "newText": "shown"}]
        stage.driver.ask("req-1", toolCallId="edit-approval-1", title="Edit", kind="edit", rawInput=given, content=content)
        await stage.packets("approval_requested")
        await stage.session.approvals.decide("req-1", Decision(decision="allow"), by="ann")
        other = [{"type": "diff", "path": str(target), "oldText": None, "newText": "another text"}]
        stage.driver.say(update(sessionUpdate="tool_call", toolCallId="real", title="Edit", kind="edit", rawInput=given,
                                content=other, status="in_progress"))
        real = stage.session.fold.calls["real"]
        assert not real.approved and [isinstance(item, Diff) for item in real.state.content or []] == [True]
        permits = stage.session.agent.permits
        writing = permits.write(str(target), "another text")
        task = asyncio.get_running_loop().create_task(writing.__aenter__())
        await stage.packets("approval_requested", 2)
        (request_id,) = stage.session.fold.approvals
        await stage.session.approvals.decide(request_id, Decision(decision="deny"), by="ann")
        with pytest.raises(Exception, match="not approved"):
            await task
        stage.driver.say(update(sessionUpdate="tool_call_update", toolCallId="real", status="completed"))
        stage.driver.end()
        await stage.packets("prompt_response")
        ends = [(event.type, event.tool_call_id) for event in await stage.events() if event.type in ("tool:error", "tool:result")]
        assert ("tool:result", "edit-approval-1") in ends and ("tool:error", "edit-approval-1") not in ends

    run(scenario())


def write_to(*paths: str) -> PolicyAsk:
    return PolicyAsk(tool="write", category="file_write", agent="a", risk="low", root="/w", paths=paths)


def test_only_what_differs_from_the_spelling_is_kept() -> None:
    ask = write_to("a", "link", "gone", "/abs/x")
    look = DiskLook({"a": "/w/a", "link": "/etc/real", "/abs/x": "/abs/x"})
    disk = look.to_keep([ask])
    assert disk == Disk(real={"link": "/etc/real"}, unknown=["gone"])
    assert dict(DiskLook.kept(disk, [ask]).places) == dict(look.places)
    assert not DiskLook.kept(disk, [ask]).knows(ask.paths) and DiskLook().to_keep([write_to()]) is None


def test_very_many_places_are_cut_and_the_rest_is_not_known() -> None:
    paths = tuple(f"p{number}" for number in range(DISK_PLACES + 1))
    ask = write_to(*paths)
    look = DiskLook({path: f"/elsewhere/{path}" for path in paths})
    disk = look.to_keep([ask])
    assert disk is not None and disk.cut and len(disk.real) == DISK_PLACES
    kept = DiskLook.kept(disk, [ask])
    assert len(kept.places) == DISK_PLACES and not kept.knows(paths), "what is not known allows nothing"
    assert spelled_place("/w", "a/../b") == "/w/b"


def test_a_link_is_in_the_journal_and_in_the_view_and_rules_decide_from_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        (tmp_path / "secret").write_text("s")
        (tmp_path / "link").symlink_to(tmp_path / "secret")
        stage = await confirming(Stage(tmp_path), title="Write", kind="edit", rawInput={"path": "link", "content": "x"})
        (view,) = stage.session.fold.approvals.values()
        real = {str(tmp_path / "link"): str(tmp_path / "secret")}
        assert view.disk == Disk(real=real)
        (event,) = [each for each in await stage.events() if isinstance(each, ApprovalRequestedEvent)]
        assert isinstance(event.meta, dict) and event.meta["disk"] == {"real": real}
        (tmp_path / "link").unlink()  # what counts is what was asked about
        stage.services.policies.replace('[[rules]]\npath = ["secret"]\naction = "deny"\n')
        stage.session.rules.on_change()
        (end,) = await resolved(stage)
        assert end.approved is False and isinstance(end.meta, dict) and end.meta["rule"]["source"] == "policy file"

    run(scenario())


async def three_asks(tmp_path: Path) -> Stage:
    stage = Stage(tmp_path)
    await stage.open()
    await stage.send()
    for request_id, command in (("r1", "make a"), ("r2", "make a"), ("r3", "touch x")):
        stage.driver.ask(request_id, toolCallId=f"call-{request_id}", rawInput={"command": command})
    await stage.packets("approval_requested", 3)
    return stage


@pytest.mark.parametrize("allow", [True, False])
def test_it_is_known_beforehand_what_it_answers(tmp_path: Path, allow: bool) -> None:
    async def scenario() -> None:
        stage = await three_asks(tmp_path)
        rule = await stage.session.rules.rule_of("r1", allow=allow, scope="always", by="ann")
        found = [(view.request_id, approved) for view, approved in await stage.session.rules.answered_by(rule)]
        assert found == [("r1", allow), ("r2", allow)]
        assert stage.services.policies.policy == Policy() and len(stage.session.fold.approvals) == 3, "nothing is decided"
        other = await stage.session.rules.rule_of("r3", allow=allow, scope="session", by="ann")
        assert other.session == stage.session.id
        assert [view.request_id for view, _ in await stage.session.rules.answered_by(other)] == ["r3"]

    run(scenario())


@pytest.mark.parametrize("scope", ["session", "always"])
def test_what_it_answers_is_told_as_answered_by_it(tmp_path: Path, scope: Any) -> None:
    async def scenario() -> None:
        stage = await three_asks(tmp_path)
        await stage.session.approvals.decide("r1", Decision(decision="allow", scope=scope), by="ann")
        ends = {event.request_id: event for event in await resolved(stage, 2)}
        mine, other = ends["r1"].meta, ends["r2"].meta
        assert isinstance(mine, dict) and isinstance(other, dict) and "rule" not in mine
        assert (other["rule"]["savedBy"], other["rule"]["source"]) == (
            "ann", "session" if scope == "session" else "policy file")
        assert "make a" in other["rule"]["text"] and 'action = "allow"' in other["rule"]["text"]

    run(scenario())


def test_a_rule_is_named_by_its_id_and_the_permission_policy_by_itself(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = await three_asks(tmp_path)
        stage.services.policies.replace('[[rules]]\nid = "builds"\ncommand = ["make *"]\naction = "allow"\n')
        stage.session.rules.on_change()
        ends = await resolved(stage, 2)
        assert [event.meta["rule"] for event in ends if isinstance(event.meta, dict)] == [
            {"id": "builds", "source": "policy file"}] * 2
        await stage.session.settings.set_permission_policy(EVERYTHING, by="ann")
        end = (await resolved(stage, 3))[-1]
        assert isinstance(end.meta, dict) and end.meta["rule"]["source"] == "permission policy"

    run(scenario())


def test_who_saved_a_rule_is_in_the_file_and_limits_nothing() -> None:
    rule = Rule(action="allow", command=["make a"], saved_by="ann")
    assert 'saved_by = "ann"' in written_rule(rule)
    assert parse_policy(written_rule(rule)).rules == (rule,)
