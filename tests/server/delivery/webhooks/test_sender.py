"""Deliveries to a real receiver: signed, tried again, refused, bounded. Time passes when the test says so."""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import json
import logging
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from tests.aio import run
from tests.server.delivery.receiver import SECRET, Got, HandClock, Names, receiver
from trunkline.server.delivery.webhooks.sender import LIMITS, WebhookSender, signature

BODY = b'{"type":"approval"}'


async def yes() -> bool:
    return True


def genuine(got: Got) -> bool:
    """What a receiver does: compute the signature from what arrived, and compare."""
    signed = f"{got.headers['webhook-id']}.{got.headers['webhook-timestamp']}.".encode() + got.body
    expected = base64.b64encode(hmac.new(SECRET, signed, hashlib.sha256).digest()).decode()
    return hmac.compare_digest(got.headers["webhook-signature"], f"v1,{expected}")


def test_a_delivery_arrives_signed_with_its_id_and_time() -> None:
    async def check() -> None:
        async with receiver() as there:
            sender = WebhookSender(clock=HandClock())
            sender.send(there.hook(), BODY, yes)
            got = await there.got()
            assert (got.method, got.target, got.body) == ("POST", "/hook?key=1", BODY)
            assert got.headers["content-type"] == "application/json"
            assert got.headers["webhook-timestamp"] == "1700000000"
            assert genuine(got)
            got.body += b" "
            assert not genuine(got)
            await sender.settled()

    run(check())


def test_the_signature_is_that_of_the_standard_webhooks() -> None:
    secret = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    made = signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_receiver_that_is_down_is_tried_five_times_farther_and_farther_apart(caplog: pytest.LogCaptureFixture) -> None:
    async def check() -> None:
        async with receiver(500, 503, 429, 408, 599) as there:
            clock = HandClock()
            sender = WebhookSender(clock=clock)
            sender.send(there.hook(), BODY, yes)
            arrived, waits = [await there.got()], []
            for _ in range(4):
                waits.append(await clock.pass_one())
                arrived.append(await there.got())
            await sender.settled()
            assert tuple(waits) == LIMITS.backoff_s and sorted(waits) == waits
            assert len({got.headers["webhook-id"] for got in arrived}) == 1
            assert len({got.headers["webhook-timestamp"] for got in arrived}) == 5
            assert all(genuine(got) for got in arrived)
            assert (there.connections, clock.sleeping()) == (5, 0)

    with caplog.at_level(logging.WARNING):
        run(check())
    assert "not delivered in 5 tries: 127.0.0.1 answered 599" in caplog.text


def test_a_receiver_that_comes_back_is_told_once() -> None:
    async def check() -> None:
        async with receiver(502) as there:
            clock = HandClock()
            sender = WebhookSender(clock=clock)
            sender.send(there.hook(), BODY, yes)
            await there.got()
            await clock.pass_one()
            await there.got()
            await sender.settled()
            assert (there.connections, clock.sleeping()) == (2, 0)

    run(check())


def test_what_is_settled_meanwhile_is_not_tried_again() -> None:
    async def check() -> None:
        async with receiver(500) as there:
            clock = HandClock()
            sender = WebhookSender(clock=clock)

            async def no() -> bool:
                return False

            sender.send(there.hook(), BODY, no)
            await there.got()
            await clock.pass_one()
            await sender.settled()
            assert there.connections == 1

    run(check())


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status: int, caplog: pytest.LogCaptureFixture) -> None:
    async def check() -> None:
        async with receiver() as elsewhere, receiver(status) as there:
            there.location = f"http://127.0.0.1:{elsewhere.port}/"
            clock = HandClock()
            sender = WebhookSender(clock=clock)
            sender.send(there.hook(), BODY, yes)
            await there.got()
            await sender.settled()
            assert (there.connections, elsewhere.connections, clock.sleeping()) == (1, 0, 0)

    with caplog.at_level(logging.WARNING):
        run(check())
    assert f"answered {status}, and redirects are not followed" in caplog.text


@pytest.mark.parametrize("status", [400, 401, 404, 410])
def test_what_a_receiver_refuses_is_not_tried_again(status: int) -> None:
    async def check() -> None:
        async with receiver(status) as there:
            clock = HandClock()
            sender = WebhookSender(clock=clock)
            sender.send(there.hook(), BODY, yes)
            await there.got()
            await sender.settled()
            assert (there.connections, clock.sleeping()) == (1, 0)

    run(check())


