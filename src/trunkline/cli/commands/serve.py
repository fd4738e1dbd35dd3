"""``trunkline serve``: a hub in this terminal. Here is what can be refused; ``hosting`` is what then runs.

Rule 1: what can be refused is refused before anything starts: settings, then the lock, then the port.
Rule 2: the hub and the server are imported behind the lock, so that help and refusals answer at once.
"""

from __future__ import annotations

import errno
import gc
import os
import socket
import ssl
import sys
from typing import Any

import click

from trunkline.cli.common import setting_flags
from trunkline.cli.hosting.datadir import DataDir, HubLock
from trunkline.cli.hosting.logs import log_to
from trunkline.cli.hosting.secrecy import allow_debuggers, environment
from trunkline.cli.read_settings import load
from trunkline.errors import Forbidden, HubLocked, Invalid, Unavailable
from trunkline.settings import Settings

OFFERED = 20
"""Ports behind a taken one that are tried before nothing is offered."""
USUAL_HOSTS = frozenset({"127.0.0.1", "::1", "localhost"})


@click.command(short_help="Run the hub in this terminal.")
@setting_flags("serve")
def command(**flags: Any) -> None:
    """Run the hub in this terminal.

    Ctrl-C stops it and every agent it runs; a second one does not wait for them. Every flag can also be set in the
    environment or in config.toml.
    """
    settings = load(flags, environment())
    if settings.debuggable:
        allow_debuggers()
    check_tls(settings)
    check_reach(settings)
    folder = DataDir(settings.data)
    folder.make()
    with _lock(folder, settings), bind(settings) as listener:
        log_to(sys.stderr, settings.log_level.upper())
        if settings.idle_exit:
            os.chdir(settings.data)  # it outlives the terminal that started it, and must not hold on to that one's folder
        gc.disable()  # for whoever comes here without ``main``; ``host`` has what is loaded left alone and goes on collecting
        from trunkline.cli.hosting.hosting import host  # Rule 2

        code = host(settings, folder, listener)
    sys.exit(code)


def _lock(folder: DataDir, settings: Settings) -> HubLock:
    """The right to be this folder's hub; where another has it, somebody at a terminal gets a link to that one."""
    try:
        return HubLock(folder).taken()
    except HubLocked:
        from trunkline.cli.hosting.second_start import tell_about_the_first

        tell_about_the_first(settings)
        raise


def check_reach(settings: Settings) -> None:
    """Forbidden, when others could listen in on the way and nobody declared that this is wanted."""
    if settings.host in USUAL_HOSTS or settings.tls_cert or settings.insecure:
        return
    from trunkline.client.http import is_loopback  # the usual hub starts without a client

    if not is_loopback(settings.host):
        raise Forbidden(f"host {settings.host} can be reached from other machines: give --tls-cert and --tls-key, or --insecure "
                        "if everybody on the way may read and steer")


def check_tls(settings: Settings) -> None:
    """Invalid, unless certificate and key are both absent or fit together."""
    if settings.tls_cert is None and settings.tls_key is None:
        return
    if settings.tls_cert is None or settings.tls_key is None:
        raise Invalid("tls_cert and tls_key belong together: give both")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(settings.tls_cert, settings.tls_key)
    except OSError as error:  # ssl.SSLError is one
        raise Invalid(f"tls_cert: {settings.tls_cert} and {settings.tls_key} cannot be used: {error}") from error


def bind(settings: Settings) -> socket.socket:
    """A listening socket, so that the port is known and ours before anything else starts. Who comes early waits in its queue."""
    try:
        return _bound(settings.host, settings.port)
    except OSError as error:
        if settings.any_port and settings.port:
            return _bound(settings.host, 0)
        if error.errno == errno.EADDRINUSE and (offered := _next_free(settings.host, settings.port)) is not None:
            return _offer(settings, offered)
        raise Unavailable(f"cannot listen on {settings.host} port {settings.port}: {error.strerror}; "
                          "choose another with --port (0 picks a free one)") from error


def _next_free(host: str, port: int) -> socket.socket | None:
    """A socket on the next port that is free, if one is near."""
    for number in range(port + 1, min(port + OFFERED, 65536)):
        try:
            return _bound(host, number)
        except OSError:
            continue
    return None


def _offer(settings: Settings, offered: socket.socket) -> socket.socket:
    """The offered socket, where somebody at a terminal takes it; else Unavailable, which names it."""
    port = offered.getsockname()[1]
    taken = f"port {settings.port} of {settings.host} is taken by another program"
    at_terminal = sys.stdin.isatty() and sys.stderr.isatty()
    if at_terminal and click.confirm(f"{taken}; listen on {port} instead?", default=True, err=True):
        return offered
    offered.close()
    raise Unavailable(f"{taken}; --port {port} is free (--port 0 picks any)")


def _bound(host: str, port: int) -> socket.socket:
    # As bytes where it can be: a text is encoded by a codec for names in all scripts, which takes 2 ms to load.
    found = socket.getaddrinfo(host.encode() if host.isascii() else host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    # "localhost" may be both; clients and browsers try the older one in any case.
    family, kind, protocol, _, address = min(found, key=lambda each: each[0] != socket.AF_INET)
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()  # before that, another hub that starts now could bind to it too, and one of both would fail later
    except OSError:
        listener.close()
        raise
    return listener
