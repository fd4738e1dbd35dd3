"""What only time and numbers show: a hub that is killed, that works for long, whose agents die. Each has a quick version.

``FAULT_LOAD_S`` is how long the mixed load goes on: 20 s where it is not set, 8 minutes in ``make test-faults``.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.test_kill import Trigger
from tests.faults.conftest import Report
from tests.faults.load import CHUNKS, Crew, Held, agent_of, held_by, packets_after, player
from tests.tooling.hub_process import HubProcess, Session, end_of
from tests.tooling.pace import crowding
from tests.tooling.processes import eventually
from tests.tooling.readers import Background, Seen, Witness
from tests.tooling.wire import Broken, Stream

NewHub = Callable[..., HubProcess]
LOAD_S = float(os.environ.get("FAULT_LOAD_S", "20"))
ROOM_MB = 12.0
"""Memory that may come and go: the allocator keeps what it once had."""
TAILS_MB = 24.0
"""What the newest entries of 20 sessions may take: 1 MiB each, and a little for their readers."""


# -- kills of the hub --------------------------------------------------------------------------------------------------------


class Watched:
    """A session, what its reader has seen of it, and up to where that was found again after a kill."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.seen: Seen = []
        self.found = 0
        self.checked = 0

    def lost(self) -> int:
        """Packets that were seen and are not there any more with the same bytes."""
        last = self.seen[-1][0] if self.seen else 0
        stored = dict(packets_after(self.session, self.checked, last))
        news = self.seen[self.found:]
        missing = sum(stored.get(number) != data for number, data in news) + len(stored.keys() - dict(news).keys())
        self.found, self.checked = len(self.seen), last
        return missing


