"""``trunkline cluster status`` and ``nodes``: nodes with their load, sessions by node, streams with room and leader."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from tests.aio import eventually, run
from tests.cli.conftest import Place
from tests.cluster.connecting import connected
from tests.cluster.test_directory import directory
from tests.cluster.test_nodes import row as node_row
from tests.journal.samples import row
from tests.tooling.nats import SMALL, NatsServer
from trunkline.cli.commands.cluster import looking
from trunkline.cluster import subjects
from trunkline.cluster.survey import members
from trunkline.cluster.survey.streams import Replica, Stream
from trunkline.cluster.table import Table


async def fill(url: str) -> None:
    """A node that is there with a lag, one that is away, and a session of each."""
    async with connected(url, node="box") as box:
        nodes = Table(box, subjects.NODES)
        there = node_row("box", role="runner", pool="farm", version="9.9", sessions=1, running=1, lag={"ses_1": 4.0})
        await nodes.put("farm.box", msgspec.json.encode(there))
    for node in ("box", "gone"):
        async with directory(url, node) as own:
            own.put(row(f"ses_{node}"))
            await eventually(lambda: own.places)


def test_all_of_the_cluster_is_on_one_page(place: Place, nats: NatsServer) -> None:
    place.call_here("cluster", "init", "--cluster", nats.url, *SMALL)
    run(fill(nats.url))
    shown = place.call_here("cluster", "status", "--cluster", nats.url).stdout.decode()
    head, *lines = shown.splitlines()
    assert head.startswith(f"{nats.url}: n1, NATS 2.") and head.endswith("1 node there, 2 sessions")
    rows = {line.split()[0]: line.split() for line in lines if line}
    assert rows["box"] == ["box", "here", "runner", "farm", "9.9", "1", "1", "1", "session,", "4", "s"]
    assert rows["gone"][:2] == ["gone", "away"] and rows["gone"][5] == "1"
    assert rows["TL_J"] == ["TL_J", "0", "0", "B", "64", "MiB", "0%", "1", "of", "1", rows["TL_J"][-1]]


def test_as_json_it_has_all_that_is_known(place: Place, nats: NatsServer) -> None:
    place.call_here("cluster", "init", "--cluster", nats.url, *SMALL)
    run(fill(nats.url))
    shown = json.loads(place.call_here("cluster", "status", "--json", "--cluster", nats.url).stdout)
    assert shown["sessions"] == {"box": 1, "gone": 1} and shown["away"] == ["gone"]
    assert shown["server"]["name"] == "n1" and [each["node"] for each in shown["nodes"]] == ["box"]
    (journal,) = [each for each in shown["streams"] if each["name"] == "TL_J"]
    assert (journal["most"], journal["replicas"], journal["current"]) == (64 << 20, 1, 1)
    nodes = json.loads(place.call_here("cluster", "nodes", "--json", "--cluster", nats.url).stdout)
    assert nodes == shown["nodes"] and nodes[0]["lag"] == {"ses_1": 4.0}
    assert "box" in place.call_here("cluster", "nodes", "--cluster", nats.url).stdout.decode()


def test_a_cluster_that_was_never_set_up_is_said_to_be_so(place: Place, nats: NatsServer, monkeypatch: pytest.MonkeyPatch
                                                          ) -> None:
    monkeypatch.setattr(members, "WITHIN_S", 0.2)
    done = place.call_here("cluster", "status", "--cluster", nats.url)
    assert done.returncode != 0 and "trunkline cluster init" in done.stderr.decode()


def test_a_key_without_a_name_is_its_machines(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers come to the key's own node only: a name made up for the command would get none."""
    monkeypatch.setattr("trunkline.cli.hosting.clustered.socket.gethostname", lambda: "Boss.example")
    keys = tmp_path / "keys"
    config = place.call_here("cluster", "init", "--print-config", "--keys", str(keys), "--member", "boss=admin").stdout.decode()
    with NatsServer(tmp_path / "keyed", more=config) as server:
        asked = ("--cluster", server.url, "--cluster-credentials", str(keys / "boss.seed"))
        assert place.call_here("cluster", "init", *asked, *SMALL).returncode == 0
        assert "TL_J" in place.call_here("cluster", "status", *asked).stdout.decode()


def test_copies_that_are_behind_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    looking._print_streams([Stream(name="TL_J", replicas=3, current=2, leader="n1", most=10, copies=[
        Replica("n2", True), Replica("n3", False, 7)]), Stream(name="TL_B", state="hidden"), Stream(name="X", most=-1)])
    shown = capsys.readouterr().out
    assert "TL_J: n3 does not have everything, 7 messages behind" in shown and "n2 does" not in shown
    assert "hidden" in shown and "no limit" in shown
