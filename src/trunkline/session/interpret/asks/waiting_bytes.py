"""The bytes of all that waits for a person, kept as a sum: an agent may ask ten thousand times at once.

Rule: each is weighed once, when it is next asked for: whoever is answered at once is never weighed.
"""

from __future__ import annotations

import msgspec

from trunkline.session.fold import Fold

_encode = msgspec.json.Encoder().encode


class WaitingBytes:
    """The sums of one session; whoever puts something before people or takes it back says so here."""

    def __init__(self, fold: Fold) -> None:
        self._fold = fold
        self._held: dict[str, int] = {}
        self._sizes: dict[str, int] = {}
        self._total = 0
        self._to_weigh: list[str] | None = None
        """What is not weighed yet; None before anything is, when all that waits is what the session began with."""
        self.held = 0
        """Bytes that the permissions hold of their calls."""

    def add(self, key: str, held: int = 0) -> None:
        """This waits from now on."""
        self.remove(key)
        self._held[key] = held
        self.held += held
        if self._to_weigh is not None:
            self._to_weigh.append(key)

    def remove(self, key: str) -> None:
        """This no longer waits."""
        self.held -= self._held.pop(key, 0)
        self._total -= self._sizes.pop(key, 0)

    def total(self) -> int:
        """The bytes of all that waits."""
        fold = self._fold
        for key in (*fold.approvals, *fold.questions) if self._to_weigh is None else self._to_weigh:
            view = fold.approvals.get(key) or fold.questions.get(key)
            if view is not None and key not in self._sizes:
                self._sizes[key] = len(_encode(view))
                self._total += self._sizes[key]
        self._to_weigh = []
        return self._total
