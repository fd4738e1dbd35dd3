"""Where a webhook may go."""

from __future__ import annotations

import ipaddress
import socket
import threading
from typing import Any

import pytest

from tests.aio import run
from tests.server.delivery.receiver import SECRET, HandClock, Names, receiver
from tests.tooling.rows import every_row
from trunkline.errors import Forbidden, Unavailable
from trunkline.server.delivery import addresses
from trunkline.server.delivery.addresses import checked_address, is_public, look_up
from trunkline.server.delivery.webhooks.rules import Webhook
from trunkline.server.delivery.webhooks.sender import LIMITS, WebhookSender


def hook(url: str = "https://hooks.example/x", **fields: Any) -> Webhook:
    return Webhook(url=url, secret=SECRET, **fields)


@pytest.mark.parametrize("address", ["93.184.216.34", "8.8.8.8", "2606:2800:220:1:248:1893:25c8:1946", "64:ff9b::808:808"])
def test_addresses_on_the_open_net_are_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@every_row("address", [
    "127.0.0.1", "127.9.9.9", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "192.0.0.1",
    "198.18.0.1", "224.0.0.1", "255.255.255.255", "240.0.0.1", "::", "::1", "fe80::1", "fc00::1", "fd12::1", "ff02::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "64:ff9b::7f00:1", "2002:7f00:1::", "2002:a00:1::1",
    "2001:0:4136:e378:8000:63bf:f5ff:fffe", "2001:db8::1", "fec0::1", "::127.0.0.1", "::8.8.8.8", "::ffff:0:127.0.0.1",
    "::ffff:0:8.8.8.8", "3fff::1", "5f00::1", "64:ff9b:1::7f00:1", "100::1", "4000::1", "2002:c0a8:1::1",
])
def test_private_and_special_addresses_are_not_however_they_are_wrapped(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


def test_the_first_address_that_may_be_used_is_taken() -> None:
    names = Names(["10.0.0.1", "8.8.8.8", "1.1.1.1"])
    assert run(checked_address(hook(), names)) == "8.8.8.8"
    assert names.asked == [("hooks.example", 443)]


@pytest.mark.parametrize("answer", [["127.0.0.1"], ["169.254.169.254", "::1"], ["fe80::1%eth0"], []])
def test_a_name_at_private_addresses_is_refused(answer: list[str]) -> None:
    with pytest.raises(Forbidden, match=r"hooks\.example is at an address of a private network"):
        run(checked_address(hook(), Names(answer)))


def test_an_allow_listed_address_may_be_used_and_no_other() -> None:
    allowed = hook(allow=(ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("::1/128")))
    assert run(checked_address(allowed, Names(["10.2.3.4"]))) == "10.2.3.4"
    assert run(checked_address(allowed, Names(["::1"]))) == "::1"
    assert run(checked_address(allowed, Names(["::ffff:10.2.3.4"]))) == "::ffff:10.2.3.4"
    with pytest.raises(Forbidden):
        run(checked_address(allowed, Names(["192.168.0.1"])))


def test_without_tls_only_allow_listed_addresses_are_told() -> None:
    with pytest.raises(Forbidden, match="without TLS"):
        run(checked_address(hook("http://hooks.example/"), Names(["8.8.8.8"])))
    plain = hook("http://hooks.example:8080/", allow=(ipaddress.ip_network("8.8.8.8"),))
    names = Names(["8.8.8.8"])
    assert run(checked_address(plain, names)) == "8.8.8.8"
    assert names.asked == [("hooks.example", 8080)]


def test_the_systems_resolver_knows_this_machine_and_says_what_it_does_not_know() -> None:
    assert "127.0.0.1" in run(look_up("127.0.0.1", 80))
    with pytest.raises(Unavailable, match="cannot be looked up"):
        run(look_up("no-such-host.invalid", 443))
    with pytest.raises(Unavailable, match="cannot be looked up"):
        run(look_up("a" * 80 + ".example", 443))


def test_a_name_that_takes_too_long_is_looked_up_again_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "LOOK_UP_S", 0.05)
    answers, ask = threading.Event(), socket.getaddrinfo

    def slow(*asked: Any, **how: Any) -> Any:
        answers.wait(60)
        return ask(*asked, **how)

    async def wanted() -> bool:
        return True

    async def check() -> None:
        async with receiver() as there:
            clock = HandClock()
            sender = WebhookSender(clock=clock)
            monkeypatch.setattr(socket, "getaddrinfo", slow)
            sender.send(there.hook(), b"{}", wanted)
            waited_s = await clock.pass_one()
            answers.set()
            monkeypatch.setattr(addresses, "LOOK_UP_S", 20.0)
            assert waited_s == LIMITS.backoff_s[0] and (await there.got()).body == b"{}"
            await sender.settled()
            answers.clear()
            monkeypatch.setattr(addresses, "LOOK_UP_S", 0.05)
            with pytest.raises(Unavailable, match=r"localhost cannot be looked up: it took longer than 0\.05 s"):
                await look_up("localhost", 80)
            answers.set()

    run(check())
