"""The cluster's tokens as this node knows them: made here or elsewhere, they count at every node.

Rule 1: the table has hashes only.
Rule 2: after ALONE_S without the cluster none of them counts: nobody here would learn that one was revoked.
Rule 3: what another node revokes ends here as if it were done here.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING

from trunkline.server.auth.tokens import Token
from trunkline.server.shared_rows import SharedRows

if TYPE_CHECKING:
    from trunkline.cluster.tables.table import Table

PREFIX = "token."
BROWSERS_MOST = 1_000
"""Logins that a cluster remembers; beyond that the oldest browser has to log in again."""


class SharedTokens:
    """The cluster's tokens."""

    def __init__(self, table: Table, node: str, *, owed: Iterable[str] = (), clock: Callable[[], float] = time.time) -> None:
        self.node = node
        self.on_gone: Callable[[Token], None] = lambda token: None
        """Called with each that ended elsewhere."""
        self.on_alone: Callable[[], None] = lambda: None
        """Called when they count no more, because the cluster is away."""
        self.on_whole: Callable[[], None] = lambda: None
        """Called when the table was read whole for the first time."""
        self._rows = SharedRows(table, PREFIX, Token, owed=owed)
        self._rows.on_change = self._on_change
        self._table = table
        self._clock = clock
        self._by_hash = {token.hash: token for token in self._rows.all().values()}
        self._counted = self._was_whole = False
        table.on_checked(self._on_checked)
        self.counts = self._rows.counts
        self.can_write = self._rows.can_write
        self.get = self._rows.get
        self.close = self._rows.close

    @property
    def owed(self) -> list[str]:
        """Tokens that are revoked here, and not yet in the cluster."""
        return self._rows.owed

    def with_hash(self, digest: str) -> Token | None:
        """The token whose secret has this hash. Found by it: how long that takes says nothing about the secret."""
        found = self._by_hash.get(digest)
        return None if found is None else self.get(found.id)

    def all(self) -> list[Token]:
        """All of them."""
        return list(self._rows.all().values())

    def add(self, token: Token) -> None:
        """Make one; ClusterUnavailable, and nothing done, without the cluster."""
        self._rows.add(token.id, token, ttl_s=self._left_s(token))
        self._by_hash[token.hash] = token
        browsers = sorted((each for each in self.all() if each.kind == "browser"), key=lambda each: each.created_at)
        self.remove([each.id for each in browsers[:-BROWSERS_MOST]])

    def note(self, token: Token) -> None:
        """Write what has changed of one; nobody waits for it."""
        self._rows.note(token.id, token, ttl_s=self._left_s(token))

    def remove(self, token_ids: list[str]) -> None:
        """Revoke these; they do not count here from now on."""
        for token_id in token_ids:
            found = self.get(token_id)
            if found is not None:
                self._by_hash.pop(found.hash, None)
        self._rows.remove(token_ids)

    def written(self) -> Awaitable[None]:
        """Wait until the cluster has every change up to this call; the error where it has not."""
        return self._rows.written()

    def _left_s(self, token: Token) -> float | None:
        return None if token.expires_at is None else token.expires_at - self._clock()

    def _on_change(self, token_id: str, before: Token | None, token: Token | None) -> None:
        if before is not None:
            self._by_hash.pop(before.hash, None)
        if token is not None:
            self._by_hash[token.hash] = token
        elif before is not None:
            self.on_gone(before)

    def _on_checked(self) -> None:
        counts = self.counts()
        if self._counted and not counts:
            self.on_alone()
        self._counted = counts
        if self._table.ready and not self._was_whole:
            self._was_whole = True
            self.on_whole()
