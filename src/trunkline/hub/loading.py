"""What a hub loads when it first needs it, so that it answers sooner after its start. In a thread: nobody waits meanwhile. One
thread at a time: two that load modules which know each other could see half of one.

What runs sessions, and what drives most agents, comes when somebody is let in who may start one, at the latest with the first
session; what drives others comes with their first. What judges commands comes with the first tool call (``session/judges.py``).
"""

from __future__ import annotations

import asyncio
import threading
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from trunkline.session.session import Session

SESSIONS: Final = "trunkline.session.session"
DRIVERS: Final = {
    "acp": ("trunkline.session.driver.acp.driver", "trunkline.session.client.editors", "trunkline.session.driver.acp.listing"),
    "stream-json": ("trunkline.session.driver.stream_json.driver",),
}
_loaded: set[str] = set()
"""Not ``sys.modules``: that has a module too while another thread is still at it."""
_one_at_a_time = threading.Lock()


async def session_type(driver: str) -> type[Session]:
    """The class of sessions, with what drives them."""
    await load(SESSIONS, *DRIVERS.get(driver, ()))
    from trunkline.session.session import Session

    return Session


async def load_for_sessions() -> None:
    """Load what the first session will most likely need."""
    await load(SESSIONS, *DRIVERS["acp"])


async def load(*modules: str) -> None:
    """Load what is not loaded yet, off the loop."""
    wanted = [name for name in modules if name not in _loaded]
    if wanted:
        await asyncio.to_thread(_load, wanted)


def _load(modules: list[str]) -> None:
    with _one_at_a_time:
        for name in modules:
            import_module(name)
            _loaded.add(name)
