"""A hub in memory that is a node of a cluster, as a process: ``python -m benchmarks.node NATS NAME DATA``.

It says where it listens. Sessions that it does not have are the node ``owner``'s.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from pathlib import Path

import uvloop

from trunkline.cluster.connection import Address, Connection
from trunkline.cluster.tunnel.gateway import Owner
from trunkline.hub import Hub, HubOptions
from trunkline.server.clustered import clustered_app
from trunkline.server.http.listen import serve
from trunkline.server.options import ServerOptions

OWNER = "owner"
GATEWAYS = ("gateway",)


async def main(nats: str, name: str, data: Path) -> None:
    """Serve until SIGTERM."""
    listener, stop = socket.create_server(("127.0.0.1", 0)), asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    connection = Connection(Address(servers=(nats,), node=name))
    await connection.start()
    await connection.wait_up(30)

    async def owner_of(session: str) -> Owner | None:
        return None if name == OWNER else Owner(OWNER)

    async with Hub(HubOptions(data=data, store="memory:")) as hub:
        port = listener.getsockname()[1]
        options = ServerOptions(data=data, port=port, token=os.environ["TRUNKLINE_TOKEN"])
        app, switch = clustered_app(hub, options, connection, owner_of=owner_of, check_owner=lambda session, epoch: None,
                                    acting=GATEWAYS)
        await switch.start()
        print(f"trunkline is listening on http://127.0.0.1:{port}", flush=True)
        await serve(app, sockets=[listener], stop=stop)
        await switch.stop()
    await connection.close()


if __name__ == "__main__":
    sys.setswitchinterval(0.0005)
    uvloop.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
