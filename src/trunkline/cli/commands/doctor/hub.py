"""The hub: whether one runs, where it listens or could, and who is told when nobody watches."""

from __future__ import annotations

import errno
import socket

from trunkline import __version__
from trunkline.cli.commands.doctor.finding import Finding, Scene, bad, note, ok
from trunkline.cli.commands.doctor.folder import STORED_BYTES
from trunkline.dialects.outside import BROKEN
from trunkline.disk.private_file import read_private
from trunkline.errors import TrunklineError, Unauthorized
from trunkline.settings import Settings

PRIVILEGED = 1024


async def hub(scene: Scene) -> list[Finding]:
    """Whether one runs, and which."""
    return [hub_of(scene)]


def hub_of(scene: Scene) -> Finding:
    """What is to be said of the hub."""
    if scene.hub_trouble:
        return bad("hub", f"nobody can say whether one runs: {scene.hub_trouble}",
                   "mend the data folder first; with --url: its address")
    if scene.endpoint is None and scene.holder is not None:
        process = f"process {scene.holder}" if scene.holder else "a process"
        return bad("hub", f"{process} has the data folder and does not answer", "trunkline stop ends it"
                   + (f" (or kill {scene.holder})" if scene.holder else ""))
    if scene.endpoint is None:
        return ok("hub", "none runs; trunkline serve starts one")
    if scene.record is not None and scene.record.version != __version__:
        return bad("hub", f"{scene.endpoint.url} runs version {scene.record.version}, and this is {__version__}",
                   "trunkline stop, and start it again")
    return ok("hub", f"runs at {scene.endpoint.url}" + (f", process {scene.record.pid}" if scene.record is not None else ""))


async def port(scene: Scene) -> list[Finding]:
    """Whether a hub could listen."""
    if scene.endpoint is not None:
        return [ok("port", f"the hub has its own: {scene.endpoint.url}")]
    if scene.settings_problem:
        return [note("port", "which one is not known while the settings cannot be read")]
    return [await scene.off_loop(port_of, scene.settings)]


def port_of(settings: Settings) -> Finding:
    """Whether the address of the settings is free, and may be used."""
    from trunkline.cli.commands.serve import check_reach, check_tls

    try:
        check_tls(settings)
        check_reach(settings)
    except TrunklineError as error:
        return bad("port", error.message, "change it in config.toml, or by the flags of trunkline serve")
    try:
        _try_to_bind(settings.host, settings.port)
    except OSError as error:
        return _not_free(settings, error)
    return ok("port", f"{settings.host} port {settings.port} is free")


def _try_to_bind(host: str, number: int) -> None:
    """Without listening: a hub that starts at this moment gets the port all the same."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, kind, protocol) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        tried.bind(address)


def _not_free(settings: Settings, error: OSError) -> Finding:
    place = f"{settings.host} port {settings.port}"
    if error.errno == errno.EADDRINUSE:
        return bad("port", f"{place} is taken by another program", f"trunkline serve --port 0 takes a free one; ss -ltnp "
                   f"'sport = :{settings.port}' says who has it")
    if error.errno == errno.EACCES and settings.port < PRIVILEGED:
        return bad("port", f"{place} is only for root", "take one from 1024 on: port in config.toml")
    return bad("port", f"{place} cannot be used: {error.strerror or error}", "change host or port in config.toml")


async def push(scene: Scene) -> list[Finding]:
    """Who is told on a phone."""
    if scene.endpoint is not None:
        try:
            async with scene.asked() as hub:
                return [push_of(sum(device.push for device in await hub.devices()), scene.settings)]
        except Unauthorized:
            return [note("push", "not known: the hub does not take the token")]
    return [await scene.off_loop(_stored, scene.settings)]


def _stored(settings: Settings) -> Finding:
    from trunkline.server.delivery.push.subscriptions import SUBSCRIPTIONS_FILE, stored_subscriptions

    path = settings.data / SUBSCRIPTIONS_FILE
    try:
        text = read_private(path, STORED_BYTES, close=False)
        return push_of(0 if text is None else len(stored_subscriptions(text)), settings)
    except TrunklineError as error:
        return bad("push", error.message, "the hub does not start with it; its owner can mend its rights")
    except BROKEN:
        return bad("push", f"{path} cannot be read, and the hub does not start with it", f"rm {path}, and switch push on again")


def push_of(count: int, settings: Settings) -> Finding:
    """What is to be said of so many subscriptions."""
    if count:
        return ok("push", f"{count} device{'s are' if count > 1 else ' is'} told when somebody is waited for")
    how = "on the phone: the page, Devices, notifications"
    if not settings.tls_cert and not settings.public_url.startswith("https://"):
        how += "; a phone's browser allows that only over https (docs/howto/phone.md)"
    return note("push", "no device is told anything", how)


