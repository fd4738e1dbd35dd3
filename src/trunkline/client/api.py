"""The hub's HTTP API as Python calls, one method per route: ``Client`` has those of sessions,
``HubCalls`` those of the whole hub.

Rule 1: async only, and light: asyncio, h11 and msgspec; nothing of the hub itself is imported.
Rule 2: errors are those of ``trunkline.errors``, by the code that the hub answered.
Rule 3: a prompt and a new session always carry an idempotency key, so that a retry can never send or start it twice.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Literal

import msgspec

from trunkline.client.http import JSON_BODY, START_TIMEOUT_S, HttpRequest, HubRequests, json_of, path_of, post, read
from trunkline.client.hub_views import (
    AdapterView,
    Caps,
    DeviceList,
    DeviceView,
    DiscoveredSession,
    DiscoveredSessions,
    Explanation,
    FolderPage,
    JournalView,
    Pairing,
    PendingList,
    PermissionPolicy,
    PolicyRule,
    PolicyView,
    RulePreview,
    SearchPage,
    Waits,
)
from trunkline.client.link import Link
from trunkline.client.records import ContextEvent, Packet
from trunkline.client.streams import Numbered, Stream, event_failure, packet_failure
from trunkline.client.views import (
    Accepted,
    AgentView,
    Artifact,
    Code,
    CommandDone,
    EventPage,
    FileList,
    FilesFound,
    PendingAsk,
    PreviewAddress,
    QueuedPrompt,
    SessionView,
    Snapshot,
    Uploads,
)


class HubCalls(HubRequests):
    """Calls about the whole hub."""

    async def health(self) -> dict[str, Any]:
        """``GET /healthz``: answers as soon as the hub listens, without a token."""
        return await self._get("/healthz", dict[str, Any])

    async def agents(self) -> list[AgentView]:
        """The agents this hub can run, and which of them are installed."""
        return await self._get("/agents", list[AgentView])

    async def new_code(self) -> Code:
        """A one-time code that logs a browser in."""
        return read(await self._ask(post("/auth/codes", {})), Code)

    # devices

    async def pair(self, *, scope: str = "control", name: str | None = None) -> Pairing:
        """A one-time code that pairs a device; whoever opens its address first is that device."""
        return read(await self._ask(post("/pair", _given(scope=scope, name=name))), Pairing)

    async def devices(self) -> list[DeviceView]:
        """Every paired device."""
        return (await self._get("/devices", DeviceList)).devices

    async def revoke_device(self, device_id: str) -> None:
        """Unpair a device; whatever it has open ends at once."""
        await self._ask(HttpRequest("DELETE", path_of("devices", device_id)))

    async def approvals(self) -> list[PendingAsk]:
        """Every approval and question that waits, in all sessions, the one that expires first at the top."""
        return (await self._get("/approvals", PendingList)).pending

    async def preview_rule(self, request_id: str, *, allow: bool, scope: Literal["turn", "session", "always"] = "always"
                           ) -> RulePreview:
        """The rule that a decision for longer than once would save, and every ask that waits and that it would answer."""
        body = {"decision": "allow" if allow else "deny", "scope": scope}
        return read(await self._ask(post(path_of("approvals", request_id, "always-preview"), body)), RulePreview)

    # rules

    async def policy(self) -> PolicyView:
        """The rules that are in force, and the file that they are in."""
        return await self._get("/policy", PolicyView)

    async def replace_policy(self, *, text: str | None = None, rules: Sequence[PolicyRule] | None = None,
                             auto_approve: PermissionPolicy | None = None, version: str | None = None) -> PolicyView:
        """Replace the policy whole, as the file's text or as rules; what is refused changes nothing. With the ``version`` of a
        view it is refused (``conflict``) where the policy was changed since."""
        body = _given(text=text, rules=rules, autoApprove=auto_approve)
        headers = JSON_BODY if version is None else (*JSON_BODY, ("If-Match", f'"{version}"'))
        response = await self._ask(HttpRequest("PUT", "/policy", json_of(body), headers))
        return read(response, PolicyView)

    async def explain_policy(self, *, command: str | None = None, path: str | None = None, tool: str | None = None,
                             kind: str | None = None, tool_input: Mapping[str, Any] | None = None, agent: str | None = None,
                             cwd: str | None = None, session_id: str | None = None) -> Explanation:
        """What the policy would say to a command, a change of a path, or a tool with its input; nothing is done."""
        body = _given(command=command, path=path, tool=tool, kind=kind, input=tool_input, agent=agent, cwd=cwd,
                      sessionId=session_id)
        return read(await self._ask(post("/policy/explain", body)), Explanation)

    # looking for something

    async def journal(self) -> JournalView:
        """What was found damaged in what is stored, and whether it can be written."""
        return await self._get("/journal", JournalView)

    async def search(self, text: str, *, limit: int = 20) -> SearchPage:
        """Passages of all sessions in which every word is found, the best first; words in quotes are a phrase."""
        return await self._get(path_of("search", q=text, limit=limit), SearchPage)

    async def folders(self, path: str | None = None) -> FolderPage:
        """Folders of the hub's machine, to choose one for a session; those of the home folder when no path is given."""
        return await self._get(path_of("folders", path=path), FolderPage)

    # adapters

    async def adapters(self) -> list[AdapterView]:
        """Every agent with what it was seen to do, and where it keeps its files."""
        return await self._get("/adapters", list[AdapterView])

    async def adapter_sessions(self, name: str) -> list[DiscoveredSession]:
        """The sessions that an agent knows of, newest activity first; the agent may be started to ask it."""
        response = await self._ask(HttpRequest("GET", path_of("adapters", name, "sessions")), timeout_s=START_TIMEOUT_S)
        return read(response, DiscoveredSessions).sessions

    async def attach(self, name: str, session_id: str, *, watch: bool | None = None) -> SessionView:
        """Join one of them. ``watch``: only follow what the agent writes elsewhere; without it, whichever is safe."""
        request = post(path_of("adapters", name, "sessions", session_id, "attach"), _given(watch=watch))
        return read(await self._ask(request, timeout_s=START_TIMEOUT_S), SessionView)


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


