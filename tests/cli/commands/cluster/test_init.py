"""``trunkline cluster init``: streams as asked, and a configuration that servers take."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Place
from tests.tooling.nats import SMALL, NatsServer


def test_it_makes_what_is_missing_and_says_so(place: Place, nats: NatsServer) -> None:
    first = place.call_here("cluster", "init", "--cluster", nats.url, *SMALL)
    assert first.returncode == 0 and "TL_J: made" in first.stdout.decode() and "KV_tl_nodes: made" in first.stdout.decode()
    again = place.call_here("cluster", "init", "--cluster", nats.url, *SMALL)
    assert "TL_J: there" in again.stdout.decode()


def test_the_printed_configuration_is_taken_by_a_server_and_opens_for_its_members(place: Place, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    words = ("cluster", "init", "--print-config", "--keys", str(keys), "--member", "boss=admin", "--member", "box=runner:farm")
    printed = place.call_here(*words)
    assert printed.returncode == 0 and b"tl.j.farm.*" in printed.stdout
    assert not [each for each in keys.iterdir() if each.read_bytes().strip() in printed.stdout], "public keys only"
    assert sorted(path.name for path in keys.iterdir()) == ["boss.seed", "box.seed"]
    assert all(path.stat().st_mode & 0o077 == 0 for path in keys.iterdir())
    assert place.call_here(*words).stdout.decode() == printed.stdout.decode(), "the keys that are there are used again"
    with NatsServer(tmp_path / "nats", more=printed.stdout.decode()) as server:
        asked = ("cluster", "init", "--cluster", server.url, *SMALL, "--cluster-credentials")
        assert "TL_J: made" in place.call_here(*asked, str(keys / "boss.seed"), "--node", "boss").stdout.decode()
        refused = place.call_here(*asked, str(keys / "box.seed"), "--node", "box")
        assert refused.returncode != 0 and "may not publish" in refused.stderr.decode()


@pytest.mark.parametrize(("words", "why"), [
    (("--cluster", "nats://127.0.0.1:1", "--journal-size", "ten"), "journal-size"),
    (("--cluster", "http://127.0.0.1:1"), "nats://"),
    ((), "name a server"),
    (("--print-config", "--member", "box=king"), "NODE=ROLE"),
])
def test_what_cannot_be_is_refused_by_name(place: Place, tmp_path: Path, words: tuple[str, ...], why: str) -> None:
    done = place.call_here("cluster", "init", "--keys", str(tmp_path / "keys"), *words)
    assert done.returncode != 0 and why in done.stderr.decode()
