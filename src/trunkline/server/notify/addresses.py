"""Where a webhook may go: public addresses, and those that its table allows.

Rule 1: a name is looked up once per try, and the address that was checked is the one that is connected to. A name that changes
its mind in between (DNS rebinding) changes nothing.
Rule 2: an address that carries another one inside is judged by that one, too.
Rule 3: without TLS only to addresses that the table allows: on the way to any other everybody could read along.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence

from trunkline.errors import Forbidden, Unavailable
from trunkline.server.notify.rules import Webhook

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Lookup = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a name, in the order to try them."""

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


async def look_up(host: str, port: int) -> Sequence[str]:
    """Ask the system's resolver."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:  # UnicodeError: a label that no name can have
        raise Unavailable(f"{host} cannot be looked up: {error}") from error
    return list(dict.fromkeys(str(each[4][0]) for each in found))


async def checked_address(hook: Webhook, lookup: Lookup) -> str:
    """The address to connect to, or Forbidden when the name has none that may be used."""
    parts = hook.parts()
    port = port_of(hook)
    for text in await lookup(hook.host, port):
        address = ipaddress.ip_address(text.partition("%")[0])
        if _allowed(address, hook) or (parts.scheme == "https" and is_public(address)):
            return text
    if parts.scheme == "http":
        raise Forbidden(f"{hook.host} may be told without TLS only when the webhook's allow has its address")
    raise Forbidden(f"{hook.host} is at an address of a private network, and the webhook's allow does not have it")


def port_of(hook: Webhook) -> int:
    """The port to connect to."""
    parts = hook.parts()
    return parts.port or (443 if parts.scheme == "https" else 80)


def is_public(address: Address) -> bool:
    """Whether the address can only be somebody else's machine on the open net."""
    if address.is_multicast or not address.is_global:
        return False
    inside = _inside(address)
    return inside is None or is_public(inside)


def _allowed(address: Address, hook: Webhook) -> bool:
    inside = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return any(each in network for network in hook.allow for each in (address, inside)
               if each is not None and each.version == network.version)


def _inside(address: Address) -> Address | None:
    """The IPv4 address that an IPv6 address is a wrapping of."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
