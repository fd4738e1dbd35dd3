"""A served hub joins its cluster: its tokens, codes, cookies and subscriptions become the cluster's.

Rule: called once, before the first request. What the hub had of its own stays its own, and counts here alone.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from trunkline.errors import Unavailable
from trunkline.server.auth.shared_pairings import SharedCodes
from trunkline.server.auth.shared_tokens import SharedTokens

if TYPE_CHECKING:
    from trunkline.cluster.tables.table import Table
    from trunkline.server.call import Parts

log = logging.getLogger("trunkline.server")


class SharedAuth:
    """What a hub shares of who may do what. ``auth`` and ``push`` follow the tables of these names; a runner has no ``push``."""

    def __init__(self, parts: Parts, node: str, auth: Table, push: Table | None) -> None:
        self._parts = parts
        self._codes = SharedCodes(auth)
        self._dropping: asyncio.Task[None] | None = None
        self.tokens = SharedTokens(auth, node, owed=parts.tokens.owed)
        ended = parts.tokens.on_ended

        def ended_here_or_there() -> None:
            ended()
            self._drop_dead()

        parts.tokens.on_ended = ended_here_or_there
        parts.tokens.join(self.tokens)
        parts.pairings.keep_in(self._codes)
        parts.gate.cookies.join()
        if push is not None:
            parts.subscriptions.join(push)

    async def close(self) -> None:
        """Write no more."""
        if self._dropping is not None:
            self._dropping.cancel()
            await asyncio.gather(self._dropping, return_exceptions=True)
        await self.tokens.close()
        await self._parts.subscriptions.leave()

    def _drop_dead(self) -> None:
        """What tokens that have ended left in the cluster. While that is away nobody knows which those are."""
        if not self.tokens.counts():
            return
        self._parts.subscriptions.drop_dead_shared()
        if self._dropping is None or self._dropping.done():
            self._dropping = asyncio.get_running_loop().create_task(self._drop_codes())

    async def _drop_codes(self) -> None:
        try:
            await self._codes.drop_dead(self.tokens.node, self._parts.tokens.is_live)
        except Unavailable as error:  # the task's boundary: a code ends by itself within ten minutes
            log.warning("codes of a token that has ended are not taken away: %s", error.message)
