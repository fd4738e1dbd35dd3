"""Parts of the server that are loaded by the first request that needs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.server.site import site
from trunkline.hub import loading
from trunkline.server import later
from trunkline.server.later import Later, Named, found_in
from trunkline.server.packets.history import StoredPackets
from trunkline.server.routes import ROUTES


def test_a_name_is_what_the_module_has_under_it() -> None:
    history = Later("trunkline.server.packets.history")
    assert found_in(history.StoredPackets) is StoredPackets
    assert found_in(list[history.StoredPackets]) == list[StoredPackets]  # type: ignore[name-defined]  # a name, not a type
    assert found_in(dict[str, Any]) == dict[str, Any] and found_in(None) is None


def test_everything_that_the_table_of_routes_names_is_there() -> None:
    for route in ROUTES:
        handlers = [each for each in (route.handler, route.refused) if isinstance(each, Named)]
        assert all(callable(each.found()) and each.found().__name__ == each.__name__ for each in handlers)
        for kind in (route.request, route.response):
            assert not isinstance(found_in(kind), Named)


def test_a_face_is_loaded_by_the_first_request_and_off_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    async def load(*modules: str) -> None:
        loaded.extend(modules)
        await loading.load(*modules)

    async def check() -> None:
        monkeypatch.setattr(later, "load", load)
        named = Named("trunkline.server.sessions.sessions", "listing")
        async with site(tmp_path) as hub:
            (route,) = (each for each in ROUTES if (each.method, each.path) == ("GET", "/sessions"))
            monkeypatch.setattr(route.handler, "_found", None)
            assert [(await hub.ask("GET", "/sessions")).status for _ in range(2)] == [200, 200]
        assert loaded == [named.__module__], "and it is loaded once"

    run(check())


def test_an_upgrade_loads_its_face_too() -> None:
    code = ("import sys, trunkline.server.app as app\n"
            "print(app._context_socket.found().__module__, app._editors_socket.found().__module__)")
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert told == ["trunkline.server.context.ws.face", "trunkline.server.acp.transport.socket"]
