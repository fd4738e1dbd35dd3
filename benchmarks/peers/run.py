"""All workloads over the hub, a bare pipe and the peers, in turns; what one of them cannot do is left out of its figures."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import NamedTuple

from benchmarks.everyday import FRAMES_PER_SECOND, PER_SECOND, READERS, SESSIONS, TEXT
from benchmarks.peers.sandbox_agent import SandboxAgent
from benchmarks.peers.sdk import SdkClient
from benchmarks.peers.stdio_to_ws import StdioToWs
from benchmarks.relays.bare import Bare
from benchmarks.relays.hub import TheHub
from benchmarks.relays.processes import room_for
from benchmarks.relays.relay import Pace, Relay, Window
from benchmarks.relays.workloads import REST_S, Rung, creations, echoes, in_turns, middle, paced
from benchmarks.scenarios import FlatOut, Scale, run_flat_out

RELAYS: tuple[type[Relay], ...] = (Bare, SandboxAgent, StdioToWs, SdkClient, TheHub)
CLIMBING = {Bare.name, SandboxAgent.name, TheHub.name}
"""Of which more and more sessions are asked, until they are late: the two that a goal compares, and the pipe. With all of them it
would take longer than there is time for."""

RUNGS = (200, 300, 450, 600, 800, 1000)
ECHOES, RESTED, CREATIONS = 40, 15, 6
WINDOW_S, RUNG_S = 2.5, 1.0

MOST_MS = 150.0
"""A relay whose p99 is beyond this climbs no further."""

BUDGET_S = 480.0
"""After this no rung is begun: the whole takes ten minutes at most."""

FLAT_OUT_ROUNDS = 7
"""A rate scatters more than a cost."""


@dataclass
class Measured:
    """What was measured of one relay, a figure per round."""

    starts_ms: list[float] = field(default_factory=list)
    echoes_ms: list[float] = field(default_factory=list)
    rested_ms: list[float] = field(default_factory=list)
    creations_ms: list[float] = field(default_factory=list)
    everyday: list[Window] = field(default_factory=list)
    fan_out: list[Window] = field(default_factory=list)
    rungs: list[Rung] = field(default_factory=list)


class Run(NamedTuple):
    """All that was measured."""

    relays: dict[str, Measured]
    flat_out: FlatOut
    """The hub beside a bare pipe: row a of ``make bench``."""


def run(scale: Scale) -> Run:
    """Everything, relays in turns; says what it is at."""
    begun = time.monotonic()
    found = {relay.name: Measured() for relay in RELAYS}
    flat = run_flat_out(scale._replace(rounds=max(scale.rounds, FLAT_OUT_ROUNDS)))
    _say("flat out", begun)
    for number in range(scale.rounds):
        for kind in RELAYS if number % 2 == 0 else reversed(RELAYS):
            with kind() as relay:
                found[relay.name].starts_ms.append(1000 * relay.start_s)
    _say("starts", begun)
    with ExitStack() as stack:
        _one_session([stack.enter_context(kind()) for kind in RELAYS], scale, found)
        _say("echoes and new sessions", begun)
    with ExitStack() as stack:
        _fan_out([stack.enter_context(kind()) for kind in RELAYS], scale, found)
        _say("fan-out", begun)
    with ExitStack() as stack:
        relays = [stack.enter_context(kind()) for kind in RELAYS]
        pace = Pace(scale.of(SESSIONS), PER_SECOND, TEXT, max(1.0, WINDOW_S * scale.factor))
        for name, windows in paced(relays, pace, scale.rounds).items():
            found[name].everyday = windows
            found[name].rungs.append(Rung(pace.sessions, middle(windows)))
        _say("the everyday case", begun)
        _climb([relay for relay in relays if relay.name in CLIMBING], scale, found, begun)
    return Run(found, flat)


def _one_session(relays: list[Relay], scale: Scale, found: dict[str, Measured]) -> None:
    for name, times in echoes(relays, scale.of(ECHOES), scale.rounds).items():
        found[name].echoes_ms = times
    for name, times in echoes(relays, scale.of(RESTED), scale.rounds, REST_S).items():
        found[name].rested_ms = times
    for name, times in creations(relays, scale.of(CREATIONS), scale.rounds).items():
        found[name].creations_ms = times


def _fan_out(relays: list[Relay], scale: Scale, found: dict[str, Measured]) -> None:
    able = [relay for relay in relays if relay.fan_out(scale.of(READERS))]
    pace = Pace(1, FRAMES_PER_SECOND, TEXT, max(1.0, WINDOW_S * scale.factor))
    for relay in in_turns(able, scale.rounds):
        found[relay.name].fan_out.append(relay.window(pace))


def _climb(relays: list[Relay], scale: Scale, found: dict[str, Measured], begun: float) -> None:
    for rung in RUNGS:
        relays = [relay for relay in relays if found[relay.name].rungs[-1].window.p99_ms < MOST_MS]
        if not relays:
            return
        more = sum(scale.of(rung) - found[relay.name].rungs[-1].sessions for relay in relays)
        if time.monotonic() - begun > BUDGET_S or not room_for(more):
            print(f"no time or no memory for {scale.of(rung)} sessions", flush=True)
            return
        for name, windows in paced(relays, Pace(scale.of(rung), PER_SECOND, TEXT, RUNG_S), scale.rounds).items():
            found[name].rungs.append(Rung(scale.of(rung), middle(windows)))
        _say(f"{scale.of(rung)} sessions", begun)


def _say(what: str, begun: float) -> None:
    print(f"{time.monotonic() - begun:4.0f} s  {what}", flush=True)
