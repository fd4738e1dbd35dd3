"""A hub in this process, from the open port to the last agent's end.

Rule 1: stdout carries one line, when the hub listens; everything else goes to stderr.
Rule 2: stopping closes the hub first, so that every reader still gets its turn's last packet, and the server after it.
Rule 3: a link to the page carries a one-time code; it goes to a browser or to a terminal, never to a log (``way_in.py``).
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from trunkline import __version__
from trunkline.agents.pid_files import PidFiles
from trunkline.agents.process_tree import end_leftover
from trunkline.cli.exits import EXIT_INTERRUPTED
from trunkline.cli.hosting.clustered import in_cluster, let_it_know, served, share
from trunkline.cli.hosting.collecting import collect_at_rest, leave_out_full_ones
from trunkline.cli.hosting.datadir import DataDir, HubRecord
from trunkline.cli.hosting.way_in import login_command, tell_way_in
from trunkline.hub import Hub, HubOptions
from trunkline.reach.door import Door
from trunkline.server.app import App
from trunkline.server.http.listen import BACKLOG, Tls, serve
from trunkline.server.ops.chores import chores
from trunkline.server.options import ServerOptions
from trunkline.settings import Settings

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
IDLE_LOOK_S = 15.0

log = logging.getLogger("trunkline.hosting")


def host(settings: Settings, folder: DataDir, listener: socket.socket) -> int:
    """Run a hub behind a bound socket until it is to stop; returns the exit code."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(_until_stopped(settings, folder, listener))


def url_of(settings: Settings, listener: socket.socket) -> str:
    """The address for somebody on this machine."""
    host, port = listener.getsockname()[:2]
    local = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, settings.host)
    scheme = "https" if settings.tls_cert else "http"
    return f"{scheme}://[{local}]:{port}" if ":" in local else f"{scheme}://{local}:{port}"


class Stopper:
    """Signals become events: the first asks to stop, the second not to wait."""

    def __init__(self) -> None:
        self.wanted = asyncio.Event()
        self.forced = asyncio.Event()
        self.waiting: asyncio.Task[None] | None = None
        """The start of a hub that waits for its cluster, for as long as that takes: nothing is lost by giving it up."""
        self._signals = 0

    def listen(self) -> None:
        """Take over the signals that end a program."""
        loop = asyncio.get_running_loop()
        for number in STOP_SIGNALS:
            loop.add_signal_handler(number, self.signalled, signal.Signals(number).name)

    def signalled(self, name: str) -> None:
        """A signal came."""
        self._signals += 1
        if self._signals > 1:
            log.warning("%s again: not waiting for the agents", name)
            self.forced.set()
        else:
            log.info("%s: stopping; once more to stop at once", name)
            self.wanted.set()
            if self.waiting is not None:
                self.waiting.cancel()


async def _until_stopped(settings: Settings, folder: DataDir, listener: socket.socket) -> int:
    stopper = Stopper()
    stopper.listen()
    hub = asyncio.create_task(_serve(settings, folder, listener, stopper))
    stopper.waiting = hub if settings.cluster and settings.commit == "all" else None
    forced = asyncio.create_task(stopper.forced.wait())
    await asyncio.wait((hub, forced), return_when=asyncio.FIRST_COMPLETED)
    if hub.done():
        forced.cancel()
        if not hub.cancelled():
            await hub
        return 0
    await _kill_agents(settings.data)
    # The hub's task is left where it is: whatever it waits for is what a second Ctrl-C asks us not to wait for.
    os._exit(EXIT_INTERRUPTED)


