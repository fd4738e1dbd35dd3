"""Bounds of a session that are enforced in a line or two, each with what happens there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.aio import run
from tests.session.interpret.told import Told
from tests.session.script import Stage
from tests.session.workspace.test_artifacts import made
from trunkline.dialects.acp.client import CreateTerminalRequest
from trunkline.dialects.context.unions import TextPart
from trunkline.dialects.signals import AskWithdrawn
from trunkline.errors import TooManyRequests
from trunkline.session.approvals import decisions, grants
from trunkline.session.client import terminals
from trunkline.session.client.terminals import Terminals
from trunkline.session.commands.requests import Decision, Scope
from trunkline.session.interpret.text import TITLE_SOUGHT, entitle
from trunkline.session.workspace import artifacts
from trunkline.session.workspace import files as workspace
from trunkline.session.workspace.artifacts import DiskIndex
from trunkline.session.workspace.files import AgentsWorkspace, Workspace


def test_only_so_many_terminals_are_open_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(terminals, "OPEN_LIMIT", 2)
        opened = Terminals({"PATH": "/usr/bin:/bin"})
        ask = CreateTerminalRequest(session_id="s", command="true")
        first = await opened.create(ask, tmp_path)
        await opened.create(ask, tmp_path)
        with pytest.raises(TooManyRequests, match="2 terminals are open"):
            await opened.create(ask, tmp_path)
        await opened.release(first)
        await opened.create(ask, tmp_path)
        await opened.release_all()

    run(scenario())


def test_a_title_is_sought_at_the_beginning_of_a_prompt() -> None:
    fold = Told().fold
    fold.title = ""
    entitle(fold, [TextPart(text=" " * TITLE_SOUGHT + "too far")])
    assert fold.title == ""
    entitle(fold, [TextPart(text=" " * (TITLE_SOUGHT - 4) + "near enough")])
    assert fold.title == "near"


def test_only_so_many_new_files_of_a_turn_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifacts, "NEW_PER_TURN", 3)
    index = DiskIndex(str(tmp_path))
    index.scan()
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text("x")
    assert len(made(index)) == 3
    assert made(index) == [], "they are not told later either"


def test_what_a_sandbox_hides_is_looked_for_again_after_a_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []

    def find_hider() -> Callable[[str], bool]:
        looks.append("looked")
        return lambda path: False

    seen = AgentsWorkspace(Workspace([str(tmp_path)]), find_hider)
    monkeypatch.setattr(workspace, "HIDDEN_FRESH_S", 600.0)
    seen.resolve("a")
    seen.resolve("b")
    assert len(looks) == 1
    monkeypatch.setattr(workspace, "HIDDEN_FRESH_S", -1.0)
    seen.resolve("c")
    assert len(looks) > 1


async def decided(stage: Stage, number: int, scope: Scope) -> None:
    """A permission that is allowed for longer than once."""
    stage.driver.ask(f"req-{number}", toolCallId=f"call-{number}", rawInput={"command": f"make part{number}"})
    await stage.until(lambda: f"req-{number}" in stage.session.fold.approvals)
    await stage.session.approvals.decide(f"req-{number}", Decision(decision="allow", scope=scope), by="ann")


def test_a_session_has_only_so_many_rules_and_those_of_past_turns_do_not_count(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(decisions, "KEPT_RULES", 2)
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        await decided(stage, 1, "turn")
        await decided(stage, 2, "turn")
        with pytest.raises(TooManyRequests, match="2 rules of its own"):
            await decided(stage, 3, "session")
        await stage.session.approvals.decide("req-3", Decision(decision="allow"), by="ann")
        stage.driver.end()
        await stage.packets("prompt_response")
        await stage.send()
        await decided(stage, 4, "session")
        await decided(stage, 5, "session")
        with pytest.raises(TooManyRequests):
            await decided(stage, 6, "session")
        assert len(stage.session.fold.rules) == 2

    run(scenario())


def test_what_was_seen_for_asks_that_were_withdrawn_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(grants, "KEPT_PENDING", 3)
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.ask("stays", toolCallId="call-stays")
        kept: list[int] = []
        for number in range(6):
            stage.driver.ask(f"req-{number}", toolCallId=f"call-{number}")
            await stage.until(lambda number=number: f"req-{number}" in session.fold.approvals)  # type: ignore[misc]
            stage.driver.say(AskWithdrawn(f"req-{number}"))
            await stage.until(lambda number=number: f"req-{number}" not in session.fold.approvals)  # type: ignore[misc]
            pending = session.agent.permits._grants.pending
            assert "stays" in pending, "it waits"
            kept.append(len(pending))
        assert kept == [2, 3] * 3, "up to the bound all are kept, beyond it those that wait, and the newest"

    run(scenario())
