"""How the driver of Claude Code's own stream starts, and when it does not, against a scripted CLI."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.session.driver.stream_json.stage import ClaudeStage, played
from trunkline.dialects.notes import CustomNote
from trunkline.dialects.signals import TurnEnd, Update
from trunkline.errors import (
    AgentAuthRequired,
    AgentNotInstalled,
    AgentProtocolMismatch,
    AgentStartFailed,
    NotFound,
    TrunklineError,
)
from trunkline.session.driver.stream_json import opening

OLD = "11111111-1111-4111-8111-111111111111"


def lost_of(stage: ClaudeStage) -> list[CustomNote]:
    """What was noted of conversations that the CLI does not have any more."""
    return [signal for signal in stage.ears.signals if isinstance(signal, CustomNote) and signal.kind == "conversation_lost"]


def refused(stage: ClaudeStage, previous: str | None = None, *, adopt: bool = False) -> TrunklineError:
    """The error with which the driver does not start."""
    errors: list[TrunklineError] = []

    async def play() -> None:
        with pytest.raises(TrunklineError) as caught:
            await stage.driver.start(previous, adopt=adopt)
        errors.append(caught.value)

    played(stage, play())
    return errors[0]


def test_a_new_session_has_an_id_that_we_chose_and_that_the_cli_was_told(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path)

    async def play() -> None:
        started = await stage.driver.start(None)
        assert started.how == "new"
        assert f"--session-id={started.agent_session_id}" in stage.argv()
        assert stage.log()[1]["request"]["subtype"] == "initialize"

    played(stage, play())


def test_a_session_tells_its_modes_models_and_commands_before_the_first_prompt(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path)

    async def play() -> None:
        started = await stage.driver.start(None)
        assert started.modes is not None and started.config_options is not None and started.agent_info is not None
        assert "plan" in [mode["id"] for mode in msgspec.json.decode(started.modes)["availableModes"]]
        assert "model" in [option["id"] for option in msgspec.json.decode(started.config_options)]
        assert msgspec.json.decode(started.agent_info)["version"] == "2.1.112"
        await stage.ears.until(Update)
        (commands,) = stage.ears.updates("available_commands_update")
        assert [command["name"] for command in commands["availableCommands"]] == ["compact"]

    played(stage, play())


def test_a_session_that_comes_back_is_resumed_and_nothing_of_it_is_told_again(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path, history={OLD: [_said("before")]})

    async def play() -> None:
        started = await stage.driver.start(OLD)
        assert (started.how, started.agent_session_id) == ("resumed", OLD)
        assert f"--resume={OLD}" in stage.argv()
        assert stage.ears.text() == ""

    played(stage, play())


def test_a_session_that_is_adopted_tells_its_history(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path, history={OLD: [_said("one "), TurnEnd(stop="end_turn"), _said("two")]})

    async def play() -> None:
        started = await stage.driver.start(OLD, adopt=True)
        assert (started.how, started.agent_session_id) == ("loaded", OLD)
        assert stage.ears.text() == "one two"
        assert not any(isinstance(signal, TurnEnd) for signal in stage.ears.signals), "the end of a past turn ends none of ours"

    played(stage, play())


def test_a_fork_has_the_history_of_its_source_and_an_id_of_its_own(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path, history={OLD: [_said("before")]}, fork=True)

    async def play() -> None:
        started = await stage.driver.start(OLD, adopt=True)
        assert started.how == "forked" and started.agent_session_id != OLD
        assert {f"--resume={OLD}", "--fork-session", f"--session-id={started.agent_session_id}"} <= set(stage.argv())
        assert stage.ears.text() == "before"

    played(stage, play())


def test_a_conversation_that_the_cli_lost_is_begun_anew_and_it_is_noted_why(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path, missing=[OLD], is_known=True)

    async def play() -> None:
        started = await stage.driver.start(OLD)
        assert started.how == "new" and started.agent_session_id != OLD
        assert f"--session-id={started.agent_session_id}" in stage.argv(1)
        assert (await stage.turn(["say", "hello"])).stop == "end_turn"
        (note,) = lost_of(stage)
        assert OLD in json.loads(note.data)["message"]
        assert stage.ears.exits == [], "the first process was never the session's"

    played(stage, play())


def test_a_conversation_in_which_nothing_was_said_is_begun_anew_silently(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path, missing=[OLD])

    async def play() -> None:
        assert (await stage.driver.start(OLD)).how == "new"
        await stage.turn(["say", "hello"])
        assert lost_of(stage) == []

    played(stage, play())


def test_an_old_version_is_not_asked_for_a_conversation_that_it_does_not_have(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path, version="2.0.77")

    async def play() -> None:
        started = await stage.driver.start(OLD)
        assert started.how == "new"
        assert f"--session-id={started.agent_session_id}" in stage.argv()

    played(stage, play())


@pytest.mark.parametrize("fork", [False, True])
def test_a_conversation_that_was_asked_for_by_its_id_is_there_or_it_is_an_error(tmp_path: Path, fork: bool) -> None:
    error = refused(ClaudeStage(tmp_path, missing=[OLD], fork=fork), OLD, adopt=True)
    assert isinstance(error, NotFound)
    assert OLD in error.message and "start a new session" in error.message


def test_mcp_servers_reach_the_cli_in_a_private_file_that_is_gone_afterwards(tmp_path: Path) -> None:
    server = {"name": "files", "command": "/bin/true", "args": [], "env": [{"name": "KEY", "value": "secret"}]}
    stage = ClaudeStage(tmp_path, mcp_servers=[server])

    async def play() -> None:
        await stage.driver.start(None)
        path = stage.argv()[stage.argv().index("--mcp-config") + 1]
        seen = stage.log()[0]["files"][path]
        assert json.loads(seen["content"])["mcpServers"]["files"]["env"] == {"KEY": "secret"}
        assert seen["mode"] == 0o600
        assert not _exists(path)

    played(stage, play())


# What keeps it from starting


def test_a_cli_that_is_not_installed_is_named_with_how_to_install_it(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path)
    (tmp_path / "bin" / "claude").unlink()
    error = refused(stage)
    assert isinstance(error, AgentNotInstalled)
    assert "npm install -g @anthropic-ai/claude-code" in error.message


def test_a_cli_that_is_too_old_is_not_started(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path, version="1.0.128")
    error = refused(stage)
    assert isinstance(error, AgentProtocolMismatch)
    assert "1.0.128" in error.message and "2.0.77" in error.message
    assert stage.log() == []


@pytest.mark.parametrize(("said", "kind", "advice"), [
    ("Not logged in · Please run /login", AgentAuthRequired, "run `claude` once"),
    ("Error: ENOSPC: no space left on device, mkdir", AgentStartFailed, "free some space"),
    ("error: unknown option '--permission-prompt-tool'", AgentProtocolMismatch, "Update it"),
    ("Cannot find module 'x'", AgentStartFailed, "by hand"),
])
def test_a_cli_that_ends_at_once_is_quoted_and_what_to_do_is_said(
        tmp_path: Path, said: str, kind: type[TrunklineError], advice: str) -> None:
    error = refused(ClaudeStage(tmp_path, fail=said))
    assert type(error) is kind
    assert said in error.message and advice in error.message


def test_on_a_full_disk_nothing_is_started(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path)
    stage.free = 4096
    error = refused(stage)
    assert isinstance(error, AgentStartFailed)
    assert "free some space" in error.message
    assert stage.log() == []


def test_when_the_disk_becomes_full_prompts_are_refused_until_there_is_room_again(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path)

    async def play() -> None:
        await stage.driver.start(None)
        stage.free = 0
        end = await stage.turn(["say", "lost"])
        assert end.error is not None and "free some space" in end.error.message
        stage.free = 1 << 30
        assert (await stage.turn(["say", "kept"])).stop == "end_turn"
        assert stage.ears.text() == "kept"

    played(stage, play())


@pytest.mark.parametrize("lacks", [{"silent": ["initialize"]}, {"refuse": {"initialize": "Unknown control request: initialize"}}])
def test_a_cli_without_control_requests_works_without_what_it_lacks(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacks: dict[str, Any]) -> None:
    monkeypatch.setattr(opening, "GREETING_S", 0.3)
    stage = ClaudeStage(tmp_path, **lacks)

    async def play() -> None:
        started = await stage.driver.start(None)
        assert (started.modes, started.config_options) == (None, None), "nothing is offered that was not told"
        assert (await stage.turn(["say", "hello"])).stop == "end_turn"
        assert stage.ears.text() == "hello"
        (notice,) = stage.ears.updates("notice")
        assert "rules hold only for what it asks about" in notice["description"]

    played(stage, play())


def test_an_answer_that_comes_late_is_told_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "GREETING_S", 0.0)
    stage = ClaudeStage(tmp_path)

    async def play() -> None:
        await stage.driver.start(None)
        assert (await stage.turn(["say", "hello"])).stop == "end_turn"
        assert [option["id"] for option in stage.ears.updates("config_option_update")[0]["configOptions"]][:1] == ["model"]
        stage.play(["own"], ["say", "by myself"], ["own_end"])
        await stage.ears.hear(lambda: "background_turn" in [getattr(signal, "kind", "") for signal in stage.ears.signals])

    played(stage, play())


def _exists(path: str) -> bool:
    return os.path.exists(path)


def _said(text: str) -> Update:
    return Update(msgspec.json.encode({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}))
