"""Turns of a session that runs elsewhere and has a live line: prompts go out by it, and come back by the session's file.

Rule 1: the file says what was prompted, and when a turn begins and ends; by whom a prompt of ours was sent is remembered until
the file has it.
Rule 2: a prompt is acknowledged when it is in the journal that it goes out. Of one that is not taken, or not in the file in time,
people are told; it is not sent again.
Rule 3: the program is its person's. It is interrupted when somebody says so, never by our clock; it is not paused, nor ended.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Final, NoReturn

import msgspec

from trunkline.dialects.acp.content import ContentBlock, TextContent
from trunkline.dialects.acp.reading.lenient import read_lenient
from trunkline.errors import Invalid
from trunkline.session.admission import Admission
from trunkline.session.background import BackgroundTasks
from trunkline.session.commands.requests import Accepted
from trunkline.session.deadlines import Alarms
from trunkline.session.driver.line import Line, LineEnd
from trunkline.session.driver.watch import refuse
from trunkline.session.fold import Awaited
from trunkline.session.recorder import Recorder
from trunkline.session.turns.prompts import Prompts, WhenBusy

COMES_BACK_S: Final = 30.0
"""How long a prompt that was sent may take to be in the session's file."""

_ALARM: Final = "prompt elsewhere"


class PromptsElsewhere(Prompts):
    """The prompts of one session that runs elsewhere."""

    def __init__(self, recorder: Recorder, line: LineEnd, alarms: Alarms, background: BackgroundTasks,
                 new_id: Callable[[str], str]) -> None:
        super().__init__(recorder, self, new_id)
        self._line = line
        self._alarms = alarms
        self._background = background
        line.when_changed(self._line_changed)

    @property
    def line(self) -> Line:
        """The line, where there is one."""
        return self._line.line or refuse()

    @property
    def is_busy(self) -> bool:
        """Whether a turn runs, or is about to: a prompt of ours is on its way."""
        return super().is_busy or bool(self._recorder.at().followed.ahead.prompts)

    def _check(self, blocks: list[msgspec.Raw]) -> None:
        self.line.check_prompt(blocks)

    async def _begin(self, turn_id: str, blocks: list[msgspec.Raw], key: str | None, by: str) -> Accepted:
        accepted = Accepted(turn_id, self._recorder.fold.seq, False)
        if key is not None:
            self._recorder.at().turns.keep_key(key, turn_id)
        self._recorder.at().followed.sent(Awaited(turn_id, by, _digest(blocks)))
        self._recorder.write()
        await self._send(turn_id, blocks)
        return accepted

    async def _send(self, turn_id: str, blocks: list[msgspec.Raw]) -> None:
        """Send it once it is stored; a line that was lost meanwhile has told people already."""
        self._alarms.set(_ALARM, COMES_BACK_S, lambda: self.not_taken(turn_id, "it is not in its session's file"))
        await self._recorder.stored()
        if self._line.line is not None:
            self._line.line.prompt(turn_id, blocks)

    def worked_us(self) -> int:
        """Time spent in turns of ours: none is."""
        return self._recorder.fold.worked_us

    def play_queued(self) -> bool:
        """Send the first prompt that waits; False where none does, or now is not the time."""
        if self._line.line is None or not self._recorder.fold.queue or self.is_busy:
            return False
        waiting = self._recorder.at().turns.take_queued()
        self._recorder.at().followed.sent(Awaited(waiting.turn_id, waiting.by, _digest(waiting.content)))
        self._recorder.write()
        self._background.run(self._send(waiting.turn_id, waiting.content))
        return True

    def came_back(self, blocks: list[msgspec.Raw]) -> Awaited | None:
        """The prompt of ours that the file has now, in these words; None where it is somebody else's."""
        followed, digest = self._recorder.at().followed, _digest(blocks)
        mine = next((each for each in followed.ahead.prompts if each.digest == digest), None)
        if mine is not None:
            self._alarms.clear(_ALARM)
            followed.came_back(mine)
        return mine

    def not_taken(self, turn_id: str, why: str) -> None:
        """A prompt that went out was refused, or is lost: people are told."""
        mine = next((each for each in self._recorder.at().followed.ahead.prompts if each.turn_id == turn_id), None)
        if mine is None:
            return
        self._alarms.clear(_ALARM)
        self._recorder.at().followed.came_back(mine)
        self._recorder.at().lifecycle.notify("warning", "A prompt was not taken", why, turnId=turn_id)
        self._recorder.write()

    def _line_changed(self) -> None:
        if self._line.line is not None:
            self.play_queued()
            return
        for each in self._recorder.at().followed.ahead.prompts:
            self.not_taken(each.turn_id, "the line to its program was lost; it may have it all the same")


class TurnsElsewhere:
    """The same as ``Turns``, as far as it can be done by a line."""

    def __init__(self, prompts: PromptsElsewhere, recorder: Recorder, admission: Admission) -> None:
        self._prompts = prompts
        self._recorder = recorder
        self._admission = admission

    async def send(self, content: Sequence[ContentBlock], *, when_busy: WhenBusy = "reject",
                   idempotency_key: str | None = None, by: str) -> Accepted:
        """Take a prompt: it goes out, or waits in the queue. Returns once that is in the journal."""
        self._admission.check_open()
        return await self._prompts.take(content, when_busy, idempotency_key, by)

    async def edit_queued(self, turn_id: str, content: Sequence[ContentBlock], *, by: str) -> None:
        """Change a prompt that waits."""
        await self._prompts.edit(turn_id, content, by)

    async def drop_queued(self, turn_id: str, *, by: str) -> None:
        """Take a waiting prompt back."""
        await self._prompts.drop(turn_id, by)

    async def cancel(self, *, by: str) -> bool:
        """Interrupt the program's turn; False where nothing runs."""
        line, turn = self._prompts.line, self._recorder.fold.turn
        if turn is None:
            return False
        line.cancel()  # first: where it cannot be done, nothing is said to be
        self._recorder.at().turns.cancelling(by=by)
        await self._recorder.write_and_store()
        return True

    async def pause(self, *, by: str, reason: str | None = None, interrupt: bool = False) -> NoReturn:
        """It is its person's to hold."""
        refuse()

    async def resume(self, *, by: str) -> NoReturn:
        """It is its person's to let go on."""
        refuse()

    async def terminate(self, *, by: str) -> NoReturn:
        """It is its person's to end."""
        refuse()


def _digest(blocks: Sequence[msgspec.Raw]) -> str:
    """By which a prompt is known again: its words, however they are broken into lines."""
    words = " ".join(word for raw in blocks for word in _text_of(raw).split())
    return hashlib.blake2b(words.encode(), digest_size=8).hexdigest()


def _text_of(raw: msgspec.Raw) -> str:
    try:
        block = read_lenient(bytes(raw), ContentBlock)
    except Invalid:
        return ""
    return block.text if isinstance(block, TextContent) else ""
