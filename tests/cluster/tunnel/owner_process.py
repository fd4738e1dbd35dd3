"""A hub that owns sessions, in a process of its own: to be killed, frozen and started again on the same data.

``python -m tests.cluster.tunnel.owner_process URL FOLDER [--die]`` says ``ready`` once it can be asked. With ``--die`` it is gone
once the first command was carried out, and before anybody is told.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.cluster.tunnel.hubs import node
from tests.tooling.hub_process import own_environment
from tests.tooling.processes import freeze

GATEWAYS = ("gateway", "second")
WITHIN_S = 60.0


class OwnerProcess:
    """The process. ``folder / "work"`` is where its sessions are."""

    def __init__(self, url: str, folder: Path) -> None:
        self._url, self._folder = url, folder
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.kill()

    async def start(self, *flags: str) -> None:
        """Start it, and wait until it can be asked."""
        said = await asyncio.to_thread(self._start, flags)
        assert said == b"ready\n", (self._folder / "owner.log").read_text()[-3000:]

    def _start(self, flags: Sequence[str]) -> bytes:
        """Start it; its first line."""
        with (self._folder / "owner.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.cluster.tunnel.owner_process", self._url, str(self._folder), *flags],
                stdout=subprocess.PIPE, stderr=log, env=own_environment(self._folder))
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def kill(self) -> None:
        """End it as a crash does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(WITHIN_S)
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._process = None

    async def ended(self) -> None:
        """Wait until it has ended by itself."""
        assert self._process is not None
        await asyncio.to_thread(self._process.wait, WITHIN_S)
        self.kill()

    def freeze(self) -> None:
        assert self._process is not None
        freeze(self._process.pid)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)


def dying(app: ASGIApp) -> ASGIApp:
    """The same application, gone with its first answer to a command."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def die(message: Message) -> None:
            os.kill(os.getpid(), signal.SIGKILL)

        await app(scope, receive, die if scope["path"].endswith("/commands") else send)

    return answer


async def serve(url: str, folder: Path, *, dies: bool) -> None:
    """Be the owner, until somebody ends it."""
    async with node(url, "owner", folder, acting=GATEWAYS, store="sqlite:", around=dying if dies else None):
        print("ready", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], Path(sys.argv[2]), dies="--die" in sys.argv))
