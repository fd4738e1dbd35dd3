"""The hub's HTTP API as Python calls, one method per route.

Rule 1: async only, and light: asyncio, h11 and msgspec; nothing of the hub itself is imported.
Rule 2: errors are those of ``trunkline.errors``, by the code that the hub answered.
Rule 3: a prompt always carries an idempotency key, so that a retry can never send it twice.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from types import TracebackType
from typing import Any, Literal, Self, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from trunkline.client.faults import error_of
from trunkline.client.http import Endpoint, Pool, Request, Response
from trunkline.client.link import Link
from trunkline.client.streams import Numbered, Stream, event_failure, packet_failure
from trunkline.client.views import (
    Accepted,
    AgentView,
    Artifact,
    Code,
    CommandDone,
    ContextEvent,
    EventPage,
    FileList,
    FilesFound,
    Packet,
    QueuedPrompt,
    SessionView,
    Snapshot,
    Uploads,
)
from trunkline.errors import Unavailable

TIMEOUT_S = 30.0
START_TIMEOUT_S = 180.0
"""Starting a session starts an agent, and some are fetched from a registry on their first start."""
RECONNECT_S = 60.0

Content = str | Sequence[Mapping[str, Any]]
T = TypeVar("T")


class SessionPage(msgspec.Struct, rename="camel", frozen=True):
    """Some sessions, newest activity first, and the cursor of the next page."""

    sessions: list[SessionView]
    next: str | None = None


class MessagePage(msgspec.Struct, frozen=True):
    """Stored packets in order, each under its seq; ``next_after`` pages on, None at the end."""

    messages: list[Numbered]
    next_after: int | None


class _Stored(msgspec.Struct):
    seq: int
    packet: msgspec.Raw


class _StoredPage(msgspec.Struct, rename="camel"):
    messages: list[_Stored]
    next_after: int | None = None


class Client:
    """A hub, over HTTP.

    ``find`` is asked for the hub's address when it no longer answers at the old one (it may have been restarted on
    another port). Use as an async context manager, or call ``close``.
    """

    def __init__(self, url: str, token: str | None = None, *, certificate: str | None = None, timeout_s: float = TIMEOUT_S,
                 reconnect_s: float = RECONNECT_S, find: Callable[[], Awaitable[Endpoint]] | None = None) -> None:
        endpoint = Endpoint(url.rstrip("/"), token, certificate)
        endpoint.parts()
        self._pool = Pool(endpoint)
        self._timeout_s = timeout_s
        self._reconnect_s = reconnect_s
        self._find = find

    @property
    def endpoint(self) -> Endpoint:
        """Where the hub was last found."""
        return self._pool.endpoint

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Close idle connections; streams close with their iterators."""
        await self._pool.close()

    # the hub

    async def health(self) -> dict[str, Any]:
        """``GET /healthz``: answers as soon as the hub listens, without a token."""
        return await self._get("/healthz", dict[str, Any])

    async def agents(self) -> list[AgentView]:
        """The agents this hub can run, and which of them are installed."""
        return await self._get("/agents", list[AgentView])

    async def new_code(self) -> Code:
        """A one-time code that logs a browser in."""
        return msgspec.json.decode((await self._ask(_post("/auth/codes", {}))).body, type=Code)

    # sessions

    async def create_session(self, agent: str, cwd: str, *, title: str | None = None, mode: str | None = None,
                             prompt: Content | None = None, mcp_servers: Iterable[Mapping[str, Any]] = (),
                             env: Mapping[str, str] | None = None) -> SessionView:
        """Start a session. ``env`` adds the caller's variables to the agent's; send it only to a hub on this machine."""
        body: dict[str, Any] = {"agent": agent, "cwd": cwd, "mcpServers": list(mcp_servers), "env": dict(env or {})}
        body |= {key: value for key, value in (("title", title), ("mode", mode), ("prompt", prompt)) if value is not None}
        response = await self._ask(_post("/sessions", body), timeout_s=START_TIMEOUT_S)
        return msgspec.json.decode(response.body, type=SessionView)

    async def sessions(self, *, status: str | None = None, agent: str | None = None, text: str | None = None,
                       limit: int = 50, before: str | None = None) -> SessionPage:
        """Sessions, newest activity first."""
        return await self._get(_path("sessions", status=status, agent=agent, text=text, limit=limit, before=before), SessionPage)

    async def session(self, session_id: str) -> SessionView:
        """The state of one session."""
        return await self._get(_path("sessions", session_id), SessionView)

    async def rename(self, session_id: str, title: str) -> SessionView:
        """Give the session a title."""
        request = Request("PATCH", _path("sessions", session_id), _json({"title": title}), _JSON_BODY)
        return msgspec.json.decode((await self._ask(request)).body, type=SessionView)

    async def delete(self, session_id: str) -> None:
        """Stop the session's agent and forget the session."""
        await self._ask(Request("DELETE", _path("sessions", session_id)))

    # turns

    async def send(self, session_id: str, content: Content, *, when_busy: Literal["reject", "queue"] = "reject",
                   key: str | None = None) -> Accepted:
        """Send a prompt and return as soon as the hub has recorded it."""
        response = await self._ask(_prompt(session_id, content, when_busy, key or new_key(), "application/json"))
        return msgspec.json.decode(response.body, type=Accepted)

    async def stream_turn(self, session_id: str, content: Content, *, when_busy: Literal["reject", "queue"] = "reject",
                          key: str | None = None) -> AsyncGenerator[Numbered, None]:
        """Send a prompt and yield (seq, packet) up to the turn's last one.

        A lost connection is taken up again; closing the iterator leaves the turn running."""
        request = _prompt(session_id, content, when_busy, key or new_key(), "text/event-stream")
        async with aclosing(self._follow(lambda after: _resumed(request, after), after=0)) as stream:
            async for seq, packet in stream:
                yield seq, packet
                if packet.ends_turn():
                    return

    async def packets(self, session_id: str, *, after: int = 0) -> AsyncGenerator[Numbered, None]:
        """Every packet after ``after``: first what is stored, then live, until the caller stops."""
        path = _path("sessions", session_id, "packets")
        request = Request("GET", path, headers=(("Accept", "text/event-stream"),))
        async with aclosing(self._follow(lambda seen: _resumed(request, seen), after=after)) as stream:
            async for numbered in stream:
                yield numbered

    async def turn(self, session_id: str, *, after: int) -> AsyncGenerator[Numbered, None]:
        """The rest of the turn that is running or done after ``after``."""
        async with aclosing(self.packets(session_id, after=after)) as stream:
            async for seq, packet in stream:
                yield seq, packet
                if packet.ends_turn():
                    return

    async def messages(self, session_id: str, *, after: int = 0, before: int | None = None, limit: int = 500) -> MessagePage:
        """Stored packets, paged; runs of chunks are merged."""
        path = _path("sessions", session_id, "messages", after=after, before=before, limit=limit)
        page = await self._get(path, _StoredPage)
        return MessagePage([(stored.seq, Packet(bytes(stored.packet))) for stored in page.messages], page.next_after)

    # events and commands

    async def events(self, session_id: str, *, after: int = 0, types: str | None = None
                     ) -> AsyncGenerator[tuple[int, ContextEvent], None]:
        """(seq, event) after ``after``: first what is stored, then live, until the caller stops. ``types`` leaves others out."""
        async with aclosing(self._events(_path("sessions", session_id, "events", types=types), after)) as stream:
            async for numbered in stream:
                yield numbered

    async def all_events(self, *, after: int | None = None, types: str | None = None
                         ) -> AsyncGenerator[tuple[int, ContextEvent], None]:
        """(pos, event) of all sessions after a pos; without one, from now on."""
        async with aclosing(self._events(_path("events", types=types), _NOW if after is None else after)) as stream:
            async for numbered in stream:
                yield numbered

    async def history(self, session_id: str, *, after: int | None = None, before: int | None = None, limit: int = 500,
                      types: str | None = None) -> EventPage:
        """Stored events, paged; with only ``before``, the last before it."""
        path = _path("sessions", session_id, "history", after=after, before=before, limit=limit, types=types)
        return await self._get(path, EventPage)

    async def snapshot(self, session_id: str) -> Snapshot:
        """The state of a session and its seq: events after it are news."""
        return await self._get(_path("sessions", session_id, "snapshot"), Snapshot)

    async def command(self, session_id: str, command: Mapping[str, Any], *, key: str | None = None) -> dict[str, Any]:
        """Carry out a command such as ``{"command": "cancel"}``; returns what came of it. A retry never does it twice."""
        body = {"id": key or new_key(), "command": dict(command)}
        request = Request("POST", _path("sessions", session_id, "commands"), _json(body), _JSON_BODY, repeats=True)
        return msgspec.json.decode((await self._ask(request)).body, type=CommandDone).result

    def connect(self) -> Link:
        """A WebSocket to the hub that reconnects by itself; use as an async context manager."""
        return Link(self._pool, limit_s=self._reconnect_s, relocate=self._relocate)

    # steering

    async def cancel(self, session_id: str) -> bool:
        """Cancel the running turn; False when none was running."""
        answer = await self._post(_path("sessions", session_id, "cancel"), {})
        return bool(answer.get("cancelled", True))

    async def set_mode(self, session_id: str, mode_id: str) -> None:
        """Switch the agent's mode."""
        await self._post(_path("sessions", session_id, "mode"), {"modeId": mode_id})

    async def set_config(self, session_id: str, config_id: str, value: str | bool) -> None:
        """Set one of the agent's options."""
        await self._post(_path("sessions", session_id, "config"), {"configId": config_id, "value": value})

    async def queue(self, session_id: str) -> list[QueuedPrompt]:
        """Prompts that wait for their turn."""
        return await self._get(_path("sessions", session_id, "queue"), list[QueuedPrompt])

    async def edit_queued(self, session_id: str, turn_id: str, content: Content) -> None:
        """Change a prompt that still waits."""
        path = _path("sessions", session_id, "queue", turn_id)
        await self._ask(Request("PATCH", path, _json({"content": content}), _JSON_BODY))

    async def clear_queue(self, session_id: str) -> None:
        """Remove every prompt that still waits."""
        await self._ask(Request("DELETE", _path("sessions", session_id, "queue")))

    async def drop_queued(self, session_id: str, turn_id: str) -> None:
        """Remove a prompt that still waits."""
        await self._ask(Request("DELETE", _path("sessions", session_id, "queue", turn_id)))

    async def decide(self, session_id: str, request_id: str, *, allow: bool | None = None, option_id: str | None = None,
                     scope: Literal["once", "always"] = "once", reason: str | None = None) -> None:
        """Answer a permission, by one of the agent's options or by allow and scope."""
        body: dict[str, Any] = {"optionId": option_id}
        if option_id is None:
            body = {"decision": "allow" if allow else "deny", "scope": scope}
        if reason is not None:
            body["reason"] = reason
        await self._post(_path("sessions", session_id, "permissions", request_id), body)

    async def answer_question(self, session_id: str, question_id: str, content: Mapping[str, Any] | None, *,
                              action: Literal["accept", "decline", "cancel"] = "accept") -> None:
        """Answer a question with the form's fields, or decline it."""
        body = {"action": action} | ({"content": dict(content)} if content is not None else {})
        await self._post(_path("sessions", session_id, "questions", question_id), body)

    # files

    async def artifacts(self, session_id: str) -> list[Artifact]:
        """What the agent made."""
        return await self._get(_path("sessions", session_id, "artifacts"), list[Artifact])

    async def artifact(self, session_id: str, artifact_id: str) -> Artifact:
        """One thing that the agent made."""
        return await self._get(_path("sessions", session_id, "artifacts", artifact_id), Artifact)

    async def files(self, session_id: str, path: str | None = None) -> FileList:
        """A folder inside the session's roots; the session's own when no path is given."""
        return await self._get(_path("sessions", session_id, "files", path=path), FileList)

    async def file_content(self, session_id: str, path: str) -> bytes:
        """A file inside the session's roots."""
        return (await self._ask(Request("GET", _path("sessions", session_id, "files", "content", path=path)))).body

    async def find_files(self, session_id: str, query: str, *, limit: int = 50) -> FilesFound:
        """Files by a part of their path."""
        return await self._get(_path("sessions", session_id, "files", "find", q=query, limit=limit), FilesFound)

    async def upload(self, session_id: str, path: str, content: bytes) -> Uploads:
        """Store a file inside the session's roots."""
        headers = (("Content-Type", "application/octet-stream"),)
        request = Request("POST", _path("sessions", session_id, "files", path=path), content, headers)
        return msgspec.json.decode((await self._ask(request)).body, type=Uploads)

    async def diff(self, session_id: str) -> dict[str, Any]:
        """What changed in the session's folder."""
        return await self._get(_path("sessions", session_id, "diff"), dict[str, Any])

    # the wire

    async def _get(self, path: str, type_: type[T]) -> T:
        return msgspec.json.decode((await self._ask(Request("GET", path))).body, type=type_)

    async def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        response = await self._ask(_post(path, body))
        return msgspec.json.decode(response.body, type=dict[str, Any]) if response.body else {}

    async def _ask(self, request: Request, *, timeout_s: float | None = None) -> Response:
        limit_s = self._timeout_s if timeout_s is None else timeout_s
        try:
            response = await self._pool.ask(request, timeout_s=limit_s)
        except Unavailable:
            if self._find is None or not request.repeatable():
                raise
            await self._relocate()
            response = await self._pool.ask(request, timeout_s=limit_s)
        if not 200 <= response.status < 300:
            raise error_of(response)
        return response

    async def _relocate(self) -> None:
        if self._find is not None:
            await self._pool.move(await self._find())

    def _events(self, path: str, after: int) -> AsyncGenerator[tuple[int, ContextEvent], None]:
        request = Request("GET", path, headers=(("Accept", "text/event-stream"),))
        stream = Stream(self._pool, lambda seen: _from(request, seen), after=after, limit_s=self._reconnect_s,
                        relocate=self._relocate, read=ContextEvent, failure=event_failure)
        return stream.things()

    def _follow(self, request: Callable[[int], Request], *, after: int) -> AsyncGenerator[Numbered, None]:
        stream = Stream(self._pool, request, after=after, limit_s=self._reconnect_s, relocate=self._relocate, read=Packet,
                        failure=packet_failure)
        return stream.things()


