"""Rule 2 for readers: however many read a long session from its beginning, others wait for a few pages at most.

Others are ``/healthz``, the list of sessions, somebody who reads another session from the journal, and a prompt. The hub is
started anew before, so that nothing is in memory. Time in which the machine had no core for the hub does not count."""

from __future__ import annotations

import os
import sys
import time
from contextlib import ExitStack

import pytest

from tests.faults.conftest import Report
from tests.faults.test_bounds import BUSY, FLOODER, WAIT_MS, NewHub
from tests.tooling.crowd import Crowd
from tests.tooling.hub_process import HubProcess, Session
from tests.tooling.prober import Prober, waited_ns
from tests.tooling.processes import eventually

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="waiting is read from /proc")

CLIENTS = 250
PROMPTS = 5
KINDS = ("stream", "stream of the hub", "page", "joined page", "packets", "page of packets")


def long_session(new_hub: NewHub, count: int) -> Session:
    """A session of so many entries, with a tool call at its end, on a hub that has just started."""
    session = new_hub(agents={"flood": FLOODER}).new_session("flood")
    session.post("send-message", {"content": f"chunks {count}"}, 202)
    eventually(lambda: session.view()["status"] == "idle", "all is said", 120)
    session.say("calls 1 end")
    return session


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


def probers(hub: HubProcess, other: Session) -> list[Prober]:
    paths = ("/healthz", "/sessions", f"{other.path}/history?after=0&limit=100")
    return [Prober(hub.pid, hub.url, path, hub.token) for path in paths]


def crowd_of_readers(new_hub: NewHub, report: Report, kind: str, count: int) -> None:
    session = long_session(new_hub, count)
    hub = session.hub
    other, third = hub.new_session("flood"), hub.new_session("fast")
    other.say("chunks 3000")
    hub.restart()
    prompt(third)
    path, until = replay(session, kind)
    with ExitStack() as stack:
        others = [stack.enter_context(prober) for prober in probers(hub, other)]
        crowd = stack.enter_context(Crowd(hub.wire, path, CLIENTS, until))
        waits = [prompt(third) for _ in range(PROMPTS)]
        done = crowd.done(300)
    worst = max(*waits, *(prober.worst_ms for prober in others))
    told = f"prompts {max(waits):.0f} ms, others {[round(prober.worst_ms) for prober in others]} ms"
    assert worst < WAIT_MS * BUSY, told
    report(2, f"{CLIENTS} clients read {count:,} entries at once: {kind}", tried=CLIENTS, held=done, worst_ms=worst)


@pytest.mark.parametrize("kind", ["stream", "stream of the hub"])
def test_whoever_replays_with_a_filter_holds_nobody_up(new_hub: NewHub, report: Report, kind: str) -> None:
    crowd_of_readers(new_hub, report, kind, 10_000)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_whoever_replays_a_very_long_session_holds_nobody_up(new_hub: NewHub, report: Report, kind: str) -> None:
    crowd_of_readers(new_hub, report, kind, 60_000)
