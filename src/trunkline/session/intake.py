"""What the agent says, taken in the order in which it said it.

Rule 1: ends of turns and asks are acted on where they stand among the rest.
Rule 2: an ask that names files is looked up on the disk first, off the loop (``looking``); what stands behind it waits for that,
and so does the agent's pipe. An agent that is gone is not waited for: what it asked is then judged without a look.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from trunkline.dialects.signals import PermissionAsk, QuestionAsk, Signal, TurnEnd, Update
from trunkline.session.approvals import Approvals
from trunkline.session.errands import Errands
from trunkline.session.interpret.asks import Announced
from trunkline.session.looking import Look, look_at
from trunkline.session.pen import Pen
from trunkline.session.workspace import Workspace

log = logging.getLogger("trunkline.session")


class Intake:
    """Takes the signals of one session's agent."""

    def __init__(self, pen: Pen, approvals: Approvals, errands: Errands, workspace: Workspace, written: Callable[[], None],
                 ended: Callable[[TurnEnd], None]) -> None:
        """``written`` is called after each piece, ``ended`` with each end of a turn, when what came before it is written."""
        self._pen = pen
        self._approvals = approvals
        self._errands = errands
        self._workspace = workspace
        self._written = written
        self._ended = ended
        self._looked_up: Announced | None = None
        """The ask that waits for the disk."""
        self._behind: list[Signal] = []
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def waits(self) -> bool:
        """Whether an ask waits for the disk."""
        return self._looked_up is not None

    def take(self, signals: list[Signal]) -> None:
        """The agent said these."""
        if self._looked_up is not None:
            self._behind += signals
            return
        ends: list[TurnEnd] = []
        interpret, start = self._pen.at(), 0
        for index in [index for index, signal in enumerate(signals) if type(signal) is not Update]:
            signal = signals[index]
            if type(signal) is TurnEnd:
                interpret.hear(signals[start:index])
                ends.append(signal)
            elif type(signal) is PermissionAsk:
                interpret.hear(signals[start:index])
                announced = interpret.asks.announce(signal)
                if announced.paths or announced.file is not None:
                    self._write(ends)
                    self._look_up(announced, signals[index + 1:])
                    return
                self._ask(announced, Look())
            elif type(signal) is QuestionAsk:
                interpret.hear(signals[start:index + 1])
                self._approvals.question_asked(signal)
            else:
                continue
            start = index + 1
        interpret.hear(signals[start:] if start else signals)
        self._write(ends)

    def hurry(self) -> None:
        """The agent is gone: take what it said before without another look at the disk."""
        while self._looked_up is not None:
            self._go_on(self._looked_up, Look())

    async def settled(self) -> None:
        """Everything that the agent said so far is taken."""
        await self._idle.wait()

    def _write(self, ends: list[TurnEnd]) -> None:
        self._pen.write()
        self._written()
        for end in ends:
            self._ended(end)

    def _look_up(self, announced: Announced, behind: list[Signal]) -> None:
        self._looked_up, self._behind = announced, behind
        self._idle.clear()
        self._pen.hold_agent(True)
        self._errands.run(self._look(announced))

    async def _look(self, announced: Announced) -> None:
        try:
            look = await look_at(self._workspace, announced.about.root, announced.paths, announced.file)
        except Exception:  # the look's boundary: what stands behind it must not wait for ever
            log.exception("a look at the disk failed")
            look = Look()
        if self._looked_up is announced:
            self._go_on(announced, look)

    def _go_on(self, announced: Announced, look: Look) -> None:
        self._looked_up = None
        self._ask(announced, look)
        behind, self._behind = self._behind, []
        self.take(behind)
        if self._looked_up is None:
            self._idle.set()
            self._pen.drained()

    def _ask(self, announced: Announced, look: Look) -> None:
        self._pen.at().request(announced, look.texts.get)
        self._approvals.asked(announced.ask, look)
