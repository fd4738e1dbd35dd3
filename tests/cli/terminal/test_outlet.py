"""Where standard output leads, and that what was written to a pipe is read before somebody is asked."""

from __future__ import annotations

import asyncio
import os
import pty
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from tests.aio import loop_turns, run
from tests.cli.terminal.test_screen import Out
from tests.virtual_time import VirtualTimeLoop
from trunkline.cli.terminal.outlet import SETTLE_S, SLOW_S, Outlet


@contextmanager
def piped() -> Iterator[tuple[int, TextIO]]:
    """A pipe: the end that is read, and a stream that writes to it."""
    outlet, inlet = os.pipe()
    with os.fdopen(inlet, "w") as out:
        yield outlet, out
    os.close(outlet)


def test_a_file_and_the_null_device_are_stored_and_nothing_else_is(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w") as file, open(os.devnull, "w") as null, piped() as (_, pipe):
        assert Outlet(file).is_stored and Outlet(null).is_stored
        assert not Outlet(pipe).is_stored and not Outlet(Out()).is_stored
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as terminal:
        assert not Outlet(terminal).is_stored
    os.close(master)


def test_what_was_written_to_a_pipe_is_waited_for_until_it_was_read() -> None:
    async def scene() -> None:
        told: list[str] = []
        with piped() as (outlet, pipe):
            pipe.write("said last")
            pipe.flush()
            waiting = asyncio.create_task(Outlet(pipe).drained(lambda: told.append("slow")))
            await asyncio.sleep(SLOW_S * 3)
            assert not waiting.done() and told == ["slow"]
            os.read(outlet, 100)
            began = asyncio.get_running_loop().time()
            await waiting
            assert asyncio.get_running_loop().time() - began >= SETTLE_S, "it is given the time to be written"

    run(scene(), timeout_s=100, loop=VirtualTimeLoop)


def test_a_pipe_whose_reader_has_left_and_all_else_is_not_waited_for(tmp_path: Path) -> None:
    async def scene() -> None:
        outlet, inlet = os.pipe()
        os.write(inlet, b"never read")
        os.close(outlet)
        with os.fdopen(inlet, "w") as out:
            await Outlet(out).drained(lambda: None)
        with (tmp_path / "out").open("w") as file:
            await Outlet(file).drained(lambda: None)
        await Outlet(Out()).drained(lambda: None)
        await loop_turns()

    run(scene(), loop=VirtualTimeLoop)
