"""The acp face over streamable HTTP: statuses, streams, ids, replay after a drop."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.server.acp.editor import Json, hub_site, when
from tests.server.site import TOKEN, Answer, Exchange, Site
from tests.virtual_time import MovableTimeLoop, time_passes
from trunkline.server.acp.transport import connections, http

POST = {"content-type": "application/json"}
GET = {"accept": "text/event-stream"}
HELLO = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}


class Heard:
    """One stream of a connection: messages with their event ids, in order."""

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.messages: list[tuple[int, Json]] = []
        self._held = b""

    async def until(self, found: Any) -> Json:
        """The first message that ``found`` likes."""
        while True:
            for _, message in self.messages:
                if found(message):
                    return message
            await self._more()

    async def answer(self, request_id: Any) -> Json:
        """The answer to a request."""
        return await self.until(lambda message: message.get("id") == request_id and "method" not in message)

    def text(self) -> str:
        """What the agent said."""
        updates = [message["params"]["update"] for _, message in self.messages if message.get("method") == "session/update"]
        return "".join(update["content"]["text"] for update in updates if update["sessionUpdate"] == "agent_message_chunk")

    async def _more(self) -> None:
        piece = await self.exchange.piece()
        assert piece is not None, "the stream ended"
        *frames, self._held = (self._held + piece).split(b"\n\n")
        for frame in frames:
            lines = dict(line.split(b": ", 1) for line in frame.split(b"\n") if not line.startswith(b":"))
            if b"data" in lines:
                self.messages.append((int(lines[b"id"]), json.loads(lines[b"data"])))


class Connection:
    """An editor over HTTP."""

    def __init__(self, site: Site, connection_id: str) -> None:
        self.site = site
        self.id = connection_id
        self._ids = 0

    def headers(self, session_id: str | None = None) -> dict[str, str]:
        """What names the connection, and the session."""
        return {"acp-connection-id": self.id, **({"acp-session-id": session_id} if session_id else {})}

    async def post(self, message: Json, session_id: str | None = None, **more: str) -> Answer:
        """Say something."""
        return await self.site.ask("POST", "/acp", json_body={"jsonrpc": "2.0", **message},
                                   headers={**POST, **self.headers(session_id), **more})

    async def begin(self, method: str, params: Json, session_id: str | None = None) -> int:
        """Send a request; returns its id."""
        self._ids += 1
        answer = await self.post({"id": self._ids, "method": method, "params": params}, session_id)
        assert (answer.status, answer.body) == (202, b""), answer
        return self._ids

    async def listen(self, session_id: str | None = None, last: int | None = None) -> Heard:
        """Open a stream."""
        more = {} if last is None else {"last-event-id": str(last)}
        exchange = self.site.open("GET", "/acp", headers={**GET, **self.headers(session_id), **more})
        status, headers = await exchange.start()
        assert status == 200 and headers["content-type"].startswith("text/event-stream")
        return Heard(exchange)


@asynccontextmanager
async def connection(site: Site, agent: str = "fast") -> AsyncIterator[Connection]:
    """An editor that was greeted."""
    answer = await site.ask("POST", f"/acp?agent={agent}", json_body=HELLO, headers=POST)
    assert answer.status == 200 and answer.json()["result"]["protocolVersion"] == 1
    connection_id = answer.header("acp-connection-id")
    assert connection_id
    made = Connection(site, connection_id)
    yield made
    await site.ask("DELETE", "/acp", headers=made.headers())


async def new_session(made: Connection, conn: Heard) -> str:
    """A new session; its id comes on the connection's stream."""
    request_id = await made.begin("session/new", {"cwd": str(made.site.folder), "mcpServers": []})
    session_id: str = (await conn.answer(request_id))["result"]["sessionId"]
    return session_id


def prompt(session_id: str, text: str) -> Json:
    """The params of a prompt."""
    return {"sessionId": session_id, "prompt": [{"type": "text", "text": text}]}


