"""A session that is begun and looked at from elsewhere than its terminal."""

from __future__ import annotations

import json
from typing import Any

from tests.aio import run
from tests.cli.conftest import Place
from tests.tooling.processes import eventually
from trunkline.cli.hosting.locate import connected, find_or_start


def begun(place: Place, prompt: str | None = None) -> str:
    """A session with the demo agent, which may have a prompt already."""

    async def begin() -> str:
        settings = place.settings()
        async with connected(await find_or_start(settings), settings) as hub:
            return (await hub.create_session("demo", str(place.work), prompt=prompt)).id

    return run(begin())


def state(place: Place, session_id: str) -> dict[str, Any]:
    view = json.loads(place.call_here("sessions", "show", session_id, "--json").stdout)
    assert isinstance(view, dict)
    return view


def wait_for(place: Place, session_id: str, key: str) -> None:
    eventually(lambda: bool(state(place, session_id)[key]), f"{key} is there")
