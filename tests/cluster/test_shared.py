"""Hubs of a cluster as people run them: a token that one made counts at the other, and so does the policy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.aio import run
from tests.cluster.shipping.owner import set_up
from tests.tooling.hub_process import HubProcess
from tests.tooling.nats import NatsServer, until


@pytest.fixture
def ready(nats: NatsServer) -> NatsServer:
    run(set_up(nats.url))
    return nats


def in_cluster(root: Path, nats: NatsServer, node: str, *flags: str) -> HubProcess:
    return HubProcess(root / node, "--cluster", nats.url, "--node", node, *flags)


def lets_in(hub: HubProcess, secret: str) -> bool:
    return hub.wire.with_token(secret).ask("GET", "/sessions").status == 200


def test_tokens_and_the_policy_are_the_clusters(ready: NatsServer, tmp_path: Path) -> None:
    with in_cluster(tmp_path, ready, "one") as one, in_cluster(tmp_path, ready, "two") as two, \
            in_cluster(tmp_path, ready, "box", "--role", "runner") as box:
        made = one.wire.post("/auth/tokens", {"name": "script", "scope": "admin"}, 201)
        secret, token_id = made["secret"], made["token"]["id"]
        until(lambda: lets_in(two, secret), "the other node never took the token")
        assert not lets_in(box, secret)  # a runner takes its own
        rule = '[[rules]]\ncommand = ["git push*"]\naction = "deny"\n'
        written = two.wire.with_token(secret).ask("PUT", "/policy?of=cluster", {"text": rule}).json()
        assert (written["of"], written["node"]) == ("cluster", "two")
        asked = {"command": "git push", "cwd": "/x"}
        until(lambda: box.wire.post("/policy/explain", asked)["action"] == "deny", "the runner never heard of the policy")
        assert box.wire.post("/policy/explain", asked)["source"] == "cluster policy"
        assert two.wire.ask("DELETE", f"/auth/tokens/{token_id}").status == 204
        until(lambda: not lets_in(one, secret), "a revoked token is still let in")
