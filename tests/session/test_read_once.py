"""A call that is asked about is read once: whoever tells, judges, allows, shows it or writes it down uses that reading."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.session.script import Stage, update
from trunkline.dialects import calls
from trunkline.dialects.risk import tools as risk
from trunkline.session.commands.requests import Decision
from trunkline.session.interpret.calls import facts
from trunkline.session.policy import asks

COMMAND: dict[str, Any] = {"toolCallId": "c1", "title": "Run make", "kind": "execute", "rawInput": {"command": "make all"}}
IN_WORDS: dict[str, Any] = {"toolCallId": "c1", "title": "Bash", "kind": "execute", "rawInput": None, "content": [
    {"type": "content", "content": {"type": "text", "text": '{"command": "make all"}'}}]}
WRITE: dict[str, Any] = {"toolCallId": "c1", "title": "Write a.txt", "kind": "edit",
                         "rawInput": {"file_path": "a.txt", "content": "b\n"}}
NOTHING: dict[str, Any] = {"toolCallId": "c1", "title": "Confirm Agent Actions", "kind": "other", "rawInput": None}
ALLOW = '[[rules]]\ncommand = ["make*"]\naction = "allow"\n'
DENY = '[[rules]]\ncommand = ["make*"]\naction = "deny"\n'


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tools of the calls that were read, by whomever."""
    found: list[str] = []

    def counted(tool: str, *args: Any, **named: Any) -> calls.CallReading:
        found.append(tool)
        return calls.read_call(tool, *args, **named)

    for module in (facts, asks, risk):
        monkeypatch.setattr(module, "read_call", counted)
    return found


async def asking(stage: Stage, call: dict[str, Any], policy: str = "") -> Stage:
    """A session whose agent asks for a call that it did not tell of before."""
    if policy:
        stage.services.policies.replace(policy)
    await stage.open()
    await stage.send()
    stage.driver.ask("req-1", **call)
    await stage.packets("approval_requested")
    return stage


@pytest.mark.parametrize("call", [COMMAND, IN_WORDS, WRITE, NOTHING], ids=["command", "words", "write", "nothing"])
def test_a_call_that_only_its_ask_tells_of_is_read_once_until_it_is_decided(
    tmp_path: Path, readings: list[str], call: dict[str, Any],
) -> None:
    async def scenario() -> None:
        stage = await asking(Stage(tmp_path), call)
        await stage.session.approvals.decide("req-1", Decision(decision="allow"), by="ann")
        await stage.packets("approval_resolved")
        assert len(readings) == 1

    run(scenario())


@pytest.mark.parametrize("policy", [ALLOW, DENY], ids=["allow", "deny"])
def test_a_call_that_a_rule_decides_is_read_once(tmp_path: Path, readings: list[str], policy: str) -> None:
    async def scenario() -> None:
        stage = await asking(Stage(tmp_path), COMMAND, policy)
        await stage.packets("approval_resolved")
        assert len(readings) == 1

    run(scenario())


@pytest.mark.parametrize(("asked", "count"), [(COMMAND, 1), ({**COMMAND, "rawInput": {"command": "make none"}}, 2)],
                         ids=["the same", "another command"])
def test_a_call_that_was_told_of_is_read_again_only_where_its_ask_says_something_else(
    tmp_path: Path, readings: list[str], asked: dict[str, Any], count: int,
) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        stage.driver.say(update(sessionUpdate="tool_call", **COMMAND))
        stage.driver.ask("req-1", **asked)
        await stage.packets("approval_requested")
        assert len(readings) == count

    run(scenario())


def test_one_id_for_every_ask_is_read_once_for_each(tmp_path: Path, readings: list[str]) -> None:
    async def scenario() -> None:
        stage = await asking(Stage(tmp_path), COMMAND)
        await stage.session.approvals.decide("req-1", Decision(decision="allow"), by="ann")
        stage.driver.ask("req-2", **{**COMMAND, "rawInput": {"command": "make more"}})
        await stage.packets("approval_requested", 2)
        assert len(readings) == 2

    run(scenario())
