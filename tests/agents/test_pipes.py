"""A descriptor that a loop was given is closed once, by whichever loop."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop

from trunkline.agents.pipes import Input, Output

LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}
Work = Callable[[], Coroutine[Any, Any, None]]


class Watched(io.FileIO):
    """A pipe that notices when it is closed by a number that is not its own any more."""

    closed_twice = False

    def close(self) -> None:
        if not self.closed:
            try:
                os.fstat(self.fileno())
            except OSError:
                self.closed_twice = True
        if not self.closed_twice:
            super().close()


def on(loop: str, work: Work) -> None:
    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        runner.run(work())


@pytest.mark.parametrize("loop", LOOPS)
def test_our_end_of_an_output_is_closed_once(loop: str) -> None:
    reader, writer = os.pipe()
    pipe, heard = Watched(reader), bytearray()

    async def work() -> None:
        came, ended = asyncio.Event(), asyncio.Event()

        def hear(data: bytes) -> None:
            heard.extend(data)
            came.set()

        output = Output(hear, ended.set)
        await output.connect(pipe)
        output.start()
        os.write(writer, b"said")
        await came.wait()
        os.close(writer)
        await ended.wait()

    on(loop, work)
    assert (bytes(heard), pipe.closed_twice) == (b"said", False)


@pytest.mark.parametrize("loop", LOOPS)
def test_our_end_of_an_input_is_closed_and_its_reader_sees_the_end(loop: str) -> None:
    reader, writer = os.pipe()
    pipe = Watched(writer, "wb")

    async def work() -> None:
        ended = asyncio.Event()
        entry = Input(ended.set)
        await entry.connect(pipe)
        entry.write(b"told")
        entry.close()
        await ended.wait()

    on(loop, work)
    assert (os.read(reader, 9), os.read(reader, 9), pipe.closed_twice) == (b"told", b"", False)
    os.close(reader)
