"""One process of the CLI: its lines, what it does not answer, and its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.session.driver.stream_json.stage import ClaudeStage, played
from tests.tooling.processes import is_alive
from trunkline.dialects.signals import Malformed, Update
from trunkline.errors import (
    AgentError,
)
from trunkline.session.driver.stream_json import process as claude_process


def test_a_long_line_and_a_broken_one_do_not_end_the_stream(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path)
    long = "x" * (5 << 20)

    async def play() -> None:
        await stage.driver.start(None)
        await stage.turn(["line", "this is no JSON"], ["say", long])
        assert stage.ears.text() == long
        assert (await stage.ears.until(Malformed)).line == b"this is no JSON"

    played(stage, play())


def test_what_the_cli_refuses_and_what_it_never_answers_are_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claude_process, "CALL_TIMEOUT_S", 0.2)
    stage = ClaudeStage(tmp_path, refuse={"set_permission_mode": "not launched so"}, silent=["set_model"])

    async def play() -> None:
        await stage.driver.start(None)
        with pytest.raises(AgentError, match="not launched so"):
            await stage.driver.set_mode("plan")
        with pytest.raises(AgentError, match="did not answer"):
            await stage.driver.set_config("model", "small")

    played(stage, play())


# The end


def test_it_is_ended_by_an_interrupt_then_by_the_end_of_its_input(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path)

    async def play() -> None:
        await stage.driver.start(None)
        stage.play(["child"], ["wait"])
        await stage.ears.until(Update)
        child = await stage.ears.until_text()
        await stage.driver.stop()
        assert [entry.get("request", entry).get("subtype", "eof") for entry in stage.log()[-2:]] == ["interrupt", "eof"]
        exit, _ = await stage.ears.until_exit()
        assert exit.code == 0
        assert not is_alive(int(child)), "a command in a session of its own is ended too"

    played(stage, play())


def test_one_that_hangs_is_ended_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("INTERRUPT_S", 0.1), ("CLOSE_STDIN_S", 0.1), ("TERM_S", 0.1)):
        monkeypatch.setattr(claude_process, name, seconds)
    stage = ClaudeStage(tmp_path, silent=["interrupt"])

    async def play() -> None:
        await stage.driver.start(None)
        stage.play(["child"], ["hang"])
        child = await stage.ears.until_text()
        await stage.driver.stop()
        assert not is_alive(stage.ears.pids[0]) and not is_alive(int(child))

    played(stage, play())
