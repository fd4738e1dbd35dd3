"""Subscriptions: where one may lead, and that they outlast a restart."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.aio import run
from tests.server.delivery.push.telling import LOOPBACK
from tests.tooling.push_service import Browser, PushService
from tests.tooling.rows import every_row
from trunkline.errors import Invalid, StorageError
from trunkline.server.delivery.push.subscriptions import KINDS, Subscriptions, check_endpoint


@every_row("endpoint", [
    "http://push.example/x", "https://127.0.0.1/x", "https://10.0.0.1/x", "https://[::1]/x", "https://169.254.169.254/x",
    "https://[::ffff:10.0.0.1]/x", "https://localhost/x", "https://user:pw@push.example/x", "ftp://push.example", "https://", "x",
    "https://push.example/" + "x" * 3_000, "https://push.example/a b", "https://push.example:0/",
])
def test_an_endpoint_without_tls_or_in_a_private_network_is_refused(endpoint: str) -> None:
    with pytest.raises(Invalid):
        check_endpoint(endpoint, ())


def test_an_endpoint_may_be_where_the_settings_allow_it() -> None:
    check_endpoint("https://push.example/x", ())
    check_endpoint("http://127.0.0.1:9/x", LOOPBACK)
    with pytest.raises(Invalid):
        check_endpoint("https://10.0.0.1/x", LOOPBACK)


def test_subscriptions_outlast_a_restart_and_a_damaged_file_is_told(tmp_path: Path) -> None:
    with PushService() as service:
        keys = Browser(service).subscription()["keys"]

        async def keep() -> None:
            Subscriptions(tmp_path, lambda _: True).keep("t", "https://push.example/x", keys["p256dh"], keys["auth"], KINDS)

        run(keep())
    assert Subscriptions(tmp_path, lambda _: True).of_token("t") is not None
    assert Subscriptions(tmp_path, lambda _: False).wanting("approval") == []
    (tmp_path / "push.json").write_text("{")
    with pytest.raises(StorageError):
        Subscriptions(tmp_path, lambda _: True)
