"""Bounds of a session that are enforced in a line or two, each with what happens there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.aio import run
from tests.session.interpret.told import Told
from tests.session.test_artifacts import made
from trunkline.dialects import context, glob_tokens
from trunkline.dialects.acp import CreateTerminalRequest
from trunkline.errors import TooManyRequests
from trunkline.session import artifacts, terminals, workspace
from trunkline.session.artifacts import DiskIndex
from trunkline.session.fold import KEPT_COMMANDS, KEPT_DECISIONS, remember
from trunkline.session.interpret.text import TITLE_SOUGHT, entitle
from trunkline.session.interpret.tools import KEPT_TERMINALS
from trunkline.session.terminals import Terminals
from trunkline.session.workspace import AgentsWorkspace, Workspace


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
    entitle(fold, [context.TextPart(text=" " * TITLE_SOUGHT + "too far")])
    assert fold.title == ""
    entitle(fold, [context.TextPart(text=" " * (TITLE_SOUGHT - 4) + "near enough")])
    assert fold.title == "near"


def test_only_short_texts_are_kept_taken_apart_and_only_so_many() -> None:
    read: list[str] = []
    taken_apart = glob_tokens.kept(lambda text: read.append(text))
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