Content = str | Sequence[Mapping[str, Any]]
Scope = Literal["once", "turn", "session", "always"]


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


class Client(HubCalls):
    """A hub, over HTTP.

    ``find`` is asked for the hub's address when it no longer answers at the old one (it may have been restarted on
    another port). Use as an async context manager, or call ``close``.
    """

    # sessions

    async def create_session(self, agent: str, cwd: str, *, title: str | None = None, mode: str | None = None,
                             prompt: Content | None = None, mcp_servers: Iterable[Mapping[str, Any]] = (),
                             env: Mapping[str, str] | None = None, key: str | None = None,
                             sandbox: Literal["none", "bwrap"] | None = None, sandbox_network: bool | None = None,
                             resources: Mapping[str, int] | None = None) -> SessionView:
        """Start a session. ``env`` adds the caller's variables to the agent's; send it only to a hub on this machine. The same
        ``key`` again is the same session; without one, a retry of this call still starts no second. ``sandbox``: what the agent
        runs in, where its settings do not say. ``resources``: what it may take (``memoryMb``, ``processes``, ``files``)."""
        body: dict[str, Any] = {"agent": agent, "cwd": cwd, "mcpServers": list(mcp_servers), "env": dict(env or {})}
        body |= {key: value for key, value in (
            ("title", title), ("mode", mode), ("prompt", prompt), ("sandbox", sandbox), ("sandboxNetwork", sandbox_network),
            ("resources", resources),
        ) if value is not None}
        request = HttpRequest("POST", "/sessions", json_of(body), (*JSON_BODY, ("Idempotency-Key", key or new_key())))
        response = await self._ask(request, timeout_s=START_TIMEOUT_S)
        return read(response, SessionView)

    async def sessions(self, *, status: str | None = None, agent: str | None = None, text: str | None = None,
                       limit: int = 50, before: str | None = None) -> SessionPage:
        """Sessions, newest activity first."""
        path = path_of("sessions", status=status, agent=agent, text=text, limit=limit, before=before)
        return await self._get(path, SessionPage)

    async def session(self, session_id: str) -> SessionView:
        """The state of one session."""
        return await self._get(path_of("sessions", session_id), SessionView)

    async def rename(self, session_id: str, title: str) -> SessionView:
        """Give the session a title."""
        request = HttpRequest("PATCH", path_of("sessions", session_id), json_of({"title": title}), JSON_BODY)
        return read(await self._ask(request), SessionView)

    async def fork(self, session_id: str, *, cwd: str | None = None, title: str | None = None) -> SessionView:
        """Branch off a session: a new one that has the same conversation behind it."""
        body = {name: value for name, value in (("cwd", cwd), ("title", title)) if value is not None}
        request = post(path_of("sessions", session_id, "fork"), body)
        return read(await self._ask(request), SessionView)

    async def delete(self, session_id: str) -> None:
        """Stop the session's agent and forget the session."""
        await self._ask(HttpRequest("DELETE", path_of("sessions", session_id)))

    # turns

    async def send(self, session_id: str, content: Content, *, when_busy: Literal["reject", "queue"] = "reject",
                   key: str | None = None) -> Accepted:
        """Send a prompt and return as soon as the hub has recorded it."""
        response = await self._ask(_prompt(session_id, content, when_busy, key or new_key(), "application/json"))
        return read(response, Accepted)

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
        path = path_of("sessions", session_id, "packets")
        request = HttpRequest("GET", path, headers=(("Accept", "text/event-stream"),))
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
        path = path_of("sessions", session_id, "messages", after=after, before=before, limit=limit)
        page = await self._get(path, _StoredPage)
        return MessagePage([(stored.seq, Packet(bytes(stored.packet))) for stored in page.messages], page.next_after)

    # events and commands

    async def events(self, session_id: str, *, after: int = 0, types: str | None = None
                     ) -> AsyncGenerator[tuple[int, ContextEvent], None]:
        """(seq, event) after ``after``: first what is stored, then live, until the caller stops. ``types`` leaves others out."""
        async with aclosing(self._events(path_of("sessions", session_id, "events", types=types), after)) as stream:
            async for numbered in stream:
                yield numbered

    async def all_events(self, *, after: int | None = None, types: str | None = None
                         ) -> AsyncGenerator[tuple[int, ContextEvent], None]:
        """(pos, event) of all sessions after a pos; without one, from now on."""
        async with aclosing(self._events(path_of("events", types=types), _NOW if after is None else after)) as stream:
            async for numbered in stream:
                yield numbered

    async def history(self, session_id: str, *, after: int | None = None, before: int | None = None, limit: int = 500,
                      types: str | None = None, joined: bool = False) -> EventPage:
        """Stored events, paged; with only ``before``, the last before it. ``joined``: a run of deltas is one event."""
        path = path_of("sessions", session_id, "history", after=after, before=before, limit=limit, types=types,
                       joined="true" if joined else None)
        return await self._get(path, EventPage)

    async def snapshot(self, session_id: str) -> Snapshot:
        """The state of a session and its seq: events after it are news."""
        return await self._get(path_of("sessions", session_id, "snapshot"), Snapshot)

    async def command(self, session_id: str, command: Mapping[str, Any], *, key: str | None = None) -> dict[str, Any]:
        """Carry out a command such as ``{"command": "cancel"}``; returns what came of it. A retry never does it twice."""
        body = {"id": key or new_key(), "command": dict(command)}
        request = HttpRequest("POST", path_of("sessions", session_id, "commands"), json_of(body), JSON_BODY, repeats=True)
        return read(await self._ask(request), CommandDone).result

    def connect(self) -> Link:
        """A WebSocket to the hub that reconnects by itself; use as an async context manager."""
        return Link(self._pool, limit_s=self._reconnect_s, relocate=self._relocate)

    # steering

    async def cancel(self, session_id: str) -> bool:
        """Cancel the running turn; False when none was running."""
        answer = await self._post(path_of("sessions", session_id, "cancel"), {})
        return bool(answer.get("cancelled", True))

    async def set_mode(self, session_id: str, mode_id: str) -> None:
        """Switch the agent's mode."""
        await self._post(path_of("sessions", session_id, "mode"), {"modeId": mode_id})

    async def set_config(self, session_id: str, config_id: str, value: str | bool) -> None:
        """Set one of the agent's options."""
        await self._post(path_of("sessions", session_id, "config"), {"configId": config_id, "value": value})

    async def queue(self, session_id: str) -> list[QueuedPrompt]:
        """Prompts that wait for their turn."""
        return await self._get(path_of("sessions", session_id, "queue"), list[QueuedPrompt])

    async def edit_queued(self, session_id: str, turn_id: str, content: Content) -> None:
        """Change a prompt that still waits."""
        path = path_of("sessions", session_id, "queue", turn_id)
        await self._ask(HttpRequest("PATCH", path, json_of({"content": content}), JSON_BODY))

    async def clear_queue(self, session_id: str) -> None:
        """Remove every prompt that still waits."""
        await self._ask(HttpRequest("DELETE", path_of("sessions", session_id, "queue")))

    async def drop_queued(self, session_id: str, turn_id: str) -> None:
        """Remove a prompt that still waits."""
        await self._ask(HttpRequest("DELETE", path_of("sessions", session_id, "queue", turn_id)))

    async def decide(self, session_id: str, request_id: str, *, allow: bool | None = None, option_id: str | None = None,
                     scope: Scope = "once", reason: str | None = None, updated_input: Mapping[str, Any] | None = None) -> None:
        """Answer a permission, by one of the agent's options or by allow; ``scope`` says for how long.

        ``updated_input`` runs the tool with another input, once, where the approval is ``editable``."""
        body: dict[str, Any] = {"optionId": option_id} if option_id is not None else {"decision": "allow" if allow else "deny"}
        if option_id is None or scope != "once":
            body["scope"] = scope
        if reason is not None:
            body["reason"] = reason
        if updated_input is not None:
            body["updatedInput"] = dict(updated_input)
        await self._post(path_of("sessions", session_id, "permissions", request_id), body)

    async def answer_question(self, session_id: str, question_id: str, content: Mapping[str, Any] | None, *,
                              action: Literal["accept", "decline", "cancel"] = "accept") -> None:
        """Answer a question with the form's fields, or decline it."""
        body = {"action": action} | ({"content": dict(content)} if content is not None else {})
        await self._post(path_of("sessions", session_id, "questions", question_id), body)

    async def set_limits(self, session_id: str, *, caps: Caps | None = None, waits: Waits | None = None) -> SessionView:
        """Set what the session may spend, all caps at once, and how long its approvals wait; what is not given stays. Waits
        without ``approval_s`` are as the hub is set."""
        body: dict[str, Any] = {} if caps is None else {"caps": caps}
        if waits is not None:
            body["waits"] = {"approvalS": waits.approval_s, "onTimeout": waits.on_timeout}
        response = await self._ask(post(path_of("sessions", session_id, "limits"), body))
        return read(response, SessionView)

    # files

    async def image(self, session_id: str, seq: int) -> bytes:
        """The picture that the entry ``seq`` carries; events only have the address of a large one."""
        return (await self._ask(HttpRequest("GET", path_of("sessions", session_id, "images", str(seq))))).body

    async def artifacts(self, session_id: str) -> list[Artifact]:
        """What the agent made."""
        return await self._get(path_of("sessions", session_id, "artifacts"), list[Artifact])

    async def artifact(self, session_id: str, artifact_id: str) -> Artifact:
        """One thing that the agent made."""
        return await self._get(path_of("sessions", session_id, "artifacts", artifact_id), Artifact)

    async def preview(self, session_id: str, artifact_id: str, *, live: bool = False) -> str | None:
        """The path under which an artifact can be seen for a while; None where there is nothing to show. With ``live`` its
        scripts run there, and it may load from elsewhere."""
        response = await self._ask(post(path_of("sessions", session_id, "artifacts", artifact_id, "preview"), {"live": live}))
        return read(response, PreviewAddress).preview_url

    async def files(self, session_id: str, path: str | None = None) -> FileList:
        """A folder inside the session's roots; the session's own when no path is given."""
        return await self._get(path_of("sessions", session_id, "files", path=path), FileList)

    async def file_content(self, session_id: str, path: str) -> bytes:
        """A file inside the session's roots."""
        return (await self._ask(HttpRequest("GET", path_of("sessions", session_id, "files", "content", path=path)))).body

    async def find_files(self, session_id: str, query: str, *, limit: int = 50) -> FilesFound:
        """Files by a part of their path."""
        return await self._get(path_of("sessions", session_id, "files", "find", q=query, limit=limit), FilesFound)

    async def upload(self, session_id: str, path: str, content: bytes) -> Uploads:
        """Store a file inside the session's roots."""
        headers = (("Content-Type", "application/octet-stream"),)
        request = HttpRequest("POST", path_of("sessions", session_id, "files", path=path), content, headers)
        return read(await self._ask(request), Uploads)

    async def diff(self, session_id: str) -> dict[str, Any]:
        """What changed in the session's folder."""
        return await self._get(path_of("sessions", session_id, "diff"), dict[str, Any])

    # streams

    def _events(self, path: str, after: int) -> AsyncGenerator[tuple[int, ContextEvent], None]:
        request = HttpRequest("GET", path, headers=(("Accept", "text/event-stream"),))
        stream = Stream(self._pool, lambda seen: _from(request, seen), after=after, limit_s=self._reconnect_s,
                        relocate=self._relocate, read=ContextEvent, failure=event_failure)
        return stream.things()

    def _follow(self, request: Callable[[int], HttpRequest], *, after: int) -> AsyncGenerator[Numbered, None]:
        stream = Stream(self._pool, request, after=after, limit_s=self._reconnect_s, relocate=self._relocate, read=Packet,
                        failure=packet_failure)
        return stream.things()


_NOW = -1
"""The position of a stream that was not given where it begins: the hub sends it first."""


def new_key() -> str:
    """An idempotency key that nobody else has."""
    return secrets.token_hex(16)


def _prompt(session_id: str, content: Content, when_busy: str, key: str, accept: str) -> HttpRequest:
    headers = (("Content-Type", "application/json"), ("Accept", accept), ("Idempotency-Key", key))
    body = json_of({"content": content, "whenBusy": when_busy})
    return HttpRequest("POST", path_of("sessions", session_id, "send-message"), body, headers)


def _resumed(request: HttpRequest, after: int) -> HttpRequest:
    if not after:
        return request
    return msgspec.structs.replace(request, headers=(*request.headers, ("Last-Event-ID", str(after))))


def _from(request: HttpRequest, after: int) -> HttpRequest:
    """The same with its position given, also where it is the beginning: without one, the hub's own stream begins at its end."""
    if after == _NOW:
        return request
    return msgspec.structs.replace(request, headers=(*request.headers, ("Last-Event-ID", str(after))))
