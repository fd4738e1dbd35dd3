"""A call that changes while its ask waits is asked anew: nobody approves what they were not shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.session.script import Stage, update
from trunkline.dialects.context.events import ApprovalRequestedEvent, ApprovalResolvedEvent, ToolCallExecutingEvent
from trunkline.dialects.context.types import ASKED_ANEW
from trunkline.dialects.context.unions import CommandPreview, DiffPreview
from trunkline.dialects.signals import AskWithdrawn
from trunkline.errors import AlreadyResolved
from trunkline.session.commands.requests import Decision
from trunkline.session.interpret.asks.asks import CHANGES_MOST

DENY = '[[rules]]\ncommand = ["cat *"]\naction = "deny"\n'
ALLOW = '[[rules]]\ncommand = ["touch *"]\naction = "allow"\n'
YES = Decision(decision="allow")


def now(stage: Stage, **fields: Any) -> None:
    stage.driver.say(update(sessionUpdate="tool_call_update", toolCallId="c", **fields))


async def asking(stage: Stage, policy: str = "", **call: Any) -> Stage:
    """A session whose agent waits for the answer about a call."""
    if policy:
        stage.services.policies.replace(policy)
    await stage.open()
    await stage.send()
    given = {"toolCallId": "c", "title": "Bash", "kind": "execute", "rawInput": {"command": "ls"}, **call}
    stage.driver.say(update(sessionUpdate="tool_call", **given))
    stage.driver.ask("req-1", toolCallId="c", title=given["title"], kind=given["kind"], rawInput=given["rawInput"])
    await stage.packets("approval_requested")
    return stage


async def told(stage: Stage, kind: type) -> list[Any]:
    return [event for event in await stage.events() if isinstance(event, kind)]


def test_a_changed_call_is_asked_anew_under_another_id_and_the_old_answer_approves_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = await asking(Stage(tmp_path))
        now(stage, rawInput={"command": "touch evil"})
        await stage.packets("approval_requested", 2)
        (view,) = stage.session.fold.approvals.values()
        assert (view.request_id, view.about and view.about.command) == ("req-1-2", "touch evil")
        assert isinstance(view.preview, CommandPreview) and view.preview.command == "touch evil"
        assert view.doubts == ["it was announced to run something else: ls"]
        (ended,) = await told(stage, ApprovalResolvedEvent)
        assert (ended.request_id, ended.approved, ended.reason) == ("req-1", False, ASKED_ANEW)
        assert isinstance(ended.meta, dict) and ended.meta["askedAnew"] is True
        with pytest.raises(AlreadyResolved, match="req-1 was taken back: what it would do changed, and req-1-2 is asked instead"):
            await stage.session.approvals.decide("req-1", YES, by="ann")
        assert not stage.driver.known_call("permission"), "the agent still waits"
        assert [event.input for event in await told(stage, ToolCallExecutingEvent) if event.requires_approval][-1] is not None
        await stage.session.approvals.decide("req-1-2", YES, by="ann")
        assert stage.driver.known_call("permission") == [("permission", "req-1", "yes")], "the agent's own request is answered"

    run(scenario())


def test_a_rule_that_denies_what_the_call_has_become_denies_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = await asking(Stage(tmp_path), DENY)
        now(stage, rawInput={"command": "cat x"})
        await stage.packets("approval_resolved", 2)
        await stage.until(lambda: bool(stage.driver.known_call("permission")))
        assert stage.driver.known_call("permission") == [("permission", "req-1", "no")] and not stage.session.fold.approvals

    run(scenario())


def test_no_rule_allows_what_a_call_has_become_while_a_person_looked_at_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = await asking(Stage(tmp_path), ALLOW)
        now(stage, rawInput={"command": "touch evil"})
        await stage.packets("approval_requested", 2)
        assert list(stage.session.fold.approvals) == ["req-1-2"]

    run(scenario())


def test_another_text_for_the_same_file_is_asked_anew(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = await asking(Stage(tmp_path), title="Write", kind="edit", rawInput={"path": "a.txt", "content": "nice\n"})
        now(stage, rawInput={"path": "a.txt", "content": "evil\n"})
        await stage.packets("approval_requested", 2)
        (view,) = stage.session.fold.approvals.values()
        assert isinstance(view.preview, DiffPreview) and "evil" in view.preview.diff and "nice" not in view.preview.diff

    run(scenario())


@pytest.mark.parametrize("fields", [{"title": "List the files"}, {"status": "pending"}, {"rawInput": {"command": "ls"}},
                                    {"content": [{"type": "content", "content": {"type": "text", "text": "hm"}}]}])
def test_what_changes_nothing_of_the_act_leaves_the_ask_as_it_is(tmp_path: Path, fields: dict[str, Any]) -> None:
    async def scenario() -> None:
        stage = await asking(Stage(tmp_path))
        now(stage, **fields)
        await stage.session.approvals.decide("req-1", YES, by="ann")
        assert len(await told(stage, ApprovalRequestedEvent)) == 1

    run(scenario())


def test_the_folder_of_the_session_named_beside_the_same_command_is_no_change(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = await asking(Stage(tmp_path))
        here = str(tmp_path)
        now(stage, status="in_progress", rawInput={"command": "ls", "cwd": here}, locations=[{"path": here}])
        assert list(stage.session.fold.approvals) == ["req-1"]
        now(stage, rawInput={"command": "ls", "cwd": "/etc"})
        await stage.packets("approval_requested", 2)
        assert list(stage.session.fold.approvals) == ["req-1-2"]

    run(scenario())


def test_a_call_that_changes_again_and_again_is_denied(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = await asking(Stage(tmp_path))
        for number in range(CHANGES_MOST):
            now(stage, rawInput={"command": f"touch {number}"})
            await stage.packets("approval_resolved", number + 1)
        await stage.until(lambda: bool(stage.driver.known_call("permission")))
        assert stage.driver.known_call("permission") == [("permission", "req-1", "no")] and not stage.session.fold.approvals

    run(scenario())


def test_what_the_agent_withdraws_is_the_ask_that_stands_for_it_by_now(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = await asking(Stage(tmp_path))
        now(stage, rawInput={"command": "touch x"})
        await stage.packets("approval_requested", 2)
        stage.driver.say(AskWithdrawn("req-1"))
        await stage.packets("approval_resolved", 2)
        assert not stage.session.fold.approvals

    run(scenario())


def test_one_ask_for_several_calls_is_asked_anew_when_one_of_them_changes(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        for key in ("b", "c"):
            stage.driver.say(update(sessionUpdate="tool_call", toolCallId=key, title="Bash", kind="execute",
                                    rawInput={"command": "ls"}))
        stage.driver.ask("req-1", toolCallId="confirm", title="Confirm", kind="other", rawInput=None)
        await stage.packets("approval_requested")
        now(stage, rawInput={"command": "touch x"})
        await stage.packets("approval_requested", 2)
        (view,) = stage.session.fold.approvals.values()
        assert [call.command for call in view.calls] == ["ls", "touch x"]

    run(scenario())
