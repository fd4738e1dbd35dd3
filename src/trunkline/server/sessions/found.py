"""Sessions that other programs wrote: on this machine, or on those of all nodes of a cluster.

Rule: another node is asked for what it has found itself, for a moment. Those that did not answer are named.
"""

from __future__ import annotations

import asyncio

import msgspec
from msgspec import UNSET, UnsetType

from trunkline import decoders
from trunkline.adapters.found import found_sessions
from trunkline.hub.shapes import FoundView
from trunkline.server.call import HttpCall

WITHIN_S = 3.0
"""How long another node may take to look into its agents' files."""
LOOK_S = 5.0
"""How often the nodes are asked while somebody waits for news."""


class FoundPage(msgspec.Struct):
    """Sessions that other programs wrote and the hub does not have, newest activity first. ``revision`` goes into ``?after=``.
    ``missing``: the nodes of a cluster that did not answer."""

    sessions: list[FoundView]
    revision: int
    missing: list[str] | UnsetType = UNSET


_page = decoders.of(FoundPage)


async def found_page(call: HttpCall, limit: int) -> FoundPage:
    """What is found now."""
    sessions = found_sessions(call.hub)
    revision = sessions.revision
    own = await sessions.listed(agent=call.text("agent"), text=call.text("text"), limit=limit)
    if call.parts.cluster is not None:
        own = [msgspec.structs.replace(view, node=call.parts.cluster.node) for view in own]
    page = FoundPage(own, revision)
    if call.asks_all and call.parts.elsewhere is not None:
        answers, page.missing = await call.parts.elsewhere.ask_all(call, WITHIN_S, "/found")
        for body in answers.values():
            other = _page.decode(body)
            page.sessions += other.sessions
            page.revision += other.revision
        page.sessions.sort(key=lambda view: view.updated_at, reverse=True)
        del page.sessions[limit:]
    return page


async def news_of_all(call: HttpCall, limit: int, after: int, within_s: float) -> FoundPage:
    """The same for all nodes, once the sum of their revisions is another one; at the latest after so many seconds."""
    loop = asyncio.get_running_loop()
    until = loop.time() + within_s
    page = await found_page(call, limit)
    while page.revision == after and loop.time() < until and not call.hub.closing:
        await asyncio.sleep(min(LOOK_S, max(until - loop.time(), 0)))
        page = await found_page(call, limit)
    return page
