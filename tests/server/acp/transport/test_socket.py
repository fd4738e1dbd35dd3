"""The acp face over a WebSocket: who is let in, and how messages are framed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.aio import run
from tests.server.acp.editor import hub_site
from tests.server.context.ws.socket import Refused as Turned
from tests.server.context.ws.socket import Socket
from tests.server.site import TOKEN


@pytest.mark.parametrize(("path", "headers", "status"), [
    ("/acp", {}, 401),
    ("/acp", {"authorization": "Bearer wrong"}, 401),
    ("/acp", {"authorization": f"Bearer {TOKEN}", "origin": "http://evil.example"}, 403),
    ("/acp?token=x", {"authorization": f"Bearer {TOKEN}"}, 400),
    ("/acp", {"authorization": f"Bearer {TOKEN}", "host": "evil.example"}, 403),
])
def test_who_may_not_come_in_is_refused_before_the_upgrade(tmp_path: Path, path: str, headers: dict[str, str],
                                                           status: int) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site:
            socket = Socket(site, path, headers)
            with pytest.raises(Turned) as turned:
                await socket.accepted()
            assert turned.value.status == status
            await socket.task

    run(check())
