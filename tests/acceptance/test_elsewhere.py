"""Two hubs as people start them, with ``--cluster``: what one has, the other answers for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.aio import run
from tests.cluster.shipping.owner import set_up
from tests.tooling.hub_process import HubProcess
from tests.tooling.nats import NatsServer
from tests.tooling.processes import eventually

WITHIN_S = 60.0


@contextmanager
def two_hubs(root: Path, *owners_flags: str) -> Iterator[tuple[HubProcess, HubProcess]]:
    """The owner and the gateway, in one cluster, each with a token of its own."""
    with NatsServer(root / "nats") as server:
        run(set_up(server.url))
        with (HubProcess(root / "owner", "--cluster", server.url, "--node", "box", *owners_flags) as owner,
              HubProcess(root / "gateway", "--cluster", server.url, "--node", "web", "--role", "gateway") as gateway):
            yield owner, gateway


def known(gateway: HubProcess, path: str) -> None:
    """Wait until the gateway has heard of a session."""
    end = time.monotonic() + WITHIN_S
    while gateway.wire.ask("GET", path).status != 200:
        assert time.monotonic() < end, gateway.log()
        time.sleep(0.05)


def test_what_a_session_has_is_reached_at_another_hub(tmp_path: Path) -> None:
    with two_hubs(tmp_path, "--gateways", "web") as (owner, gateway):
        session = owner.new_session("fast")
        known(gateway, f"{session.path}/files")
        wire = gateway.wire
        with wire.send_message(session.id, "/echo from afar") as turn:
            assert turn.expect().rest()[-1].type == "prompt_response"
        command = {"id": "c1", "command": {"command": "send_message", "message": "/echo once"}}
        first, second = [wire.post(f"{session.path}/commands", command) for _ in range(2)]
        assert first == second
        (session.folder / "notes.txt").write_text("written at the owner")
        assert wire.ask("GET", f"{session.path}/files/content?path=notes.txt").body == b"written at the owner"
        told = f"{session.path}/export"
        eventually(lambda: owner.wire.ask("GET", told).body.endswith(b"## Agent\n\nonce\n"), "the command's turn is over")
        assert wire.ask("GET", told).body == owner.wire.ask("GET", told).body
        owner.kill()
        away = wire.ask("GET", f"{session.path}/files")
        assert (away.status, away.json()["code"]) == (503, "node_away")


@pytest.mark.slow
@pytest.mark.parametrize("flags", [(), ("--gateways", "another")])
def test_a_hub_that_names_no_gateway_is_only_read(tmp_path: Path, flags: tuple[str, ...]) -> None:
    with two_hubs(tmp_path, *flags) as (owner, gateway):
        session = owner.new_session("fast")
        known(gateway, f"{session.path}/files")
        refused = gateway.wire.ask("POST", f"{session.path}/cancel")
        assert refused.status == 403
        assert "web may only read here; this node was not started with --gateways web" in refused.json()["message"]
