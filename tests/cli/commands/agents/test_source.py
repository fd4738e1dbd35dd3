"""The registry's JSON from an address: asked once, bounded, and never by a way on which others could change it."""

from __future__ import annotations

import select
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from trunkline.cli.commands.agents import source
from trunkline.cli.commands.agents.source import content_of
from trunkline.errors import Invalid, Unavailable


class Registry(BaseHTTPRequestHandler):
    """Answers by the path it is asked for."""

    def do_GET(self) -> None:
        code = {"/gone": 404, "/away": 302}.get(self.path, 200)
        self.send_response(code)
        if code == 302:
            self.send_header("Location", "http://registry.example/registry.json")
        if self.path == "/silent":
            self.rfile.read()  # until whoever asked has left
            return
        self.end_headers()
        with suppress(OSError):  # whoever asked has left
            for _ in range(100 if self.path == "/slow" else 1):
                self.wfile.write(b'{"agents": []}')
                self.wfile.flush()
                select.select([], [], [], 0.02 if self.path == "/slow" else 0)

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with HTTPServer(("127.0.0.1", 0), Registry) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_an_address_of_this_machine_is_fetched(address: str) -> None:
    assert content_of(f"{address}/registry.json") == b'{"agents": []}'


def test_a_redirect_does_not_lead_to_where_others_could_change_it(address: str) -> None:
    with pytest.raises(Invalid, match="only https is asked"):
        content_of(f"{address}/away")


def test_what_is_not_there_is_said(address: str) -> None:
    with pytest.raises(Unavailable, match="/gone answered 404"):
        content_of(f"{address}/gone")


def test_what_is_too_long_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "REGISTRY_BYTES", 8)
    with pytest.raises(Invalid, match="is longer than"):
        content_of(f"{address}/registry.json")


def test_who_takes_too_long_is_not_waited_for(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "FETCH_S", 0.05)
    with pytest.raises(Unavailable, match="timed out"):
        content_of(f"{address}/silent")
    monkeypatch.setattr(source, "FETCH_S", 1.0)  # fifty pieces come in that time, also where each of them is late
    with pytest.raises(Unavailable, match=r"it took longer than 1 s"):
        content_of(f"{address}/slow")


def test_nobody_who_answers_is_said() -> None:
    with pytest.raises(Unavailable, match=r"cannot fetch http://127\.0\.0\.1:1/x"):
        content_of("http://127.0.0.1:1/x")
