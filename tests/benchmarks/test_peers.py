"""The table of peers: goals beside ratios, what cannot be done is said, and the versions told are those that are installed."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.peers.run import RELAYS, Measured, Run
from benchmarks.peers.sandbox_agent import SandboxAgent, post
from benchmarks.peers.stdio_to_ws import StdioToWs, message
from benchmarks.peers.table import BEGIN, END, PAGE, goals, render, write
from benchmarks.relays.bare import Bare
from benchmarks.relays.hub import TheHub
from benchmarks.relays.workloads import Rung
from benchmarks.scenarios import FlatOut
from tests.benchmarks.test_relays import WINDOW

ROOT = Path(__file__).parents[2]


def measured(times: float, *, fan_out: bool = True) -> Measured:
    """Figures that are so many times as high as the bare pipe's."""
    window = WINDOW._replace(p50_ms=times, p99_ms=times, cpu_us=10 * times)
    rungs = [Rung(100, window), Rung(200, window._replace(p99_ms=100 * times))]
    return Measured(starts_ms=[50 * times], echoes_ms=[times], rested_ms=[times], creations_ms=[times], everyday=[window],
                    fan_out=[window] if fan_out else [], rungs=rungs)


def found(hub: Measured, *, lost: int = 0) -> Run:
    relays = {relay.name: measured(3.0, fan_out=relay is SandboxAgent) for relay in RELAYS}
    return Run({**relays, Bare.name: measured(1.0, fan_out=False), TheHub.name: hub}, FlatOut([60.0], [100.0], [10.0], lost))


def test_a_hub_that_is_like_the_peer_misses_only_where_it_has_to_be_better() -> None:
    assert [goal.what for goal in goals(found(measured(3.0))) if not goal.met] == ["fan-out, CPU per frame"]


def test_what_is_added_is_compared_without_the_pipe_s_own_part() -> None:
    told = {goal.what: goal for goal in goals(found(measured(5.0)))}
    assert told["echo added, closed loop"].ratio == 2.0 and not told["echo added, closed loop"].met
    assert told["everyday delivery, p50"].met and not told["everyday CPU per chunk"].met


def test_a_peer_that_adds_nothing_has_no_ratio_and_the_goal_counts_as_missed() -> None:
    peers = found(measured(3.0))
    peers.relays[SandboxAgent.name].creations_ms = [0.5]
    [goal] = [goal for goal in goals(peers) if goal.what == "new session, added"]
    assert goal.ratio is None and not goal.met


def test_nothing_is_said_of_how_many_sessions_they_hold_while_neither_was_late() -> None:
    peers = found(measured(3.0))
    for relay in (TheHub, SandboxAgent):
        peers.relays[relay.name].rungs = peers.relays[relay.name].rungs[:1]
    [goal] = [goal for goal in goals(peers) if goal.what == "sessions until p99 passes 100 ms"]
    assert goal.ratio is None and not goal.met


def test_a_chunk_that_is_lost_flat_out_misses_the_goal_however_quick_the_rest_was() -> None:
    told = {goal.what: goal for goal in goals(found(measured(3.0), lost=1))}
    assert told["flat out, chunks/s"].met and not told["flat out, chunks lost"].met
    assert "| flat out, chunks lost | – | 1 | 0 | missed |" in render(found(measured(3.0), lost=1), 5)


def test_the_table_says_what_a_peer_cannot_do_and_what_was_missed() -> None:
    text = render(found(measured(30.0)), 5)
    assert "| cannot |" in next(line for line in text.splitlines() if line.startswith(f"| {StdioToWs.name}"))
    assert "missed" in text and "**Trunkline**" in text and "5 rounds" in text


def test_the_page_keeps_all_but_what_is_between_the_marks(tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    write("new", page)
    assert page.read_text() == f"before\n{BEGIN}\nnew\n{END}\nafter\n"


def test_the_documentation_has_a_place_for_the_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.count(BEGIN) == 1 and text.count(END) == 1 and text.index(BEGIN) < text.index(END)


def test_the_versions_that_are_told_are_those_that_are_pinned() -> None:
    pinned = json.loads((ROOT / "benchmarks" / "peers" / "package.json").read_text())["dependencies"]
    pins = {f"{name} {version}" for name, version in pinned.items()}
    pins |= {line.split(" ")[0].replace("==", " ") for line in (ROOT / "requirements" / "peers.txt").read_text().splitlines()}
    assert {relay.name for relay in RELAYS} - {Bare.name, TheHub.name} <= pins


def test_a_message_to_a_websocket_tells_its_length() -> None:
    assert message(b"x" * 5) == b"\x81\x85\0\0\0\0xxxxx"
    assert message(b"x" * 300).startswith(b"\x81\xfe\x01\x2c\0\0\0\0x")


def test_a_request_tells_its_length() -> None:
    assert post(7, b"{}").startswith(b"POST /v1/acp/s7?") and post(7, b"{}").endswith(b"Content-Length: 2\r\n\r\n{}")
