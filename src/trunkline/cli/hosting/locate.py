"""Find the hub of a data folder, or start one: the first step of every command that talks to a hub.

Rule 1: a hub counts as found when it holds the folder's lock, ``hub.json`` is its own and ``/healthz`` answers. A stale
``hub.json`` can therefore never send our token to a stranger who took over the port.
Rule 2: starting is a race that anybody may enter; the lock decides it, and the losers use the winner's hub.
Rule 3: a hub started here belongs to nobody's terminal: own session, output to ``hub.log``, and it ends by itself.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from trunkline.cli.exits import EXIT_LOCKED
from trunkline.cli.hosting.datadir import DataDir, HubRecord
from trunkline.client import Client, Endpoint
from trunkline.client.http import HttpRequest, Pool
from trunkline.errors import Unavailable
from trunkline.settings import Settings

READY_S = 20.0
"""How long a hub may take to answer; on an idle machine it takes 0.4 s."""
HEALTH_MOST = 64 << 10
"""Bytes of the answer to that."""
HEALTH_S = 2.0
POLL_S = 0.02
IDLE_EXIT_S = 1800
LOG_LINES = 20


def connected(endpoint: Endpoint, settings: Settings, *, restart: bool = False) -> Client:
    """A client that looks for the hub again when it no longer answers where it was; ``restart``: and starts another."""

    async def again() -> Endpoint:
        found = await (find_or_start if restart else find)(settings)
        if found is None:
            raise Unavailable(f"the hub of {settings.data} is not running any more")
        return found

    return Client(endpoint.url, endpoint.token, certificate=endpoint.certificate, find=again)


async def find_or_start(settings: Settings, *, tell: bool = False) -> Endpoint:
    """Where the hub is; it is started when there is none. ``tell``: and that is said on stderr."""
    if settings.url is not None:
        return _given(settings, settings.url)
    folder = DataDir(settings.data)
    folder.make()
    starter = Starter(folder, settings)
    try:
        async with asyncio.timeout(READY_S):
            while (endpoint := await find(settings)) is None:
                starter.step()
                await asyncio.sleep(POLL_S)
    except TimeoutError as error:
        raise Unavailable(f"no hub answered within {READY_S:g} s\n{starter.log_tail()}") from error
    if starter.withdraw() and tell:
        print(f"no hub was running: started one in the background at {endpoint.url}; it ends by itself when nobody has used it "
              f"for {IDLE_EXIT_S // 60} minutes (trunkline stop ends it now)", file=sys.stderr)
    return endpoint


async def find(settings: Settings) -> Endpoint | None:
    """Where the running hub is; None when there is none that answers."""
    if settings.url is not None:
        return _given(settings, settings.url)
    folder = DataDir(settings.data)
    record = running(folder)
    if record is None:
        return None
    endpoint = Endpoint(record.url, settings.token or folder.token(), record.certificate)
    return endpoint if await answers(endpoint) else None


def running(folder: DataDir) -> HubRecord | None:
    """What the hub that holds the lock says of itself; None while there is none, or it does not listen yet."""
    record = folder.record()
    return record if record is not None and folder.holder() == record.pid else None


async def answers(endpoint: Endpoint) -> bool:
    """Whether ``/healthz`` answers; asked without the token."""
    pool = Pool(Endpoint(endpoint.url, None, endpoint.certificate))
    try:
        return (await pool.ask(HttpRequest("GET", "/healthz"), timeout_s=HEALTH_S, most=HEALTH_MOST)).status == 200
    except Unavailable:
        return False
    finally:
        await pool.close()


class Starter:
    """Starts ``serve`` while nobody holds the lock, and notices when it fails."""

    def __init__(self, folder: DataDir, settings: Settings) -> None:
        self._folder = folder
        self._command = serve_command(settings)
        self._pid: int | None = None
        self._log_start = _size(folder.log_path)

    def step(self) -> None:
        """Start a hub if there is neither one nor one on its way; raise Unavailable if ours failed."""
        if self._pid is not None:
            self._look_after(self._pid)
        if self._pid is None and self._folder.holder() is None:
            self._pid = self._spawn()

    def withdraw(self) -> bool:
        """A hub answers; returns whether it is ours. If not, ours must not wait in the wings to take over after it."""
        record = running(self._folder)
        if self._pid is None or record is None:
            return False
        if record.pid == self._pid:
            return True
        os.kill(self._pid, signal.SIGTERM)
        os.waitpid(self._pid, 0)
        return False

    def log_tail(self) -> str:
        """The last lines of the log that were written since we began."""
        try:
            with self._folder.log_path.open("rb") as log:
                log.seek(min(self._log_start, _size(self._folder.log_path)))
                lines = log.read().decode("utf-8", "replace").splitlines()
        except OSError as error:
            return f"(its log cannot be read: {error})"
        return "\n".join([f"the end of {self._folder.log_path}:", *(f"  {line}" for line in lines[-LOG_LINES:])])

    def _look_after(self, pid: int) -> None:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if not ended:
            return
        self._pid = None
        code = os.waitstatus_to_exitcode(status)
        if code != EXIT_LOCKED:
            raise Unavailable(f"the hub did not start (exit code {code})\n{self.log_tail()}")

    def _spawn(self) -> int:
        log = self._folder.open_log()
        try:
            # The hub itself, once, detached; agents are spawned by agents/process.py alone.
            return os.posix_spawn(sys.executable, self._command, os.environ, setsid=True, file_actions=[  # noqa: TID251
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, log, 1),
                (os.POSIX_SPAWN_DUP2, log, 2),
            ])
        finally:
            os.close(log)


def serve_command(settings: Settings) -> list[str]:
    """``serve`` for a hub that ends by itself; ``-P`` keeps the caller's folder out of Python's path."""
    command = [sys.executable, "-P", "-m", "trunkline", "serve", "--no-open", "--any-port", "--idle-exit", str(IDLE_EXIT_S),
               "--data", str(settings.data)]
    return [*command, "--config", str(settings.config)] if settings.config and settings.config.exists() else command


def _given(settings: Settings, url: str) -> Endpoint:
    """A hub that the caller named. Our own token goes only to our own machine; elsewhere it takes TRUNKLINE_TOKEN."""
    endpoint = Endpoint(url.rstrip("/"))
    token = settings.token or (DataDir(settings.data).token() if endpoint.is_loopback() else None)
    record = running(DataDir(settings.data))
    certificate = record.certificate if record is not None and record.url == endpoint.url else None
    return Endpoint(endpoint.url, token, certificate)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
