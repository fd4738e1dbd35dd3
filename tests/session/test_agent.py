"""The agent's side of a session: all that it sends in its order, and its end behind that."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.aio import run
from tests.session.script import Stage, text, update
from trunkline.dialects.context.events import ToolCallResultEvent
from trunkline.session.intake import intake
from trunkline.session.policy.decide import Rule


def test_what_an_agent_said_before_its_end_is_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "HOLD_S", 0.0)

    async def play() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        stage.driver.say(*(text(f"{number} ") for number in range(intake.TEXT_PIECE + 100)))
        stage.driver.die()
        packets = await stage.packets("error")
        said = "".join(packet["content"]["text"] for packet in packets if packet["type"] == "agent_message_chunk")
        assert said.endswith(f"{intake.TEXT_PIECE + 99} ")

    run(play())


def test_what_a_terminal_prints_is_kept_until_a_call_shows_it(tmp_path: Path) -> None:
    async def play() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        assert not session.agent.prints("t1", 0, "early"), "no call shows it yet"
        shows = [{"type": "terminal", "terminalId": "t1"}]
        stage.driver.say(update(sessionUpdate="tool_call", toolCallId="c", title="Build", status="in_progress", content=shows))
        assert session.agent.prints("t1", 0, "made")
        session.agent.printed("t1", "made\n", 0)
        stage.driver.say(update(sessionUpdate="tool_call_update", toolCallId="c", status="completed"))
        (result,) = [event for event in await stage.events() if isinstance(event, ToolCallResultEvent)]
        assert result.output == "made\n"

    run(play())


def test_a_hint_to_look_again_reaches_a_running_agent_only(tmp_path: Path) -> None:
    async def play() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        session.agent.look_again()
        assert stage.driver.known_call("look_again") == [("look_again",)]
        stage.driver.die()
        session.agent.look_again()
        assert not session.agent.running, "it is gone"
        assert len(stage.driver.known_call("look_again")) == 1

    run(play())


def test_what_the_rules_say_of_a_tool_is_known_before_it_is_run(tmp_path: Path) -> None:
    async def play() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        stage.services.policies.append(Rule(action="deny", command=["make *"]))
        assert (await session.agent.verdict_on("Bash", b'{"command":"make all"}')).action == "deny"
        assert (await session.agent.verdict_on("Bash", b'{"command":"npm test"}')).action != "deny"

    run(play())