async def _serve(settings: Settings, folder: DataDir, listener: socket.socket, stopper: Stopper) -> None:
    closed, stop = asyncio.Event(), stopper.wanted
    async with (in_cluster(settings) as node, Hub(_hub_options(settings), replica=node) as hub,
                served(node, hub, _server_options(settings, listener)) as app):
        stopper.waiting = None
        if node is not None:
            let_it_know(node, hub)
        tls = _tls(settings)
        app.parts.gate.expect_session = hub.expect_session
        shared = None if node is None else await share(node, app.parts)
        server = asyncio.create_task(serve(app, sockets=[listener], stop=closed, tls=tls))
        listener.listen(BACKLOG)
        door = Door(hub, settings.data)
        await door.open()
        _announce(settings, folder, app, url_of(settings, listener))
        gc.freeze()  # what was made until now stays until the end: no collection need look at it again
        leave_out_full_ones()
        gc.enable()
        collecting = asyncio.create_task(collect_at_rest(lambda: hub.sessions_released))
        idle = asyncio.create_task(_end_when_idle(app, hub, settings.idle_exit, stop))
        at_work = asyncio.create_task(chores(app.parts))
        with _guarded(settings):
            await _first(stop.wait(), server)
        # From here on a new command waits for the lock instead of talking to a hub that is on its way out.
        folder.remove_record()
        idle.cancel()
        collecting.cancel()
        at_work.cancel()
        await asyncio.wait((at_work,))
        await door.close()
        if shared is not None:
            await shared.close()
    closed.set()
    await server
    await app.saved()


@contextmanager
def _guarded(settings: Settings) -> Iterator[None]:
    """Watch the loop, where that is wanted."""
    if not settings.debug_loop:
        yield
        return
    from trunkline.cli.hosting.loop_guard import LoopGuard  # only who looks for holds pays for it

    guard = LoopGuard()
    guard.start()
    try:
        yield
    finally:
        guard.stop()


async def _first(wanted: Coroutine[Any, Any, Any], server: asyncio.Task[None]) -> None:
    """Wait until we are to stop, or until the server fails."""
    waiting = asyncio.create_task(wanted)
    await asyncio.wait((waiting, server), return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()


def _announce(settings: Settings, folder: DataDir, app: App, url: str) -> None:
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    certificate = str(settings.tls_cert) if settings.tls_cert else None
    folder.write_record(HubRecord(pid=os.getpid(), url=url, started_at=stamp, version=__version__, certificate=certificate))
    print(f"trunkline is listening on {url}", flush=True)
    tell_way_in(settings, url, lambda: url + app.login_path())


async def _end_when_idle(app: App, hub: Hub, limit_s: float, stop: asyncio.Event) -> None:
    """Ask to stop after ``limit_s`` without running turn, client or pending approval; never, when that is 0."""
    if not limit_s:
        return
    quiet_since = time.monotonic()
    while True:
        await asyncio.sleep(min(limit_s / 4, IDLE_LOOK_S))
        if hub.busy():
            quiet_since = time.monotonic()
        if min(app.idle_s(), time.monotonic() - quiet_since) >= limit_s:
            log.info("nobody has needed the hub for %g s: stopping", limit_s)
            stop.set()


async def _kill_agents(data: Path) -> None:
    """End every agent and all it started, without the courtesies."""
    records = await asyncio.to_thread(PidFiles(data / "agents").left_behind)
    await asyncio.gather(*(end_leftover(each.pid, each.start_time, each.marker, keepers=each.keepers, term_s=0)
                           for each in records))


def _tls(settings: Settings) -> Tls | None:
    return Tls(settings.tls_cert, settings.tls_key) if settings.tls_cert and settings.tls_key else None


def _hub_options(settings: Settings) -> HubOptions:
    return HubOptions(**asdict(settings))


def _server_options(settings: Settings, listener: socket.socket) -> ServerOptions:
    bound = {"port": listener.getsockname()[1], "public_url": settings.public_url or url_of(settings, listener),
             "login_command": login_command(settings)}
    return ServerOptions(**{**asdict(settings), **bound})


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop  # not available everywhere; asyncio's own loop does the same, slower
    except ImportError:
        return None
    return uvloop.new_event_loop
