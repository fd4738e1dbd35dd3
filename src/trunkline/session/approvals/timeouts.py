"""How long open approvals and questions wait for a person, and what happens on the way: a reminder, a look at the rules, the end.

Rule 1: how long is the session's own limit, else the hub's setting (``approval_timeout``).
Rule 2: what nobody answers ends when its time is up; how it ends is for whoever gave ``expired``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from trunkline.session.approvals.gatekeeper import Gatekeeper
from trunkline.session.deadlines import Alarms
from trunkline.session.recorder import Recorder

WARN_AT: Final = 0.75
"""The share of its time after which people are reminded of an open approval."""
LOOK_AT_RULES_S: Final = 2.0
"""How far apart it is looked whether the policy was edited on the disk while an approval waits: one look at a time stamp."""


class AskTimeouts:
    """The clocks of one session's open asks."""

    def __init__(self, recorder: Recorder, alarms: Alarms, gate: Gatekeeper, timeout_s: float) -> None:
        self._recorder = recorder
        self._alarms = alarms
        self._gate = gate
        self._timeout_s = timeout_s

    def start(self, request_id: str, expired: Callable[[float], None]) -> None:
        """An approval waits from now on; ``expired`` is called with how long nobody answered."""
        limit = self._limit_s()
        self._alarms.set(request_id, limit, lambda: expired(limit))
        self._alarms.set(f"{request_id}/warning", limit * WARN_AT, lambda: self._remind(request_id, limit))
        self._look_at_rules_later(request_id)

    def start_question(self, question_id: str, expired: Callable[[], None]) -> None:
        """A question waits from now on."""
        self._alarms.set(question_id, self._limit_s(), expired)

    def stop(self, request_id: str) -> None:
        """An approval or a question no longer waits."""
        self._alarms.clear(request_id)
        self._alarms.clear(f"{request_id}/warning")
        self._alarms.clear(f"{request_id}/rules")

    def stop_turn(self) -> None:
        """The turn is over; what it left open ends with it."""
        asks, questions = self._recorder.fold.asks_of_turn()
        for request_id in (*asks, *questions):
            self.stop(request_id)

    def _limit_s(self) -> float:
        return self._recorder.fold.waits.approval_s or self._timeout_s

    def _remind(self, request_id: str, limit: float) -> None:
        view = self._recorder.fold.approvals.get(request_id)
        if view is not None:
            left = in_minutes(limit * (1 - WARN_AT))
            then = "denied" if self._recorder.fold.watches is None else "left to its terminal"
            self._recorder.at().asks.remind(view, f"{view.title} waits for a decision and is {then} in {left}.")
            self._recorder.write()

    def _look_at_rules_later(self, request_id: str) -> None:
        self._alarms.set(f"{request_id}/rules", LOOK_AT_RULES_S, lambda: self._look_at_rules(request_id))

    def _look_at_rules(self, request_id: str) -> None:
        """The book has all sessions look again when its rules changed: it is enough to notice."""
        if request_id in self._recorder.fold.approvals:
            self._gate.notice()
            self._look_at_rules_later(request_id)


def in_minutes(seconds: float) -> str:
    """A time for people."""
    return f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.0f} s"
