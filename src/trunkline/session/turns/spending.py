"""Caps on what a session may spend: a warning at 80 %, held at 100 %, and then a person decides how to go on.

Rule 1: only what crosses a mark is reported, and once.
Rule 2: reaching a cap holds the session and ends the running turn: a turn that runs on would spend on.
Rule 3: a session that is over is not held and nobody is asked about it; it does not begin again while a cap of it is used up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from trunkline.dialects.signals import QuestionAsk
from trunkline.errors import Invalid
from trunkline.session.commands.requests import Answer
from trunkline.session.deadlines import Alarms
from trunkline.session.fold import Fold
from trunkline.session.fold.caps import CAP_NAMES, Caps, Crossing, Spent
from trunkline.session.recorder import Recorder
from trunkline.session.turns.turn import TurnPlayer

LIFT, DOUBLE, STAY = "go on without this limit", "double the limit and go on", "stay paused"
_OLDER = {"go on without this cap": LIFT, "double the cap and go on": DOUBLE}
"""A question outlives a restart: what an older hub asked is answered in its words."""

_FORM = msgspec.json.encode({"type": "object", "required": ["choice"], "properties": {
    "choice": {"type": "string", "title": "How to go on", "enum": [LIFT, DOUBLE, STAY]}}})


class Holding(Protocol):
    """What a session lets its spending do."""

    @property
    def over(self) -> bool:
        """Whether the session is over, or is being ended."""

    def hold(self, reason: str, question: QuestionAsk, cap: str) -> None:
        """Hold the session, end its turn and ask how to go on."""

    def take_back(self, cap: str) -> None:
        """The question about this cap, where one is open, is about a limit that no longer is."""

    async def go_on(self, *, by: str) -> bool:
        """Let the session go on if it is held; one that is over stays so."""


class Spending:
    """Watches one session's figures against its caps. Costs nothing while there are none."""

    def __init__(self, recorder: Recorder, alarms: Alarms, holding: Holding, turns: TurnPlayer,
                 new_id: Callable[[str], str]) -> None:
        self._recorder = recorder
        self._alarms = alarms
        self._holding = holding
        self._turns = turns
        self._new_id = new_id
        self._seen = _spent(recorder.fold, recorder.fold.worked_us)
        turns.after_turn(self.check)

    def set(self, caps: Caps) -> None:
        """Other caps hold from now on; what was spent already counts."""
        before = self._recorder.fold.caps or Caps()
        self._recorder.at().conditions.caps(None if caps == Caps() else caps)
        changed = {name: 0 for name in CAP_NAMES if getattr(before, name) != getattr(caps, name)}
        self._seen = msgspec.structs.replace(self._seen, **changed)
        for cap in changed:
            self._holding.take_back(cap)
        self.check()

    def on_written(self) -> None:
        """The agent's output was written down, with what it spent."""
        if self._recorder.fold.caps is not None:
            self.check()

    def check(self) -> None:
        """Something may have been spent: report every mark that it crossed."""
        caps = self._recorder.fold.caps
        if caps is None or self._holding.over:
            self._alarms.clear("minutes")
            return
        now = _spent(self._recorder.fold, self._turns.worked_us())
        before, self._seen = self._seen, now
        for crossing in caps.crossed(before, now):
            self._report(crossing)
        self._watch_clock(caps, now)

    def _report(self, crossing: Crossing) -> None:
        spent = _in_words(self._recorder.fold, crossing)
        text = f"The session has {spent}"
        meta: dict[str, Any] = {"cap": crossing.cap, "spent": crossing.spent, "limit": crossing.limit, "share": crossing.share}
        lifecycle = self._recorder.at().lifecycle
        if crossing.share < 1:
            lifecycle.notify("warning", "A limit is near", f"{text}.", **meta)
            self._recorder.write()
            return
        lifecycle.notify("error", "A limit is reached", f"{text} and is paused.", **meta)
        ask = QuestionAsk(self._new_id("q"), f"{text} and is paused. How shall it go on?", _FORM)
        self._holding.hold(f"limit reached: {spent}", ask, crossing.cap)

    async def on_answer(self, cap: str, answer: Answer, by: str) -> None:
        """Somebody says how to go on after a cap was reached."""
        said = (answer.content or {}).get("choice")
        choice = _OLDER.get(said, said) if isinstance(said, str) else None
        caps = self._recorder.fold.caps
        if answer.action != "accept" or choice not in (LIFT, DOUBLE) or caps is None:
            return
        before = getattr(caps, cap)
        limit = None if choice == LIFT or before is None else before * 2
        self.set(msgspec.structs.replace(caps, **{cap: limit}))
        if not _reached(self._recorder.fold, self._turns.worked_us()):
            await self._holding.go_on(by=by)

    def _watch_clock(self, caps: Caps, now: Spent) -> None:
        """Minutes pass without anybody saying so."""
        if caps.minutes is None or self._recorder.fold.turn is None:
            self._alarms.clear("minutes")
            return
        left = min((mark * caps.minutes - now.minutes for mark in (0.8, 1.0) if mark * caps.minutes > now.minutes), default=None)
        if left is not None:
            self._alarms.set("minutes", left * 60 + 0.01, self.check)


def check_caps(fold: Fold, worked_us: int) -> None:
    """Refuse to go on with a cap that is used up; ``worked_us`` is the time that was spent in turns."""
    for crossing in _reached(fold, worked_us):
        raise Invalid(f"the limit on {crossing.cap} is used up: the session has {_in_words(fold, crossing)}; "
                      "raise or lift it, or answer the question about it where one is open",
                      details={"cap": crossing.cap, "spent": crossing.spent, "limit": crossing.limit})


def _reached(fold: Fold, worked_us: int) -> list[Crossing]:
    """The caps that are used up."""
    return [] if fold.caps is None else fold.caps.reached(_spent(fold, worked_us))


def _spent(fold: Fold, worked_us: int) -> Spent:
    tokens = fold.tokens
    return Spent(
        tokens=tokens.input_tokens + tokens.output_tokens if tokens is not None else 0,
        cost=dearest.amount if (dearest := fold.dearest()) is not None else 0.0,
        minutes=worked_us / 60e6,
        turns=fold.turns - (fold.turn is not None),
    )


def _in_words(fold: Fold, crossing: Crossing) -> str:
    cost = fold.dearest()
    return crossing.in_words(cost.currency if cost is not None else "")
