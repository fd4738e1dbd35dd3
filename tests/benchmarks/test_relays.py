"""What measures relays: a stub that stamps, a reader that misses no stamp, and figures that are told as they are."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from benchmarks.machine import cpu_s
from benchmarks.relays.bare import Bare
from benchmarks.relays.processes import below, cpu_of, room_for
from benchmarks.relays.reading import Reader
from benchmarks.relays.relay import Pace, Window
from benchmarks.relays.workloads import Rung, added, holds, middle, paired

WINDOW = Window(p50_ms=1.0, p99_ms=2.0, chunks=10, lost=0, cpu_us=50.0, helpers_us=0.0, share=0.1, waited=0.0, reader_share=0.1)


def rungs(**p99_by_sessions: float) -> list[Rung]:
    return [Rung(int(name[1:]), WINDOW._replace(p99_ms=p99)) for name, p99 in p99_by_sessions.items()]


def stamp(age_ns: int = 0) -> bytes:
    return b'data: {"text":"@%019d@xxxx"}\n\n' % (time.monotonic_ns() - age_ns)


@pytest.fixture
def stream() -> Iterator[tuple[Reader, int, int]]:
    """A reader, the end of a pipe that it reads, and the end that is written to."""
    out, into = os.pipe()
    reader = Reader()
    reader.add(out)
    yield reader, out, into
    reader.close()
    for end in (out, into):
        os.close(end)


def test_a_stamp_that_comes_in_two_parts_is_one_chunk(stream: tuple[Reader, int, int]) -> None:
    reader, out, into = stream
    frame = stamp()
    for cut in (15, 20, 35, 36):
        reader.forget()
        os.write(into, frame[:cut])
        reader.read_until(time.monotonic_ns() + 1_000_000)
        os.write(into, frame[cut:] + b"stopReason")
        assert reader.read_ends([out], 10) and reader.chunks[out] == 1 and reader.ends[out] == 1


def test_a_chunk_is_as_old_as_its_stamp_says(stream: tuple[Reader, int, int]) -> None:
    reader, out, into = stream
    os.write(into, stamp(age_ns=5_000_000_000))
    reader.read_chunk(out, 10)
    assert 5_000_000_000 <= reader.arrivals[0].took_ns < 60_000_000_000


def test_a_stream_that_ended_is_not_waited_for() -> None:
    out, into = os.pipe()
    reader = Reader()
    reader.add(out)
    os.close(into)
    assert reader.read_ends([out], 30) and reader.lost == {out}
    reader.close()
    os.close(out)


def test_a_window_over_a_bare_pipe_loses_nothing_and_counts_what_was_written_in_it() -> None:
    with Bare() as bare:
        bare.grow(3)
        seen = bare.window(Pace(sessions=3, per_second=100, size=80, seconds=0.2))
        written = sum(bare.reader.chunks.values())
        assert seen.lost == 0 and 0 < seen.p50_ms <= seen.p99_ms
        assert 0 < seen.chunks < written, "a window counts neither what came before it nor what came after"


def test_a_burst_is_written_whole_and_an_echo_is_one_chunk() -> None:
    with Bare() as bare:
        bare.grow(1)
        bare.send(0, "burst 1234 50")
        assert bare.settle(1) and bare.reader.chunks[bare.streams[0]] == 1234
        assert bare.echo_s() > 0 and bare.reader.chunks[bare.streams[0]] == 1


def test_agents_are_told_apart_from_what_else_a_process_has_started() -> None:
    with Bare() as bare:
        before = below(os.getpid())
        bare.grow(2)
        after = below(os.getpid())
        assert len(after.agents) == len(before.agents) + 2 and set(after.helpers) <= set(before.helpers)


def test_no_more_agents_are_started_than_the_machine_has_memory_for() -> None:
    assert room_for(1) and not room_for(10**9)


def test_sessions_that_a_relay_holds_lie_between_the_rungs_around_the_bound() -> None:
    count, reached = holds(rungs(n100=1.0, n200=10.0, n300=1000.0))
    assert reached and count == pytest.approx(250)


def test_one_late_rung_below_others_that_were_in_time_is_noise() -> None:
    assert holds(rungs(n100=500.0, n200=10.0, n300=20.0)) == (300.0, False)
    assert holds(rungs(n100=500.0)) == (100.0, True)


def test_figures_are_medians_but_losses_add_up() -> None:
    told = middle([WINDOW._replace(p50_ms=value, lost=1) for value in (1.0, 2.0, 9.0)])
    assert told.p50_ms == 2.0 and told.lost == 3


def test_rounds_are_compared_with_their_own_round() -> None:
    assert paired([2.0, 20.0, 6.0], [1.0, 10.0, 2.0]) == 2.0
    assert added([2.0, 20.0], [1.0, 10.0]) == [1.0, 10.0]


def test_the_cpu_of_a_process_is_told_finer_than_in_hundredths_of_a_second() -> None:
    before = time.process_time()
    told = cpu_s(os.getpid())
    assert before < told < time.process_time()


def test_a_process_that_is_gone_counts_no_more() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    with pytest.raises(ProcessLookupError):
        cpu_s(child.pid)
    assert cpu_of([child.pid, os.getpid()]) > 0
