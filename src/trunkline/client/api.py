"""``Client``: the hub's HTTP API as Python calls, one method per route. They are in ``calls/``, divided by what they are about.

Rule 1: async only, and light: asyncio, h11 and msgspec; nothing of the hub itself is imported.
Rule 2: errors are those of ``trunkline.errors``, by the code that the hub answered.
"""

from __future__ import annotations

from trunkline.client.calls.events import EventCalls
from trunkline.client.calls.files import FileCalls
from trunkline.client.calls.hub import HubCalls
from trunkline.client.calls.sessions import SessionCalls
from trunkline.client.calls.steering import SteeringCalls
from trunkline.client.calls.turns import TurnCalls


class Client(HubCalls, SessionCalls, TurnCalls, EventCalls, SteeringCalls, FileCalls):
    """A hub, over HTTP.

    ``find`` is asked for the hub's address when it no longer answers at the old one (it may have been restarted on
    another port). Use as an async context manager, or call ``close``.
    """
