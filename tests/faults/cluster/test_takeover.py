"""An owner that is frozen, or whose disk is gone: others go on with its sessions, and what was shown is there."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from tests.faults.cluster.conftest import GATEWAYS, OWNERS
from tests.faults.cluster.judge import Counts, check_requests, history, judge, settle
from tests.faults.cluster.load import Tally, Work, start_work
from tests.faults.cluster.world import World
from tests.faults.conftest import Report
from tests.tooling.processes import eventually

pytestmark = pytest.mark.slow
RULE = 9
AWAY_S = 35.0
"""By then everybody is told that a node is away: its lease is 30 s."""
AT_ONCE_S = 5.0
"""A refusal waits for nobody; the rest is for a machine that is busy with others."""
MOVE_S = 60.0


@pytest.mark.parametrize("owner", OWNERS)
def test_a_frozen_owner_whose_sessions_others_went_on_with_has_them_no_more(tmp_path: Path, report: Report, owner: str) -> None:
    with World(tmp_path, 3, OWNERS, GATEWAYS) as world:
        works, tally = at_work(world)
        world.unasked.add(owner)
        had = {work: len(work.taken) for work in works}
        eventually(lambda: all(len(work.taken) > had[work] for work in works), "nobody asks it any more but through gateways")
        world.freeze(owner)
        away_s, taken = taken_over(world, works, owner)
        world.thaw(owner)
        world.unasked.clear()
        for work in taken:
            eventually(lambda work=work: node_of(world, owner, work) != owner, f"{owner} knows that it has {work.id} no more")  # type: ignore[misc]
        tally.hung = [what for what in tally.hung if f"at {owner} " not in what]  # nobody answers there while it is frozen
        counts = ended(world, works, tally)
    tell(report, f"sessions taken over from a frozen owner (`{OWNERS[owner]}`)", len(taken), away_s, counts, OWNERS[owner])


@pytest.mark.parametrize("owner", OWNERS)
def test_an_owner_whose_disk_is_gone_loses_nothing_that_was_shown(tmp_path: Path, report: Report, owner: str) -> None:
    with World(tmp_path, 3, OWNERS, GATEWAYS) as world:
        works, tally = at_work(world)
        world.owners[owner].kill()
        shutil.rmtree(world.owners[owner].data)
        away_s, taken = taken_over(world, works, owner)
        counts = ended(world, works, tally)
    tell(report, f"an owner is dead and its disk gone (`{OWNERS[owner]}`)", len(taken), away_s, counts, OWNERS[owner])


def at_work(world: World) -> tuple[list[Work], Tally]:
    """Sessions that have said something, and go on."""
    tally = Tally()
    works = start_work(world, 3, tally)
    eventually(lambda: all(len(work.taken) > 2 for work in works), "all have taken some prompts")
    return works, tally


def taken_over(world: World, works: list[Work], owner: str) -> tuple[float, list[Work]]:
    """Once the owner is known to be away, another goes on with its sessions; how long that took to be known, and which."""
    began, other = time.monotonic(), next(name for name in world.owners if name != owner)
    gateway = world.wire(GATEWAYS[0])
    eventually(lambda: "away" in next(node for node in gateway.get("/cluster")["nodes"] if node["node"] == owner),
               f"{owner} is known to be away", AWAY_S + AT_ONCE_S)
    away_s = time.monotonic() - began
    taken = [work for work in works if world.sessions[work.id] == owner]
    for work in taken:
        view = gateway.get(f"/sessions/{work.id}")
        assert owner in view["nodeAway"], "everybody is told why it cannot be written to"
        began = time.monotonic()
        refused = gateway.ask("POST", f"/sessions/{work.id}/send-message", {"content": "hello"}, wait_s=MOVE_S)
        assert (refused.status, refused.json()["code"]) == (503, "node_away") and time.monotonic() - began < AT_ONCE_S
        shown = dict(work.at_gateway.shown)
        told = gateway.get(f"/sessions/{work.id}/messages?limit=1000")["messages"]
        assert told and shown, "it can be read while its owner is away"
        assert world.move(work.id, other, MOVE_S).expect(200)["node"] == other
        world.sessions[work.id] = other
    had = {work: len(work.taken) for work in taken}
    eventually(lambda: all(len(work.taken) > had[work] for work in taken), "those that were taken over go on")
    return away_s, taken


def node_of(world: World, at: str, work: Work) -> str:
    """The node of a session, as one says that may be a runner: that one tells of its own only."""
    told = world.wire(at).ask("GET", f"/sessions/{work.id}")
    if world.roles[at] == "runner" and told.status == 503 and told.json()["code"] == "cluster_denied":
        return ""
    return str(told.expect(200)["node"])


def ended(world: World, works: list[Work], tally: Tally) -> Counts:
    """What became of all of it."""
    if any(not hub.runs for hub in world.owners.values()):
        world.owners = {name: hub for name, hub in world.owners.items() if hub.runs}
    settle(world, works)
    for work in works:
        at_gateway = history(world.wire(GATEWAYS[1]), work.session)
        assert at_gateway == history(work.session.wire, work.session), "a gateway and the owner tell the same"
    counts = judge(world, works)
    print(f"{counts}\n{tally}")
    check_requests(tally)
    return counts


def tell(report: Report, what: str, sessions: int, away_s: float, counts: Counts, commit: str) -> None:
    """Of ``local``: what only the owner had, and its own readers saw, may be gone with it, prompts as well."""
    faults = counts.faults
    for name in ("lost_at_owner", "promised") if commit == "local" else ():
        faults.pop(name, None)
    assert faults == {}, counts
    report(RULE, what, tried=sessions, held=sessions, worst_ms=away_s * 1000, lost=counts.lost)