def kill_under_load(hub: HubProcess, watched: list[Watched], dice: random.Random) -> None:
    """Prompt every session, let readers see, and kill the hub after a random number of packets."""
    trigger = Trigger(hub, dice.choice((dice.randint(1, 60), dice.randint(1, len(watched) * CHUNKS // 2))))
    witnesses: list[Witness] = []
    try:
        for one in watched:
            witnesses.append(Witness(one.session, one.seen, trigger.count))
        for one in watched:
            one.session.post("send-message", {"content": "stream"}, 202)
    except (Broken, ConnectionError):
        assert trigger.pulled.is_set(), "nothing but the kill breaks a connection"
    assert trigger.pulled.wait(60), "the load was too light"
    trigger.join()
    for witness in witnesses:
        witness.join()


def agents_end(hub: HubProcess) -> float:
    """Wait until nothing of a killed hub runs beside the new one; how long that took, in seconds."""
    began = time.monotonic()
    eventually(lambda: all(process.pid == hub.pid for process in hub.left()), f"what a killed hub ran has ended: {hub.left()}")
    return time.monotonic() - began


def kills(hub: HubProcess, sessions: int, count: int, report: Report, what: str) -> None:
    dice, worst, worst_end, lost, held = random.Random(count), 0.0, 0.0, 0, 0
    watched = [Watched(hub.new_session("player")) for _ in range(sessions)]
    for _ in range(count):
        kill_under_load(hub, watched, dice)
        began = time.monotonic()
        hub.start()
        worst = max(worst, time.monotonic() - began)
        missing = sum(one.lost() for one in watched)
        lost += missing
        held += not missing
        worst_end = max(worst_end, agents_end(hub))
    for one in dice.sample(watched, min(4, sessions)):
        whole = dict(one.session.history())
        lost += sum(whole.get(number) != data for number, data in one.seen)
    print(f"{what}: {sum(len(one.seen) for one in watched):,} packets seen")
    report(5, f"{what}: its agents end, after the new hub's start", tried=count, held=count, worst_ms=worst_end * 1000)
    report(6, what, tried=count, held=held, worst_ms=worst * 1000, lost=lost)


@pytest.mark.slow  # tests/acceptance/test_kill.py kills four times under a load that has more in it
def test_nothing_seen_is_lost_by_three_kills_under_load(new_hub: NewHub, tmp_path: Path, report: Report) -> None:
    kills(new_hub(agents=player(tmp_path)), 6, 3, report, "SIGKILLs of the hub, 6 sessions streaming (quick)")


@pytest.mark.slow
def test_nothing_seen_is_lost_by_two_hundred_kills_under_load(new_hub: NewHub, tmp_path: Path, report: Report) -> None:
    kills(new_hub(agents=player(tmp_path)), 20, 200, report, "SIGKILLs of the hub, 20 sessions streaming")


# -- sessions that come and go -----------------------------------------------------------------------------------------------


def cycles(hub: HubProcess, count: int, workers: int = 4) -> int:
    """Create a session, let it say something, delete it; so often. Returns how often it worked."""
    folders = [hub.new_folder() for _ in range(workers)]
    crew = Crew(600)
    for folder in folders:
        def once(folder: Path = folder) -> None:
            session = hub.new_session("player", cwd=folder)
            assert end_of(session.say("short", wait_s=60))["type"] == "prompt_response"
            session.delete()

        crew.add(once, count // workers)
    crew.run()
    assert not crew.failures, "\n".join(crew.failures)
    return crew.done


def settled(hub: HubProcess) -> Held:
    """What the hub holds when nothing is going on any more."""
    eventually(lambda: [process for process in hub.left() if process.pid != hub.pid] == [], "every agent is gone")
    return held_by(hub)


def grew(before: Held, after: Held, room_mb: float) -> bool:
    """Whether a hub holds more than before, beyond what comes and goes."""
    return (after.resident_mb > before.resident_mb + room_mb or after.files > before.files + 4
            or after.threads > before.threads + 4 or after.processes > before.processes)


def create_and_delete(hub: HubProcess, warm: int, count: int, report: Report, what: str) -> None:
    cycles(hub, warm)
    before = settled(hub)
    done = cycles(hub, count)
    eventually(lambda: not grew(before, settled(hub), ROOM_MB), f"it holds what it held: {before}, now {held_by(hub)}", 30)
    assert hub.wire.get("/sessions")["sessions"] == []
    print(f"{what}: {before} → {held_by(hub)}")
    report(2, what, tried=count, held=done)


def test_a_few_sessions_that_come_and_go_leave_nothing(new_hub: NewHub, tmp_path: Path, report: Report) -> None:
    create_and_delete(new_hub(agents=player(tmp_path)), 8, 12, report, "sessions created and deleted (quick)")


@pytest.mark.slow
def test_five_hundred_sessions_that_come_and_go_leave_nothing(new_hub: NewHub, tmp_path: Path, report: Report) -> None:
    create_and_delete(new_hub(agents=player(tmp_path)), 60, 500, report, "sessions created and deleted")


# -- everything at once ------------------------------------------------------------------------------------------------------


class Place:
    """One of the sessions of a mixed load: prompted, asked, read, stalled, deleted, one after the other."""

    def __init__(self, hub: HubProcess, number: int) -> None:
        self._hub = hub
        self._dice = random.Random(number)
        self._folder = hub.new_folder()
        self._stalled: list[Stream] = []
        self.session = hub.new_session("player", cwd=self._folder)

    def step(self) -> None:
        """One thing, by chance."""
        self._dice.choice((self._prompt, self._prompt, self._ask, self._read, self._stall, self._renew))()

    def close(self) -> None:
        """Let go of who stalls."""
        while self._stalled:
            self._stalled.pop().close()

    def _prompt(self) -> None:
        assert end_of(self.session.say("short", wait_s=60))["type"] == "prompt_response"

    def _ask(self) -> None:
        with self.session.send("ask", wait_s=60) as stream:
            asked = stream.until("approval_requested").value
            self.session.post(f"permissions/{asked['requestId']}", {"decision": "allow"})
            assert stream.rest()[-1].type == "prompt_response"

    def _read(self) -> None:
        """A reader that comes, reads a little and is cut."""
        if self.session.view()["lastSeq"] > 40:
            with self.session.attach() as stream:
                for _ in range(self._dice.randint(1, 20)):
                    next(stream)

    def _stall(self) -> None:
        """A reader that stops reading, and stays for a while."""
        self._stalled.append(self.session.attach(receive_buffer=4096, wait_s=900))
        if len(self._stalled) > 3:
            self._stalled.pop(0).close()

    def _renew(self) -> None:
        if self._dice.random() < 0.3:
            self.close()
            self.session.delete()
            self.session = self._hub.new_session("player", cwd=self._folder)


QUARTERS = 4
"""Parts of a run that are compared; each has at least one look at the hub."""


def mixed(hub: HubProcess, places: int, seconds: float, report: Report, what: str) -> None:
    crew = Crew(seconds)
    sessions = [Place(hub, number) for number in range(places)]
    for place in sessions:
        crew.add(place.step)
    samples: list[Held] = []
    waits: list[float] = []

    def look() -> None:
        ended = threading.Event()
        while not crew.over or len(samples) < QUARTERS:
            began = time.monotonic()
            assert hub.wire.ask("GET", "/healthz").status == 200
            waits.append(time.monotonic() - began)
            samples.append(held_by(hub))
            ended.wait(min(1.0, seconds / 40))

    with Background(look):
        crew.run()
    assert not crew.failures, "\n".join([*crew.failures, hub.log()])
    for place in sessions:
        place.close()
        place.session.delete()
    assert_level(samples, what)
    settled(hub)
    report(2, what, tried=crew.done, held=crew.done, worst_ms=max(waits) * 1000)


def assert_level(samples: list[Held], what: str) -> None:
    """The last quarter holds no more than the second did: what grows with time shows in any quarter."""
    quarter = len(samples) // QUARTERS
    early, late = samples[quarter:2 * quarter], samples[-quarter:]
    before = Held(*(max(values) for values in zip(*early, strict=True)))
    after = Held(*(sorted(values)[len(values) // 2] for values in zip(*late, strict=True)))
    print(f"{what}: most in the second quarter {before}, usual in the last {after}")
    assert after.resident_mb <= before.resident_mb + TAILS_MB, (before, after)
    assert after.files <= before.files + 20 and after.threads <= before.threads + 8, (before, after)
    assert after.processes <= before.processes + 4, (before, after)


def test_everything_at_once_for_a_moment_holds(new_hub: NewHub, tmp_path: Path, report: Report) -> None:
    mixed(new_hub(agents=player(tmp_path)), 5, 2.0 * crowding(), report, "acts of a mixed load, 5 sessions (quick)")


@pytest.mark.slow
def test_everything_at_once_for_long_grows_nothing(new_hub: NewHub, tmp_path: Path, report: Report) -> None:
    mixed(new_hub(agents=player(tmp_path)), 20, LOAD_S, report, f"acts of a mixed load, 20 sessions, {LOAD_S:g} s")


# -- agents that die ---------------------------------------------------------------------------------------------------------


def kill_agent(session: Session) -> float:
    """Kill the agent in the middle of a turn; returns how long it took until its one error was seen."""
    with session.send("hang", wait_s=60) as stream:
        stream.until("agent_message_chunk")
        pid = agent_of(session)
        assert pid is not None, "an agent works in the session's folder"
        os.kill(pid, signal.SIGKILL)
        began = time.monotonic()
        end = stream.until("error")
        took = time.monotonic() - began
        assert end.value["details"]["code"] == "agent_exited" and stream.rest() == []
    return took


def agents_die(hub: HubProcess, sessions: int, times: int, report: Report, what: str) -> None:
    crew = Crew(600)
    took: list[float] = []
    for session in [hub.new_session("player") for _ in range(sessions)]:
        def again(session: Session = session) -> None:
            took.append(kill_agent(session))

        crew.add(again, times)
    crew.run()
    assert not crew.failures, "\n".join(crew.failures)
    for view in hub.wire.get("/sessions")["sessions"]:
        assert view["status"] in ("idle", "error")
        Session(hub, view["id"], Path(view["cwd"])).delete()
    settled(hub)
    report(5, what, tried=sessions * times, held=crew.done, worst_ms=max(took) * 1000)


def test_an_agent_that_is_killed_ends_its_turn_once_and_comes_back(new_hub: NewHub, tmp_path: Path, report: Report) -> None:
    agents_die(new_hub(agents=player(tmp_path)), 2, 3, report, "agents killed in mid-turn (quick)")


@pytest.mark.slow
def test_two_hundred_agents_that_are_killed_leave_nothing_behind(new_hub: NewHub, tmp_path: Path, report: Report) -> None:
    agents_die(new_hub(agents=player(tmp_path)), 10, 20, report, "agents killed in mid-turn")
