"""What is done to a node or to NATS while a request is under way: it ends, in time, and says the truth about itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.aio import POLL_S, eventually, run
from tests.cluster.tunnel.hubs import Node, node
from tests.cluster.tunnel.owner_process import OwnerProcess
from tests.server.site import STREAM
from tests.tooling.nats import NatsServer
from trunkline.cluster.tunnel.gateway import Owner
from trunkline.cluster.tunnel.link import Pace

QUICK = Pace(beat_s=0.2, silent_s=1.5)


@asynccontextmanager
async def apart(server: NatsServer, folder: Path) -> AsyncIterator[tuple[OwnerProcess, Node, str]]:
    """An owner in its own process, a gateway here, and the path of a session of the owner's."""
    with OwnerProcess(server.url, folder) as owner:
        await owner.start()
        async with node(server.url, "gateway", folder, pace=QUICK) as gateway:
            gateway.owner = Owner("owner")
            body = {"agent": "demo", "cwd": str(gateway.folder)}
            again = {"Idempotency-Key": "where the machine is slow"}
            made = await gateway.ask("POST", "/sessions?node=owner", json_body=body, headers=again)
            assert made.status == 201, made.body
            yield owner, gateway, f"/sessions/{made.json()['id']}"


def test_an_owner_that_is_killed_ends_what_it_was_asked(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with apart(shared_nats, tmp_path) as (owner, gateway, path):
            stream = gateway.open("GET", f"{path}/packets", headers=STREAM)
            assert (await stream.start())[0] == 200
            upload = gateway.open("POST", f"{path}/files?path=half.bin", body=[bytes(100_000)] * 2)
            upload.cut_short()
            await eventually(lambda: upload.taken == 2)
            owner.kill()
            await stream.task
            with pytest.raises(AssertionError, match="the body was cut"):
                while await stream.piece() is not None:
                    continue
            assert (await upload.answer()).json()["code"] == "node_silent"
            away = await gateway.ask("GET", f"{path}/files")
            assert (away.status, away.json()["code"]) == (503, "node_away")
            await owner.start()
            assert (await gateway.ask("GET", f"{path}/files")).status == 200

    run(go())


@pytest.mark.slow
def test_a_frozen_owner_is_given_up_and_goes_on_when_it_thaws(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with apart(shared_nats, tmp_path) as (owner, gateway, path):
            owner.freeze()
            began = asyncio.get_running_loop().time()
            silent = await gateway.ask("PATCH", path, json_body={"title": "too late"})
            assert (silent.status, silent.json()["code"]) == (504, "node_silent")
            assert asyncio.get_running_loop().time() - began < 20 * QUICK.silent_s
            owner.thaw()
            shown = await gateway.ask("GET", path)
            assert shown.status == 200
            assert shown.json()["title"] != "too late", "nobody waited for it any more when it was read"

    run(go())


@pytest.mark.slow
def test_a_request_after_nats_came_back_is_answered(tmp_path: Path, nats: NatsServer) -> None:
    async def go() -> None:
        async with apart(nats, tmp_path) as (_, gateway, path):
            stream = gateway.open("GET", f"{path}/packets", headers=STREAM)
            assert (await stream.start())[0] == 200
            await asyncio.to_thread(nats.kill)
            await eventually(lambda: not gateway.connection.up)
            refused = await gateway.ask("GET", f"{path}/files")
            assert (refused.status, refused.json()["code"]) == (503, "cluster_unavailable")
            await stream.task
            await asyncio.to_thread(nats.start)
            await gateway.connection.wait_up(30)
            await answered(gateway, path)

    run(go())


async def answered(gateway: Node, path: str) -> None:
    """Wait until the owner, too, is back."""
    while (await gateway.ask("GET", f"{path}/files")).status != 200:  # noqa: ASYNC110 - nothing tells when it is
        await asyncio.sleep(POLL_S)


@pytest.mark.slow
def test_a_frozen_nats_is_waited_for_no_longer_than_a_silent_owner(tmp_path: Path, nats: NatsServer) -> None:
    async def go() -> None:
        async with apart(nats, tmp_path) as (_, gateway, path):
            nats.freeze()
            silent = await gateway.ask("GET", f"{path}/files")
            assert silent.status in (503, 504)
            nats.thaw()
            await gateway.connection.wait_up(30)
            await answered(gateway, path)

    run(go())
