"""What a command prints in a terminal of the hub's, told while it runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.aio import run
from trunkline.dialects.acp.client import CreateTerminalRequest
from trunkline.session.client import printing
from trunkline.session.client.printing import Printing
from trunkline.session.client.terminals import Terminals


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printing, "TELL_S", 0.01)


def test_a_piece_is_kept_until_somebody_can_be_told_and_then_told_in_its_place() -> None:
    async def scenario() -> None:
        told: list[tuple[int, str]] = []
        ready, heard = asyncio.Event(), asyncio.Event()

        def tell(offset: int, text: str) -> bool:
            if not ready.is_set():
                ready.set()
                return False
            told.append((offset, text))
            heard.set()
            return True

        prints = Printing(tell)
        prints.feed("h\u00e4".encode()[:2])
        await ready.wait()
        assert told == []
        prints.feed("h\u00e4llo".encode()[2:])
        await heard.wait()
        assert told == [(0, "h\u00e4llo")]

    run(scenario())


def test_however_fast_it_prints_there_is_one_piece_at_a_time_and_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(printing, "PIECE_CHARS", 5)
        told: asyncio.Queue[tuple[int, str]] = asyncio.Queue()

        def tell(offset: int, text: str) -> bool:
            told.put_nowait((offset, text))
            return True

        prints = Printing(tell)
        for letter in b"abcdefghij":
            prints.feed(bytes([letter]))
        assert await told.get() == (5, "fghij")
        prints.feed(b"k")
        prints.stop()
        prints.feed(b"l")
        assert told.empty()

    run(scenario())


def test_a_terminals_command_is_heard_while_it_runs(tmp_path: Path) -> None:
    async def scenario() -> None:
        told: asyncio.Queue[tuple[str, int, str]] = asyncio.Queue()

        def prints(terminal_id: str, offset: int, output: str) -> bool:
            told.put_nowait((terminal_id, offset, output))
            return True

        opened = Terminals({"PATH": "/usr/bin:/bin"}, prints)
        terminal_id = await opened.create(CreateTerminalRequest(session_id="s", command="echo one; cat; sleep 60"), tmp_path)
        assert await told.get() == (terminal_id, 0, "one\n")
        assert opened.get(terminal_id).exit is None
        await opened.release(terminal_id)

    run(scenario())