def test_a_turn_is_asked_for_by_post_and_heard_on_the_sessions_stream(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, connection(site) as made:
            conn = await made.listen()
            session_id = await new_session(made, conn)
            heard = await made.listen(session_id)
            request_id = await made.begin("session/prompt", prompt(session_id, "/echo hi"), session_id)
            assert (await heard.answer(request_id))["result"] == {"stopReason": "end_turn"}
            assert heard.text() == "hi"
            assert [number for number, _ in heard.messages] == list(range(1, len(heard.messages) + 1))
            assert conn.text() == "", "what is said of a session is not on the connection's stream"
            await heard.exchange.leave()
            await conn.exchange.leave()

    run(check())


def test_a_permission_is_asked_on_the_sessions_stream_and_answered_by_post(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, connection(site) as made:
            conn = await made.listen()
            session_id = await new_session(made, conn)
            heard = await made.listen(session_id)
            request_id = await made.begin("session/prompt", prompt(session_id, "/ask"), session_id)
            ask = await heard.until(lambda message: message.get("method") == "session/request_permission")
            option = ask["params"]["options"][0]["optionId"]
            answer = await made.post({"id": ask["id"], "result": {"outcome": {"outcome": "selected", "optionId": option}}})
            assert answer.status == 202
            assert (await heard.answer(request_id))["result"] == {"stopReason": "end_turn"}
            await heard.exchange.leave()
            await conn.exchange.leave()

    run(check())


@pytest.mark.parametrize("names_session", [True, False])
def test_a_load_is_replayed_where_it_is_answered(tmp_path: Path, names_session: bool) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site:
            async with connection(site) as first:
                conn = await first.listen()
                session_id = await new_session(first, conn)
                heard = await first.listen(session_id)
                await heard.answer(await first.begin("session/prompt", prompt(session_id, "/echo once"), session_id))
                await heard.exchange.leave()
                await conn.exchange.leave()
            async with connection(site) as second:
                conn = await second.listen()
                heard = await second.listen(session_id)  # before the session is loaded, as the proposal has it
                params = {"sessionId": session_id, "cwd": str(site.folder), "mcpServers": []}
                request_id = await second.begin("session/load", params, session_id if names_session else None)
                where = heard if names_session else conn
                await where.answer(request_id)
                assert where.text() == "once"
                await heard.answer(await second.begin("session/prompt", prompt(session_id, "/echo live"), session_id))
                assert heard.text().endswith("live"), "from then on the session's stream has everything"
                await heard.exchange.leave()
                await conn.exchange.leave()

    run(check())


def test_a_stream_that_broke_is_taken_up_after_its_last_event_id(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, connection(site) as made:
            conn = await made.listen()
            session_id = await new_session(made, conn)
            heard = await made.listen(session_id)
            request_id = await made.begin("session/prompt", prompt(session_id, "/burst 500 20"), session_id)
            await heard.answer(request_id)
            await heard.exchange.leave()
            seen = heard.messages[len(heard.messages) // 2][0]
            again = await made.listen(session_id, last=seen)
            await again.answer(request_id)
            assert again.messages == [each for each in heard.messages if each[0] > seen]
            await again.exchange.leave()
            refused = await site.ask("GET", "/acp", headers={**GET, **made.headers(session_id), "last-event-id": "999999"})
            assert (refused.status, refused.json()["code"]) == (409, "expired")
            await conn.exchange.leave()

    run(check())


def test_a_newer_reader_takes_over_from_one_that_may_be_dead(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, connection(site) as made:
            conn = await made.listen()
            session_id = await new_session(made, conn)
            old, new = await made.listen(session_id), await made.listen(session_id)
            request_id = await made.begin("session/prompt", prompt(session_id, "/echo hi"), session_id)
            await new.answer(request_id)
            await old.exchange.task  # the older one has ended
            await new.exchange.leave()
            await conn.exchange.leave()

    run(check())


def test_a_client_that_does_not_read_holds_up_the_hubs_writer_and_nothing_else(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, connection(site) as made:
            conn = await made.listen()
            session_id = await new_session(made, conn)
            request_id = await made.begin("session/prompt", prompt(session_id, "/burst 4000 200"), session_id)
            session = await site.hub.session(session_id)
            await when(session, lambda: session.fold.turns == 1 and session.fold.turn is None)
            heard = await made.listen(session_id)
            await heard.answer(request_id)
            assert len(heard.messages) > 4000
            await heard.exchange.leave()
            await conn.exchange.leave()

    run(check())


def test_a_load_is_answered_also_while_nobody_reads_the_sessions_stream(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, connection(site) as made:
            conn = await made.listen()
            session_id = await new_session(made, conn)
            asked = await made.begin("session/prompt", prompt(session_id, "/burst 4000 200"), session_id)
            session = await site.hub.session(session_id)
            await when(session, lambda: session.fold.turns == 1 and session.fold.turn is None)
            params = {"sessionId": session_id, "cwd": str(site.folder), "mcpServers": []}
            await conn.answer(await made.begin("session/load", params))
            assert len(conn.text()) >= 4000 * 200
            heard = await made.listen(session_id)
            await heard.answer(asked)
            first = [message["params"]["update"] for _, message in heard.messages if message.get("method") == "session/update"]
            chunks = [each["content"]["text"][:8] for each in first if each["sessionUpdate"] == "agent_message_chunk"]
            assert chunks == [f"{number:08}" for number in range(len(chunks))] and chunks, "what was on its way is not lost"
            await heard.exchange.leave()
            await conn.exchange.leave()

    run(check())


def test_delete_ends_the_connection_and_not_the_session(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, connection(site, "puppet") as made:
            conn = await made.listen()
            session_id = await new_session(made, conn)
            await made.begin("session/prompt", prompt(session_id, '[["wait"]]'), session_id)
            session = await site.hub.session(session_id)
            await when(session, lambda: session.fold.turn)
            gone = await site.ask("DELETE", "/acp", headers=made.headers())
            assert gone.status == 202
            await conn.exchange.task
            assert session.fold.turn is not None and session.agent.running
            assert (await made.post({"id": 9, "method": "session/list", "params": {}})).status == 404

    run(check())


def test_a_connection_that_nobody_uses_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def check() -> None:
        monkeypatch.setattr(connections, "IDLE_S", 2.0)
        async with hub_site(tmp_path) as site, connection(site) as made:
            conn = await made.listen()
            await time_passes(5)
            assert (await made.post({"id": 9, "method": "session/list", "params": {}})).status == 202, "a reader keeps it"
            await conn.exchange.leave()
            await time_passes(5)
            assert (await made.post({"id": 9, "method": "session/list", "params": {}})).status == 404

    run(check(), loop=MovableTimeLoop)


@pytest.mark.parametrize(("message", "headers", "status"), [
    (HELLO, {"content-type": "text/plain"}, 415),
    ([HELLO], POST, 501),
    ({"jsonrpc": "2.0", "id": 1, "method": "session/list"}, POST, 400),
    ({"jsonrpc": "2.0", "method": "initialize", "params": {"protocolVersion": 1}}, POST, 400),
    (HELLO, {**POST, "acp-connection-id": "nobody's"}, 404),
])
def test_what_cannot_be_taken_is_refused_by_status(tmp_path: Path, message: Any, headers: dict[str, str], status: int) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site:
            answer = await site.ask("POST", "/acp", json_body=message, headers=headers)
            assert answer.status == status

    run(check())


def test_what_is_about_a_session_has_to_name_it(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, connection(site) as made:
            message = {"id": 1, "method": "session/prompt", "params": prompt("ses_1", "x")}
            assert (await made.post(message)).status == 400
            assert (await made.post(message, "ses_2")).status == 400
            assert (await site.ask("GET", "/acp", headers={**GET, **made.headers("ses_none")})).status == 409
            assert (await site.ask("GET", "/acp", headers=made.headers())).status == 406
            assert (await site.ask("GET", "/acp", headers=GET)).status == 400

    run(check())


def test_a_connection_belongs_to_the_token_that_opened_it(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, connection(site) as made:
            other = (await site.ask("POST", "/auth/tokens", json_body={"name": "t", "scope": "control"})).json()["secret"]
            assert other != TOKEN
            body = {"jsonrpc": "2.0", "id": 1, "method": "session/list", "params": {}}
            stolen = await site.ask("POST", "/acp", json_body=body, headers={**POST, **made.headers()}, token=other)
            assert stolen.status == 404
            nobody = await site.ask("POST", "/acp", json_body=HELLO, headers=POST, token=None)
            assert nobody.status == 401

    run(check())


async def greet(site: Site, token: str = TOKEN) -> Answer:
    """Open a connection."""
    return await site.ask("POST", "/acp?agent=fast", json_body=HELLO, headers=POST, token=token)


def test_no_token_takes_the_connections_of_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def check() -> None:
        monkeypatch.setattr(connections, "CONNECTIONS_OF_TOKEN", 2)
        async with hub_site(tmp_path) as site:
            _, guest = site.app.parts.tokens.mint("guest", "view")
            first = await greet(site, guest)
            assert [first.status, (await greet(site, guest)).status, (await greet(site, guest)).status] == [200, 200, 429]
            assert (await greet(site)).status == 200
            ended = {"acp-connection-id": first.header("acp-connection-id") or ""}
            assert (await site.ask("DELETE", "/acp", headers=ended, token=guest)).status == 202
            assert (await greet(site, guest)).status == 200

    run(check())


@pytest.mark.parametrize("lifetime_s", [None, 5])
@pytest.mark.parametrize("reads", [True, False])
def test_a_connection_ends_with_its_token(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lifetime_s: float | None, reads: bool) -> None:
    async def check() -> None:
        monkeypatch.setattr(connections, "CONNECTIONS", 1)
        async with hub_site(tmp_path) as site:
            token, guest = site.app.parts.tokens.mint("guest", "view", lifetime_s=lifetime_s)
            headers = {**GET, "acp-connection-id": (await greet(site, guest)).header("acp-connection-id") or ""}
            stream = site.open("GET", "/acp", headers=headers, token=guest) if reads else None
            if stream is not None:
                assert (await stream.start())[0] == 200
            assert (await greet(site)).status == 429
            if lifetime_s is None:
                site.app.parts.tokens.revoke(token.id)
            else:
                monkeypatch.setattr(site.app.parts.tokens, "_clock", lambda: time.time() + lifetime_s)
                await time_passes(lifetime_s)
            assert (await greet(site)).status == 200
            assert stream is None or not await stream.piece()

    run(check(), loop=MovableTimeLoop)


def test_a_handshake_that_fails_opens_nothing(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site:
            answer = await site.ask("POST", "/acp?agent=nobody", json_body=HELLO, headers=POST)
            assert answer.status == 200 and answer.json()["error"]["data"]["code"] == "not_found"
            assert answer.header("acp-connection-id") is None

    run(check())


def test_a_message_that_is_too_long_is_refused_and_the_connection_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, connection(site) as made:
            def message(size: int) -> bytes:
                said = b'{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}'
                return said + b" " * (size - len(said))

            async def post(size: int) -> int:
                body = message(size)
                return (await site.ask("POST", "/acp", body=[body[:100], body[100:]], headers={**POST, **made.headers()})).status

            monkeypatch.setattr(http, "MESSAGE_BYTES", 1000)
            assert [await post(size) for size in (1001, 1000)] == [413, 202]
            conn = await made.listen()
            assert (await conn.answer(1))["result"]["sessions"] == []

    run(check())
