"""Whether the person is away, over HTTP."""

from __future__ import annotations

from pathlib import Path

from tests.aio import run
from tests.server.site import site


def test_a_person_leaves_and_comes_back(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            assert (await hub.ask("GET", "/away")).json() == {"away": False}
            left = (await hub.ask("PUT", "/away", json_body={"away": True})).json()
            assert left["away"] is True and left["since"] > 0 and left["by"]
            assert hub.hub.away.is_away
            assert (await hub.ask("PUT", "/away", json_body={"away": False})).json()["away"] is False
            assert (await hub.ask("PUT", "/away", json_body={"far": True})).status == 400

    run(check())
