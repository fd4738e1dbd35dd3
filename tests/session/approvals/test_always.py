"""What "always" is offered for, and what it covers from then on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.aio import run
from tests.session.script import Stage
from trunkline.errors import Invalid


def asking_for(stage: Stage, number: int, command: str) -> None:
    stage.driver.ask(f"req-{number}", toolCallId=f"call-{number}", rawInput={"command": command})


def test_always_holds_for_a_long_command_too(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        command = "make " + "x" * 5000
        asking_for(stage, 1, command)
        await stage.packets("approval_requested")
        assert session.view().pending_approvals[0].always is not None
        await stage.execute("approve_tool_call", requestId="req-1", toolCallId="call-1", _meta={"scope": "always"})
        asking_for(stage, 2, command)
        await stage.until(lambda: len(stage.driver.known_call("permission")) == 2)
        assert session.fold.decided["req-2"].resolved_by == "policy"

    run(scenario())


def test_always_is_not_offered_where_it_could_not_be_written_and_for_the_session_it_can_still_be_said(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        asking_for(stage, 1, "make " + "x" * 20_000)
        await stage.packets("approval_requested")
        assert session.view().pending_approvals[0].always is None
        with pytest.raises(Invalid, match="16384"):
            await stage.execute("approve_tool_call", requestId="req-1", toolCallId="call-1", _meta={"scope": "always"})
        await stage.execute("approve_tool_call", requestId="req-1", toolCallId="call-1", _meta={"scope": "session"})
        assert stage.driver.known_call("permission") == [("permission", "req-1", "yes")]

    run(scenario())


def test_always_is_not_offered_for_a_path_that_no_rule_allows(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.ask(kind="edit", rawInput={"path": "src\\a"})
        await stage.packets("approval_requested")
        assert session.view().pending_approvals[0].always is None
        with pytest.raises(Invalid, match="only once"):
            await stage.execute("approve_tool_call", requestId="req-1", toolCallId="call-1", _meta={"scope": "always"})

    run(scenario())


def test_always_of_a_link_is_about_what_it_leads_to_as_well(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        (tmp_path / "link").symlink_to(tmp_path / "real")
        for number in (1, 2, 3):
            if number == 3:
                await stage.until(lambda: "req-2" in session.fold.decided)
                (tmp_path / "link").unlink()
                (tmp_path / "link").symlink_to(tmp_path / "other")
            stage.driver.ask(f"req-{number}", toolCallId=f"call-{number}", kind="edit", rawInput={"path": "link"})
            if number == 1:
                await stage.packets("approval_requested")
                await stage.execute("approve_tool_call", requestId="req-1", toolCallId="call-1", _meta={"scope": "always"})
        await stage.packets("approval_requested", 3)
        assert session.fold.decided["req-2"].resolved_by == "policy"
        assert list(session.fold.approvals) == ["req-3"], "the link leads elsewhere now"

    run(scenario())
