"""A hub that waits for its cluster (``--commit all``) stops all the same when it is told to."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

from tests.aio import run
from tests.cluster.shipping.owner import set_up
from tests.tooling.hub_process import STOP_S, TRUNKLINE, HubProcess, own_environment
from tests.tooling.nats import NatsServer


def test_a_hub_whose_cluster_went_away_stops_without_an_error(tmp_path: Path) -> None:
    with NatsServer(tmp_path / "nats") as server:
        run(set_up(server.url))
        with HubProcess(tmp_path / "box", "--cluster", server.url, "--node", "box", "--commit", "all") as hub:
            session = hub.new_session("fast")
            server.kill()
            hub.wire.ask("POST", f"{session.path}/cancel", {})  # whatever it answers
            assert hub.stop() == 0, hub.log()
            assert "Traceback" not in hub.log()


def test_a_hub_that_waits_for_its_cluster_to_start_stops_at_once(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    words = ["serve", "--port", "0", "--no-open", "--data", str(tmp_path / "data"), "--cluster", "nats://127.0.0.1:9",
             "--node", "box", "--commit", "all"]
    with subprocess.Popen([*TRUNKLINE, *words], env=own_environment(tmp_path / "home"), stderr=subprocess.PIPE, text=True) as hub:
        assert hub.stderr is not None
        assert "refused" in hub.stderr.readline()  # it is connecting, and listens to signals by now
        hub.send_signal(signal.SIGTERM)
        try:
            assert hub.wait(STOP_S / 2) == 0
        finally:
            hub.kill()
