"""A person at a terminal: a command in a pseudo-terminal of its own, what it shows there, and keys."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyte

from tests.cli.conftest import Place

WITHIN_S = 60


class Glass(pyte.HistoryScreen):
    """What a terminal shows, and what scrolled out of it; it answers where the cursor is, as terminals do."""

    def __init__(self, columns: int, rows: int, answer: Callable[[str], None]) -> None:
        super().__init__(columns, rows, history=10_000, ratio=0.5)
        self._answer = answer

    def write_process_input(self, data: str) -> None:
        """The program asked something of the terminal."""
        self._answer(data)

    def text(self) -> str:
        """All that can be read, the oldest line first."""
        gone = ["".join(line[column].data for column in range(self.columns)) for line in self.history.top]
        return "\n".join(line.rstrip() for line in [*gone, *self.display])


class Terminal:
    """Reads what is shown, types answers."""

    def __init__(self, place: Place, *words: str, env: Mapping[str, str] | None = None, rows: int = 40,
                 columns: int = 100, stdout: Path | None = None, through: Sequence[str] = ()) -> None:
        self.seen = b""
        self._read_to = 0
        self._master, slave = pty.openpty()
        self._glass = Glass(columns or 80, rows or 24, self.keys)
        self._stream = pyte.ByteStream(self._glass)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        full = {**os.environ, "TERM": "xterm", "COLUMNS": str(columns), **(env or {})}
        out = self._output(slave, stdout, place, through)
        self.process = subprocess.Popen(place.command(*words), cwd=place.work, env=full, stdin=slave, stdout=out, stderr=slave,
                                        start_new_session=True)
        if out != slave:
            os.close(out)
        place.watch(self.process)
        os.close(slave)

    def _output(self, slave: int, stdout: Path | None, place: Place, through: Sequence[str]) -> int:
        """The terminal, a file, or a pipe to another program in the same terminal."""
        if through:
            outlet, inlet = os.pipe()
            place.watch(subprocess.Popen(through, stdin=outlet, stdout=slave, stderr=slave, start_new_session=True))
            os.close(outlet)
            return inlet
        return slave if stdout is None else os.open(stdout, os.O_WRONLY | os.O_CREAT, 0o600)

    def wait_for(self, text: str) -> None:
        """Read until ``text`` was written behind what was waited for before."""
        while (found := self.seen.find(text.encode(), self._read_to)) < 0:
            assert self._read(), f"{text!r} was not shown: {self.seen.decode(errors='replace')}"
        self._read_to = found + len(text)

    def see(self, text: str) -> None:
        """Read until ``text`` can be read on the terminal."""
        until = time.monotonic() + WITHIN_S
        while text not in self.text:
            assert time.monotonic() < until and self._read(), f"{text!r} was not shown:\n{self.text}"

    def shows(self, text: str) -> bool:
        """Read until ``text`` can be read, or the command is over."""
        while text not in self.text:
            if not self._read():
                return False
        return True

    def press_until(self, key: str, text: str, every_s: float = 4) -> None:
        """Press a key until ``text`` can be read: one that comes too early decides nothing."""
        until = time.monotonic() + 3 * WITHIN_S
        while text not in self.text:
            assert time.monotonic() < until, f"{text!r} was not shown:\n{self.text}"
            self.keys(key)
            again = time.monotonic() + every_s
            while text not in self.text and (left_s := again - time.monotonic()) > 0:
                if not self._is_more_within(left_s):
                    break
                self._read()

    def see_gone(self, text: str) -> None:
        """Read until ``text`` can be read there no more."""
        until = time.monotonic() + WITHIN_S
        while text in self.text:
            assert time.monotonic() < until and self._read(), f"{text!r} is still shown:\n{self.text}"

    @property
    def text(self) -> str:
        """What can be read on the terminal now, and above it."""
        return self._glass.text()

    @property
    def window(self) -> str:
        """What can be read on it now."""
        return "\n".join(self._glass.display)

    def type(self, text: str) -> None:
        """Type a line."""
        self.keys(text + "\n")

    def keys(self, text: str) -> None:
        """Press keys."""
        os.write(self._master, text.encode())

    def end(self) -> int:
        """Read to the end; returns the exit code."""
        while self._read():
            pass
        os.close(self._master)
        return self.process.wait(timeout=WITHIN_S)

    def _is_more_within(self, seconds: float) -> bool:
        return bool(select.select([self._master], [], [], seconds)[0])

    def _read(self) -> bytes:
        assert self._is_more_within(WITHIN_S), f"nothing more was shown after:\n{self.text}"
        try:
            data = os.read(self._master, 65536)
        except OSError:  # how Linux says that the other side of a terminal was closed
            return b""
        self.seen += data
        self._stream.feed(data)
        return data
