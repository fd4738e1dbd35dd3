"""Where the hub may send something: public addresses, and those that are allowed for the destination (a webhook's table does).

Rule 1: a name is looked up once per try, and the address that was checked is the one that is connected to. A name that changes
its mind in between (DNS rebinding) changes nothing.
Rule 2: an address that carries another one inside is judged by that one, too.
Rule 3: without TLS only to addresses that are allowed: on the way to any other everybody could read along.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol
from urllib.parse import SplitResult

from trunkline.errors import Forbidden, Unavailable
from trunkline.server.http.address import IPAddress, Network
from trunkline.threads import Lane

Lookup = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a name, in the order to try them."""


class Destination(Protocol):
    """Something that is sent to: a webhook, a push service."""

    @property
    def host(self) -> str:
        """All of the address that a log may show."""

    @property
    def allow(self) -> tuple[Network, ...]:
        """Addresses of private networks that it may have all the same."""

    def parts(self) -> SplitResult:
        """The address taken apart."""


LOOK_UP_S = 30.0
"""How long a name may take: resolvers try each of their servers for five seconds, some times."""

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
"""All of IPv6 that is given out. What the rest is for, or was once, no list of special addresses has in full."""
_EXAMPLES = ipaddress.IPv6Network("3fff::/20")
"""For documentation (RFC 9637); Python learned of it late."""


async def look_up(host: str, port: int) -> Sequence[str]:
    """Ask the system's resolver. It may wait for a server that somebody else runs, and nobody waits for it when the hub stops."""
    try:
        found = await Lane().run_within(LOOK_UP_S, socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    except TimeoutError as error:
        raise Unavailable(f"{host} cannot be looked up: it took longer than {LOOK_UP_S:g} s") from error
    except (OSError, UnicodeError) as error:  # UnicodeError: a label that no name can have
        raise Unavailable(f"{host} cannot be looked up: {error}") from error
    return list(dict.fromkeys(str(each[4][0]) for each in found))


async def checked_address(destination: Destination, lookup: Lookup) -> str:
    """The address to connect to, or Forbidden when the name has none that may be used."""
    parts = destination.parts()
    port = port_of(destination)
    for text in await lookup(destination.host, port):
        address = ipaddress.ip_address(text.partition("%")[0])
        if _allowed(address, destination) or (parts.scheme == "https" and is_public(address)):
            return text
    if parts.scheme == "http":
        raise Forbidden(f"{destination.host} may be told without TLS only when its address is allowed")
    raise Forbidden(f"{destination.host} is at an address of a private network that is not allowed")


def port_of(destination: Destination) -> int:
    """The port to connect to."""
    parts = destination.parts()
    return parts.port or (443 if parts.scheme == "https" else 80)


def is_public(address: IPAddress) -> bool:
    """Whether the address can only be somebody else's machine on the open net."""
    if address.is_multicast or not address.is_global:
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return True
    inside = _inside(address)
    return is_public(inside) if inside is not None else address in _GLOBAL_UNICAST and address not in _EXAMPLES


def _allowed(address: IPAddress, destination: Destination) -> bool:
    inside = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return any(each in network for network in destination.allow for each in (address, inside)
               if each is not None and each.version == network.version)


def _inside(address: ipaddress.IPv6Address) -> IPAddress | None:
    """The IPv4 address that an IPv6 address is a wrapping of."""
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
