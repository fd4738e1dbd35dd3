"""Where a request comes from, for counting.

Rule 1: what a header says about that counts only from a proxy that was configured (``trusted_proxy``): anybody can write one.
Rule 2: of several addresses the last one counts that is no proxy of ours: those before it are what the client itself wrote.
Rule 3: whoever has one IPv6 address has a whole /64 of them: that is one.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from functools import lru_cache

HEADER = b"x-forwarded-for"
HOPS = 8
"""Addresses that are looked at: nobody has more proxies of their own in a row."""

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@lru_cache(maxsize=256)
def peer_address(peer: str) -> str:
    """Whom a connection is counted for."""
    found = _parse(peer)
    return peer if found is None else _counted(found)


def counted_address(peer: str, headers: Iterable[tuple[bytes, bytes]], proxies: Sequence[Network]) -> str:
    """Whom a request is counted for that came by a connection from ``peer``."""
    found = _parse(peer)
    if found is None or not _is_one_of(found, proxies):
        return peer_address(peer)
    for text in reversed(_forwarded(headers)):
        address = _parse(text)
        if address is None:
            break  # whatever stands before it came through something that we do not understand
        found = address
        if not _is_one_of(found, proxies):
            break
    return _counted(found)


def _forwarded(headers: Iterable[tuple[bytes, bytes]]) -> list[str]:
    values = [value.decode("latin-1") for name, value in headers if name == HEADER]
    return [each.strip() for value in values for each in value.split(",")][-HOPS:]


def _parse(text: str) -> IPAddress | None:
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, ipaddress.IPv6Address) else address


def _is_one_of(address: IPAddress, networks: Sequence[Network]) -> bool:
    return any(address in network for network in networks)


def _counted(address: IPAddress) -> str:
    if isinstance(address, ipaddress.IPv4Address) or address.is_loopback:
        return str(address)
    return str(ipaddress.IPv6Network((address, 64), strict=False))
