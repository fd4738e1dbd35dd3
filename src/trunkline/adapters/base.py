"""What the adapters share.

The two contracts that they keep, ``ACPAdapter`` and ``ACPSession``, are the protocol's own, in ``dialects/context/contract.py``.
Ours take more, where a program says so by name: who acts, under which id, only to watch.
"""

from __future__ import annotations

from collections.abc import Callable

from trunkline.dialects.context.envelope import UnknownEvent
from trunkline.dialects.context.events import Event

Stop = Callable[[], None]
"""Ends what it was returned for; calling it again does nothing."""

Heard = Event | UnknownEvent
"""An event; one that a newer hub wrote into the journal may be unknown to this one."""

LIBRARY = "library"
"""Who acted, in the journal, where a program uses the adapters without a server."""