_NOW = -1
"""The position of a stream that was not told where it begins: the hub tells it first."""
_JSON_BODY = (("Content-Type", "application/json"), ("Accept", "application/json"))


def new_key() -> str:
    """An idempotency key that nobody else has."""
    return secrets.token_hex(16)


def _json(body: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode(body)


def _post(path: str, body: Mapping[str, Any]) -> Request:
    return Request("POST", path, _json(body), _JSON_BODY)


def _prompt(session_id: str, content: Content, when_busy: str, key: str, accept: str) -> Request:
    headers = (("Content-Type", "application/json"), ("Accept", accept), ("Idempotency-Key", key))
    body = _json({"content": content, "whenBusy": when_busy})
    return Request("POST", _path("sessions", session_id, "send-message"), body, headers)


def _resumed(request: Request, after: int) -> Request:
    if not after:
        return request
    return msgspec.structs.replace(request, headers=(*request.headers, ("Last-Event-ID", str(after))))


def _from(request: Request, after: int) -> Request:
    """The same with its position told, also where it is the beginning: without one, the hub's own stream begins at its end."""
    if after == _NOW:
        return request
    return msgspec.structs.replace(request, headers=(*request.headers, ("Last-Event-ID", str(after))))


def _path(*parts: str, **query: str | int | None) -> str:
    path = "/" + "/".join(quote(part, safe="") for part in parts)
    given = {key: value for key, value in query.items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path
