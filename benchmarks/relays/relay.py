"""What every relay can be asked for. A relay is entered, grows to so many sessions with a reader each, and is prompted.

Rule 1: agents of one window begin at phases that are random and the same in each window, so that they neither burst together
        nor come like a clock; prompts go out before, so that none falls into what is measured.
Rule 2: delivery counts chunks that were written within the window, CPU is what the relay used in it.
Rule 3: a chunk that has not come long after the last turn should have ended is lost, and told.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from benchmarks.machine import cpu_s
from benchmarks.relays.processes import cpu_of, started_by, waited_s
from benchmarks.relays.reading import Reader

STUB = Path(__file__).with_name("stub.py")
LEAD_S, WARM_S, TAIL_S = 0.2, 0.5, 0.1
SETTLE_S = 15.0
PHASES = [random.Random(15).random() for _ in range(5000)]


class Window(NamedTuple):
    """What one window of paced chunks brought."""

    p50_ms: float
    p99_ms: float
    chunks: int
    lost: int
    cpu_us: float
    """CPU per chunk of the relay's own process; of a bare pipe, the reader's."""
    helpers_us: float
    """The same of what it has started beside agents."""
    share: float
    """Of one core, that its own process used."""
    waited: float
    """Of the window, that its first thread waited for a core."""
    reader_share: float


class Pace(NamedTuple):
    """Chunks of a window."""

    sessions: int
    per_second: float
    size: int
    seconds: float


class Relay:
    """The base of all that are read by descriptors; a relay says how sessions are made and prompted."""

    name = ""
    pid: int | None = None
    """The process that is measured; a bare pipe has none but the reader."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="bench-relay-"))
        self.stub = stub_program(self.folder)
        self.reader = Reader()
        self.streams: list[int] = []
        self._prompt_s = 0.002

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.reader.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def add(self, count: int) -> None:
        """So many sessions more, each with a reader; their descriptors join ``streams``."""
        raise NotImplementedError

    def prompt(self, index: int, text: str) -> None:
        """Send a prompt to one session; nobody waits for its turn here."""
        raise NotImplementedError

    def settle(self, indices: range) -> bool:
        """Wait until the turns of these have ended; whether they did."""
        return self.reader.read_ends([self.streams[index] for index in indices], SETTLE_S)

    def grow(self, sessions: int) -> None:
        """Have at least so many sessions."""
        if sessions > len(self.streams):
            known = len(self.streams)
            self.add(sessions - known)
            for stream in self.streams[known:]:
                self.reader.add(stream)

    def window(self, pace: Pace) -> Window:
        """Let the first sessions write for a while."""
        chunks = int(pace.per_second * (WARM_S + pace.seconds + TAIL_S)) + 1
        warm = self._prompt_all(pace, chunks) + int(WARM_S * 1e9)
        self.reader.read_until(warm)
        before, from_ns = self._used(), time.monotonic_ns()
        self.reader.read_until(warm + int(pace.seconds * 1e9))
        after, to_ns = self._used(), time.monotonic_ns()
        self.settle(range(pace.sessions))
        took = sorted(took / 1e6 for stamp, took in self.reader.arrivals if from_ns <= stamp < to_ns) or [0.0]
        seconds, offered = (to_ns - from_ns) / 1e9, max(1, len(took))
        used = [late - early for early, late in zip(before, after, strict=True)]
        lost = pace.sessions * chunks - sum(self.reader.chunks.values())
        return Window(p50_ms=took[len(took) // 2], p99_ms=took[int(len(took) * 0.99)], chunks=len(took), lost=lost,
                      cpu_us=used[0] / offered * 1e6, helpers_us=self._helpers_s() / (pace.sessions * chunks) * 1e6,
                      share=used[0] / seconds, waited=used[1] / seconds, reader_share=used[2] / seconds)

    def _prompt_all(self, pace: Pace, chunks: int) -> int:
        self.reader.forget()
        self._helpers = started_by(self.pid, str(self.stub)) if self.pid else []
        self._helpers_before = cpu_of(self._helpers)
        begun = time.monotonic_ns()
        begin = begun + int((LEAD_S + 2 * self._prompt_s * pace.sessions) * 1e9)
        for index in range(pace.sessions):
            start = begin + int(PHASES[index] / pace.per_second * 1e9)
            self.prompt(index, f"paced {chunks} {pace.size} {pace.per_second} {start}")
        now = time.monotonic_ns()
        self._prompt_s = max(0.001, (now - begun) / 1e9 / pace.sessions)
        if now > begin:
            print(f"   {self.name}: prompts took {(now - begin) / 1e9:.2f} s too long; the round began late", flush=True)
        return begin

    def _helpers_s(self) -> float:
        return cpu_of(self._helpers) - self._helpers_before

    def _used(self) -> tuple[float, float, float]:
        own = time.process_time()
        if self.pid is None:
            return own, 0.0, own
        return cpu_s(self.pid), waited_s(self.pid), own


def stub_program(folder: Path) -> Path:
    """The stub as a program of its own: started by the plain interpreter, without an environment and what that loads."""
    program = folder / "stub-agent"
    program.write_text(f"#!{os.path.realpath(sys.executable)} -IS\n{STUB.read_text()}")
    program.chmod(0o755)
    return program
