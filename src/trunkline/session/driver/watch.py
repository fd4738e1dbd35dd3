"""Follows a session that somebody else's agent writes into a file: there is nobody here to send anything to.

Rule 1: nothing is started and nothing is written. Whatever would need the agent is ``Unsupported``, but for answers to what its
program asks (``elsewhere.py``), and for what a live line to it can do (``line.py``).
Rule 2: what the file says is written down as of its own time, with the position behind it: after a restart it is read on from
there, not again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn, Protocol

import msgspec

from trunkline import decoders
from trunkline.dialects.signals import Signal, TurnEnd, Update
from trunkline.errors import Unsupported
from trunkline.session.driver.base import AgentSession, Started
from trunkline.session.driver.elsewhere import AsksElsewhere
from trunkline.session.driver.live_text import LiveText
from trunkline.session.fold import Awaited
from trunkline.session.recorder import Recorder

ELSEWHERE = "elsewhere"
"""Who prompted, in the journal: a person at another program."""

Timed = tuple[int, Signal]
OnSignals = Callable[[list[Timed], int], None]
"""Takes signals with their times (0: unknown), and the position behind them."""


class SignalSource(Protocol):
    """A file that grows."""

    async def start(self) -> None:
        """Read all that is there, and go on."""

    def look_again(self) -> None:
        """There may be more."""

    async def caught_up(self) -> None:
        """All that the file has by now is handed over."""

    def hold(self, hold: bool) -> None:
        """Hand nothing over for a while, or go on."""

    async def stop(self) -> None:
        """Read no more."""


class WatchDriver:
    """Implements ``Driver`` for a session that is only watched."""

    def __init__(self, source: SignalSource, asks: AsksElsewhere) -> None:
        self._source = source
        self._asks = asks

    async def start(self, previous: str | None, *, adopt: bool = False) -> Started:
        """Read the file up to its end, and on as it grows."""
        assert previous is not None, "a session that is followed has its agent's id"
        await self._source.start()
        return Started(how="loaded" if adopt else "resumed", agent_session_id=previous, agent_info=None, capabilities=None,
                       modes=None, config_options=None)

    async def list_sessions(self, folders: Sequence[str] = ()) -> list[AgentSession]:
        """There is no agent to ask."""
        return []

    def prompt(self, blocks: Sequence[msgspec.Raw]) -> None:
        """There is nobody to prompt."""
        refuse()

    def check_prompt(self, blocks: Sequence[msgspec.Raw]) -> None:
        """There is nobody to prompt."""
        refuse()

    def cancel_late(self) -> None:
        """Nothing is left: the hub runs no commands for it."""

    def cancel(self) -> None:
        """There is nothing of ours to cancel."""
        refuse()

    def answer_permission(self, request_id: str, option_id: str | None, *, reason: str | None = None,
                          updated_input: msgspec.Raw | None = None) -> None:
        """Hand it to the hook that asked; one that is gone is answered by nobody."""
        self._asks.decide(request_id, option_id, reason, bytes(updated_input) if updated_input is not None else None)

    def answer_question(self, request_id: str, action: str, content: msgspec.Raw | None) -> None:
        """The same for a question."""
        self._asks.answer(request_id, action, bytes(content) if content is not None else None)

    def refuse(self, request_id: str, reason: str) -> None:
        """The hook that asked has no opinion then."""
        self._asks.decide(request_id, None, reason, None)

    async def set_mode(self, mode_id: str) -> None:
        """There is nobody to send it to."""
        refuse()

    async def set_config(self, config_id: str, value: str | bool) -> msgspec.Raw | None:
        """There is nobody to send it to."""
        refuse()

    def pause_reading(self) -> None:
        """Hand nothing over for a while."""
        self._source.hold(True)

    def resume_reading(self) -> None:
        """Go on."""
        self._source.hold(False)

    def look_again(self) -> None:
        """There may be more in the file."""
        self._source.look_again()

    async def caught_up(self) -> None:
        """All that the file has by now is written down."""
        await self._source.caught_up()

    async def stop(self, *, at_once: bool = False) -> None:
        """Follow no more; the agent is somebody else's and goes on."""
        await self._source.stop()


def refuse() -> NoReturn:
    """What is only watched takes no orders."""
    raise Unsupported("this session is only watched: another program began it; use it there, or continue it here first")


class _UserChunk(msgspec.Struct, rename="camel"):
    content: msgspec.Raw
    message_id: str = ""


_USER = b'{"sessionUpdate":"user_message_chunk"'


class Sent(Protocol):
    """The prompts that go out to the program by a line."""

    def came_back(self, blocks: list[msgspec.Raw]) -> Awaited | None:
        """The one that the file has now, in these words; None where it is somebody else's."""

    def play_queued(self) -> bool:
        """Send the next one, where it is time."""


class Watched:
    """Writes what a file holds as the turns that it was."""

    def __init__(self, recorder: Recorder, new_id: Callable[[str], str], live: LiveText, prompts: Sent) -> None:
        self._recorder = recorder
        self._new_id = new_id
        self._live = live
        self._prompts = prompts

    def on_signals(self, signals: list[Timed], position: int) -> None:
        """Write this down, each as of its own time, and the position behind it."""
        texts: list[msgspec.Raw] = []
        message_id, began_at = "", 0
        for at, signal in signals:
            chunk = _user_chunk(signal)
            if texts and (chunk is None or chunk.message_id != message_id):
                self._prompt(began_at, texts)
                texts = []
            if chunk is not None:
                texts.append(chunk.content)
                message_id, began_at = chunk.message_id, at
            else:
                self._fold(at, signal)
        if texts:
            self._prompt(began_at, texts)
        self._recorder.at().followed.followed_to(position)
        self._recorder.write()
        self._prompts.play_queued()

    def _prompt(self, at: int, blocks: list[msgspec.Raw]) -> None:
        interpret = self._recorder.as_of(at)
        if interpret.fold.turn is not None:
            interpret.turns.end("end_turn")
        ours = self._prompts.came_back(blocks)
        interpret = self._recorder.as_of(at)
        if ours is not None:
            interpret.turns.start(ours.turn_id, blocks, by=ours.by)
        else:
            interpret.turns.start(self._new_id("turn"), blocks, by=ELSEWHERE)

    def _fold(self, at: int, signal: Signal) -> None:
        news = self._live.news(signal)
        interpret = self._recorder.as_of(at)
        if news is None:
            return
        if not isinstance(signal, TurnEnd):
            interpret.on_signals([news])
            if news is not signal:
                interpret.text.close()  # so that the position is stored with it
            return
        interpret.followed.level()
        if interpret.fold.turn is not None:
            interpret.turns.end(signal.stop or "end_turn", signal.usage, agent_stop=signal.agent_stop)
        else:  # not every file says for sure when a turn is over: this one went on behind its end
            interpret.lifecycle.own_turn_ended()


def _user_chunk(signal: Signal) -> _UserChunk | None:
    if not isinstance(signal, Update) or not signal.raw.startswith(_USER):
        return None
    return decoders.decode(signal.raw, _UserChunk)
