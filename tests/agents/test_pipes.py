"""A descriptor that a loop was given is closed once, by whichever loop."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop

from trunkline.agents import pipes
from trunkline.agents.pipes import InputPipe, OutputPipe

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

        output = OutputPipe(hear, ended.set)
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
        entry = InputPipe(ended.set)
        await entry.connect(pipe)
        entry.write(b"told")
        entry.close()
        await ended.wait()

    on(loop, work)
    assert (os.read(reader, 9), os.read(reader, 9), pipe.closed_twice) == (b"told", b"", False)
    os.close(reader)


@pytest.mark.parametrize("loop", LOOPS)
def test_what_a_child_does_not_read_is_bounded(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipes, "INPUT_MOST", 4 << 20)
    reader, writer = os.pipe()
    overflowed: list[int] = []

    async def work() -> None:
        ended = asyncio.Event()
        entry = InputPipe(ended.set, lambda: overflowed.append(entry.waiting))
        await entry.connect(Watched(writer, "wb"))
        entry.write(b"x" * (3 << 20))
        assert not await entry.wait_writable(0.01), "who has much to write waits"
        for _ in range(200):
            entry.write(b"y" * 10_000)
        entry.abort()
        await ended.wait()

    on(loop, work)
    assert len(overflowed) == 1
    assert 3 << 20 < overflowed[0] <= 4 << 20
    os.close(reader)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("is_short", [True, False])
def test_what_waits_comes_whole_and_in_order(loop: str, is_short: bool) -> None:
    reader, writer = os.pipe()
    told = [bytes([65 + number % 26]) * (100 if is_short else 700_000) for number in range(2000 if is_short else 5)]
    came = bytearray()

    async def work() -> None:
        ended = asyncio.Event()
        entry = InputPipe(ended.set)
        await entry.connect(Watched(writer, "wb"))
        for each in told:
            entry.write(each)
        entry.close()
        entry.write(b"too late")
        while data := await asyncio.to_thread(os.read, reader, 1 << 16):
            came.extend(data)
        await ended.wait()

    on(loop, work)
    os.close(reader)
    assert bytes(came) == b"".join(told)


@pytest.mark.parametrize("loop", LOOPS)
def test_what_came_before_the_start_waits_while_it_is_paused(loop: str) -> None:
    reader, writer = os.pipe()
    heard: list[bytes] = []

    async def work() -> None:
        ended = asyncio.Event()
        output = OutputPipe(heard.append, ended.set)
        os.write(writer, b"early\n")
        await output.connect(os.fdopen(reader, "rb", 0))
        while output._held == []:  # noqa: ASYNC110 - what is held comes by itself
            await asyncio.sleep(0)
        output.pause()
        output.start()
        for _ in range(10):
            await asyncio.sleep(0)
        assert heard == []
        output.resume()
        os.write(writer, b"late\n")
        os.close(writer)
        await ended.wait()

    on(loop, work)
    assert b"".join(heard) == b"early\nlate\n"


@pytest.mark.parametrize("ends", [False, True], ids=["goes on", "ends"])
@pytest.mark.parametrize("loop", LOOPS)
def test_very_many_lines_are_delivered_in_turns_and_in_order(loop: str, ends: bool) -> None:
    said = b"".join(b"%d\n" % number for number in range(8000))
    reader, writer = os.pipe()
    turns: list[bytes] = []
    others = 0

    async def work() -> None:
        nonlocal others
        ended = asyncio.Event()
        output = OutputPipe(turns.append, ended.set)
        os.write(writer, said)
        await output.connect(os.fdopen(reader, "rb", 0))
        output.start()
        while not turns:  # noqa: ASYNC110 - what is delivered comes by itself
            await asyncio.sleep(0)
        assert len(turns[0]) <= pipes.TURN_BYTES
        if ends:
            output.finish()
        output.pause()
        taken = len(turns)
        for _ in range(10):
            await asyncio.sleep(0)
        assert len(turns) == taken, "who is paused delivers nothing"
        output.resume()
        while sum(map(len, turns)) < len(said):
            others += 1
            await asyncio.sleep(0)
        os.write(writer, b"last\n") if not ends else None
        os.close(writer)
        if not ends:
            await ended.wait()

    on(loop, work)
    assert b"".join(turns) == said + (b"" if ends else b"last\n")
    assert others == 0 if ends else others >= len(said) // pipes.TURN_BYTES - 1
