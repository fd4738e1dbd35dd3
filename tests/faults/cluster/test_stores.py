"""What happens to the servers' disks: one is set back while another is away, one is full, the stream is full."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.aio import run
from tests.cluster.shipping.owner import SMALL
from tests.faults.cluster.conftest import GATEWAYS, OWNERS
from tests.faults.cluster.judge import check_requests, judge, settle, streamed
from tests.faults.cluster.load import Tally, Work, play, start_work
from tests.faults.cluster.world import World
from tests.faults.conftest import Report
from tests.tooling.hub_process import Session
from tests.tooling.nats import start_all
from tests.tooling.processes import eventually
from trunkline.cluster.streams import Sizes
from trunkline.errors import TrunklineError

pytestmark = pytest.mark.slow
RULE = 9
NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount")


def in_the_stream(world: World, sessions: Sequence[Session]) -> bool:
    """Whether the stream has all of each; False while it cannot be read."""
    try:
        found = streamed(world, [session.id for session in sessions])
    except TrunklineError:
        return False
    return all(found[session.id] == list(range(1, session.view()["lastSeq"] + 1)) for session in sessions)


def say(sessions: Sequence[Session], what: str) -> None:
    for session in sessions:
        session.say(play(f"{session.id}:{what}"))


def test_a_stream_that_went_back_is_made_whole_again_also_for_sessions_at_rest(tmp_path: Path, report: Report) -> None:
    """One server is set back to an older copy of its files while another is away: what the two agree on has lost what it had."""
    tally = Tally()
    with World(tmp_path, 3, OWNERS, GATEWAYS) as world:
        resting = [world.new_session(owner) for owner in world.owners for _ in range(2)]
        works = start_work(world, 2, tally)
        say(resting, "before")
        one, two, away = world.servers
        for server in world.servers:
            server.kill()
        shutil.copytree(one.store, one.root / "older")
        start_all([one, two])
        say(resting, "between")
        eventually(lambda: in_the_stream(world, resting), "the two servers have all")
        for server in (one, two):
            server.kill()
        shutil.rmtree(one.store)
        shutil.copytree(one.root / "older", one.store)
        start_all([one, away])
        eventually(lambda: in_the_stream(world, resting), "the stream has all of the sessions at rest again")
        two.start()
        settle(world, works)
        counts = judge(world, works)
    print(f"{counts}\n{tally}")
    check_requests(tally)
    report(RULE, "a server set back to an older copy while another is away", tried=1, held=int(not counts.faults),
           lost=counts.lost + counts.lost_at_owner)


def test_a_full_disk_at_one_server_of_three_loses_nothing(tmp_path: Path, report: Report) -> None:
    if subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no namespaces for ordinary users here, so no small disk")
    tally = Tally()
    with World(tmp_path, 3, OWNERS, GATEWAYS) as world:
        small = world.servers[0]
        small.kill()
        small.before = [*NAMESPACE, "sh", "-c", f'mount -t tmpfs -o size=4m none {small.store} && exec "$@"', "sh"]
        small.start()
        works = start_work(world, 2, tally)
        fill(world, tmp_path)
        eventually(lambda: "no space left" in small.log.read_text().lower(), "its disk is full")
        wait_for_more(works)
        small.kill()
        small.before = []
        small.start()
        settle(world, works)
        counts = judge(world, works)
    print(f"{counts}\n{tally}")
    check_requests(tally)
    report(RULE, "the disk of one server of three is full", tried=1, held=int(not counts.faults),
           lost=counts.lost + counts.lost_at_owner)


def test_a_full_stream_keeps_what_it_has_and_gets_the_rest_when_there_is_room(tmp_path: Path, report: Report) -> None:
    tally = Tally()
    with World(tmp_path, 1, OWNERS, GATEWAYS) as world:
        resize(world, 1 << 20)
        works = start_work(world, 2, tally)
        fill(world, tmp_path)
        eventually(lambda: any("maximum bytes exceeded" in hub.log() for hub in world.owners.values()), "the stream is full")
        wait_for_more([work for work in works if world.commits[world.sessions[work.id]] == "local"])
        resize(world, SMALL.journal)
        settle(world, works)
        counts = judge(world, works)
    print(f"{counts}\n{tally}")
    check_requests(tally)
    report(RULE, "the stream is full, and made larger", tried=1, held=int(not counts.faults),
           lost=counts.lost + counts.lost_at_owner)


def fill(world: World, folder: Path) -> None:
    """Let an agent say more than there is room for, of what cannot be packed."""
    book = folder / "book.txt"
    with Path("/dev/urandom").open("rb") as noise:
        book.write_text(noise.read(3 << 20).hex())
    local = next(name for name, commit in world.commits.items() if commit == "local")
    session = world.owners[local].new_session("puppet", node=local)
    session.say(f'[["recite", "{book}", 16384]]')


def wait_for_more(works: Sequence[Work]) -> None:
    """Wait until each session has taken two more prompts: it goes on."""
    before = [len(work.taken) for work in works]
    eventually(lambda: all(len(work.taken) > had + 1 for work, had in zip(works, before, strict=True)), "all go on")


def resize(world: World, journal: int) -> None:
    """Give the journal's stream so much room."""
    run(world.make_streams(Sizes(journal=journal, parts=SMALL.parts, checkpoints=SMALL.checkpoints, tables=SMALL.tables)))

