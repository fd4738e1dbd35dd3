"""The client's terminals."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.aio import run
from trunkline.dialects.acp.client import CreateTerminalRequest
from trunkline.errors import Forbidden, NotFound
from trunkline.session.client import terminals
from trunkline.session.client.terminals import Terminals


def test_no_agent_gets_more_output_kept_than_the_hub_allows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(terminals, "OUTPUT_MOST", 1000)
        opened = Terminals({"PATH": "/usr/bin:/bin"})
        ask = CreateTerminalRequest(session_id="s", command="seq 1 5000", output_byte_limit=10**15)
        terminal_id = await opened.create(ask, tmp_path)
        child = opened.get(terminal_id)
        await child.wait()
        assert child.truncated and len(child.output().encode()) <= 1000 and child.output().endswith("5000\n")
        await opened.release(terminal_id)
        with pytest.raises(NotFound):
            opened.get(terminal_id)

    run(scenario())


def test_a_folder_that_became_a_link_is_not_entered(tmp_path: Path) -> None:
    async def scenario() -> None:
        opened = Terminals({"PATH": "/usr/bin:/bin"})
        root, outside = (tmp_path / "root").resolve(), tmp_path / "outside"
        (root / "sub" / "deep").mkdir(parents=True)
        (outside / "deep").mkdir(parents=True)
        ask = CreateTerminalRequest(session_id="s", command="touch", args=["here"])
        await opened.get(await opened.create(ask, root / "sub" / "deep")).wait()
        assert (root / "sub" / "deep" / "here").exists()
        (root / "sub").rename(root / "aside")
        (root / "sub").symlink_to(outside)
        with pytest.raises(Forbidden, match="leads elsewhere"):
            await opened.create(ask, root / "sub" / "deep")
        assert not (outside / "deep" / "here").exists()
        await opened.release_all()

    run(scenario())


def test_a_command_runs_as_the_session_is_confined_shell_lines_too(tmp_path: Path) -> None:
    confined: list[list[str]] = []

    async def confine(command: Sequence[str], *, cwd: str, reads: Sequence[str] = ()) -> Sequence[str]:
        confined.append([*command])
        return ["/usr/bin/env", "KEPT=inside", *command]

    async def scenario() -> None:
        opened = Terminals({"PATH": "/usr/bin:/bin"}, confine=confine)
        for ask in (CreateTerminalRequest(session_id="s", command="echo $KEPT; true"),
                    CreateTerminalRequest(session_id="s", command="sh", args=["-c", "echo $KEPT"])):
            child = opened.get(await opened.create(ask, tmp_path))
            await child.wait()
            assert child.output() == "inside\n"
        await opened.release_all()

    run(scenario())
    assert confined == [["/bin/sh", "-c", "echo $KEPT; true"], ["sh", "-c", "echo $KEPT"]]


SLEEP = CreateTerminalRequest(session_id="s", command="sleep", args=["600"])


def test_a_turn_that_ended_before_its_cancel_was_known_takes_its_commands_with_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        opened = Terminals({"PATH": "/usr/bin:/bin"})
        opened.begin_turn()
        child = opened.get(await opened.create(SLEEP, tmp_path))
        opened.end_turn()
        opened.begin_turn()
        of_next = opened.get(await opened.create(SLEEP, tmp_path))
        for each in opened.cancel_turn(ended=True):
            await each.kill()
        assert child.exit is not None and of_next.exit is None
        await opened.release_all()

    run(scenario())


def test_a_command_whose_start_outlasts_its_cancelled_turn_is_not_left_running(tmp_path: Path) -> None:
    starting, go_on = asyncio.Event(), asyncio.Event()

    async def confine(command: Sequence[str], *, cwd: str, reads: Sequence[str] = ()) -> Sequence[str]:
        starting.set()
        await go_on.wait()
        return command

    async def scenario() -> None:
        opened = Terminals({"PATH": "/usr/bin:/bin"}, confine=confine)
        opened.begin_turn()
        creating = asyncio.create_task(opened.create(SLEEP, tmp_path))
        await starting.wait()
        opened.cancel_turn()
        opened.end_turn()
        go_on.set()
        with pytest.raises(Forbidden, match="cancelled"):
            await creating
        await opened.release_all()

    run(scenario())


def test_a_command_that_was_asked_for_in_a_cancelled_turn_is_not_started_after_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        opened = Terminals({"PATH": "/usr/bin:/bin"})
        opened.begin_turn()
        asked_in = opened.turn
        opened.cancel_turn()
        opened.end_turn()
        with pytest.raises(Forbidden, match="cancelled"):
            await opened.create(SLEEP, tmp_path, asked_in)

    run(scenario())
