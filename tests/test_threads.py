"""Work that may never come back: whoever waits is answered, others have threads, and the program ends without it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.aio import run
from trunkline import discovery, threads
from trunkline.agents.catalog import launch_command, load
from trunkline.agents.process import argv_of
from trunkline.errors import Unavailable
from trunkline.hub.sandboxes import wish_of
from trunkline.threads import Lane, check_off_loop

HANGS = """
import asyncio, threading
from trunkline.threads import Lane

async def main():
    try:
        await Lane().run_within(0.05, threading.Event().wait)
    except TimeoutError:
        print("answered")

asyncio.run(main())
"""


def test_a_result_and_a_failure_come_back_from_another_thread() -> None:
    async def scenario() -> None:
        lane = Lane()
        assert await lane.run(threading.get_ident) != threading.get_ident()
        assert await lane.run(int, "ff", base=16) == 255
        with pytest.raises(FileNotFoundError):
            await lane.run(os.stat, "/no/such/file")

    run(scenario())


def test_what_may_wait_raises_on_the_loop_and_nowhere_else() -> None:
    check_off_loop()

    async def scenario() -> None:
        with pytest.raises(RuntimeError, match="on the event loop"):
            check_off_loop()
        await Lane().run(check_off_loop)

    run(scenario())


def test_who_waits_for_what_never_comes_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "WITHIN_S", 0.05)
    end = threading.Event()

    async def scenario() -> None:
        with pytest.raises(Unavailable, match="did not answer"):
            await Lane().run(end.wait)
        end.set()

    run(scenario())


def test_a_lane_lets_a_few_in_and_the_others_in_order() -> None:
    end = threading.Event()
    order: list[Any] = []

    async def scenario() -> None:
        lane = Lane(2)
        held = [asyncio.create_task(lane.run(end.wait)) for _ in range(2)]
        await asyncio.sleep(0)
        behind = [asyncio.create_task(lane.run(order.append, number)) for number in range(3)]
        await Lane().run(order.append, "another lane")
        assert order == ["another lane"], "nobody else waits"
        end.set()
        await asyncio.gather(*held, *behind)
        assert sorted(order[1:]) == [0, 1, 2]

    run(scenario())


def test_a_job_that_is_called_off_gives_its_place_back() -> None:
    end = threading.Event()

    async def scenario() -> None:
        lane = Lane(1)
        first = asyncio.create_task(lane.run(end.wait))
        await asyncio.sleep(0)
        second = asyncio.create_task(lane.run(time.monotonic))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        end.set()
        await first
        assert await lane.run(int) == 0

    run(scenario())


def test_jobs_that_hang_keep_nobody_from_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "HANGS_S", 0.05)
    end = threading.Event()

    async def scenario() -> None:
        hung = [asyncio.create_task(Lane().run(end.wait)) for _ in range(3 * threads.AT_WORK)]
        assert await Lane().run(int) == 0
        end.set()
        await asyncio.gather(*hung)

    run(scenario())


def test_there_is_an_end_to_threads_and_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_pool", threads._Pool())
    monkeypatch.setattr(threads, "THREADS_MOST", 2)
    end = threading.Event()

    async def scenario() -> None:
        hung = [asyncio.create_task(Lane().run(end.wait)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(Unavailable, match="no thread for another"):
            await Lane().run(int)
        end.set()
        await asyncio.gather(*hung)
        assert await Lane().run(int) == 0

    run(scenario())


def test_who_was_answered_finds_the_thread_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_pool", threads._Pool())
    monkeypatch.setattr(threads, "THREADS_MOST", 1)
    often = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    async def scenario() -> None:
        lane = Lane()
        for _ in range(2000):
            await lane.run(int)

    try:
        run(scenario())
    finally:
        sys.setswitchinterval(often)


def test_a_program_ends_though_a_look_never_comes_back() -> None:
    done = subprocess.run([sys.executable, "-c", HANGS], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout == "answered\n"


LOOKS: dict[str, Callable[[], object]] = {
    "a store's real folder": lambda: discovery.store_of("claude", "/nowhere"),
    "the program of an agent": lambda: launch_command(load()["demo"], {}),
    "what a sandbox shows": lambda: wish_of(None, [], {}, {}, {}, []),
    "a terminal's command": lambda: argv_of("true", [], {"PATH": "/nowhere"}),
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS.keys())
def test_what_looks_at_the_disk_refuses_to_do_so_on_the_loop(look: Callable[[], object]) -> None:
    async def scenario() -> None:
        with pytest.raises(RuntimeError, match="on the event loop"):
            look()
        await Lane().run(look)

    run(scenario())