def test_a_private_address_is_never_connected_to(caplog: pytest.LogCaptureFixture) -> None:
    async def check() -> None:
        async with receiver() as there:
            sender = WebhookSender(clock=HandClock())
            sender.send(there.hook(allow=()), BODY, yes)
            sender.send(there.hook(url=f"https://127.0.0.1:{there.port}/", allow=()), BODY, yes)
            await sender.settled()
            assert there.connections == 0

    with caplog.at_level(logging.WARNING):
        run(check())
    assert "private network" in caplog.text and "without TLS" in caplog.text


def test_the_address_that_was_checked_is_the_one_that_is_connected_to() -> None:
    """DNS rebinding: the name is at the receiver when it is checked, and anywhere else when it is asked for again."""

    async def check() -> None:
        async with receiver() as there:
            names = Names(["127.0.0.1"], ["169.254.169.254"])
            sender = WebhookSender(clock=HandClock(), lookup=names)
            sender.send(there.hook(url=f"http://rebound.example:{there.port}/x"), BODY, yes)
            got = await there.got()
            assert got.headers["host"] == f"rebound.example:{there.port}"
            await sender.settled()
            assert names.asked == [("rebound.example", there.port)]

    run(check())


def test_a_name_that_moved_to_a_private_address_is_refused_at_the_next_try() -> None:
    async def check() -> None:
        async with receiver(500) as there:
            clock = HandClock()
            names = Names(["127.0.0.1"], ["10.0.0.1"])
            sender = WebhookSender(clock=clock, lookup=names)
            allow = (ipaddress.ip_network("127.0.0.1"),)
            sender.send(there.hook(url=f"http://rebound.example:{there.port}/x", allow=allow), BODY, yes)
            await there.got()
            await clock.pass_one()
            await sender.settled()
            assert (there.connections, len(names.asked)) == (1, 2)

    run(check())


def test_a_receiver_that_is_far_behind_loses_the_newest_and_no_other_webhook_notices(caplog: pytest.LogCaptureFixture) -> None:
    async def check() -> None:
        async with receiver() as stuck, receiver() as there:
            stuck.silent = True
            sender = WebhookSender(clock=HandClock())
            slow, quick = stuck.hook(), there.hook()
            for number in range(LIMITS.room + 3):
                sender.send(slow, b"%d" % number, yes)
            sender.send(quick, BODY, yes)
            assert (await there.got()).body == BODY
            await sender.close()
            await sender.settled()

    with caplog.at_level(logging.WARNING):
        run(check())
    assert caplog.text.count("one is dropped") == 3


def test_no_log_line_shows_the_secret_the_path_or_the_body(caplog: pytest.LogCaptureFixture) -> None:
    async def check() -> None:
        async with receiver(404) as there:
            sender = WebhookSender(clock=HandClock())
            sender.send(there.hook(url=f"http://127.0.0.1:{there.port}/T0KEN?k=T0KEN"), b'"B0DY"', yes)
            await there.got()
            await sender.settled()

    with caplog.at_level(logging.DEBUG, logger="trunkline"):
        run(check())
    assert "404" in caplog.text
    assert not [word for word in ("T0KEN", "B0DY", SECRET.decode()) if word in caplog.text]


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate")
def test_over_tls_the_name_counts_for_the_certificate_though_the_address_is_connected_to(tmp_path: Path) -> None:
    subprocess.run([
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
        "/CN=hooks.example", "-addext", "subjectAltName=DNS:hooks.example", "-keyout", str(tmp_path / "key.pem"), "-out",
        str(tmp_path / "cert.pem"),
    ], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    asked_for: list[str | None] = []
    context.sni_callback = lambda socket, name, _: asked_for.append(name)

    async def check() -> None:
        async with receiver(tls=context) as there:
            clock = HandClock()
            sender = WebhookSender(clock=clock, lookup=Names(["127.0.0.1"]),
                            trust=lambda: ssl.create_default_context(cafile=str(tmp_path / "cert.pem")))
            sender.send(there.hook(url=f"https://hooks.example:{there.port}/x"), json.dumps({"a": 1}).encode(), yes)
            got = await there.got()
            assert (got.json(), got.headers["host"], asked_for) == ({"a": 1}, f"hooks.example:{there.port}", ["hooks.example"])
            await sender.settled()
            sender.send(there.hook(url=f"https://other.example:{there.port}/x"), b"{}", yes)
            await clock.pass_one()  # it is worth another try: the certificate was of somebody else
            await sender.close()
            assert there.arrived.empty()

    run(check())
