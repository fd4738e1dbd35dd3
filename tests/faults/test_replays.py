"""Rule 2 for readers: however many read a long session from its beginning, others wait for a few pages at most.

Others are ``/healthz``, the list of sessions, somebody who reads another session from the journal, and a prompt. The hub is
started anew before, so that nothing is in memory. Time in which the machine had no core for the hub does not count."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.faults.conftest import Report
from tests.faults.test_bounds import BUSY, FLOODER, WAIT_MS
from tests.tooling.crowd import Crowd
from tests.tooling.hub_process import HubProcess, Session
from tests.tooling.prober import Prober, waited_ns
from tests.tooling.processes import eventually

LongSessions = Callable[[int], Session]

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="waiting is read from /proc")

CLIENTS = 250
FEW = 60
"""Read one behind the other, what so many ask for would take whole seconds: enough to see who waits for them."""
PROMPTS = 5
OTHER = "shorter"
"""What the session is called that others read meanwhile."""
KINDS = ("stream", "stream of the hub", "page", "joined page", "packets", "page of packets")


@pytest.fixture(scope="module")
def long_sessions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LongSessions]:
    """Gives a session of so many entries, with a tool call at its end, on a hub that has just started. To write it takes longer
    than to read it: all kinds of readers get the same."""
    made: dict[int, Session] = {}

    def long_session(count: int) -> Session:
        if count not in made:
            hub = HubProcess(tmp_path_factory.mktemp("hub"), agents={"flood": FLOODER})
            hub.start()
            made[count] = written(hub, count)
        made[count].hub.restart()
        return made[count]

    yield long_session
    for session in made.values():
        session.hub.close()


def written(hub: HubProcess, count: int) -> Session:
    """A session of that many entries, and a shorter one beside it."""
    session = hub.new_session("flood")
    session.post("send-message", {"content": f"chunks {count}"}, 202)
    eventually(lambda: session.view()["status"] == "idle", "all is said", 120)
    session.say("calls 1 end")
    hub.new_session("flood", title=OTHER).say("chunks 3000")
    return session


def other_of(hub: HubProcess) -> str:
    """The path of the shorter session."""
    (found,) = hub.wire.get(f"/sessions?text={OTHER}")["sessions"]
    return f"/sessions/{found['id']}"


def last_call(session: Session) -> int:
    """The seq of the last call's beginning."""
    page = session.wire.get(f"{session.path}/history?before=1000000&types=tool:start&limit=1")
    return int(page["events"][-1]["seq"])


def pos_of(session: Session, seq: int) -> int:
    """Where in the hub's stream an event of a session stands."""
    with session.wire.stream("/events?after=0&types=tool:start", wait_s=60).expect() as stream:
        return next(event.id or 0 for event in stream if event.value["seq"] == seq and event.value["sessionId"] == session.id)


def replay(session: Session, kind: str) -> tuple[str, str]:
    """What is asked for, and the words by which a client knows that it has all of it."""
    path, seq = session.path, last_call(session)
    match kind:
        case "stream":
            return f"{path}/events?after=0&types=tool:start", f"id: {seq}\n"
        case "stream of the hub":
            return "/events?after=0&types=tool:start", f"id: {pos_of(session, seq)}\n"
        case "page":
            return f"{path}/history?after=0&types=session:error", '"nextAfter":'
        case "joined page":
            return f"{path}/history?after=0&joined=true&limit=5000", '"nextAfter":'
        case "packets":
            return f"{path}/packets?after=0", f"id: {seq}\n"
        case _:
            return f"{path}/messages?after=0&limit=1000", '"nextAfter":'


def prompt(session: Session) -> float:
    """How long a prompt waited until it was taken, in milliseconds."""
    def held_off() -> int:
        return waited_ns(session.hub.pid) + waited_ns(os.getpid())

    before, began = held_off(), time.perf_counter_ns()
    session.post("send-message", {"content": "/echo in between"}, 202)
    took = time.perf_counter_ns() - began - (held_off() - before)
    eventually(lambda: session.view()["status"] == "idle", "the turn is over")
    return took / 1e6


def probers(hub: HubProcess) -> list[Prober]:
    paths = ("/healthz", "/sessions", f"{other_of(hub)}/history?after=0&limit=100")
    return [Prober(hub.pid, hub.url, path, hub.token) for path in paths]


def crowd_of_readers(session: Session, report: Report, kind: str, count: int, clients: int) -> None:
    hub = session.hub
    third = hub.new_session("fast")
    prompt(third)
    path, until = replay(session, kind)
    with ExitStack() as stack:
        others = [stack.enter_context(prober) for prober in probers(hub)]
        crowd = stack.enter_context(Crowd(hub.wire, path, clients, until))
        waits = [prompt(third) for _ in range(PROMPTS)]
        done = crowd.done(300)
    worst = max(*waits, *(prober.worst_ms for prober in others))
    told = f"prompts {max(waits):.0f} ms, others {[round(prober.worst_ms) for prober in others]} ms"
    assert worst < WAIT_MS * BUSY, told
    report(2, f"{clients} clients read {count:,} entries at once: {kind}", tried=clients, held=done, worst_ms=worst)


@pytest.mark.parametrize("kind", [pytest.param("stream", marks=pytest.mark.slow), "stream of the hub"])
def test_whoever_replays_with_a_filter_holds_nobody_up(long_sessions: LongSessions, report: Report, kind: str) -> None:
    crowd_of_readers(long_sessions(5_000), report, kind, 5_000, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_whoever_replays_a_very_long_session_holds_nobody_up(long_sessions: LongSessions, report: Report, kind: str) -> None:
    crowd_of_readers(long_sessions(60_000), report, kind, 60_000, CLIENTS)
