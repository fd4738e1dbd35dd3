"""The driver of an ACP agent: one read is one list of signals in the agent's order, and nothing that it sends raises."""

from __future__ import annotations

import asyncio
import json
from typing import Any, cast

import msgspec

from tests.aio import run
from tests.session.driver.acp.wire import NotedProcess
from trunkline.agents.catalog import adhoc
from trunkline.agents.process import AgentProcess, Exit
from trunkline.dialects.notes import CustomNote
from trunkline.dialects.signals import AskWithdrawn, Malformed, PermissionAsk, Signal, TurnEnd, Update
from trunkline.session.driver.acp.driver import AcpDriver
from trunkline.session.driver.acp.listing import NoCalls


class Sink:
    """Keeps what the driver delivers: each read as a list of its own."""

    def __init__(self) -> None:
        self.reads: list[list[Signal]] = []
        self.ends: list[tuple[Exit, str]] = []

    async def spawned(self, pid: int, start_time: int | None, marker: str) -> None:
        """There is no process."""

    def on_signals(self, signals: list[Signal]) -> None:
        self.reads.append(signals)

    def text_run(self, update: bytes) -> None:
        """Nothing is taken here."""

    def exited(self, exit: Exit, stderr: str) -> None:
        self.ends.append((exit, stderr))


class Driven:
    """A driver whose agent is no process, with the session ``s`` open."""

    def __init__(self, *, is_open: bool = True) -> None:
        self.sink, self.process = Sink(), NotedProcess()
        self.driver = AcpDriver(adhoc("quiet", "quiet"), cwd="/w", env={}, calls=NoCalls(), mcp_servers=[], sink=self.sink,
                                new_id=lambda: "req-1", version="1")
        self.driver._connection.process = cast("AgentProcess", self.process)
        self.driver._inbox.session_id = "s"
        if is_open:
            self.driver._deliver_early()

    def write(self, *messages: dict[str, Any] | str) -> None:
        """The agent writes these at once."""
        lines = [each if isinstance(each, str) else json.dumps({"jsonrpc": "2.0", **each}) for each in messages]
        self.driver._connection.receive_data("".join(line + "\n" for line in lines).encode())


def said(words: str) -> dict[str, Any]:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": words}}
    return {"method": "session/update", "params": {"sessionId": "s", "update": update}}


def permission(number: int) -> dict[str, Any]:
    options = [{"optionId": "yes", "name": "Allow", "kind": "allow_once"}]
    call = {"toolCallId": "c", "title": "Run it"}
    return {"id": number, "method": "session/request_permission",
            "params": {"sessionId": "s", "toolCall": call, "options": options}}


def test_one_read_is_a_list_of_signals_in_the_order_of_its_lines_and_a_turns_end_keeps_none_of_them_waiting() -> None:
    async def check() -> None:
        driven = Driven()
        driven.driver.prompt([msgspec.Raw(b'{"type":"text","text":"go"}')])
        ended = {"id": driven.process.written[-1]["id"], "result": {"stopReason": "end_turn"}}
        driven.write(said("a"), "no message at all", permission(7), ended, said("b"))
        before, rest = driven.sink.reads
        assert [type(each) for each in before] == [Update, Malformed, PermissionAsk]
        assert [type(each) for each in rest] == [TurnEnd, Update]

    run(check())


def test_what_comes_before_the_start_is_written_down_waits_and_keeps_its_order() -> None:
    async def check() -> None:
        driven = Driven(is_open=False)
        driven.write(said("a"))
        driven.write(said("b"))
        assert driven.sink.reads == []
        driven.driver._deliver_early()
        (early,) = driven.sink.reads
        assert [b'"a"' in each.raw for each in early if isinstance(each, Update)] == [True, False]
        driven.write(said("c"))
        assert len(driven.sink.reads) == 2

    run(check())


def test_an_ask_is_answered_once_and_one_that_is_taken_back_is_told() -> None:
    async def check() -> None:
        driven = Driven()
        driven.write(permission(7))
        driven.driver.answer_permission("req-1", "yes")
        driven.driver.answer_permission("req-1", "yes")
        (answer,) = driven.process.written
        assert (answer["id"], answer["result"]["outcome"]["optionId"]) == (7, "yes")
        driven.write(permission(8), {"method": "$/cancel_request", "params": {"requestId": 8}})
        assert isinstance(driven.sink.reads[-1][-1], AskWithdrawn)

    run(check())


def test_what_nobody_understands_is_written_down_and_a_request_is_refused() -> None:
    async def check() -> None:
        driven = Driven()
        driven.write({"method": "vendor/news", "params": {"x": 1}}, {"id": 9, "method": "vendor/do", "params": {}})
        (note,) = driven.sink.reads[0]
        assert isinstance(note, CustomNote) and msgspec.json.decode(note.data) == {"method": "vendor/news", "params": {"x": 1}}
        await driven.process.wrote.wait()
        assert driven.process.written[-1]["id"] == 9 and "error" in driven.process.written[-1]

    run(check())


def test_an_option_that_is_a_switch_says_so_and_the_agents_list_comes_back() -> None:
    async def check() -> None:
        driven = Driven()
        setting = asyncio.ensure_future(driven.driver.set_config("fast", True))
        await asyncio.sleep(0)
        sent = driven.process.written[-1]
        assert sent["params"] == {"sessionId": "s", "configId": "fast", "value": True, "type": "boolean"}
        driven.write({"id": sent["id"], "result": {"configOptions": []}})
        assert bytes(await setting or b"") == b"[]"

    run(check())


def test_an_agent_that_does_not_offer_to_list_its_sessions_is_not_asked() -> None:
    async def check() -> None:
        driven = Driven()
        assert await driven.driver.list_sessions() == [] and driven.process.written == []

    run(check())


def test_the_end_of_the_process_comes_behind_all_that_it_wrote() -> None:
    async def check() -> None:
        driven = Driven()
        driven.driver._connection.peer.receive_data((json.dumps({"jsonrpc": "2.0", **said("last")}) + "\n").encode())
        driven.driver._on_exit(Exit(code=3))
        assert len(driven.sink.reads) == 1
        assert driven.sink.ends == [(Exit(code=3), "out of paper")]

    run(check())
