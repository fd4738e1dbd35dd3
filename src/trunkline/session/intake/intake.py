"""What the agent sends, taken in the order in which it came.

Rule 1: ends of turns and asks are acted on where they stand among the rest. What comes while something waits goes behind it.
Rule 2: what is short is taken on the spot. An ask that names files, and a result that leaves open what it changed, are looked up
        on the disk first (``disk_reader``), and a long command is read first (``read_ahead``), both off the loop; much at once is
        taken in pieces of about HOLD_S, and then others have their turn. The agent's pipe waits meanwhile, and while the journal
        is behind, so that no more than one read and one line wait here.
        A file that a call will overwrite is looked at meanwhile: only that call's result waits for it, at most FORESEEN at once.
Rule 3: an agent that is gone is not waited for. What it asks and is not announced yet is refused unjudged, and written down so:
        nobody is there to be answered.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import islice

from trunkline.dialects.acp.reading.large import split_chunk
from trunkline.dialects.signals import LargeUpdate, PermissionAsk, QuestionAsk, Signal, TurnEnd, Update
from trunkline.session.approvals.approvals import Approvals
from trunkline.session.deadlines import SilenceWatch
from trunkline.session.fold import SeenFile
from trunkline.session.intake.disk_reader import DiskReader
from trunkline.session.intake.read_ahead import ReadAhead, needs_reading
from trunkline.session.intake.text_run import TextRun
from trunkline.session.interpret.asks.asks import Announced
from trunkline.session.interpret.effects.disk import Wanted
from trunkline.session.recorder import Recorder
from trunkline.session.workspace.files import Workspace
from trunkline.session.workspace.look import DiskLook

PIECE = 64
"""Signals that are taken at once without a look at the clock: text in a millisecond, permissions in ten."""

PIECE_BYTES = 64 << 10
"""The same in bytes, where some are long: an input of very many members takes a tenth of a millisecond for each KiB."""

TEXT_PIECE = 512
"""The same of plain text, in two milliseconds."""

COPIED_AT_ONCE = 1 << 20
"""Bytes of a large update that are copied without a look at the clock, in a millisecond or two."""

HOLD_S = 0.02
"""After this long others have their turn."""

GAP_S = 0.005
"""How long others have, and how soon it is looked again whether the journal has caught up."""

GONE = "the agent is gone, or its session is being closed"

_NOTHING: Iterator[bytes] = iter(())
_ACTED_ON = (TurnEnd, PermissionAsk, QuestionAsk)

log = logging.getLogger("trunkline.session")


class Intake:
    """Takes the signals of one session's agent."""

    def __init__(self, recorder: Recorder, approvals: Approvals, workspace: Workspace, reading: ReadAhead,
                 written: Callable[[], None], ended: Callable[[TurnEnd], None]) -> None:
        """``written`` is called after each piece, ``ended`` with each end of a turn, when what came before it is written."""
        self._recorder = recorder
        self._approvals = approvals
        self._reading = reading
        self._written = written
        self._ended = ended
        self._waiting: deque[Signal] = deque()
        self._split = _NOTHING
        """The rest of a large update, in parts."""
        self._task: asyncio.Task[None] | None = None
        self._disk = DiskReader(recorder, workspace)
        self._run: TextRun | None = None
        """What takes the agent's words beside this, as long as nothing else comes."""
        self._hurried = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._until = 0.0
        """When others have their turn."""

    @property
    def waits(self) -> bool:
        """Whether something waits here."""
        return self._task is not None

    def take(self, signals: list[Signal]) -> None:
        """The agent sent these."""
        if self._run is not None:
            self._run.has_ended = True
            self._run = None
        if self._task is not None:
            self._waiting.extend(signals)
            return
        announced, rest = self._apply_at_once(signals)
        if announced is not None or rest:
            self._waiting.extend(rest)
            self._recorder.backpressure.hold("intake")
            self._task = asyncio.get_running_loop().create_task(self._go_on(announced))

    def run_behind(self, update: bytes, watch: SilenceWatch) -> tuple[bytes, TextRun] | None:
        """The text of an update that was taken last, and the run that goes on with it; None where it is no text, or waits."""
        found = None if self._task is not None else self._recorder.at().text.open_for(update)
        if found is None:
            return None
        token, text, prefix = found
        self._run = TextRun(self._recorder, watch, text, prefix)
        return token, self._run

    async def settled(self) -> None:
        """Everything that the agent sent so far is taken."""
        while self._task is not None:
            await asyncio.wait([self._task])

    async def hurry(self) -> None:
        """The agent is gone: everything that it sent before is taken without another look at the disk."""
        self._hurried = True
        self._disk.stop()
        await self.settled()
        self._disk.resume()
        self._hurried = False

    def _apply_at_once(self, signals: list[Signal]) -> tuple[Announced | Wanted | None, list[Signal]]:
        """Take these as far as nobody has to wait for it; returns what needs a look at the disk, and the rest."""
        self._begin_hold()
        if signals and type(signals[0]) is Update:
            signals = self._apply_text(signals)
        if not signals or self._is_time_up() or self._recorder.is_behind or needs_reading(signals):
            return None, signals
        if len(signals) <= PIECE and _before_large(signals) is signals:
            return self._apply(signals)
        done = 0
        while piece := _before_large(signals[done:done + PIECE]):
            announced, rest = self._apply(piece)
            done += len(piece)
            if announced is not None or rest:
                return announced, rest + signals[done:]
            if self._is_time_up() or self._recorder.is_behind:
                break
        return None, signals[done:]

    def _apply_text(self, signals: list[Signal]) -> list[Signal]:
        """Take the text that these begin with: there is nothing to do for it but to write it. Returns the others."""
        for start in range(0, len(signals), TEXT_PIECE):
            piece = iter(signals[start:start + TEXT_PIECE])
            other = self._recorder.at().on_text(piece)
            self._recorder.write()
            self._written()
            if other is not None:
                return [other, *piece, *signals[start + TEXT_PIECE:]]
            if self._is_time_up() or self._recorder.is_behind:
                return signals[start + TEXT_PIECE:]
        return []

    async def _go_on(self, announced: Announced | Wanted | None) -> None:
        """Take all that waits, beginning with an ask whose files have to be looked at."""
        self._begin_hold()
        await self._take_piece(announced, [])
        while piece := await self._next_piece():
            await self._read_ahead(piece)
            await self._take_piece(None, piece)
            piece = []  # a long line is not kept while the journal catches up
            if (self._is_time_up() or self._recorder.is_behind) and (self._waiting or self._split is not _NOTHING):
                await self._give_way()
        self._task = None
        self._recorder.backpressure.let_go("intake")

    async def _take_piece(self, announced: Announced | Wanted | None, rest: list[Signal]) -> None:
        while announced is not None or rest:
            try:
                if isinstance(announced, Wanted):
                    self._go_on_with(await self._disk.see(announced))
                elif announced is not None:
                    self._ask(announced, await self._disk.look_at(announced))
                announced = None
                if self._is_time_up():
                    await self._give_way()
                announced, rest = self._apply(rest)
            except Exception:  # the piece's boundary: what stands behind it must not wait for ever
                log.exception("what an agent said could not be taken")
                return

    async def _read_ahead(self, piece: list[Signal]) -> None:
        """Read the long commands of these; an agent that is gone will run none of them."""
        if self._hurried:
            return
        try:
            await self._reading.prepare(piece)
        except Exception:  # the reading's boundary: a line that broke it is one that was not read
            log.exception("a long command could not be read ahead")

    async def _give_way(self) -> None:
        """Let others have their turn, and the journal catch up."""
        await asyncio.sleep(GAP_S)
        while self._recorder.is_behind and not self._hurried:  # noqa: ASYNC110 the committer has no event for one session
            await asyncio.sleep(GAP_S)
        self._begin_hold()

    def _begin_hold(self) -> None:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()  # kept: to ask for it each time is a call to the system
        self._until = self._loop.time() + HOLD_S

    def _is_time_up(self) -> bool:
        return self._loop is not None and self._loop.time() > self._until

    async def _next_piece(self) -> list[Signal]:
        """A part of a large update, or some signals; nothing where nothing waits."""
        part = next(self._split, None)
        if part is not None:
            return [Update(part)]
        self._split = _NOTHING
        if self._waiting and type(self._waiting[0]) is LargeUpdate:
            await self._give_way()  # its line took long to read
            return self._split_large() or await self._whole()
        piece = _light(_before_large(list(islice(self._waiting, PIECE))))
        for _ in piece:
            self._waiting.popleft()
        return piece

    def _split_large(self) -> list[Signal]:
        """The first part of the large update that comes next; nothing where it has no parts, and then it still waits."""
        large = self._waiting[0]
        assert type(large) is LargeUpdate  # what the caller found
        self._split = split_chunk(large.raw)
        part = next(self._split, None)
        if part is not None:
            self._waiting.popleft()
            return [Update(part)]
        self._split = _NOTHING
        return []

    async def _whole(self) -> list[Signal]:
        """The large update that comes next, out of its line."""
        large = self._waiting.popleft()
        assert type(large) is LargeUpdate
        whole = LargeUpdate(await self._copy(memoryview(large.raw)))
        del large
        await self._give_way()
        return [whole]

    async def _copy(self, source: memoryview) -> bytes:
        """These bytes in memory of their own. A machine can take long to find so much fresh memory, so it is taken step by step:
        a ``BytesIO`` hands over what it was filled with without another copy."""
        copy = BytesIO()
        for start in range(0, len(source), COPIED_AT_ONCE):
            copy.write(source[start:start + COPIED_AT_ONCE])
            if self._is_time_up():
                await self._give_way()
        return copy.getvalue()

    def _apply(self, signals: list[Signal]) -> tuple[Announced | Wanted | None, list[Signal]]:
        """Take these, up to an ask or a result whose files have to be looked at, or one after which it is time for others;
        returns that and what stands behind it."""
        ends: list[TurnEnd] = []
        announced: Announced | Wanted | None = None
        interpret, start = self._recorder.at(), 0
        for index in [index for index, signal in enumerate(signals) if type(signal) is not Update]:
            signal = signals[index]
            if type(signal) not in _ACTED_ON:
                continue
            if (left := self._fold(signals[start:index])) is not None:
                announced, start = interpret.tools.disk.wanted, index - len(left)
                break
            if type(signal) is TurnEnd:
                ends.append(signal)
            elif type(signal) is PermissionAsk:
                announced = self._announce(signal)
            elif type(signal) is QuestionAsk and self._approvals.has_room(signal):
                interpret.on_signals([signal])
                self._approvals.on_question(signal)
            start = index + 1
            if announced is not None or (type(signal) is not TurnEnd and self._is_time_up()):
                break
        else:
            left = self._fold(signals[start:] if start else signals)
            announced, start = interpret.tools.disk.wanted, len(signals) - len(left or ())
        again = self._approvals.changed() if interpret.tools.calls.changed else []
        self._recorder.write()
        self._written()
        self._disk.foresee()
        for end in ends:
            self._ended(end)
        return announced, [*again, *signals[start:]]

    def _fold(self, signals: list[Signal]) -> list[Signal] | None:
        """Fold these; returns what stands behind a result that waits for a look at the disk, None where there is none."""
        interpret = self._recorder.at()
        left = interpret.on_signals(signals, looks=not self._hurried)
        return left if interpret.tools.disk.wanted is not None else None

    def _announce(self, ask: PermissionAsk) -> Announced | None:
        """Announce an ask's call; returns the ask where the disk has to be looked at before it is put to anybody."""
        if self._hurried:
            self._approvals.turn_away(ask, GONE)
            return None
        if not self._approvals.has_room(ask):
            return None
        announced = self._recorder.at().asks.announce(ask)
        if announced.paths or announced.files:
            return announced
        self._ask(announced, DiskLook())
        return None

    def _go_on_with(self, seen: dict[str, SeenFile]) -> None:
        self._recorder.at().tools.seen(seen)
        self._recorder.write()
        self._written()

    def _ask(self, announced: Announced, look: DiskLook) -> None:
        if not self._approvals.is_put(announced, look):
            return
        self._recorder.at().request(announced, look.texts, look.to_keep(announced.abouts))
        self._approvals.on_ask(announced.ask, look)


def _before_large(signals: list[Signal]) -> list[Signal]:
    """These up to the first large one; the list itself where there is none."""
    for index, signal in enumerate(signals):
        if type(signal) is LargeUpdate:
            return signals[:index]
    return signals


def _light(signals: list[Signal]) -> list[Signal]:
    """These up to the one with which they say more than PIECE_BYTES."""
    size = 0
    for index, signal in enumerate(signals):
        size += len(signal.raw) if type(signal) is Update else len(signal.tool_call) if type(signal) is PermissionAsk else 0
        if size > PIECE_BYTES:
            return signals[:index + 1]
    return signals
