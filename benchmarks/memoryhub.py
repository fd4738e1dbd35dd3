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
from trunkline.server.http.listen import serve
from trunkline.server.options import ServerOptions


async def main(port: int, data: Path, agent: str) -> None:
    """Serve until SIGTERM."""
    name, command = agent.split("=", 1)
    listener = socket.create_server(("127.0.0.1", port))
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with Hub(HubOptions(data=data, agents={name: adhoc(name, command)}, store="memory:")) as hub:
        port = listener.getsockname()[1]
        app = build_app(hub, ServerOptions(data=data, port=port, token=os.environ["TRUNKLINE_TOKEN"]))
        print(f"trunkline is listening on http://127.0.0.1:{port}", flush=True)
        await serve(app, sockets=[listener], stop=stop)


def parse() -> argparse.Namespace:
    """The flags of ``trunkline serve`` that the benchmarks use."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--agent", required=True)
    return parser.parse_args()


if __name__ == "__main__":
    sys.setswitchinterval(0.0005)
    asked = parse()
    asked.data.mkdir(parents=True)
    uvloop.run(main(asked.port, asked.data, asked.agent))
