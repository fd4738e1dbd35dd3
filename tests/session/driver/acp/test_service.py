"""What an agent has us do: always answered, in its own task, and nothing for a session that is not its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from tests.aio import run
from tests.session.driver.acp.wire import Wire
from trunkline.dialects.notes import CustomNote
from trunkline.dialects.signals import Signal
from trunkline.errors import NotFound, Unsupported
from trunkline.session.driver.acp.connection import LONG_ANSWER
from trunkline.session.driver.acp.limits import SERVED_AT_ONCE
from trunkline.session.driver.acp.service import ClientService
from trunkline.session.driver.base import Serving


class Hands:
    """Serves by one function."""

    def __init__(self, serve: Callable[[], bytes | Exception]) -> None:
        self._serve = serve
        self.ended: list[bool] = []
        self.is_closed = False

    def accept(self, method: str, params: bytes, check_caller: Callable[[str], None]) -> Serving:
        async def serve() -> bytes:
            check_caller("ours" if b"ours" in bytes(params) else "theirs")
            result = self._serve()
            if isinstance(result, Exception):
                raise result
            return result

        return serve

    def turn_began(self) -> None: ...

    def turn_ended(self) -> None: ...

    def turn_cancelled(self, *, ended: bool = False) -> list[Coroutine[Any, Any, Any]]:
        async def end() -> None:
            self.ended.append(ended)

        return [end()]

    async def close(self) -> None:
        self.is_closed = True


class Served:
    """A service on a wire."""

    def __init__(self, serve: Callable[[], bytes | Exception]) -> None:
        self.wire, self.hands = Wire(), Hands(serve)
        self.emitted: list[Signal] = []
        self.service = ClientService(self.hands, self.wire.connection, "ours".__eq__, self.emitted.extend)

    async def answers(self, *, session: str = "ours", count: int = 1) -> list[dict[str, Any]]:
        """What the agent is answered when it sends so many requests."""
        for number in range(count):
            for message in self.wire.write(id=number, method="fs/read_text_file", params={"sessionId": session}):
                self.service.on_request("fs/read_text_file", message)
        self.wire.connection.flush()
        while len(self.wire.process.written) < count:
            self.wire.process.wrote.clear()
            await self.wire.process.wrote.wait()
        return self.wire.process.written


def test_a_request_is_answered_with_its_result() -> None:
    assert run(Served(lambda: b'{"content":"x"}').answers()) == [{"jsonrpc": "2.0", "id": 0, "result": {"content": "x"}}]


@pytest.mark.parametrize(("error", "code"), [
    (NotFound("no such file"), -32002), (Unsupported("no terminals here"), -32601), (ValueError("a bug"), -32603)])
def test_whatever_goes_wrong_is_answered_with_an_error(error: Exception, code: int) -> None:
    (answer,) = run(Served(lambda: error).answers())
    assert answer["error"]["code"] == code


def test_a_request_in_the_name_of_another_session_is_refused_and_written_down() -> None:
    served = Served(lambda: b"{}")
    (answer,) = run(served.answers(session="theirs"))
    assert answer["error"]["code"] == -32602
    (note,) = served.emitted
    assert isinstance(note, CustomNote) and note.kind == "foreign_call"


def test_a_long_answer_waits_until_the_agent_has_read() -> None:
    served = Served(lambda: b'"' + b"x" * LONG_ANSWER + b'"')
    run(served.answers())
    assert served.wire.process.drained == 1


def test_more_than_is_served_at_once_is_refused_at_once() -> None:
    answers = run(Served(lambda: b"{}").answers(count=SERVED_AT_ONCE + 1))
    assert [answer["id"] for answer in answers if "error" in answer] == [SERVED_AT_ONCE]


def test_commands_end_with_the_turn_that_was_cancelled_and_all_with_the_agent() -> None:
    async def check() -> None:
        served = Served(lambda: b"{}")
        served.service.end_commands()
        served.service.end_commands(turn_ended=True)
        await asyncio.sleep(0)
        await served.service.close()
        assert (served.hands.ended, served.hands.is_closed) == ([False, True], True)

    run(check())
