"""Calls about the whole hub: its agents, devices, rules and adapters, and looking for something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from trunkline.client.http import JSON_BODY, START_TIMEOUT_S, HttpRequest, HubRequests, json_of, path_of, post, read
from trunkline.client.hub_views import (
    AdapterView,
    AwayView,
    ClusterView,
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
    PolicyPreview,
    PolicyRule,
    PolicyView,
    RulePreview,
    SearchPage,
)
from trunkline.client.views import (
    AgentView,
    Code,
    PendingAsk,
    SessionView,
    WayIn,
)


class HubCalls(HubRequests):
    """Calls about the whole hub."""

    async def health(self) -> dict[str, Any]:
        """``GET /healthz``: answers as soon as the hub listens, without a token."""
        return await self._get("/healthz", dict[str, Any])

    async def agents(self, *, node: str | None = None) -> list[AgentView]:
        """The agents this hub, or that node of its cluster, can run, and which of them are installed."""
        return await self._get(path_of("agents", node=node), list[AgentView])

    async def new_code(self) -> Code:
        """A one-time code that logs a browser in."""
        return read(await self._ask(post("/auth/codes", {})), Code)

    async def login_command(self) -> str:
        """What to type on the hub's machine for a link that logs a browser in; needs no token."""
        return (await self._get("/auth/login", WayIn)).command

    async def away(self) -> AwayView:
        """Whether the person is away from the terminals."""
        return await self._get("/away", AwayView)

    async def set_away(self, away: bool) -> AwayView:
        """Say that the person leaves the terminals, or is back."""
        return read(await self._ask(HttpRequest("PUT", "/away", json_of({"away": away}), headers=JSON_BODY)), AwayView)

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

    async def preview_policy(self, *, text: str | None = None, rules: Sequence[PolicyRule] | None = None,
                             auto_approve: PermissionPolicy | None = None) -> PolicyPreview:
        """Every ask that waits and that this policy would answer, if it took the place of the one in force; nothing is saved."""
        body = _given(text=text, rules=rules, autoApprove=auto_approve)
        return read(await self._ask(post("/policy/preview", body)), PolicyPreview)

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
                             cwd: str | None = None, session_id: str | None = None, node: str | None = None) -> Explanation:
        """What the policy, of that ``node`` where one is named, would say to a command, a change of a path, or a tool with its
        input; nothing is done."""
        body = _given(command=command, path=path, tool=tool, kind=kind, input=tool_input, agent=agent, cwd=cwd,
                      sessionId=session_id)
        return read(await self._ask(post(path_of("policy", "explain", node=node), body)), Explanation)

    # looking for something

    async def cluster(self) -> ClusterView:
        """The nodes of the hub's cluster; NotClustered where it is in none."""
        return await self._get("/cluster", ClusterView)

    async def drain(self, node: str, *, draining: bool = True) -> ClusterView:
        """Let no new sessions begin at a node of the cluster, or let them again."""
        return read(await self._ask(post(path_of("cluster", "nodes", node, "drain"), {"draining": draining})), ClusterView)

    async def forget_node(self, node: str) -> ClusterView:
        """Say that a node of the cluster is gone for good."""
        return read(await self._ask(HttpRequest("DELETE", path_of("cluster", "nodes", node))), ClusterView)

    async def journal(self) -> JournalView:
        """What was found damaged in what is stored, and whether it can be written."""
        return await self._get("/journal", JournalView)

    async def search(self, text: str, *, limit: int = 20) -> SearchPage:
        """Passages of all sessions in which every word is found, the best first; words in quotes are a phrase."""
        return await self._get(path_of("search", q=text, limit=limit), SearchPage)

    async def folders(self, path: str | None = None, *, node: str | None = None) -> FolderPage:
        """Folders of the hub's machine, or of that node's, to choose one for a session; those of the home folder when no path is
        given."""
        return await self._get(path_of("folders", path=path, node=node), FolderPage)

    # adapters

    async def adapters(self) -> list[AdapterView]:
        """Every agent with what it was seen to do, and where it keeps its files."""
        return await self._get("/adapters", list[AdapterView])

    async def adapter_sessions(self, name: str) -> list[DiscoveredSession]:
        """The sessions that an agent knows of, newest activity first; the agent may be started to ask it."""
        response = await self._ask(HttpRequest("GET", path_of("adapters", name, "sessions")), timeout_s=START_TIMEOUT_S)
        return read(response, DiscoveredSessions).sessions

    async def attach(self, name: str, session_id: str, *, watch: bool | None = None, project_path: str | None = None
                     ) -> SessionView:
        """Join one of them. ``watch``: only follow what the agent writes elsewhere; without it, whichever is safe.
        ``project_path``: the folder of one that the agent has and does not list."""
        request = post(path_of("adapters", name, "sessions", session_id, "attach"), _given(watch=watch, projectPath=project_path))
        return read(await self._ask(request, timeout_s=START_TIMEOUT_S), SessionView)


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
