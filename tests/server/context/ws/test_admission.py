"""Who is let in on ``/ws``: addresses, credentials, the hello, and what happens to who is not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.server.context.ws.socket import Closed, Refused, Socket, connected
from tests.server.site import HOST, TOKEN, Site, browser, site
from trunkline.server import websocket
from trunkline.server.context.ws import conversation

ORIGIN = f"http://{HOST}"


async def refused(hub: Site, path: str = "/ws", headers: Mapping[str, str] | None = None) -> tuple[int, str]:
    socket = Socket(hub, path, headers)
    with pytest.raises(Refused) as caught:
        await socket.accepted()
    await socket.task
    return caught.value.status, caught.value.code


async def turned_away(socket: Socket, first: str) -> tuple[dict[str, Any], int]:
    """The ack and the close code that a first frame is answered with."""
    await socket.accepted()
    socket.say_text(first)
    ack = await socket.hear()
    with pytest.raises(Closed) as caught:
        await socket.hear()
    await socket.task
    return ack, caught.value.code


async def cookie(hub: Site) -> dict[str, str]:
    """What a browser that is logged in sends to open a socket."""
    own = browser(await hub.ask("POST", "/auth/login", json_body={"token": TOKEN}, token=None))
    return {"cookie": own["cookie"], "at": own["at"]}


def test_a_token_in_the_first_frame_lets_in_and_the_welcome_says_as_what(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            socket = Socket(hub)
            welcome = await socket.hello()
            assert welcome["type"] == "welcome"
            assert (welcome["version"], welcome["scope"], welcome["pending"]) == ("1.0.0", "admin", [])
            assert welcome["pos"] == session.feed.last_seq
            token, secret = hub.app.parts.tokens.mint("phone", "view")
            phone = Socket(hub)
            assert (await phone.hello(secret))["tokenId"] == token.id != welcome["tokenId"]
            await phone.leave()
            await socket.leave()

    run(check())


def test_a_stolen_cookie_opens_nothing_without_its_path(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            stolen = {"cookie": (await cookie(hub))["cookie"], "origin": ORIGIN, "sec-fetch-site": "same-origin"}
            ack, code = await turned_away(Socket(hub, headers=stolen), '{"type":"hello","versions":["1.0.0"]}')
            assert (ack["error"]["code"], code) == ("unauthorized", 4401)

    run(check())


@pytest.mark.parametrize("query", [f"token={TOKEN.replace(' ', '+')}", "access_token=x", "a=b"])
def test_a_token_in_the_address_is_refused_even_beside_a_good_one(tmp_path: Path, query: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            assert await refused(hub, f"/ws?{query}") == (400, "invalid")
            assert await refused(hub, f"/ws?{query}", {"authorization": f"Bearer {TOKEN}"}) == (400, "invalid")

    run(check())


def test_hosts_origins_and_paths_are_refused_as_on_every_route(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            assert await refused(hub, headers={"host": "evil.example"}) == (403, "forbidden")
            assert await refused(hub, headers={"origin": "http://localhost:1"}) == (403, "forbidden")
            assert await refused(hub, headers={"origin": f"ws://{HOST}"}) == (403, "forbidden")
            assert await refused(hub, "/sessions") == (404, "not_found")
            assert await refused(hub, headers={"authorization": "Bearer wrong"}) == (401, "unauthorized")

    run(check())


def test_the_page_gets_in_with_its_cookie_and_its_origin(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            socket = Socket(hub, headers={**await cookie(hub), "origin": ORIGIN})
            assert (await socket.hello(token=None))["type"] == "welcome"
            await socket.leave()

    run(check())


@pytest.mark.parametrize("headers", [{}, {"sec-fetch-site": "same-origin"}, {"origin": ORIGIN, "sec-fetch-site": "cross-site"}])
def test_a_cookie_without_the_pages_origin_does_not_count(tmp_path: Path, headers: dict[str, str]) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            socket = Socket(hub, headers={**await cookie(hub), **headers})
            ack, code = await turned_away(socket, '{"type":"hello","versions":["1.0.0"]}')
            assert (ack["ok"], ack["error"]["code"], code) == (False, "unauthorized", websocket.NOT_LET_IN)

    run(check())


def test_a_bearer_header_lets_in_as_on_every_route(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            socket = Socket(hub, headers={"authorization": f"Bearer {TOKEN}"})
            assert (await socket.hello(token=None))["type"] == "welcome"
            await socket.leave()

    run(check())


@pytest.mark.parametrize(("first", "error", "code"), [
    ('{"type":"hello","versions":["1.0.0"]}', "unauthorized", websocket.NOT_LET_IN),
    ('{"type":"hello","versions":["1.0.0"],"token":"wrong"}', "unauthorized", websocket.NOT_LET_IN),
    (json.dumps({"type": "hello", "versions": ["0.1", "9.0"], "token": TOKEN}), "invalid", websocket.BAD_HELLO),
    (json.dumps({"type": "hello", "versions": [], "token": TOKEN}), "invalid", websocket.BAD_HELLO),
    ('{"type":"ping"}', "invalid", websocket.BAD_HELLO),
    ('{"type":"subscribe","id":"1","sessions":"*"}', "invalid", websocket.BAD_HELLO),
    ("not json", "invalid", websocket.BAD_HELLO),
    ('{"type":"hello"}', "invalid", websocket.BAD_HELLO),
    ("[" * 100_000, "invalid", websocket.BAD_HELLO),
])
def test_a_first_frame_that_is_no_good_hello_is_answered_and_ends_it(tmp_path: Path, first: str, error: str, code: int) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            ack, closed = await turned_away(Socket(hub), first)
            assert (ack["type"], ack["ok"], ack["error"]["code"], closed) == ("ack", False, error, code)

    run(check())


def test_who_says_nothing_is_let_go_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation, "HELLO_S", 0.02)

    async def check() -> None:
        async with site(tmp_path) as hub:
            socket = Socket(hub)
            await socket.accepted()
            with pytest.raises(Closed) as caught:
                await socket.hear()
            assert caught.value.code == websocket.NO_HELLO
            await socket.task

    run(check())


def test_a_client_that_leaves_before_its_hello_leaves_nothing_behind(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            socket = Socket(hub)
            await socket.accepted()
            await socket.leave()
            assert (hub.app.clients, len(hub.app.parts.streams)) == (0, 0)

    run(check())


def test_a_plain_request_is_told_to_ask_for_the_upgrade(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            assert (await hub.ask("GET", "/ws", token=None)).status == 400

    run(check())


def test_a_token_that_was_revoked_ends_what_it_opened(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            token, secret = hub.app.parts.tokens.mint("phone", "control")
            async with connected(hub, secret) as socket:
                socket.say("subscribe", id="1", sessions="*")
                assert (await socket.hear())["ok"]
                await socket.hear()
                hub.app.parts.tokens.revoke(token.id)
                socket.say("command", id="2", sessionId="any", command={"command": "cancel"})
                ack = await socket.hear()
                assert (ack["id"], ack["ok"], ack["error"]["code"]) == ("2", False, "unauthorized")
                with pytest.raises(Closed) as caught:
                    await socket.hear()
                assert caught.value.code == websocket.NOT_LET_IN

    run(check())


def test_a_stopping_hub_ends_the_sockets_with_a_code_that_says_so(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            await asyncio.sleep(0)
            hub.app.end_streams()
            with pytest.raises(Closed) as caught:
                await socket.hear()
            assert caught.value.code == websocket.STOPPING

    run(check())


def test_binary_messages_end_the_conversation(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            socket.say_bytes(b"{}")
            with pytest.raises(Closed) as caught:
                await socket.hear()
            assert caught.value.code == websocket.NOT_TEXT

    run(check())


def test_a_token_that_expires_ends_every_stream_that_it_opened(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            _, secret = hub.app.parts.tokens.mint("guest", "view", lifetime_s=2)
            stream = hub.open("GET", f"/sessions/{session.id}/events?after={session.feed.last_seq}", token=secret)
            assert (await stream.start())[0] == 200
            editor = Socket(hub, "/acp", {"authorization": f"Bearer {secret}"})
            await editor.accepted()
            theirs = Socket(hub)
            assert (await theirs.hello(secret))["type"] == "welcome"
            async with connected(hub) as ours:
                with pytest.raises(Closed) as caught:
                    await theirs.hear()
                assert caught.value.code == websocket.NOT_LET_IN
                with pytest.raises(Closed):
                    await editor.hear()
                assert not await stream.piece()
                ours.say("ping")
                assert (await ours.hear())["type"] == "pong"

    run(check())


def test_a_revoked_token_is_hung_up_on(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            made = (await hub.ask("POST", "/auth/tokens", json_body={"name": "phone", "scope": "view"})).json()
            async with connected(hub) as ours:
                theirs = Socket(hub)
                assert (await theirs.hello(made["secret"]))["type"] == "welcome"
                assert (await hub.ask("DELETE", f"/auth/tokens/{made['token']['id']}")).status == 204
                with pytest.raises(Closed) as caught:
                    await theirs.hear()
                assert caught.value.code == websocket.NOT_LET_IN
                await theirs.task
                ours.say("ping")
                assert (await ours.hear())["type"] == "pong"

    run(check())
