"""The hub with its journal in memory, as a control: what is left of a figure when SQLite is taken out of it."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import socket
import sys
from pathlib import Path

import uvloop

from trunkline.agents.catalog import adhoc
from trunkline.hub import Hub, HubOptions
from trunkline.server.app import build_app
from trunkline.server.listen import serve
from trunkline.server.options import ServerOptions


async def main() -> None:
    """Serve until SIGTERM."""
    parser = argparse.ArgumentParser()
    for flag in ("--port", "--data", "--agent"):
        parser.add_argument(flag, required=True)
    asked = parser.parse_args()
    name, command = asked.agent.split("=", 1)
    data = Path(asked.data)
    data.mkdir(parents=True)
    listener = socket.create_server(("127.0.0.1", int(asked.port)))
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with Hub(HubOptions(data_dir=data, agents={name: adhoc(name, command)}, memory=True)) as hub:
        port = listener.getsockname()[1]
        app = build_app(hub, ServerOptions(data_dir=data, port=port, token=os.environ["TRUNKLINE_TOKEN"]))
        print(f"trunkline is listening on http://127.0.0.1:{port}", flush=True)
        await serve(app, sockets=[listener], stop=stop)


if __name__ == "__main__":
    sys.setswitchinterval(0.0005)
    uvloop.run(main())
