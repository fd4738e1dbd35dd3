"""Which previews may be seen: keys that are hard to guess, whose they are and how long they are good.

What they show is ``preview.py``'s, with the rules of both.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from urllib.parse import quote

import msgspec

from trunkline.errors import NotFound
from trunkline.session.fold import Artifact


class PreviewKey(msgspec.Struct, frozen=True):
    """What a key stands for, and the token that it was made for; None: whoever reads the session."""

    session_id: str
    artifact_id: str
    token_id: str | None
    live: bool
    expires_at: float

    @property
    def purpose(self) -> tuple[str, str, str | None, bool]:
        """What one key is enough for."""
        return self.session_id, self.artifact_id, self.token_id, self.live


class Previews:
    """Keys that let whoever has them see one artifact, for a while."""

    def __init__(self, lifetime_s: float, clock: Callable[[], float] = time.monotonic,
                 is_live: Callable[[str], bool] = lambda token_id: True, node: str = "") -> None:
        """``node``: this node's name in a cluster, which its keys begin with, so that others know where to ask."""
        self._lifetime_s = lifetime_s
        self._clock = clock
        self._is_live = is_live
        self._prefix = f"{node}-" if node else ""
        self._keys: dict[str, PreviewKey] = {}
        self._newest: dict[tuple[str, str, str | None, bool], str] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def url(self, session_id: str, artifact: Artifact, token_id: str | None = None, *, live: bool = False) -> str:
        """The path under which an artifact can be seen now that can be shown (``static_root``: it looks at the disk)."""
        name = quote(os.fsencode(artifact.name)) if artifact.type in ("file", "image") else ""
        return f"/preview/{self._key(session_id, artifact.id, token_id, live)}/{name}"

    def shown(self, key: str) -> PreviewKey:
        """What a key shows, or NotFound."""
        found = self._keys.get(key)
        if found is None or found.expires_at <= self._clock() or not self._has_owner(found):
            raise NotFound("this preview is gone; open it again")
        return found

    def drop_dead(self) -> None:
        """Tokens have ended: so do their keys, and those of which nobody knows who has them."""
        for key, shown in list(self._keys.items()):
            if shown.token_id is None or not self._has_owner(shown):
                self._drop(key, shown)

    @staticmethod
    def node_of(key: str) -> str:
        """The node that a key was made at; "" where that was no cluster's."""
        return key.rpartition("-")[0]

    def _has_owner(self, shown: PreviewKey) -> bool:
        return shown.token_id is None or self._is_live(shown.token_id)

    def _key(self, session_id: str, artifact_id: str, token_id: str | None, live: bool) -> str:
        """A key with at least half of its time left: asking again and again makes no new ones."""
        now = self._clock()
        made = PreviewKey(session_id, artifact_id, token_id, live, now + self._lifetime_s)
        held = self._newest.get(made.purpose)
        if held is not None and self._keys[held].expires_at - now > self._lifetime_s / 2:
            return held
        self._forget_expired(now)
        key = self._prefix + secrets.token_hex(16)
        self._keys[key] = made
        self._newest[made.purpose] = key
        return key

    def _forget_expired(self, now: float) -> None:
        # Keys are made in order of time, so the old ones are in front; the others are not looked at.
        while self._keys:
            key, shown = next(iter(self._keys.items()))
            if shown.expires_at > now:
                return
            self._drop(key, shown)

    def _drop(self, key: str, shown: PreviewKey) -> None:
        del self._keys[key]
        if self._newest.get(shown.purpose) == key:
            del self._newest[shown.purpose]
