"""What a hub loads when it first needs it, so that it answers sooner after its start. In a thread: nobody waits meanwhile.

    what runs sessions     with the first session, or the first of its driver
    what judges commands   right behind that, beside the start of the first agent, which takes longer
"""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from trunkline.session.session import Session

SESSIONS: Final = "trunkline.session.session"
DRIVERS: Final = {
    "acp": ("trunkline.session.acp_driver", "trunkline.session.editors", "trunkline.session.listing"),
    "stream-json": ("trunkline.session.stream_json.driver",),
}
JUDGES: Final = ("trunkline.dialects.risk", "tree_sitter", "tree_sitter_bash")

_loaded: set[str] = set()
"""Not ``sys.modules``: that has a module too while another thread is still at it."""
_judges: set[asyncio.Task[None]] = set()


async def session_type(driver: str, *, judges_first: bool) -> type[Session]:
    """The class of sessions, with what drives them. ``judges_first``: its first words may be commands."""
    await load(SESSIONS, *DRIVERS.get(driver, ()))
    if judges_first:
        await load(*JUDGES)
    elif not _judges and not _loaded.issuperset(JUDGES):
        judges = asyncio.create_task(load(*JUDGES))
        _judges.add(judges)
        judges.add_done_callback(_judges.discard)
    from trunkline.session.session import Session

    return Session


async def load(*modules: str) -> None:
    """Load what is not loaded yet, off the loop."""
    wanted = [name for name in modules if name not in _loaded]
    if wanted:
        await asyncio.to_thread(lambda: [import_module(name) for name in wanted])
        _loaded.update(wanted)
