"""Where the hub can be reached from: the address that another device is given.

Rule: an address is listed only where the hub listens. Where nobody but this machine can come, that is stated and not hidden.
"""

from __future__ import annotations

import ipaddress
import socket
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from trunkline.server.options import ServerOptions

From = Literal["public", "network", "machine"]
"""Who can use an address: whoever can reach the name that the hub is known by, the local network, this machine alone."""

_SOMEWHERE = ("192.0.2.1", 9)
"""An address of nobody's: asking for the way there sends nothing, and shows which of our addresses would be used."""


class Reach(msgspec.Struct, frozen=True):
    """An address of the hub, from where it works, and whether a browser trusts it with push and the clipboard."""

    url: str
    reach: From
    secure: bool


def reach_of(options: ServerOptions, seen_as: str) -> Reach:
    """The best address for another device; ``seen_as`` is the origin under which the one who asks sees us."""
    for url in (options.public_url, seen_as):
        if url and not _is_only_here(_host(url)):
            return _reach(url, "network" if _is_private(_host(url)) else "public")
    host = network_address(options.host)
    if host is not None:
        scheme = "https" if options.tls else "http"
        return _reach(f"{scheme}://{f'[{host}]' if ':' in host else host}:{options.port}", "network")
    return _reach(seen_as, "machine")


def network_address(host: str) -> str | None:
    """The address of this machine in its network, if a hub that listens on ``host`` answers there."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None if host == "localhost" else host
    if address.is_unspecified:
        return _way_out()
    return None if address.is_loopback else host


def _way_out() -> str | None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(_SOMEWHERE)
        except OSError:
            return None  # there is no network
        found = str(probe.getsockname()[0])
    return None if _is_only_here(found) else found


def _reach(url: str, reach: From) -> Reach:
    return Reach(url.rstrip("/"), reach, url.startswith("https://") or reach == "machine")


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""


def _is_only_here(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified


def _is_private(host: str) -> bool:
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return host.endswith(".local") or "." not in host
