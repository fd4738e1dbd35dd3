"""Bounds of a session that are enforced in a line or two, each with what happens there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.aio import run
from tests.session.interpret.told import Told
from tests.session.script import Stage, update
from tests.session.workspace.test_artifacts import made
from trunkline.dialects import glob_tokens
from trunkline.dialects.acp.client import CreateTerminalRequest
from trunkline.dialects.context.unions import TextPart
from trunkline.dialects.signals import AskWithdrawn
from trunkline.errors import Invalid, TooManyRequests
from trunkline.session import settings
from trunkline.session.approvals import decisions, grants
from trunkline.session.client import terminals
from trunkline.session.client.terminals import Terminals
from trunkline.session.commands.requests import TITLE_MOST, Decision, Scope
from trunkline.session.fold import KEPT_COMMANDS, KEPT_DECISIONS, remember
from trunkline.session.interpret.calls.terminals import KEPT_TERMINALS
from trunkline.session.interpret.text import TITLE_SOUGHT, entitle
from trunkline.session.workspace import artifacts
from trunkline.session.workspace import files as workspace
from trunkline.session.workspace.artifacts import DiskIndex
from trunkline.session.workspace.files import AgentsWorkspace, Workspace


@pytest.mark.parametrize("most", [KEPT_TERMINALS, KEPT_COMMANDS, KEPT_DECISIONS])
def test_what_is_remembered_by_its_id_is_forgotten_from_the_oldest_on(most: int) -> None:
    table: dict[str, int] = {}
    for number in range(most + 3):
        remember(table, f"id-{number}", number, most)
    assert list(table.values()) == list(range(3, most + 3))


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


def test_only_short_texts_are_kept_taken_apart_and_only_so_many() -> None:
    read: list[str] = []
    taken_apart = glob_tokens.remembered(lambda text: read.append(text))
    short, long = "x" * glob_tokens.KEPT_CHARS, "x" * (glob_tokens.KEPT_CHARS + 1)
    for text in (short, short, long, long):
        taken_apart(text)
    assert read == [short, long, long]
    for number in range(glob_tokens.KEPT_MOST):
        taken_apart(str(number))
    read.clear()
    taken_apart(short)
    assert read == [short], "the oldest was forgotten"


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


def test_only_so_many_options_are_set_in_a_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(settings, "KEPT_RULES", 2)
        stage = Stage(tmp_path)
        session = await stage.open()
        await session.settings.set_config("a", "1", by="ann")
        await session.settings.set_config("b", "1", by="ann")
        with pytest.raises(TooManyRequests, match="2 options"):
            await session.settings.set_config("c", "1", by="ann")
        await session.settings.set_config("a", "2", by="ann")
        assert session.fold.chosen_options == {"a": "2", "b": "1"}
        assert [told[1] for told in stage.driver.known_call("config")] == ["a", "b", "a"], "the agent was not told of the other"

    run(scenario())


def test_a_title_that_is_too_long_is_cut_where_an_agent_gives_it_and_refused_where_a_client_does(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        for size in (TITLE_MOST, TITLE_MOST + 1):
            stage.driver.say(update(sessionUpdate="session_info_update", title=f"{size}".ljust(size, "x")))
            await session.snapshot()
            await stage.until(lambda size=size: session.fold.title.startswith(f"{size}"))  # type: ignore[misc]
            assert len(session.fold.title) == TITLE_MOST
        with pytest.raises(Invalid, match=f"longer than {TITLE_MOST}"):
            await session.rename("x" * (TITLE_MOST + 1), by="ann")
        await session.rename("y" * TITLE_MOST, by="ann")
        assert session.fold.title == "y" * TITLE_MOST

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
