"""What programs ask that others run in terminals: open asks by their ids, and who is handed each answer. And how a session that
is theirs waits, and is followed.

Rule 1: an ask is answered once. Whoever answers one that is not open does nothing: its hook is gone, or was answered.
Rule 2: no option, no answer: that is "no opinion", and its program goes on asking its own person.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, Protocol

from trunkline.session.fold import Waits

ASK_S: Final = 3540.0
"""How long such an ask can be answered here, where its program does not say how long a hook may wait."""
BEFORE_LIMIT: Final = 60
"""Which part of that time, at its end, is left: a hook that ends by itself does so better than one that is ended."""


def ask_s(limit_s: float) -> float:
    """How long an ask can be answered here whose program lets a hook wait that long; 0: it does not say."""
    return limit_s * (1 - 1 / BEFORE_LIMIT) if limit_s else ASK_S


def waits_elsewhere(limit_s: float) -> Waits:
    """How a session that is followed waits: nobody who sits at its terminal is denied by our clock."""
    return Waits(approval_s=ask_s(limit_s), on_timeout="cancel")


class FileEnd(NamedTuple):
    """Where a session's file ends now, from where it is followed; and those beside it, by their names."""

    path: str
    position: int
    parts: Mapping[str, int]
    waits: Waits
    """How the session waits from then on."""


class Decided(NamedTuple):
    """A permission's answer."""

    option_id: str | None
    reason: str | None
    edited: bytes | None


class Answered(NamedTuple):
    """A question's answer."""

    action: str
    content: bytes | None


class Asker(Protocol):
    """Who waits for the answer."""

    def __call__(self, answer: Decided | Answered, /) -> None:
        """It is this."""


class AsksElsewhere:
    """The open ones of all sessions of a hub."""

    def __init__(self) -> None:
        self._open: dict[str, Asker] = {}

    def open(self, request_id: str, asker: Asker) -> None:
        """Somebody asks, and waits for the answer."""
        self._open[request_id] = asker

    def close(self, request_id: str) -> None:
        """Nobody waits for it any more."""
        self._open.pop(request_id, None)

    def decide(self, request_id: str, option_id: str | None, reason: str | None, edited: bytes | None) -> None:
        """A permission was decided, or will not be here."""
        self._hand_over(request_id, Decided(option_id, reason, edited))

    def answer(self, request_id: str, action: str, content: bytes | None) -> None:
        """A question was answered, or will not be here."""
        self._hand_over(request_id, Answered(action, content))

    def _hand_over(self, request_id: str, answer: Decided | Answered) -> None:
        asker = self._open.pop(request_id, None)
        if asker is not None:
            asker(answer)
