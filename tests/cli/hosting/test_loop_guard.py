"""The loop's guard: it names what holds the loop, and nothing that the machine or many short callbacks did."""

from __future__ import annotations

import asyncio
import logging
import mmap
import os
import re
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from trunkline.cli.hosting import loop_guard
from trunkline.cli.hosting.loop_guard import HELD, LoopGuard
from trunkline.journal.committer import Committer
from trunkline.journal.stores.memory import MemoryJournal

Scenario = Callable[[], Coroutine[Any, Any, None]]


Hold = Callable[[int], None]
"""Holds the loop for about 0.1 s, or for as many times as long as is asked for."""


def sleeps(times: int = 1) -> None:
    """What a call does that waits for a disk. It really sleeps: real time is what the guard measures."""
    time.sleep(0.15 * times)


def computes(times: int = 1) -> None:
    """What a call does that computes in steps of the interpreter."""
    until = time.thread_time() + 0.15 * times
    while time.thread_time() < until:
        pass


def computes_in_c(times: int = 1) -> None:
    """What a call does that keeps the interpreter to itself: nobody can look before it is over. Some 0.8 s at most: where the
    machine is busy with others, longer ones took minutes of it and told no more."""
    re.match(r"(a+)+b", "a" * (20 + min(4, times.bit_length())))


async def looks(times: int) -> None:
    """Give the loop back for as long as the guard's thread needs to look so often: it does in real time."""
    await asyncio.sleep(times * loop_guard.LOOK_S)


