"""What somebody means by a name: a session by the beginning of its id, an agent, a command; and what they may have meant where
there is no such thing.

Rule: a guess is only told. Nothing is done to another thing than the one that was named.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from trunkline.agents.catalog import Catalog
from trunkline.agents.catalog.own import FOLDER, OwnFolder
from trunkline.client import Client, FoundView, SessionView
from trunkline.errors import Invalid, NotFound, SessionNotFound
from trunkline.settings import Settings

PAGE = 200
FOUND = 1_000
SESSION = "ses_"
"""How the id of a session begins; it may be left out."""


def known_agents(settings: Settings) -> Catalog:
    """The agents that a hub of this data folder knows: of the settings, those that a person added, and the catalog's."""
    return Catalog(settings.agents, OwnFolder(settings.data / FOLDER))


def meant(word: str, known: Iterable[str]) -> str:
    """``; did you mean demo?``, or nothing."""
    found = get_close_matches(word, list(known), 2, 0.6)
    return f"; did you mean {' or '.join(found)}?" if found else ""


async def named(hub: Client, name: str) -> SessionView:
    """The session with that id, or the only one whose id begins so."""
    if not name:
        raise Invalid("the session's id is empty: give the beginning of one (trunkline sessions lists them)")
    try:
        return await hub.session(name)
    except SessionNotFound:
        page = await hub.sessions(limit=PAGE)
    beginnings = (name, SESSION + name)
    found = [view for view in page.sessions if view.id.startswith(beginnings)]
    if not found:
        raise SessionNotFound(f"no session has an id that begins with {name!r}{meant(name, (view.id for view in page.sessions))}")
    if len(found) > 1:
        raise Invalid(f"{len(found)} sessions have an id that begins with {name!r}: {', '.join(view.id for view in found[:5])}")
    return await hub.session(found[0].id)


async def named_anywhere(hub: Client, name: str) -> SessionView | FoundView:
    """The same, or else the one session that its agent calls so: one of the hub's, or one that another program wrote."""
    try:
        return await named(hub, name)
    except SessionNotFound as unknown:
        page = await hub.sessions(limit=PAGE)
        listed = (await hub.found(limit=FOUND)).sessions
        found: dict[str, SessionView | FoundView] = {view.id: view for view in listed}
        found |= {view.agent_session_id: view for view in page.sessions if view.agent_session_id}
        fitting = [name] if name in found else [each for each in found if each.startswith(name)]
        if not fitting:
            raise unknown
    if len(fitting) > 1:
        raise Invalid(f"{len(fitting)} sessions have an id that begins with {name!r}: {', '.join(fitting[:5])}")
    return found[fitting[0]]


async def agent_or_session(hub: Client, name: str, settings: Settings, node: str | None = None) -> tuple[str, SessionView | None]:
    """The agent of that name, at that node where one is named, or the session; without a name, the agent that was used last."""
    if not name:
        return await _last_agent(hub), None
    if name in known_agents(settings):
        return name, None
    try:
        session = await named(hub, name)
        return session.agent, session
    except SessionNotFound:
        agents = [agent.name for agent in await hub.agents(node=node)]
    if name in agents:
        return name, None
    raise NotFound(f"no agent is called {name!r}, and no session has an id that begins so: trunkline agents and "
                   f"trunkline sessions list them{meant(name, agents)}")


async def agent_not_found(hub: Client, name: str, error: NotFound, node: str | None = None) -> NotFound:
    """The hub's error, or, where it knows no agent of that name, one that says which may have been meant."""
    if (error.details or {}).get("agent") != name:
        return error
    agents = [agent.name for agent in await hub.agents(node=node)]
    where = f" on {node}" if node else ""
    return NotFound(f"no agent{where} is called {name!r}: trunkline agents lists them{meant(name, agents)}")


async def _last_agent(hub: Client) -> str:
    page = await hub.sessions(limit=1)
    if page.sessions:
        return page.sessions[0].agent
    installed = [agent.name for agent in await hub.agents() if agent.installed and agent.name != "demo"]
    if len(installed) == 1:
        return installed[0]
    words = f"one of {', '.join(installed)}, or demo" if installed else "demo, which needs no key"
    raise Invalid(f"name an agent to begin with: {words} (trunkline agents lists all)")
