"""The driver of Claude Code's own stream, against a scripted CLI."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from tests.session.driver.stream_json.stage import ClaudeStage, played
from tests.virtual_time import time_passes
from trunkline.dialects.signals import AskWithdrawn, PermissionAsk, TurnEnd, Update
from trunkline.errors import (
    Invalid,
    Unsupported,
)
from trunkline.session.driver.stream_json import driver as claude_driver


def test_text_streams_and_the_turn_ends_once(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path)

    async def play() -> None:
        await stage.driver.start(None)
        end = await stage.turn(["say", "Hello "], ["say", "there"])
        assert (end.stop, end.error) == ("end_turn", None)
        assert stage.ears.text() == "Hello there"
        assert sum(isinstance(signal, TurnEnd) for signal in stage.ears.signals) == 1

    played(stage, play())


def test_an_image_goes_along_with_the_prompt_and_audio_is_refused(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path)
    text = msgspec.Raw(b'{"type":"text","text":"[]"}')
    image = msgspec.Raw(b'{"type":"image","data":"aWk=","mimeType":"image/png"}')
    audio = msgspec.Raw(b'{"type":"audio","data":"aWk=","mimeType":"audio/wav"}')

    async def play() -> None:
        await stage.driver.start(None)
        stage.driver.check_prompt([text, image])
        with pytest.raises(Unsupported, match="audio"):
            stage.driver.check_prompt([text, audio])
        stage.driver.prompt([text, image])
        (sent,) = await stage.until_sent("user")
        assert sent["message"]["content"][1] == {
            "type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aWk="}}

    played(stage, play())


def test_an_ask_is_answered_on_the_stream_with_the_whole_input(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path)

    async def play() -> None:
        await stage.driver.start(None)
        stage.play(["ask", "Bash", {"command": "make"}])
        ask: PermissionAsk = await stage.ears.until(PermissionAsk)
        assert ask.editable
        stage.driver.answer_permission(ask.request_id, _option(ask, "allow_once"))
        await stage.ears.until(TurnEnd)
        answer = json.loads(stage.ears.text())
        assert (answer["behavior"], answer["updatedInput"]) == ("allow", {"command": "make"})

    played(stage, play())


def test_an_edited_input_is_what_the_cli_runs(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path)

    async def play() -> None:
        await stage.driver.start(None)
        stage.play(["ask", "Bash", {"command": "make"}])
        ask: PermissionAsk = await stage.ears.until(PermissionAsk)
        stage.driver.answer_permission(
            ask.request_id, _option(ask, "allow_once"), updated_input=msgspec.Raw(b'{"command":"make -n"}'))
        await stage.ears.until(TurnEnd)
        assert json.loads(stage.ears.text())["updatedInput"] == {"command": "make -n"}

    played(stage, play())


def test_a_denial_carries_its_reason(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path)

    async def play() -> None:
        await stage.driver.start(None)
        stage.play(["ask", "Bash", {"command": "make"}])
        ask: PermissionAsk = await stage.ears.until(PermissionAsk)
        stage.driver.answer_permission(ask.request_id, _option(ask, "reject_once"), reason="not on a Friday")
        await stage.ears.until(TurnEnd)
        answer = json.loads(stage.ears.text())
        assert answer["behavior"] == "deny" and "not on a Friday" in answer["message"]

    played(stage, play())


def test_a_cancelled_turn_is_interrupted_and_ends_as_cancelled(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path)

    async def play() -> None:
        await stage.driver.start(None)
        stage.play(["say", "one"], ["wait"])
        await stage.ears.until(Update)
        stage.driver.cancel()
        assert (await stage.ears.until(TurnEnd)).stop == "cancelled"
        assert len(stage.sent("interrupt")) == 1
        assert (await stage.turn(["say", "two"])).stop == "end_turn"

    played(stage, play())


def test_an_open_ask_is_withdrawn_by_an_interrupt(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path)

    async def play() -> None:
        await stage.driver.start(None)
        stage.play(["ask", "Bash", {"command": "make"}])
        ask: PermissionAsk = await stage.ears.until(PermissionAsk)
        stage.driver.cancel()
        assert (await stage.ears.until(AskWithdrawn)).request_id == ask.request_id
        stage.driver.answer_permission(ask.request_id, None)
        assert (await stage.ears.until(TurnEnd)).stop == "cancelled"

    played(stage, play())


# Errors of a turn


@pytest.mark.parametrize(("told", "code", "advice"), [
    ("Not logged in · Please run /login", -32000, "ANTHROPIC_API_KEY"),
    ("Credit balance is too low", None, "add some"),
    ("API Error: ENOSPC: no space left on device, write", None, "free some space"),
])
def test_a_turn_that_fails_says_what_to_do(tmp_path: Path, told: str, code: int | None, advice: str) -> None:
    stage = ClaudeStage(tmp_path)

    async def play() -> None:
        await stage.driver.start(None)
        end = await stage.turn(["result", {"is_error": True, "result": told, "terminal_reason": "api_error"}])
        assert end.error is not None
        assert told in end.error.message and advice in end.error.message
        assert code in (None, end.error.code)

    played(stage, play())


def test_a_cli_that_dies_in_its_turn_is_told_once_with_its_reason(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path)

    async def play() -> None:
        await stage.driver.start(None)
        end = await stage.turn(["stderr", "Error: ENOSPC: no space left on device"], ["die", 1])
        assert end.error is not None and "free some space" in end.error.message
        exit, stderr = await stage.ears.until_exit()
        assert exit.code == 1 and "ENOSPC" in stderr

    played(stage, play())


def test_a_death_without_a_known_reason_is_left_to_the_session_to_tell(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path)

    async def play() -> None:
        await stage.driver.start(None)
        stage.play(["say", "one"], ["die", 3])
        exit, _ = await stage.ears.until_exit()
        assert exit.code == 3
        assert not any(isinstance(signal, TurnEnd) for signal in stage.ears.signals)

    played(stage, play())


def test_people_are_told_when_the_stream_falls_silent_and_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claude_driver, "STALL_S", 0.2)
    stage = ClaudeStage(tmp_path)

    async def play() -> None:
        await stage.driver.start(None)
        stage.play(["say", "one"], ["wait"])
        await _notices(stage, 1)
        await time_passes(1)
        (notice,) = stage.ears.updates("notice")
        assert "silent" in notice["title"]
        stage.driver.cancel()
        assert (await stage.ears.until(TurnEnd)).stop == "cancelled"

    played(stage, play())


def test_people_are_told_when_the_cli_falls_silent_in_a_turn_of_its_own_that_a_prompt_waits_for(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claude_driver, "STALL_S", 0.2)
    stage = ClaudeStage(tmp_path)
    go = tmp_path / "go"

    async def play() -> None:
        await stage.driver.start(None)
        stage.play(["own"], ["say", "by myself"], ["await", str(go)], ["own_end"])
        await stage.ears.until(TurnEnd)
        await stage.ears.until_text("by myself")
        stage.play(["say", ", and now for you"], ["wait"])
        await _notices(stage, 1)
        go.touch()
        await _notices(stage, 2)
        assert stage.ears.text() == "by myself, and now for you", "and then of its own turn's silence too, once"
        stage.driver.cancel()
        assert (await stage.ears.until(TurnEnd, 2)).stop == "cancelled"
        await time_passes(1)
        assert len(stage.ears.updates("notice")) == 2

    played(stage, play())


def test_silence_means_nothing_while_a_person_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claude_driver, "STALL_S", 5.0)  # what comes before the question takes less, on a busy machine too
    stage = ClaudeStage(tmp_path)

    async def play() -> None:
        await stage.driver.start(None)
        stage.play(["ask", "Bash", {"command": "make"}])
        await stage.ears.until(PermissionAsk)
        await time_passes(10)
        assert stage.ears.updates("notice") == []

    played(stage, play())


# Settings


def test_a_mode_is_set_and_one_that_does_not_exist_is_refused_here(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path)

    async def play() -> None:
        await stage.driver.start(None)
        await stage.driver.set_mode("plan")
        assert [sent["request"]["mode"] for sent in stage.sent("set_permission_mode")] == ["plan"]
        with pytest.raises(Invalid, match="plan"):
            await stage.driver.set_mode("nonsense")

    played(stage, play())


def test_a_model_and_a_budget_of_thinking_are_set_and_all_options_come_back(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path)

    async def play() -> None:
        await stage.driver.start(None)
        options = await stage.driver.set_config("model", "small")
        assert options is not None
        chosen = {option["id"]: option["currentValue"] for option in msgspec.json.decode(options)}
        assert chosen["model"] == "small"
        await stage.driver.set_config("thinking", "off")
        assert stage.sent("set_model")[0]["request"]["model"] == "small"
        assert stage.sent("set_max_thinking_tokens")[0]["request"]["max_thinking_tokens"] == 0

    played(stage, play())


async def _notices(stage: ClaudeStage, count: int) -> None:
    await stage.ears.hear(lambda: len(stage.ears.updates("notice")) >= count)


def _option(ask: PermissionAsk, kind: str) -> str:
    return next(option.option_id for option in ask.options if option.kind == kind)
