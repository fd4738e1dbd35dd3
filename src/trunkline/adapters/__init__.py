"""The Agent Context Protocol's host side, for programs: every agent of the catalog as an adapter, every session as an object.

    base.py              what they share; the contracts ``ACPAdapter`` and ``ACPSession`` are the dialect's
    catalog_adapter.py   an agent of the catalog          hub_session.py   a session of the hub
    capabilities.py      what they can do                 library.py       a hub without a server: ``trunkline.open``
    listing.py           sessions from three places       watching.py      reports when sessions come and go
    found.py             what other programs wrote, of all agents in one list

Rule: nothing here imports a server. What the routes under ``/adapters`` offer is what these objects do.
"""

from __future__ import annotations

from trunkline.adapters.base import Stop
from trunkline.adapters.capabilities import agent_capabilities, session_capabilities
from trunkline.adapters.catalog_adapter import CatalogAdapter, hub_adapters
from trunkline.adapters.hub_session import HubSession
from trunkline.adapters.library import Library
from trunkline.dialects.context.contract import ACPAdapter, ACPSession

__all__ = ["ACPAdapter", "ACPSession", "CatalogAdapter", "HubSession", "Library", "Stop", "agent_capabilities", "hub_adapters",
           "session_capabilities"]
