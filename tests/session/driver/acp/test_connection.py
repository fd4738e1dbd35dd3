"""The wire to an agent: answers reach who waits for them, also when the agent is gone; nothing is read while it is held."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from tests.aio import run
from tests.session.driver.acp.wire import Wire
from trunkline.agents.process import Exit
from trunkline.errors import AgentError, AgentExited, AgentNotRunning
from trunkline.session.driver.acp import connection
from trunkline.session.driver.acp.connection import AgentConnection


def test_an_answer_goes_to_who_sent_the_request_and_is_seen_at_once() -> None:
    async def check() -> None:
        wire = Wire()
        seen: list[bytes] = []
        call = asyncio.ensure_future(wire.connection.call("session/new", {"cwd": "/w"}, at_once=seen.append))
        await asyncio.sleep(0)
        (sent,) = wire.process.written
        assert (sent["method"], sent["params"]) == ("session/new", {"cwd": "/w"})
        for message in wire.write(id=sent["id"], result={"sessionId": "s"}):
            wire.connection.on_response(message)
        assert seen == [b'{"sessionId": "s"}'], "before anybody else runs"
        assert msgspec.json.decode(await call or b"") == {"sessionId": "s"}

    run(check())


def test_a_refusal_is_an_error_that_names_the_agent_and_the_method() -> None:
    async def check() -> None:
        wire = Wire()
        call = asyncio.ensure_future(wire.connection.call("session/set_mode", {}))
        await asyncio.sleep(0)
        for message in wire.write(id=wire.process.written[0]["id"], error={"code": -32000, "message": "no such mode"}):
            wire.connection.on_response(message)
        with pytest.raises(AgentError, match="quiet refused session/set_mode: no such mode"):
            await call

    run(check())


def test_who_waits_is_answered_when_the_agent_ends_but_for_the_prompt() -> None:
    async def check() -> None:
        wire = Wire()
        prompt: list[object] = []
        prompt_id = wire.connection.send_request("session/prompt", {}, prompt.append)
        call = asyncio.ensure_future(wire.connection.call("session/set_mode", {}))
        await asyncio.sleep(0)
        assert wire.connection.on_exit(Exit(code=3), but=prompt_id) == "out of paper"
        with pytest.raises(AgentExited, match="quiet ended"):
            await call
        with pytest.raises(AgentExited):
            await wire.connection.call("session/set_mode", {})
        assert prompt == []

    run(check())


def test_a_request_that_is_not_answered_in_time_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "CALL_TIMEOUT_S", 0.01)
    with pytest.raises(AgentError, match="did not answer session/list within"):
        run(Wire().connection.call_in_time("session/list", {}))


def test_after_a_long_line_others_have_their_turn_and_a_hold_outlasts_it() -> None:
    async def check() -> None:
        wire = Wire()
        assert wire.write(method="session/update", params={"text": "x" * (5 << 20)}) == [], "not looked at yet"
        assert not wire.process.is_reading
        wire.connection.pause_reading()
        wire.has_read.clear()
        await wire.has_read.wait()
        assert not wire.process.is_reading, "the session still takes nothing"
        wire.connection.resume_reading()
        assert wire.process.is_reading

    run(check())


def test_an_agent_that_was_not_started_is_not_running() -> None:
    wire = Wire()
    with pytest.raises(AgentNotRunning, match="quiet"):
        AgentConnection(wire.spec, lambda data: None).running()
    assert "out of paper" in wire.connection.start_failed("ended").message
