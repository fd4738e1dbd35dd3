"""What a stolen key is worth: the server lets each node speak under its own name only."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.types import Receive, Scope, Send

from tests.aio import run
from tests.cluster.connecting import connected
from tests.cluster.tunnel.test_tunnel import echo
from tests.cluster.tunnel.world import CLAIM, Client, admit, owns_epoch_3, started
from tests.tooling.nats import NatsServer
from trunkline.cluster.roles import Role, new_member, server_config
from trunkline.cluster.tunnel.frames import Kind, encode
from trunkline.cluster.tunnel.gateway import Gateway
from trunkline.cluster.tunnel.heads import RequestHead, encode_head
from trunkline.cluster.tunnel.owner import OwnerEnd
from trunkline.cluster.tunnel.subjects import Address
from trunkline.cluster.tunnel.switch import Switch
from trunkline.errors import ClusterDenied

ROLES: dict[str, Role] = {"gateway": "gateway", "owner": "runner", "runner": "runner"}


def keys_of(folder: Path) -> tuple[dict[str, Path], str]:
    """A key for each node, and the server's settings that know them, as ``trunkline cluster init`` prints them."""
    paths, members = {}, []
    for name, role in ROLES.items():
        member, seed = new_member(name, role, name)
        members.append(member)
        paths[name] = folder / f"{name}.seed"
        paths[name].write_text(seed)
        paths[name].chmod(0o600)
    return paths, server_config("team", members)


def test_a_node_speaks_under_its_own_name_only(tmp_path: Path) -> None:
    asked: list[str] = []

    async def keep(scope: Scope, receive: Receive, send: Send) -> None:
        asked.append(scope["path"])
        await echo(scope, receive, send)

    async def go(url: str, keys: dict[str, Path]) -> None:
        async with (connected(url, node="owner", credentials=keys["owner"]) as far,
                    connected(url, node="gateway", credentials=keys["gateway"]) as near,
                    connected(url, node="runner", credentials=keys["runner"]) as stolen,
                    started(Switch(far, OwnerEnd(keep, admit, owns_epoch_3).serve)),
                    started(Switch(near)) as at_gateway, started(Switch(stolen)) as at_runner):
            assert (await Client(Gateway(at_gateway), "GET", "/allowed").whole())[0] == 201
            with pytest.raises(ClusterDenied, match=r"may not publish to tl\.node\.owner\.http\..*\.runner"):
                await Client(Gateway(at_runner), "GET", "/as-myself").ask()
            head = encode(Kind.OPEN, 0, encode_head(RequestHead(method="GET", path="/as-gateway", claim=CLAIM)))
            await stolen.publish(Address("owner", "http", "abc", "gateway").subject, head)
            await near.publish(Address("owner", "http", "abc", "another").subject, head)
            assert (await Client(Gateway(at_gateway), "GET", "/afterwards").whole())[0] == 201
            assert asked == ["/allowed", "/afterwards"]

    keys, settings = keys_of(tmp_path)
    with NatsServer(tmp_path / "nats", more=settings) as server:
        run(go(server.url, keys))
