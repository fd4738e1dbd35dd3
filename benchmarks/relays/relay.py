"""What every relay can be asked for. A relay is entered, grows to so many sessions with a reader each, and is prompted.

Rule 1: agents of one window begin at phases that are random and the same in each window, so that they neither burst together
        nor come like a clock; prompts go out before, so that none falls into what is measured.
Rule 2: delivery counts chunks that were written within the window, CPU is what the relay used in it.
Rule 3: a chunk that has not come long after the last turn should have ended is lost, and told.
Rule 4: agents share one core, relay and reader may use any: a scheduler that spreads hundreds of small processes lets whoever
        reads them wait for a millisecond, which hides what the relay itself takes.
"""

from __future__ import annotations

import gc
import os
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from types import TracebackType
from typing import NamedTuple, Self

from benchmarks.machine import cpu_s
from benchmarks.relays.processes import below, cpu_of, keep_to, waited_s
from benchmarks.relays.reading import Reader

STUB = Path(__file__).with_name("stub.py")
LEAD_S, WARM_S, TAIL_S = 0.2, 0.5, 0.1
SETTLE_S = 8.0
PHASES = [*map(Random(15).uniform, [0.0] * 5000, [1.0] * 5000)]
CORES = os.sched_getaffinity(0)


class Window(NamedTuple):
    """What one window of paced chunks brought."""

    p50_ms: float
    p99_ms: float
    chunks: int
    lost: int
    cpu_us: float
    """CPU per chunk and reader of the relay's own process; of a bare pipe, the reader's."""
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
    start_s = 0.0
    """From its start to its first answer."""

    def __init__(self) -> None:
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # a descriptor per session and reader, in all of them
        self.folder = Path(tempfile.mkdtemp(prefix="bench-relay-"))
        self.stub = stub_program(self.folder)
        self.reader = Reader()
        self.streams: list[int] = []
        self.more: list[int] = []
        """Streams of the first session, beside its own."""
        self._prompt_s = 0.002

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.reader.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def add(self, count: int) -> None:
        """So many sessions more, each with a reader; their descriptors join ``streams``."""
        raise NotImplementedError

    def add_reader(self) -> int | None:
        """Another reader of the first session; nothing where there can be but one."""
        return None

    def send(self, index: int, text: str) -> None:
        """Send a prompt to one session; nobody waits for anything here."""
        raise NotImplementedError

    def taken(self, index: int) -> None:
        """Wait until a prompt was accepted, where that is told before its turn ends."""

    def create_s(self) -> float:
        """Seconds from nothing to a session that can be prompted."""
        raise NotImplementedError

    def settle(self, sessions: int) -> bool:
        """Wait until the turns of the first sessions have ended; whether they did."""
        return self.reader.read_ends([*self.streams[:sessions], *self.more], SETTLE_S)

    def grow(self, sessions: int) -> None:
        """Have at least so many sessions."""
        known = len(self.streams)
        if sessions > known:
            self.add(sessions - known)
            for stream in self.streams[known:]:
                self.reader.add(stream)
            self.keep_agents()

    def keep_agents(self) -> None:
        """All agents on one core."""
        keep_to(below(self.pid or os.getpid()).agents, {min(CORES)})

    def fan_out(self, readers: int) -> bool:
        """Have one session with so many readers; whether that can be had."""
        self.grow(1)
        while len(self.more) < readers - 1:
            stream = self.add_reader()
            if stream is None:
                return False
            self.more.append(stream)
            self.reader.add(stream)
        return True

    def window(self, pace: Pace) -> Window:
        """Let the first sessions write for a while."""
        chunks = int(pace.per_second * (WARM_S + pace.seconds + TAIL_S)) + 1
        expected = (pace.sessions + len(self.more)) * chunks
        gc.collect()
        gc.disable()
        try:
            helpers = below(self.pid).helpers if self.pid else []
            helped = cpu_of(helpers)
            warm = self._prompt_all(pace, chunks) + int(WARM_S * 1e9)
            self.reader.read_until(warm)
            before, from_ns = self._used(), time.monotonic_ns()
            self.reader.read_until(warm + int(pace.seconds * 1e9))
            after, to_ns = self._used(), time.monotonic_ns()
            self.settle(pace.sessions)
        finally:
            gc.enable()
        took = sorted(took / 1e6 for stamp, took in self.reader.arrivals if from_ns <= stamp < to_ns) or [0.0]
        seconds = (to_ns - from_ns) / 1e9
        used = [late - early for early, late in zip(before, after, strict=True)]
        return Window(p50_ms=took[len(took) // 2], p99_ms=took[int(len(took) * 0.99)], chunks=len(took),
                      lost=expected - sum(self.reader.chunks.values()), cpu_us=used[0] / len(took) * 1e6,
                      helpers_us=(cpu_of(helpers) - helped) / expected * 1e6, share=used[0] / seconds,
                      waited=used[1] / seconds, reader_share=used[2] / seconds)

    def echo_s(self, rest_s: float = 0.0) -> float:
        """Seconds from a prompt to the first word of its answer, after some rest."""
        time.sleep(rest_s)
        self.reader.forget()
        begin = time.monotonic_ns()
        self.send(0, "echo")
        took = self.reader.read_chunk(self.streams[0], SETTLE_S) - begin
        self.taken(0)
        if not self.settle(1):
            raise RuntimeError(f"{self.name}: a turn did not end")
        return took / 1e9

    def _prompt_all(self, pace: Pace, chunks: int) -> int:
        self.reader.forget()
        begun = time.monotonic_ns()
        begin = begun + int((LEAD_S + 1.5 * self._prompt_s * pace.sessions) * 1e9)
        for index in range(pace.sessions):
            start = begin + int(PHASES[index] / pace.per_second * 1e9)
            self.send(index, f"paced {chunks} {pace.size} {pace.per_second} {start}")
            self.taken(index)
        now = time.monotonic_ns()
        self._prompt_s = max(0.0003, (now - begun) / 1e9 / pace.sessions)
        if now > begin:
            print(f"   {self.name}: prompts took {(now - begin) / 1e9:.2f} s too long; the round began late", flush=True)
        return begin

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
