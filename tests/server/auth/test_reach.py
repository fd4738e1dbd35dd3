"""The address that another device is given, and who can use it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tooling.rows import every_row
from trunkline.server.auth.reach import Reach, network_address, reach_of
from trunkline.server.options import ServerOptions


def options(host: str = "127.0.0.1", public_url: str = "", tls: bool = False) -> ServerOptions:
    return ServerOptions(data=Path("/nowhere"), port=7420, host=host, public_url=public_url,
                         tls_cert=Path("/nowhere/cert.pem") if tls else None)


@every_row(("given", "seen_as", "expected"), [
    (options(public_url="https://hub.example/"), "http://127.0.0.1:7420", Reach("https://hub.example", "public", True)),
    (options(), "http://192.168.1.5:7420", Reach("http://192.168.1.5:7420", "network", False)),
    (options(), "http://127.0.0.1:7420", Reach("http://127.0.0.1:7420", "machine", True)),
    (options(host="192.168.1.5", tls=True), "https://localhost:7420", Reach("https://192.168.1.5:7420", "network", True)),
    (options(host="fd00::5"), "http://localhost:7420", Reach("http://[fd00::5]:7420", "network", False)),
])
def test_the_widest_address_where_the_hub_listens_is_given(given: ServerOptions, seen_as: str, expected: Reach) -> None:
    assert reach_of(given, seen_as) == expected


@pytest.mark.parametrize(("host", "found"), [("127.0.0.1", None), ("::1", None), ("localhost", None), ("10.0.0.5", "10.0.0.5")])
def test_a_hub_that_listens_on_loopback_has_no_address_in_the_network(host: str, found: str | None) -> None:
    assert network_address(host) == found
