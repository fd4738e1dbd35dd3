"""Calls about sessions: start, list, name, branch and end them.

Rule: a new session always carries an idempotency key, so that a retry can never start it twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from trunkline.client.calls.turns import Content, new_key
from trunkline.client.http import JSON_BODY, START_TIMEOUT_S, HttpRequest, HubRequests, json_of, path_of, post, read
from trunkline.client.hub_views import (
    Caps,
    Waits,
)
from trunkline.client.views import (
    FoundView,
    HandoverView,
    RemovedView,
    SessionView,
)


class SessionPage(msgspec.Struct, rename="camel", frozen=True):
    """Some sessions, newest activity first, and the cursor of the next page."""

    sessions: list[SessionView]
    next: str | None = None
    found: list[FoundView] = []
    """Those that other programs wrote, where they were asked for."""


class FoundPage(msgspec.Struct, rename="camel", frozen=True):
    """Sessions that other programs wrote, newest activity first, and the number of this state of the list."""

    sessions: list[FoundView]
    revision: int = 0


class SessionCalls(HubRequests):
    """Sessions, and what each may spend."""

    async def create_session(self, agent: str, cwd: str, *, title: str | None = None, mode: str | None = None,
                             prompt: Content | None = None, mcp_servers: Iterable[Mapping[str, Any]] = (),
                             env: Mapping[str, str] | None = None, key: str | None = None,
                             sandbox: Literal["none", "bwrap"] | None = None, sandbox_network: bool | None = None,
                             resources: Mapping[str, int] | None = None, node: str | None = None, pool: str | None = None,
                             labels: Mapping[str, str] | None = None) -> SessionView:
        """Start a session. ``env`` adds the caller's variables to the agent's; send it only to a hub on this machine. The same
        ``key`` again is the same session; without one, a retry of this call still starts no second. ``sandbox``: what the agent
        runs in, where its settings do not say. ``resources``: what it may take (``memoryMb``, ``processes``, ``files``). In a
        cluster: ``node`` to run on, or the ``pool`` and ``labels`` that the node has to have."""
        body: dict[str, Any] = {"agent": agent, "cwd": cwd, "mcpServers": list(mcp_servers), "env": dict(env or {})}
        body |= {key: value for key, value in (
            ("title", title), ("mode", mode), ("prompt", prompt), ("sandbox", sandbox), ("sandboxNetwork", sandbox_network),
            ("resources", resources), ("node", node), ("pool", pool), ("labels", dict(labels) if labels else None),
        ) if value is not None}
        request = HttpRequest("POST", "/sessions", json_of(body), (*JSON_BODY, ("Idempotency-Key", key or new_key())))
        response = await self._ask(request, timeout_s=START_TIMEOUT_S)
        return read(response, SessionView)

    async def sessions(self, *, status: str | None = None, agent: str | None = None, text: str | None = None,
                       node: str | None = None, limit: int = 50, before: str | None = None, found: bool = False) -> SessionPage:
        """Sessions, newest activity first. ``found``: beside them those that other programs wrote."""
        path = path_of("sessions", status=status, agent=agent, text=text, node=node, limit=limit, before=before,
                       found="true" if found else None)
        return await self._get(path, SessionPage)

    async def found(self, *, agent: str | None = None, text: str | None = None, limit: int = 200,
                    after: int | None = None) -> FoundPage:
        """Sessions that other programs wrote. ``after``: once the list has another revision than this, or after 25 s."""
        return await self._get(path_of("found", agent=agent, text=text, limit=limit, after=after), FoundPage)

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

    async def move(self, session_id: str, node: str, *, force: bool = False) -> SessionView:
        """Have another node of the cluster go on with a session; ``force`` cuts a running turn off."""
        request = post(path_of("sessions", session_id, "move"), {"node": node, "force": force})
        return read(await self._ask(request, timeout_s=START_TIMEOUT_S), SessionView)

    async def handover(self, session_id: str, *, wait: int = 0) -> HandoverView:
        """Who has a session, and how it can be continued. ``wait``: once the program that has it has ended, or after so long."""
        return await self._get(path_of("sessions", session_id, "handover", wait=wait or None), HandoverView)

    async def take_over(self, session_id: str, how: Literal["resume", "fork", "summary"] = "resume") -> SessionView:
        """Go on here with a session that is followed; by ``fork`` and ``summary`` in one of its own."""
        request = post(path_of("sessions", session_id, "take-over"), {"how": how})
        return read(await self._ask(request, timeout_s=START_TIMEOUT_S), SessionView)

    async def give_back(self, session_id: str) -> HandoverView:
        """End the agent here, so that its own program can go on with the session."""
        request = post(path_of("sessions", session_id, "give-back"), {})
        return read(await self._ask(request, timeout_s=START_TIMEOUT_S), HandoverView)

    async def delete(self, session_id: str) -> RemovedView | None:
        """Stop the session's agent and forget the session. In a cluster: what became of it there."""
        response = await self._ask(HttpRequest("DELETE", path_of("sessions", session_id)))
        return read(response, RemovedView) if response.body else None

    async def set_limits(self, session_id: str, *, caps: Caps | None = None, waits: Waits | None = None) -> SessionView:
        """Set what the session may spend, all caps at once, and how long its approvals wait; what is not given stays. Waits
        without ``approval_s`` are as the hub is set."""
        body: dict[str, Any] = {} if caps is None else {"caps": caps}
        if waits is not None:
            body["waits"] = {"approvalS": waits.approval_s, "onTimeout": waits.on_timeout}
        response = await self._ask(post(path_of("sessions", session_id, "limits"), body))
        return read(response, SessionView)
