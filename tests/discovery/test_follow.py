"""A file that grows: every whole line once, whatever pieces it is written in, and on from any position."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.aio import run
from tests.tooling.examples import examples
from trunkline.dialects.claude.transcript import ClaudeTranscript
from trunkline.dialects.notes import CustomNote
from trunkline.dialects.signals import Signal
from trunkline.discovery import follow
from trunkline.discovery.follow import Follower
from trunkline.errors import Unavailable


class Lines:
    """A reading that tells each line as it is, and holds the last one back until it settles."""

    def __init__(self) -> None:
        self._held: list[tuple[int, Signal]] = []

    def line(self, raw: bytes) -> list[tuple[int, Signal]]:
        told, self._held = self._held, [(1, CustomNote("line", raw))]
        return told

    def settle(self) -> list[tuple[int, Signal]]:
        told, self._held = self._held, []
        return told


class Listener:
    """Remembers the lines and the newest position, and wakes whoever waits for more."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.position = 0
        self.kinds: list[str] = []
        self._more = asyncio.Event()

    def heard(self, told: list[tuple[int, Signal]], position: int) -> None:
        for _, signal in told:
            assert isinstance(signal, CustomNote)
            self.kinds.append(signal.kind)
            self.lines.append(signal.data)
        self.position = position
        self._more.set()

    async def until(self, count: int) -> list[bytes]:
        while len(self.lines) < count:
            self._more.clear()
            await self._more.wait()
        return self.lines


@settings(max_examples=examples(12), deadline=None)
@given(st.lists(st.binary(min_size=1, max_size=30).filter(lambda line: b"\n" not in line and line.strip()), max_size=12),
       st.lists(st.integers(0, 400), max_size=6))
def test_lines_are_told_once_however_they_are_written_and_wherever_reading_goes_on(lines: list[bytes], cuts: list[int]) -> None:
    whole = b"".join(line + b"\n" for line in lines)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.jsonl"
        path.touch()
        found: list[bytes] = []
        position = 0

        async def scenario() -> None:
            nonlocal position
            for cut in [*sorted(cuts), len(whole)]:
                path.write_bytes(whole[:cut])
                listener = Listener()
                follower = Follower(str(path), Lines(), position, listener.heard)
                await follower.catch_up()
                found.extend(listener.lines)
                position = follower.position

        run(scenario())
        assert found == lines and position == len(whole)


def test_what_is_added_is_told_as_it_comes_and_half_a_line_waits_for_its_rest(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"one\ntw")

    async def scenario() -> None:
        listener = Listener()
        follower = Follower(str(path), Lines(), 0, listener.heard)
        await follower.start()
        assert listener.lines == [b"one"] and listener.position == 4
        with path.open("ab") as file:
            file.write(b"o\nthree\n")
        assert await listener.until(3) == [b"one", b"two", b"three"]
        for number in range(3):
            with path.open("ab") as file:
                file.write(b"%d\n" % number)
            assert (await listener.until(4 + number))[-1] == b"%d" % number
        await follower.stop()
        with path.open("ab") as file:
            file.write(b"four\n")
        again = Listener()
        other = Follower(str(path), Lines(), listener.position, again.heard)
        await other.start()
        assert again.lines == [b"four"]
        await other.stop()

    run(scenario())


def test_a_hint_is_enough_where_the_kernel_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"one\n")

    async def scenario() -> None:
        listener = Listener()
        follower = Follower(str(path), Lines(), 0, listener.heard)
        await follower.start()
        path.write_bytes(b"one\ntwo\n")
        follower.look_again()
        assert await listener.until(2) == [b"one", b"two"]
        await follower.stop()

    run(scenario())


def test_nothing_is_handed_over_while_it_is_held(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"one\n")

    async def scenario() -> None:
        listener = Listener()
        follower = Follower(str(path), Lines(), 0, listener.heard)
        follower.hold(True)
        reading = asyncio.create_task(follower.catch_up())
        await asyncio.sleep(0)
        assert listener.lines == []
        follower.hold(False)
        await reading
        assert listener.lines == [b"one"]

    run(scenario())


def test_a_file_that_became_shorter_or_went_away_is_told_and_followed_from_its_end(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"short\n")

    async def scenario() -> None:
        listener = Listener()
        follower = Follower(str(path), Lines(), 100, listener.heard)
        await follower.catch_up()
        assert listener.kinds == ["file_replaced"] and listener.position == 6
        with path.open("ab") as file:
            file.write(b"more\n")
        await follower.catch_up()
        assert listener.lines[-1] == b"more"
        path.unlink()
        await follower.catch_up()
        assert listener.kinds[-1] == "file_replaced" and listener.position == 0

    run(scenario())


def test_a_line_without_end_does_not_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"x" * 5000 + b"\nnext\n")

    async def scenario() -> None:
        listener = Listener()
        follower = Follower(str(path), Lines(), 0, listener.heard)
        await follower.catch_up()
        assert listener.kinds[0] == "line_too_long" and listener.lines[-1] == b"next"
        assert listener.position == 5006

    piece, most = follow.PIECE, follow.LINE_MOST
    follow.PIECE, follow.LINE_MOST = 1000, 2000
    try:
        run(scenario())
    finally:
        follow.PIECE, follow.LINE_MOST = piece, most


def test_a_pipe_in_the_files_place_holds_up_nobody(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    os.mkfifo(path)

    async def scenario() -> None:
        listener = Listener()
        await Follower(str(path), Lines(), 0, listener.heard).catch_up()
        assert listener.kinds == ["file_replaced"]

    run(scenario())


def test_who_goes_on_from_a_position_sees_again_what_is_before_it_and_tells_nothing_of_it(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x" * (2 * follow.REMEMBERED) + b"\none\ntwo\n")
    position = path.stat().st_size
    seen: list[bytes] = []

    class Noting(Lines):
        def line(self, raw: bytes) -> list[tuple[int, Signal]]:
            seen.append(raw)
            return super().line(raw)

    async def scenario() -> None:
        listener = Listener()
        follower = Follower(str(path), Noting(), position, listener.heard)
        with path.open("ab") as file:
            file.write(b"three\n")
        await follower.start()
        assert await listener.until(1) == [b"three"]
        assert seen == [b"one", b"two", b"three"], "a bounded piece of it, in whole lines"
        await follower.stop()

    run(scenario())


def test_one_that_is_stopped_while_it_reads_what_is_there_ends_at_once(tmp_path: Path) -> None:
    """A file may be very long, or grow as fast as it is read: a hub that is to stop does not wait for its end."""
    class Endless(Follower):
        async def catch_up(self) -> None:
            await asyncio.Event().wait()

    async def check() -> None:
        following = Endless(str(tmp_path / "a.jsonl"), ClaudeTranscript(), 0, lambda signals, position: None)
        starting = asyncio.ensure_future(following.start())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await following.stop()
        with pytest.raises(Unavailable, match="no more"):
            await starting

    run(check())
