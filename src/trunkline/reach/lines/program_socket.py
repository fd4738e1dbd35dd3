"""The Unix socket of a program that serves terminals, opened by us: only that of our own user.

Rule 1: the socket's real place has to be our user's, in a folder that is our user's and that nobody else may write to; links
are followed before that is looked at. Whoever answers there has to be our user's process.
Rule 2: opening it waits for a while and no longer.
"""

from __future__ import annotations

import os
import socket
import stat
import struct
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from trunkline.agents import catalog
from trunkline.agents.catalog import AgentSpec
from trunkline.reach.socket import Short

CONNECT_S: Final = 2.0


class NotOurs(OSError):
    """The socket is somebody else's, or could be."""


def connect_to(path: str) -> socket.socket:
    """A connection; OSError where nobody listens, NotOurs where it may be somebody else's. It may wait for CONNECT_S."""
    real = os.path.realpath(path)
    _check_place(real)
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        link.settimeout(CONNECT_S)
        with Short(Path(real)) as address:
            link.connect(address)
        _check_peer(link)
        link.setblocking(False)
    except BaseException:
        link.close()
        raise
    return link


def socket_of(spec: AgentSpec, environ: Mapping[str, str] | None = None) -> str:
    """Where an agent's program listens."""
    return catalog.expand(spec.line.socket, os.environ if environ is None else environ) or ""


def greet(path: str) -> float:
    """How long its program takes to answer the beginning of a WebSocket, in seconds; OSError where it does not."""
    from websockets.exceptions import WebSocketException
    from websockets.sync.client import connect

    began = time.perf_counter()
    link = connect_to(path)
    link.setblocking(True)
    try:
        with connect("ws://localhost/", sock=link, compression=None, open_timeout=CONNECT_S, close_timeout=CONNECT_S, proxy=None):
            return time.perf_counter() - began
    except WebSocketException as error:
        raise OSError(f"no WebSocket: {error}") from error
    finally:
        link.close()


def _check_place(real: str) -> None:
    found, folder = os.stat(real), os.stat(os.path.dirname(real))
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.getuid():
        raise NotOurs(f"{real} is no socket of this user")
    if folder.st_uid != os.getuid() or folder.st_mode & 0o022:
        raise NotOurs(f"others may write to the folder of {real}")


def _check_peer(link: socket.socket) -> None:
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:  # where the system does not say, the place has to do
        return
    _, user, _ = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, option, struct.calcsize("3i")))
    if user != os.getuid():
        raise NotOurs("another user's process answers there")
