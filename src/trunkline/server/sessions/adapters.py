"""Agents as adapters: what each can do here, the sessions it knows of, and joining one of them.

Rule 1: a handler asks the adapter and encodes. What a session is, and whose, is the adapter's business.
Rule 2: to list an agent's sessions is to look into its files and perhaps to start it: that is for whoever may start it anyway.
"""

from __future__ import annotations

import asyncio

import msgspec

from trunkline.adapters import CatalogAdapter, hub_adapters
from trunkline.adapters.found import found_sessions
from trunkline.dialects.context.capabilities import Capabilities
from trunkline.dialects.context.types import AgentDataPaths, DiscoveredSession
from trunkline.errors import Invalid, NotFound
from trunkline.server.call import HttpCall, Reply, reply
from trunkline.server.sessions.found import found_page, news_of_all

FOUND_DEFAULT = 200
FOUND_MOST = 1_000
WAIT_DEFAULT_S = 25
WAIT_MOST_S = 60
"""How long a request for news of found sessions may wait: below what proxies cut off."""

LATEST = "latest"
"""Stands for the id of the session that was used last in a folder."""


class AdapterInfo(msgspec.Struct, rename="camel", kw_only=True):
    """An agent of the catalog. ``version`` is absent where it is not installed or does not say."""

    name: str
    installed: bool
    version: str | msgspec.UnsetType = msgspec.UNSET
    capabilities: Capabilities
    data_paths: AgentDataPaths


class AdapterSessions(msgspec.Struct):
    """Sessions to attach to, newest activity first."""

    sessions: list[DiscoveredSession]


class Attach(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """How to attach. ``watch``: only follow what the agent writes elsewhere (false: go on with it here, or be refused); without
    it, whichever is safe. ``projectPath`` goes with the id ``latest``: the session that was used last in that folder; and with
    the id of a session that the agent has and does not list: the folder to open it in."""

    watch: bool | None = None
    project_path: str | None = None


async def listing(call: HttpCall) -> Reply:
    """Every agent of the catalog."""
    return reply(await asyncio.gather(*(_info(adapter) for adapter in hub_adapters(call.hub).values())))


async def sessions(call: HttpCall) -> Reply:
    """The sessions that an agent knows of."""
    return reply(AdapterSessions(await _adapter(call).discover_sessions()))


async def found(call: HttpCall) -> Reply:
    """What is in the files of all agents; with ``after`` once that is something else."""
    after, limit = call.integer("after"), call.integer("limit", FOUND_DEFAULT, least=1, most=FOUND_MOST)
    if after is not None:
        wait_s = call.integer("wait", WAIT_DEFAULT_S, most=WAIT_MOST_S)
        if call.asks_all:
            return reply(await news_of_all(call, limit, after, wait_s))
        await found_sessions(call.hub).wait(after, wait_s)
    return reply(await found_page(call, limit))


async def attach(call: HttpCall) -> Reply:
    """Join one of them: it is a session of the hub from here on."""
    how = await call.body(Attach, default=Attach())
    adapter, session_id = _adapter(call), call.part("id")
    if session_id == LATEST:
        if how.project_path is None:
            raise Invalid("the latest session of which folder? projectPath is needed", details={"field": "projectPath"})
        session_id = await adapter.latest(how.project_path)
    elif how.project_path is not None and not how.project_path.startswith("/"):
        raise Invalid("projectPath must be an absolute path", details={"field": "projectPath"})
    joined = await adapter.attach_to_session(
        session_id, watch=how.watch, project_path=None if call.part("id") == LATEST else how.project_path, by=call.caller.name)
    session = await call.hub.session(joined.session_id)
    return reply(await session.snapshot(), headers={"Location": f"/sessions/{session.id}"})


async def _info(adapter: CatalogAdapter) -> AdapterInfo:
    installed = await adapter.is_installed()
    version = await adapter.get_version() if installed else None
    return AdapterInfo(name=adapter.name, installed=installed, version=version or msgspec.UNSET,
                       capabilities=adapter.get_capabilities(), data_paths=adapter.get_data_paths())


def _adapter(call: HttpCall) -> CatalogAdapter:
    name = call.part("name")
    adapters = hub_adapters(call.hub)
    if name not in adapters:
        raise NotFound(f"no agent {name!r}; known are: {', '.join(sorted(adapters))}", details={"agent": name})
    return adapters[name]
