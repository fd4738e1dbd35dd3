"""A hub in this process: its address for somebody here, and how signals become its end."""

from __future__ import annotations

import logging
import signal
import socket
from pathlib import Path

import pytest

from tests.aio import run
from trunkline.cli.hosting.hosting import STOP_SIGNALS, Stopper, url_of
from trunkline.settings import Settings


class Bound:
    """A socket that is bound somewhere."""

    def __init__(self, *name: object) -> None:
        self._name = name

    def getsockname(self) -> tuple[object, ...]:
        return self._name


@pytest.mark.parametrize(("host", "bound", "tls", "url"), [
    ("127.0.0.1", ("127.0.0.1", 7420), False, "http://127.0.0.1:7420"),
    ("localhost", ("127.0.0.1", 7420), False, "http://localhost:7420"),
    ("0.0.0.0", ("0.0.0.0", 7420), True, "https://127.0.0.1:7420"), ("::", ("::", 7420, 0, 0), False, "http://[::1]:7420"),
])
def test_the_address_is_one_that_works_on_this_machine(host: str, bound: tuple[object, ...], tls: bool, url: str) -> None:
    settings = Settings(data=Path("/data"), host=host, tls_cert=Path("/cert.pem") if tls else None)
    assert url_of(settings, Bound(*bound)) == url  # type: ignore[arg-type]  # of a socket only its name is wanted


def test_the_port_is_the_one_that_was_bound() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        settings = Settings(data=Path("/data"), host="127.0.0.1", port=7420)
        assert url_of(settings, listener).endswith(f":{listener.getsockname()[1]}")


def test_the_first_signal_asks_to_stop_and_the_second_not_to_wait(caplog: pytest.LogCaptureFixture) -> None:
    async def check() -> None:
        stopper = Stopper()
        stopper.listen()
        signal.raise_signal(signal.SIGTERM)
        await stopper.wanted.wait()
        assert not stopper.forced.is_set()
        signal.raise_signal(signal.SIGHUP)
        await stopper.forced.wait()

    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    try:
        with caplog.at_level(logging.INFO, "trunkline.hosting"):
            run(check())
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert [record.message.partition(":")[0] for record in caplog.records] == ["SIGTERM", "SIGHUP again"]
