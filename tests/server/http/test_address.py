"""Whom a request is counted for."""

from __future__ import annotations

import ipaddress

from tests.tooling.rows import every_row
from trunkline.server.http.address import counted_address

PROXIES = (ipaddress.ip_network("127.0.0.1/32"), ipaddress.ip_network("10.0.0.0/8"))


@every_row(("peer", "forwarded", "counted"), [
    ("192.0.2.7", [], "192.0.2.7"),
    ("192.0.2.7", ["203.0.113.9"], "192.0.2.7"),  # anybody can write a header
    ("127.0.0.1", [], "127.0.0.1"),
    ("127.0.0.1", ["203.0.113.9"], "203.0.113.9"),
    ("127.0.0.1", ["198.51.100.1, 203.0.113.9"], "203.0.113.9"),  # what stands before it is the client's own word
    ("127.0.0.1", ["198.51.100.1", "203.0.113.9"], "203.0.113.9"),
    ("127.0.0.1", ["203.0.113.9, 10.1.2.3"], "203.0.113.9"),
    ("127.0.0.1", ["10.1.2.3"], "10.1.2.3"),
    ("127.0.0.1", ["junk"], "127.0.0.1"),
    ("127.0.0.1", ["203.0.113.9, junk, 10.1.2.3"], "10.1.2.3"),
    ("127.0.0.1", ["203.0.113.9:4711"], "127.0.0.1"),
    ("::ffff:127.0.0.1", ["203.0.113.9"], "203.0.113.9"),
    ("127.0.0.1", ["2001:db8:1:2:3:4:5:6"], "2001:db8:1:2::/64"),
    ("2001:db8::1", [], "2001:db8::/64"),
    ("fe80::1%eth0", [], "fe80::/64"),
    ("::1", [], "::1"),
    ("", [], ""),
])
def test_a_request_is_counted_for_its_peer_or_for_whom_our_proxy_names(peer: str, forwarded: list[str], counted: str) -> None:
    headers = [(b"host", b"localhost"), *((b"x-forwarded-for", value.encode()) for value in forwarded)]
    assert counted_address(peer, headers, PROXIES) == counted


def test_without_proxies_no_header_counts() -> None:
    assert counted_address("127.0.0.1", [(b"x-forwarded-for", b"203.0.113.9")], ()) == "127.0.0.1"