@pytest.fixture
def guarded(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Callable[[Scenario], list[str]]:
    """Runs a scenario on a watched loop; gives what the guard told of."""

    async def watched(scenario: Scenario) -> None:
        guard = LoopGuard()
        guard.start()
        try:
            await scenario()
            await looks(4)
        finally:
            guard.stop()

    def start(scenario: Scenario) -> list[str]:
        kind = getattr(request, "param", "uvloop")
        factory = pytest.importorskip("uvloop").new_event_loop if kind == "uvloop" else None
        with caplog.at_level(logging.INFO, "trunkline.loop"), asyncio.Runner(loop_factory=factory) as runner:
            runner.run(watched(scenario))
        return [record.getMessage() for record in caplog.records if record.name == "trunkline.loop"]

    return start


def until_told(hold: Hold) -> Scenario:
    """Hold the loop, again and for longer where the machine was too busy for the guard to be sure."""

    async def scenario() -> None:
        heard = threading.Event()

        class Ear(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                heard.set()

        ear = Ear()
        logging.getLogger("trunkline.loop").addHandler(ear)
        try:
            for attempt in range(20):
                hold(1 + attempt // 2)
                await looks(2)
                if heard.is_set():
                    return
        finally:
            logging.getLogger("trunkline.loop").removeHandler(ear)

    return scenario


@pytest.mark.parametrize(("guarded", "hold"), [("uvloop", sleeps), ("uvloop", computes), ("uvloop", computes_in_c),
                                               ("asyncio", sleeps)], indirect=["guarded"])
def test_a_callback_that_holds_the_loop_is_named_with_its_frame(
        guarded: Callable[[Scenario], list[str]], hold: Hold) -> None:
    [told, *_] = guarded(until_told(hold))
    assert told.startswith(HELD)
    if loop_guard.GRIPPED not in told:  # what is seen after the call is where the loop is then
        assert f" {hold.__name__}\n" in told, "the frame"
        assert "until_told" in told, "and who called it"


def test_a_call_that_keeps_the_interpreter_is_told_though_nobody_could_look(guarded: Callable[[Scenario], list[str]],
                                                                            caplog: pytest.LogCaptureFixture) -> None:
    def keeps(times: int) -> None:
        computes_in_c(2 * times)

    attempts = 0

    async def scenario() -> None:
        nonlocal attempts
        while attempts < 40 and not any("keeps" in record.getMessage() for record in caplog.records):
            attempts += 1
            asyncio.get_running_loop().call_soon(keeps, 1 + attempts // 2)
            await looks(3)

    told = [line for line in guarded(scenario) if line.startswith(HELD)]
    assert any("keeps" in line for line in told)
    assert len(told) <= attempts, "each of them once"


def test_one_hold_is_told_once_and_how_long_it_took(guarded: Callable[[Scenario], list[str]]) -> None:
    told = guarded(until_told(sleeps))
    assert len(told) == 2 and told[0].startswith(HELD) and told[1].startswith("the loop goes on")


def test_many_short_callbacks_are_no_hold(guarded: Callable[[Scenario], list[str]]) -> None:
    async def scenario() -> None:
        ends = asyncio.Event()

        def short() -> None:
            until = time.thread_time() + 0.004
            while time.thread_time() < until:
                pass

        for _ in range(60):
            asyncio.get_running_loop().call_soon(short)
        asyncio.get_running_loop().call_soon(ends.set)
        await ends.wait()

    assert guarded(scenario) == []


def test_waiting_for_another_threads_grip_on_the_interpreter_is_a_hold(guarded: Callable[[Scenario], list[str]]) -> None:
    def crowded(times: int) -> None:
        thread = threading.Thread(target=computes_in_c, args=(times,))
        thread.start()
        thread.join()

    [told, *_] = guarded(until_told(crowded))
    assert told.startswith(HELD) and "crowded" in told


def test_a_commit_of_the_journal_is_told_of_as_one_and_is_no_hold(guarded: Callable[[Scenario], list[str]]) -> None:
    class SlowDisk(MemoryJournal):
        def append_now(self, group: Any) -> bool:
            sleeps()
            return super().append_now(group)

    def commits(times: int) -> None:
        from tests.journal.samples import entry

        committer = Committer(SlowDisk())
        committer.submit("a", [entry(1)])  # which commits on the spot

    told = guarded(until_told(commits))
    assert told and not [line for line in told if line.startswith(HELD)]


def forgotten(path: Path) -> mmap.mmap:
    """A file's pages in this process's memory that the system has to get from the disk."""
    path.write_bytes(os.urandom(1 << 20))
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        pages = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    pages.madvise(mmap.MADV_RANDOM)
    return pages


def test_waiting_while_our_own_memory_comes_from_the_disk_is_no_hold(guarded: Callable[[Scenario], list[str]], tmp_path: Path
                                                                     ) -> None:
    pages = forgotten(tmp_path / "pages")

    async def scenario() -> None:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
        for page in range(15):
            assert pages[4096 * 16 * page] >= 0
            time.sleep(0.01)  # noqa: ASYNC251  that is the hold
        if resource.getrusage(resource.RUSAGE_SELF).ru_majflt < before + 15:
            pytest.skip("this disk is memory, or reads ahead")

    assert guarded(scenario) == []


def test_what_the_host_takes_is_taken_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    monkeypatch.setattr(loop_guard, "_STAT", str(stat))
    clocks = loop_guard._Clocks(threading.get_native_id())
    found = []
    for ticks in (100, 130):
        stat.write_text(f"cpu  1 2 3 4 5 6 7 {ticks} 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n")
        found.append(clocks._stolen_s())
    clocks.close()
    assert found[1] - found[0] == pytest.approx(30 / os.sysconf("SC_CLK_TCK"))


@pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="nobody tells how long a thread was kept waiting")
def test_a_thread_that_is_not_run_yet_is_waited_for_by_the_machines_fault(guarded: Callable[[Scenario], list[str]]) -> None:
    """The loop waits for a thread that is run only where nobody else wants a core; the system counts its waiting afterwards."""
    spin = f"import os\nwhile os.getppid() == {os.getpid()}: pass"
    over = threading.Event()
    longest_s = 0.0

    def waits() -> None:
        nonlocal longest_s
        begun, begin = threading.Event(), time.monotonic()

        def late() -> None:
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
            os.sched_yield()  # without the interpreter in its hands
            begun.set()
            over.wait()  # as threads of a pool do: what had to wait and is gone when it is looked for is not known

        threading.Thread(target=late).start()
        begun.wait()
        longest_s = max(longest_s, time.monotonic() - begin)

    async def scenario() -> None:
        until = time.monotonic() + 20
        while longest_s < 0.1 and time.monotonic() < until:
            asyncio.get_running_loop().call_soon(waits)
            await looks(3)

    crowd = [subprocess.Popen([sys.executable, "-S", "-c", spin]) for _ in range(2 * len(os.sched_getaffinity(0)))]
    try:
        told = guarded(scenario)
    finally:
        over.set()
        for each in crowd:
            each.kill()
            each.wait()
    assert longest_s >= 0.1, "the machine was not busy"
    assert told == []


@pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="nobody tells how long a thread was kept waiting")
def test_a_machine_that_does_not_run_us_is_no_hold(guarded: Callable[[Scenario], list[str]]) -> None:
    """Every thread of this process shares one core with six programs that want it; callbacks of 8 ms then take 50 and more."""
    core = min(os.sched_getaffinity(0))
    spin = f"import os\nos.sched_setaffinity(0, {{{core}}})\nwhile os.getppid() == {os.getpid()}: pass"
    longest_s = 0.0

    async def scenario() -> None:
        nonlocal longest_s
        until = time.monotonic() + 1.0
        while time.monotonic() < until:
            begin, needs = time.monotonic(), time.thread_time() + 0.008
            while time.thread_time() < needs:
                pass
            longest_s = max(longest_s, time.monotonic() - begin)
            await asyncio.sleep(0)

    before = os.sched_getaffinity(0)
    crowd = [subprocess.Popen([sys.executable, "-S", "-c", spin]) for _ in range(6)]
    try:
        os.sched_setaffinity(0, {core})
        told = guarded(scenario)
    finally:
        os.sched_setaffinity(0, before)
        for each in crowd:
            each.kill()
            each.wait()
    assert longest_s > 0.02, "the machine was not busy"
    assert told == []
