"""What doctor says of a cluster: what is wrong with the server, the way to it, its streams and this node, each with its fix."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Place
from tests.cluster.test_nodes import row
from tests.tooling.certificates import certificate
from tests.tooling.nats import SMALL, NatsServer
from trunkline.cli.commands.doctor import cluster as doctor
from trunkline.cli.commands.doctor.cluster import member, stored, way
from trunkline.cli.commands.doctor.finding import Finding
from trunkline.cli.read_settings import load
from trunkline.cluster.survey.server import Certificate, Clock, Server
from trunkline.cluster.survey.streams import Replica, Stream
from trunkline.errors import ClusterDenied, ClusterUnavailable, NodeAway, NodeSilent

CHECKS = {"cluster", "tls", "key", "streams", "room", "node", "drift", "lag"}
NAMES = ["TL_J", "TL_B", "TL_K"]
REFUSED_S = 3.0
"""How long is tried what is refused: each try is, at once."""


@pytest.fixture
def nats(tmp_path: Path) -> Iterator[NatsServer]:
    with NatsServer(tmp_path / "nats") as server:
        yield server


def told(place: Place, *words: str, port: str = "0") -> dict[str, dict[str, str]]:
    """What doctor finds of the cluster, by check; each is there once."""
    done = place.call_here("doctor", "--json", *words, env={"TRUNKLINE_PORT": port})
    found = [each for each in json.loads(done.stdout)["findings"] if each["check"] in CHECKS]
    assert len({each["check"] for each in found}) == len(found), found
    assert all(each.get("fix") for each in found if each["state"] == "bad")
    return {each["check"]: each for each in found}


def test_without_a_cluster_nothing_is_said(place: Place) -> None:
    assert told(place) == {}


def test_from_an_empty_server_to_a_node_that_is_seen_each_step_is_told(place: Place, nats: NatsServer) -> None:
    words = ("--cluster", nats.url, "--node", "box")
    empty = told(place, *words)
    assert [*empty] == ["cluster", "tls", "key", "streams"]
    assert f"{nats.url} answers: n1, NATS 2." in empty["cluster"]["what"]
    assert empty["key"]["state"] == "note" and "asks for none" in empty["key"]["what"]
    assert empty["streams"]["state"] == "bad" and "TL_J" in empty["streams"]["what"] and "cluster init" in empty["streams"]["fix"]
    place.call_here("cluster", "init", "--cluster", nats.url, *SMALL)
    made = told(place, *words)
    assert made["streams"]["what"] == "9 are there, 1 of 1 replicas current" and "TL_" in made["room"]["what"]
    assert made["node"] == {"check": "node", "state": "ok", "what": "no hub runs here; the name box is free"}
    assert made["drift"]["state"] == "ok" and "lag" not in made
    place.serve(*words)
    seen = told(place, *words)
    assert "box is seen by the others: hub, pool box, renewed " in seen["node"]["what"]
    assert {each["state"] for each in seen.values()} == {"ok", "note"} and seen["lag"]["state"] == "ok"
    other = Place(place.work)
    assert "another hub is called box" in told(other, *words)["node"]["what"]


def test_it_takes_no_lease_and_writes_nothing(place: Place, nats: NatsServer) -> None:
    place.call_here("cluster", "init", "--cluster", nats.url, *SMALL)
    before = nats.ask("/jsz")["messages"]
    assert told(place, "--cluster", nats.url, "--node", "box")["node"]["state"] == "ok"
    assert nats.ask("/jsz")["messages"] == before and not place.data.path.exists()


def test_keys_and_certificates_that_do_not_fit_are_told_apart(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                              ) -> None:
    cert, key = certificate(tmp_path / "right")
    wrong_cert, _ = certificate(tmp_path / "wrong")
    keys = tmp_path / "keys"
    config = place.call_here("cluster", "init", "--print-config", "--keys", str(keys), "--member", "boss=admin",
                             "--member", "box=runner").stdout.decode()
    place.call_here("cluster", "init", "--print-config", "--keys", str(tmp_path / "other"), "--member", "box=runner")
    with NatsServer(tmp_path / "nats", more=f'tls {{ cert_file: "{cert}", key_file: "{key}" }}\n{config}') as server:
        url = server.url.replace("nats:", "tls:")

        def asked(ca: Path, seed: Path, node: str, within_s: float = doctor.CONNECT_S) -> dict[str, dict[str, str]]:
            monkeypatch.setattr(doctor, "CONNECT_S", within_s)
            return told(place, "--cluster", url, "--cluster-ca", str(ca), "--cluster-credentials", str(seed), "--node", node)

        ready = place.call_here("cluster", "init", "--cluster", url, "--cluster-ca", str(cert), "--cluster-credentials",
                                str(keys / "boss.seed"), "--node", "boss", *SMALL)
        assert ready.returncode == 0, ready.stderr.decode()
        right = asked(cert, keys / "box.seed", "box")
        assert {each["state"] for each in right.values()} == {"ok"}, right
        assert "lasts until 2099-01-01" in right["tls"]["what"] and "8 are there" in right["streams"]["what"]
        assert "--cluster-ca" in asked(wrong_cert, keys / "box.seed", "box", REFUSED_S)["cluster"]["fix"]
        unknown = asked(cert, tmp_path / "other" / "box.seed", "box", REFUSED_S)["cluster"]
        assert "Authorization" in unknown["what"] and "--print-config" in unknown["fix"]
        not_ours = asked(cert, keys / "box.seed", "other")["key"]
        assert "the key is another node's or role's, and not other's" in not_ours["what"] and "--node" in not_ours["fix"]
        assert "is not there" in asked(cert, tmp_path / "none", "box")["key"]["what"]
        (keys / "box.seed").chmod(0o644)
        assert asked(cert, keys / "box.seed", "box")["key"]["fix"] == f"chmod 600 {keys / 'box.seed'}"
        assert (keys / "box.seed").stat().st_mode & 0o777 == 0o644, "nothing is changed"


def test_a_server_that_is_not_there_is_told_with_what_starts_it(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "CONNECT_S", REFUSED_S)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        found = told(place, "--cluster", f"nats://127.0.0.1:{taken.getsockname()[1]}")
    assert found["cluster"]["state"] == "bad" and "nats-server -c" in found["cluster"]["fix"]


@pytest.mark.parametrize(("why", "word"), [
    ("the server offers no TLS, and the address asks for it", "certificate"),
    ("certificate verify failed: Hostname mismatch, certificate is not valid for 'x'", "name that is in"),
    ("certificate verify failed: certificate has expired", "renew"),
    ("certificate verify failed: self-signed certificate", "--cluster-ca"),
    ("nats: 'Authorization Violation'", "--print-config"),
    ("[Errno -2] Name or service not known", "DNS"),
    ("[Errno 111] Connect call failed ('127.0.0.1', 1)", "nats-server -c"),
    ("nats: timeout", "firewall"),
])
def test_every_reason_for_no_connection_has_its_own_fix(why: str, word: str) -> None:
    found = way.not_reached(f"no connection to tls://x:4222: {why}")
    assert found.state == "bad" and word in found.fix and why in found.what


def server(**more: object) -> Server:
    return Server(**{"url": "tls://far.example:4222", "name": "n1", "version": "2.15.1", "has_jetstream": True,
                     "asks_for_key": True, "max_payload": 8 << 20, **more})  # type: ignore[arg-type]


def test_a_server_that_cannot_do_what_is_needed_is_bad() -> None:
    assert way.of_server(server()).state == "ok"
    assert "2.12" in way.of_server(server(version="2.10.25")).fix
    assert "jetstream" in way.of_server(server(has_jetstream=False)).fix
    assert "max_payload" in way.of_server(server(max_payload=1000)).fix


def test_a_way_in_the_clear_and_a_certificate_that_ends_are_noted() -> None:
    now = time.time()
    assert way.of_tls(server(url="nats://127.0.0.1:1"), None, now).state == "ok"
    assert way.of_tls(server(url="nats://localhost:1"), None, now).state == "ok"
    assert way.of_tls(server(), None, now).state == "note"
    assert way.of_tls(server(), Certificate("TLSv1.3", now + 90 * way.DAY_S), now).state == "ok"
    soon = way.of_tls(server(), Certificate("TLSv1.3", now + 3 * way.DAY_S), now)
    assert soon.state == "note" and "reload" in soon.fix


def test_a_server_that_lets_everybody_in_is_bad_beyond_this_machine() -> None:
    own = load({"data": "/no", "node": "box"}, {})
    assert way.of_key(server(asks_for_key=False), own).state == "bad"
    assert way.of_key(server(asks_for_key=False, url="nats://127.0.0.1:1"), own).state == "note"
    assert way.of_key(server(), own).state == "ok"


def test_what_is_not_answered_is_the_keys_the_streams_or_the_servers_fault() -> None:
    own = load({"data": "/no", "node": "box"}, {})
    for error in (ClusterDenied("this node may not publish to x"), NodeSilent("no answer on x within 5 s")):
        found = way.not_answered(error, own)
        assert (found.check, found.state) == ("key", "bad") and "--node" in found.fix
    assert "leader" in way.not_answered(NodeAway("nobody listens to x"), own).fix
    assert "init" in way.not_answered(ClusterUnavailable("TL_J: no"), own).fix


def streams(**more: object) -> list[Stream]:
    return [Stream(**{"name": name, "most": 100, "replicas": 3, "current": 3, "leader": "n1", "copies": [  # type: ignore[arg-type]
        Replica("n2", True), Replica("n3", True)], **more}) for name in NAMES]


def whats(findings: list[Finding]) -> str:
    return " | ".join(f"{each.state}: {each.what}" for each in findings)


def test_streams_that_are_whole_are_ok_and_one_copy_where_three_could_be_is_noted() -> None:
    assert whats(stored.of_streams(streams(), "team")) == "ok: 3 are there, 3 of 3 replicas current"
    single = streams(replicas=1, current=1, copies=[])
    assert stored.of_streams(single, "")[0].state == "ok"
    (noted,) = stored.of_streams(single, "team")
    assert noted.state == "note" and "--replicas 3" in noted.fix


def test_streams_that_are_missing_changed_unbounded_uneven_or_behind_are_bad() -> None:
    missing = stored.of_streams([*streams(), Stream(name="KV_tl_auth", state="missing")], "team")
    assert whats(missing) == "bad: not there: KV_tl_auth"
    assert "TL_J is not set as it should be: discard" in whats(stored.of_streams(streams(wrong=["discard"]), ""))
    assert "TL_B has no limit" in whats(stored.of_streams(streams(most=-1), ""))
    uneven = stored.of_streams([*streams(), *streams(replicas=1, current=1, copies=[])[:1]], "team")
    assert "on fewer servers (1) than the others (3): TL_J" in whats(uneven) and "--replicas 3" in uneven[0].fix
    behind = stored.of_streams(streams(copies=[Replica("n2", True), Replica("n3", False, 4)]), "team")
    assert whats(behind) == "bad: server n3 does not have everything of TL_J, TL_B, TL_K"
    silent = stored.of_streams([*streams(), Stream(name="KV_tl_auth", state="silent")], "team")
    assert whats(silent) == "bad: without a leader, so that nothing is stored: KV_tl_auth"


def test_room_is_noted_when_it_gets_short_and_bad_when_it_is_gone() -> None:
    assert whats(stored.of_room(streams(bytes=10))) == "ok: the fullest is TL_J: 10 B of 100 B"
    filling = stored.of_room([Stream(name="TL_K", most=100, bytes=75), *streams(bytes=1)])
    assert [each.state for each in filling] == ["note"] and "--checkpoints-size" in filling[0].fix
    (full,) = stored.of_room([Stream(name="KV_tl_sessions", most=100, bytes=95)])
    assert full.state == "bad" and "--tables-size" in full.fix and "95%" in full.what
    assert stored.of_room([Stream(name="TL_J", state="hidden")]) == []


def test_a_lease_is_this_hubs_or_anothers_or_missing() -> None:
    own = row("box", home="here")
    seen = member.of_lease("box", own, "here", is_running=True, heard_s=3.2)
    assert seen.state == "ok" and "renewed 3 s ago" in seen.what
    assert "another hub is called box" in member.of_lease("box", own, "there", is_running=False, heard_s=1).what
    assert member.of_lease("box", own, "here", is_running=False, heard_s=1).state == "note"
    unseen = member.of_lease("box", None, "here", is_running=True, heard_s=None)
    assert unseen.state == "bad" and "hub.log" in unseen.fix
    assert member.of_lease("box", None, "", is_running=False, heard_s=None).state == "ok"


def test_clocks_may_differ_by_what_the_way_takes_and_a_little_more() -> None:
    assert member.of_clock(Clock(0.01, 0.001)).state == "ok"
    assert member.of_clock(Clock(4.0, 6.0)).state == "ok", "nobody knows that to be a difference"
    behind, before = member.of_clock(Clock(10.0, 0.1)), member.of_clock(Clock(-40.0, 0.1))
    assert (behind.state, before.state) == ("note", "bad") and "10 s behind" in behind.what and "40 s before" in before.what
    assert member.of_clock(None).state == "note"


def test_a_lag_is_bad_and_what_was_taken_over_is_noted() -> None:
    assert member.of_lag(row("box")).state == "ok"
    late = member.of_lag(row("box", lag={"ses_1": 3.0, "ses_2": 9.0}))
    assert late.state == "bad" and "2 sessions" in late.what and "9 s" in late.what
    taken = member.of_lag(row("box", taken=1))
    assert taken.state == "note" and "1 session" in taken.what and "quarantine/" in taken.fix


def test_nodes_of_other_versions_are_named() -> None:
    from trunkline import __version__

    assert member.of_versions({"box": row("box", version=__version__)}) == []
    (noted,) = member.of_versions({"box": row("box", version="9.9"), "web": row("web", version=__version__)})
    assert noted.state == "note" and "box has 9.9" in noted.what
