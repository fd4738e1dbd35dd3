"""Subscriptions that are made and given back, and frames that are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.server.context.ws.socket import connected
from tests.server.site import site
from trunkline.server.context.ws import conversation


@pytest.mark.parametrize("fields", [
    {"sessions": []}, {"sessions": ["none"]}, {"sessions": "some"}, {"sessions": "*", "after": {"x": 1}},
    {"sessions": ["a", "b"], "after": 3}, {"sessions": "*", "after": -1}, {"sessions": "*", "types": "nothing:"}, {},
    {"sessions": [f"s{number}" for number in range(conversation.CURSORS + 1)]},
])
def test_a_subscription_that_cannot_be_is_refused_and_leaves_nothing(tmp_path: Path, fields: dict[str, Any]) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            socket.say("subscribe", id="s", **fields)
            ack = await socket.hear()
            assert (ack["type"], ack["id"], ack["ok"]) == ("ack", "s", False)
            assert ack["error"]["code"] in ("invalid", "session_not_found", "too_large")
            socket.say("subscribe", id="s", sessions="*")
            assert (await socket.hear())["ok"], "its id is free"

    run(check())


def test_an_id_is_one_subscription_until_it_is_given_back(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            session = await hub.session()
            socket.say("subscribe", id="s", sessions=[session.id])
            await socket.until("snapshot")
            socket.say("subscribe", id="s", sessions="*")
            assert (await socket.hear())["ok"] is False
            socket.say("unsubscribe", id="u", subscription="s")
            assert await socket.hear() == {"type": "ack", "id": "u", "ok": True}
            await session.rename("unseen", by="test")
            socket.say("ping", id="p")
            assert await socket.hear() == {"type": "pong", "id": "p"}
            socket.say("unsubscribe", id="u2", subscription="s")
            assert (await socket.hear())["ok"] is False

    run(check())


def test_what_is_no_frame_is_answered_with_its_id_and_the_conversation_goes_on(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            for text in ("nonsense", '{"type":"dance","id":"d"}', '{"id":7}', '{"type":"hello","versions":["1.0.0"]}', "\ud800"):
                socket.say_text(text)
                ack = await socket.hear()
                assert (ack["type"], ack["ok"], ack["error"]["code"]) == ("ack", False, "invalid")
                assert ack.get("id") == ("d" if "dance" in text else None)
            socket.say("ping")
            assert await socket.hear() == {"type": "pong"}

    run(check())
