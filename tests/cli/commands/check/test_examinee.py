"""The agent that is examined: whatever is wrong with a line is wrong for its case, and answers go to who waits for them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, cast

import pytest

from tests.aio import run
from tests.session.driver.acp.wire import NotedProcess
from tests.tooling.rows import every_row
from trunkline.agents.process import AgentProcess, Exit
from trunkline.cli.commands.check.examinee import AgentRefused, CheckPrompts, Examinee, Failed, Skipped, wait


def examinee() -> tuple[Examinee, NotedProcess]:
    """An agent that is no process."""
    made, process = Examinee(Path("/w"), CheckPrompts(say="hello")), NotedProcess()
    made._process = cast("AgentProcess", process)
    return made, process


def line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def update(words: str) -> bytes:
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": words}}
    return line(method="session/update", params={"sessionId": "s", "update": chunk})


@every_row(("said", "why"), [
    (b"no JSON\n", "no JSON in UTF-8"), (b"\xff\n", "no JSON in UTF-8"), (b"{}\n", "no JSON-RPC 2.0 message"),
    (line(id=1), "exactly one of result and error"), (line(id=1, result={}, error={}), "exactly one of result and error"),
    (line(method="session/update", params={}), "needs sessionId and update"),
    (line(method="session/update", params={"sessionId": "s", "update": {"sessionUpdate": "made_up"}}), "not what the schema"),
])
def test_a_line_that_is_wrong_in_itself_fails_its_case(said: bytes, why: str) -> None:
    async def check() -> None:
        agent, _ = examinee()
        agent._received(said)
        with pytest.raises(Failed, match=why):
            agent.judge()

    run(check())


def test_what_is_right_is_kept_in_its_order_however_it_was_cut() -> None:
    async def check() -> None:
        agent, _ = examinee()
        for byte in update("a") + update("b"):
            agent._received(bytes([byte]))
        agent.judge()
        assert agent.text("s") == "ab" and agent.text("another") == ""

    run(check())


def test_an_answer_goes_to_its_request_and_one_is_not_the_text_one() -> None:
    async def check() -> None:
        agent, process = examinee()
        asking = asyncio.ensure_future(agent.ask("session/list"))
        await asyncio.sleep(0)
        assert (process.written[0]["id"], process.written[0]["method"]) == (1, "session/list")
        agent._received(line(id="1", result={"wrong": True}) + line(id=1, result={"sessions": []}))
        assert await asking == {"sessions": []} and agent.place(1) == 1
        refused = agent.begin("session/list")
        agent._received(line(id=refused, error={"code": -32000, "message": "no"}))
        with pytest.raises(AgentRefused, match="-32000: no"):
            await agent.answer(refused)

    run(check())


def test_permissions_are_allowed_once_unless_the_case_waits_and_all_else_is_not_offered() -> None:
    async def check() -> None:
        agent, process = examinee()
        options = [{"optionId": "always", "kind": "allow_always"}, {"optionId": "once", "kind": "allow_once"}]
        ask = {"method": "session/request_permission", "params": {"options": options}}
        agent._received(line(id=7, **ask) + line(id=8, method="fs/read_text_file", params={}))
        assert process.written[0]["result"] == {"outcome": {"outcome": "selected", "optionId": "once"}}
        assert process.written[1]["error"]["code"] == -32601 and len(agent.requests_for("fs")) == 1
        agent.permit = wait
        agent._received(line(id=9, **ask))
        assert len(process.written) == 2

    run(check())


def test_an_agent_that_ends_is_not_waited_for_and_what_it_cannot_do_is_skipped() -> None:
    async def check() -> None:
        agent, _ = examinee()
        agent._exited(Exit(code=3))
        with pytest.raises(Failed, match="the agent ended"):
            await agent.until(lambda: None)
        with pytest.raises(Skipped, match="session/load"):
            agent.can("load")
        agent.hello = {"agentCapabilities": {"loadSession": True, "sessionCapabilities": {"fork": {}}}}
        agent.can("load")
        agent.can("fork")
        with pytest.raises(Skipped):
            agent.prompt("s", "")

    run(check())
