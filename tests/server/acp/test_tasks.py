"""What is done because of an editor's messages: counted, taken back, or carried out to its end."""

from __future__ import annotations

import asyncio

import pytest

from tests.aio import run
from trunkline.errors import Invalid
from trunkline.server.acp.tasks import REQUESTS_AT_ONCE, EditorTasks


def test_a_request_is_taken_back_by_its_id_and_the_newer_of_two_counts() -> None:
    async def check() -> None:
        tasks, ended, first = EditorTasks(), list[str](), asyncio.Event()

        async def work(name: str) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(name)
                first.set()

        for name in ("older", "newer"):
            tasks.begin_request(b"1", work(name))
        await asyncio.sleep(0)
        tasks.cancel_request(b"2")
        tasks.cancel_request(b"1")
        await first.wait()
        assert ended == ["newer"] and tasks.busy
        await tasks.end_requests()
        assert ended == ["newer", "older"] and not tasks.busy

    run(check())


def test_what_is_carried_out_is_not_broken_off() -> None:
    async def check() -> None:
        tasks, gate, done = EditorTasks(), asyncio.Event(), list[str]()

        async def work() -> None:
            await gate.wait()
            done.append("work")

        async def request() -> None:
            await tasks.carry_out(work())
            done.append("request")

        tasks.begin_request(b"1", request())
        await asyncio.sleep(0)
        tasks.cancel_request(b"1")
        await asyncio.sleep(0)
        assert done == []
        gate.set()
        await tasks.background_done()
        await tasks.end_requests()
        assert done == ["work", "request"]

    run(check())


def test_a_failure_of_ours_in_an_errand_is_nobodys_error() -> None:
    async def check() -> None:
        async def work() -> None:
            raise Invalid("no")

        tasks = EditorTasks()
        tasks.begin(work())
        await tasks.background_done()
        with pytest.raises(Invalid):
            await tasks.carry_out(work())

    run(check())


def test_there_is_room_again_when_something_has_ended() -> None:
    async def check() -> None:
        tasks, gates = EditorTasks(), [asyncio.Event() for _ in range(REQUESTS_AT_ONCE)]

        async def work(gate: asyncio.Event) -> None:
            await gate.wait()

        for gate in gates:
            tasks.begin(work(gate))
        waiting = asyncio.create_task(tasks.room())
        await asyncio.sleep(0)
        assert not waiting.done()
        gates[5].set()
        await waiting
        for gate in gates:
            gate.set()
        await tasks.background_done()

    run(check())
