"""An owner lets a session go: the agent is stopped, what the stream does not have is shipped, and then nothing is written here
until the session is another node's, or HELD_S have passed without that.

Rule 1: a turn that runs is not cut off, unless somebody insists.
Rule 2: nothing is lost where nobody comes for it: it goes on here as it was. Whoever comes later finds that the fence has moved.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from trunkline.errors import NodeSilent, NotOwner, StorageError

if TYPE_CHECKING:
    from trunkline.cluster.node import ClusterNode
    from trunkline.hub import Hub

SHIPPED_WITHIN_S: Final = 30.0
"""How long the rest may take to get to the stream; else it stays here."""
HELD_S: Final = 60.0
"""How long a session waits for its new owner."""


async def let_go(node: ClusterNode, hub: Hub, session_id: str, to: str, *, force: bool,
                 shipped_within_s: float = SHIPPED_WITHIN_S, held_s: float = HELD_S) -> None:
    """Have the session ready for ``to``; TurnInProgress where a turn runs and nobody insists."""
    moving = NotOwner(f"session {session_id} is being moved to {to}; ask again in a moment", details={"sessionId": session_id})
    last_seq = await hub.let_go(session_id, moving, force=force)
    try:
        async with asyncio.timeout(shipped_within_s):
            await node.shipper.shipped(session_id, last_seq)
    except TimeoutError:
        hub.keep(session_id)
        raise NodeSilent(f"{node.node} could not bring the rest of session {session_id} to the cluster; it stays there") from None
    except StorageError as error:  # another one has it already
        hub.keep(session_id)
        raise NotOwner(error.message, details={"sessionId": session_id}) from error
    asyncio.get_running_loop().call_later(held_s, hub.keep, session_id)
