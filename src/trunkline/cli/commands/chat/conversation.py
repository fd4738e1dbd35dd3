"""One session in a terminal, without the terminal: what is followed, what is shown of it, what a typed line or key does.

Rule 1: the session belongs to the hub. Whoever leaves ends nothing; what others say or decide meanwhile is shown as well.
Rule 2: what waits for somebody is asked of the hub, not counted together from packets: who joins late sees what is true now.
Rule 3: an error of the hub's is a line on the screen; only a hub that is gone ends the conversation.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any, Literal, NamedTuple

from trunkline.cli.commands.chat.cards import PAUSE_S, Ask, Cards, asks_of, left_words, print_card
from trunkline.cli.commands.chat.local_commands import modes_of, run_local
from trunkline.cli.commands.chat.modes import Gone, Mode, Over, Reason, Writing, mode_for, summary
from trunkline.cli.commands.chat.show import ChatShow
from trunkline.cli.terminal.card import ROOM_LEAST
from trunkline.cli.terminal.screen import Screen
from trunkline.client import Client, Packet, Scope, SessionView
from trunkline.dialects.visible import one_line
from trunkline.errors import AlreadyResolved, Expired, NotFound, TrunklineError, Unavailable

NOTE_S = 6.0
"""How long a note stays at the bottom."""
LOOK_BACK = 2_000
"""Entries before the end in which the last prompt is looked for."""
REPLAY_BYTES = 16 << 20
"""Of what came since that prompt; an agent may have said gigabytes."""
HOLD_S = 0.3
"""A key approves where no other follows within this time: faster keys are a sentence that somebody types without looking."""
BOTTOM_LINES = 4
"""Lines at the bottom that are not the card's."""
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_LOOK_AGAIN = frozenset({"approval_requested", "approval_resolved", "question_requested", "question_resolved",
                         "available_commands_update", "current_mode_update", "prompt_response", "error", "user_message_chunk"})


class Place(NamedTuple):
    """Where a card was printed: its first row, the one behind it, and the window that it was printed in."""

    first: int
    behind: int
    window: tuple[int, int]


class Conversation:
    """A session, followed and steered."""

    def __init__(self, hub: Client, view: SessionView, screen: Screen, show: ChatShow, *,
                 line_text: Callable[[], str] = str, clear_line: Callable[[], None] = lambda: None,
                 leave: Callable[[], None] = lambda: None, clock: Callable[[], float] = time.monotonic,
                 pause: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self.hub = hub
        self.view = view
        self.screen = screen
        self.show = show
        self.cards = Cards(clock)
        self.line_text = line_text
        self.clear_line = clear_line
        self.leave = leave
        self.running = False
        self.pause = pause
        self._clock = clock
        self._began = clock()
        self._writing = Writing(self)
        self._mode: Mode = self._writing
        self._aside = False
        self._sent: set[str] = set()
        self._is_held = False
        self._printed: dict[str, Place] = {}
        """Where the cards that wait were printed last."""
        self._size = screen.size()
        self._over_at = float("-inf")
        """When a card that took keys went away by itself."""
        self._note, self._note_at = "", float("-inf")
        self._look = asyncio.Event()
        self._caught_up = asyncio.Event()
        self.changed = asyncio.Event()
        """There is something to draw."""

    # What comes

    async def follow(self) -> None:
        """Show what was said last, then all that comes; ends only with an error."""
        after = await self._replay()
        self._caught_up.set()
        async with aclosing(self.hub.packets(self.view.id, after=after)) as packets:
            async for _, packet in packets:
                self.take(packet)

    def take(self, packet: Packet) -> None:
        """A packet came."""
        kind = packet.type
        if kind == "user_message_chunk" and not self.running:
            self.running, self._began = True, self._clock()
        elif packet.ends_turn():
            self.running = False
        self.show.packet(packet)
        self.changed.set()
        if kind in _LOOK_AGAIN:
            self._look.set()

    async def look(self) -> None:
        """Keep the session's state current; ends only with an error."""
        await self._caught_up.wait()  # what waits is shown behind what was said
        while True:
            try:
                await self.renew()
            except Unavailable as error:  # ``follow`` waits for the hub, and knows for how long
                self.tell(error.message)
            await self._look.wait()
            self._look.clear()

    async def renew(self) -> None:
        """Ask the hub for the session's state, and show the cards that are new."""
        self.view = await self.hub.session(self.view.id)
        self.cards.renew(asks_of(self.view))
        self._printed = {ask.id: self._printed[ask.id] for ask in self.cards.asks if ask.id in self._printed}
        if self.cards.selected is not None and self.cards.selected.id not in self._printed:
            self.print_card(self.cards.selected)
        self.changed.set()

    def print_card(self, ask: Ask, *, whole: bool = False) -> None:
        """Print what waits; its rest begins."""
        self.show.end_text()
        if not self.is_same_window(ask):
            self.cards.whole.discard(ask.id)  # what fitted into another window, or was looked through there
        first = self.screen.rows
        is_complete = print_card(self.screen, ask, whole=whole or ask.id in self.cards.whole, root=self.view.cwd)
        if is_complete and (whole or self.screen.rows - first <= self._window()):
            self.cards.whole.add(ask.id)
        self._printed[ask.id] = Place(first, self.screen.rows, self.screen.size())
        self.cards.hide()
        self.cards.see()
        self.changed.set()

    def is_in_sight(self, ask: Ask) -> bool:
        """Whether the card stands on the screen, as far as it fits there, with nothing below that could have pushed it out."""
        place = self._printed.get(ask.id)
        growing = self.show.growing()
        end = self.screen.rows + (growing.count("\n") + 1 if growing else 0)
        return place is not None and self.is_same_window(ask) and (end == place.behind or end - place.first < self._window())

    def is_same_window(self, ask: Ask) -> bool:
        """Whether the window is as large as when the card was printed: in another one its rows are elsewhere."""
        return ask.id in self._printed and self._printed[ask.id].window == self.screen.size()

    def is_too_small(self) -> bool:
        """Whether the window has no room for a card."""
        return self._window() < ROOM_LEAST

    def see_window(self) -> None:
        """Look whether the window has changed: what it showed may be elsewhere by now, also where it is as large again."""
        if self._size != self.screen.size():
            self._size = self.screen.size()
            self._printed = {}

    def was_cleared(self) -> None:
        """Somebody had the window cleared: what waits is printed again."""
        self._printed = {}
        if self.cards.selected is not None:
            self.print_card(self.cards.selected)

    def _window(self) -> int:
        """Rows above the line and what stands below it."""
        return self.screen.size()[1] - BOTTOM_LINES

    async def _replay(self) -> int:
        """Show the last prompt and what came of it, and how much there is before it; returns the place behind it."""
        begin = max(self.view.last_seq - LOOK_BACK, 0)
        place: int | None = begin
        last = LastTurn()
        behind, prompts = begin, 0
        while place is not None:
            page = await self.hub.messages(self.view.id, after=place)
            for seq, packet in page.messages:
                behind = seq
                if packet.type == "user_message_chunk":
                    last = LastTurn()
                    prompts += 1
                last.add(packet)
            place = page.next_after
        if words := _earlier(max(prompts - 1, 0), is_all=begin == 0):
            self.screen.line(words, dim=True)
        if last.is_cut:
            self.screen.line("the beginning of this turn is left out: :open shows it on the page", dim=True)
        for packet in last.packets:
            self.take(packet)
        return behind

    # What is typed

    def mode(self) -> Mode:
        """What the line is for now."""
        ask = self.cards.selected
        if self._mode.ask is not None and self._mode.ask.id not in {each.id for each in self.cards.asks}:
            self._ended_elsewhere()
        if isinstance(self._mode, Over) and (ask is not None or self._is_over_for_long()):
            self._mode = self._writing
        if isinstance(self._mode, Gone | Over) or (self._mode.ask is not None and not self._mode.by_letters):
            return self._mode  # what is typed there is for its ask alone
        if ask is None or self._aside or self.line_text():
            self.cards.hide()
            self._mode = self._writing
        elif self._mode.ask is None or self._mode.ask.id != ask.id:
            self._mode = mode_for(self, ask)
            if ask.id not in self._printed or self.screen.rows != self._printed[ask.id].behind:
                self.print_card(ask)
            self.cards.hide()  # its keys count from now on, however long it was there above what somebody wrote
            self.cards.see()
        return self._mode

    async def enter(self, text: str, mode: Mode | None = None) -> None:
        """A line was typed, in that mode: the line is empty by now, and might be for something else."""
        await self._try((mode or self.mode()).enter(text))

    async def press(self, letter: str) -> None:
        """A key was pressed while letters are keys."""
        self.cards.presses += 1
        if self._is_held:
            self.refuse("you were typing")
        else:
            await self._try(self.mode().press(letter))

    async def was_alone(self) -> bool:
        """Whether the key that was just pressed stays the only one: else it is the beginning of a sentence."""
        presses = self.cards.presses
        self._is_held = True
        try:
            await self.pause(HOLD_S)
        finally:
            self._is_held = False
        return self.cards.presses == presses and not self.line_text()

    async def say(self, text: str) -> None:
        """Send a prompt, or do what it says where it is for us."""
        self._aside = False
        if not text.strip() or await run_local(self, text):
            return
        taken = await self.hub.send(self.view.id, text, when_busy="queue")
        if taken.queued:
            self.tell(f"queued: {one_line(text)[:60]}")

    async def interrupt(self) -> None:
        """Ctrl-C: cancel the turn."""
        if not self.running:
            self.tell("Ctrl-D leaves; the session stays")
            return
        self.tell("cancelling")
        await self._try(self._cancel())

    async def next_mode(self) -> None:
        """Switch the agent to its next mode."""
        names = [name for name, _ in modes_of(self.view)]
        if len(names) < 2:
            self.tell("this agent has no modes")
            return
        at = names.index(self.view.mode) if self.view.mode in names else -1
        await self._try(self.hub.set_mode(self.view.id, names[(at + 1) % len(names)]))

    async def decide(self, ask: Ask, *, allow: bool, reason: str | None = None, scope: Scope = "once",
                     updated_input: Mapping[str, Any] | None = None) -> None:
        """Answer an approval, once: who presses twice means the same."""
        if ask.id in self._sent:
            return
        self._sent.add(ask.id)
        try:
            await self.hub.decide(self.view.id, ask.id, allow=allow, reason=reason, scope=scope, updated_input=updated_input)
        finally:
            self._sent.discard(ask.id)
        self._answered(ask)

    async def answer(self, ask: Ask, content: Mapping[str, Any] | None, *,
                     action: Literal["accept", "decline"] = "accept") -> None:
        """Answer a question."""
        self._sent.add(ask.id)
        try:
            await self.hub.answer_question(self.view.id, ask.id, content, action=action)
        finally:
            self._sent.discard(ask.id)
        self._answered(ask)

    # Modes

    def go_to(self, mode: Mode) -> None:
        """The line is for this now."""
        self._mode = mode
        self.cards.hide()
        self.cards.see()

    def leave_mode(self) -> None:
        """Back to the card."""
        self.clear_line()
        self._mode = self._writing

    def set_cards_aside(self) -> None:
        """Somebody wants to write first."""
        self.clear_line()
        self._aside, self._mode = True, self._writing
        self.tell("Esc goes back to what waits")

    def turn_to_cards(self) -> None:
        """Look at what waits."""
        if not self.cards.asks:
            return
        if self.line_text():
            self.tell("send or clear the line first (Ctrl-C), then answer")
        self._aside = False

    def refuse(self, why: str) -> None:
        """Say why a key did nothing; letters are text until nobody types."""
        self.cards.typed()
        self.tell(f"nothing done: {why}")

    def tell(self, note: str) -> None:
        """Say something at the bottom, for a while."""
        self._note, self._note_at = note, self._clock()
        self.changed.set()

    # The bottom of the screen

    def is_lively(self) -> bool:
        """Whether something turns or counts there."""
        is_noted = self._clock() - self._note_at < NOTE_S
        return self.running or bool(self.cards.asks) or is_noted or isinstance(self._mode, Over)

    def status(self) -> str:
        """What goes on, in a line; empty where nothing does."""
        if self._clock() - self._note_at < NOTE_S:
            return self.screen.styled(self.screen.cut(self._note), colour="yellow")
        if not self.running or self.cards.asks:
            return ""
        elapsed = int(self._clock() - self._began)
        mark = self.screen.mark(SPINNER[int(self._clock() * 8) % len(SPINNER)])
        doing = f"{mark} {self.show.doing() or 'working'} · {elapsed} s · Ctrl-C cancels"
        return self.screen.styled(self.screen.cut(doing), dim=True)

    def waiting(self) -> str:
        """The card that waits, in a line; empty where none does."""
        ask = self.cards.selected
        if ask is None:
            return ""
        left = left_words(ask.expires_at, time.time())
        clock = f" · {'denied' if ask.approval else 'over'} in {left} if nobody answers" if left else ""
        place = f" · {self.cards.place}" if self.cards.place else ""
        about = self.screen.cut(f"? {summary(ask)}", taken=len(place) + len(clock))  # what it is about has its card above
        return self.screen.styled(self.screen.cut(f"{about}{place}{clock}"), colour="yellow", bold=True)

    def footer(self) -> str:
        """What the line is for, or where we are."""
        view = self.view
        mode = self.mode()
        rests = mode.by_letters and self.cards.rests()
        words = ["one moment" if rests else "", mode.keys()] if mode.keys() else [
            view.agent, one_line(view.title), f"mode {view.mode}" if view.mode else "", self.show.usage,
            f"{len(view.queue)} queued" if view.queue else "", f"{len(self.cards.asks)} waiting: Esc" if self.cards.asks else "",
            ":help"]
        return self.screen.styled(self.screen.cut(" · ".join(word for word in words if word)), dim=True)

    # Within

    def _answered(self, ask: Ask) -> None:
        """The hub has our answer: the card is gone before the hub says so, and the next one has its rest."""
        self.clear_line()
        self._mode = self._writing
        self.cards.renew([each for each in self.cards.asks if each.id != ask.id])
        self._look.set()

    def _ended_elsewhere(self) -> None:
        """The ask that the line was for is gone. Who was to type something for it may do so yet: that is for nothing else."""
        is_ours = self._mode.ask is not None and self._mode.ask.id in self._sent
        is_typed = bool(self.line_text()) or isinstance(self._mode, Reason)
        took_keys = self._mode.by_letters
        if is_ours:
            self._mode = self._writing
        elif is_typed:
            self._mode = Gone(self)
        elif took_keys:
            self._mode, self._over_at = Over(self), self._clock()
        else:
            self._mode = self._writing

    def _is_over_for_long(self) -> bool:
        """Whether a key can no longer be meant for the card that is gone."""
        return self._clock() - self._over_at >= PAUSE_S and self.cards.is_quiet()

    async def _cancel(self) -> None:
        await self.hub.cancel(self.view.id)

    async def _try(self, work: Any) -> None:
        try:
            await work
        except TrunklineError as error:
            if isinstance(error, AlreadyResolved | Expired | NotFound) and self._mode.ask is not None:
                self._mode = self._writing  # the line was typed to its end: nobody goes on typing for what is gone
                self._look.set()
            self.screen.note(error.message)


def _earlier(prompts: int, *, is_all: bool) -> str:
    """That there is more than what is shown; ``prompts`` came before, and where that is not all, at least so many."""
    if not prompts and is_all:
        return ""
    if prompts == 1 and is_all:
        return "1 earlier message: :open shows it on the page"
    count = f"{prompts}{'' if is_all else ' or more'}" if prompts else "there are"
    return f"{count} earlier messages: :open shows them on the page"


class LastTurn:
    """Packets since the last prompt: of very much the newest."""

    def __init__(self) -> None:
        self.packets: deque[Packet] = deque()
        self.is_cut = False
        self._size = 0

    def add(self, packet: Packet) -> None:
        """The next one."""
        self.packets.append(packet)
        self._size += len(packet.raw)
        while self._size > REPLAY_BYTES and len(self.packets) > 1:
            self._size -= len(self.packets.popleft().raw)
            self.is_cut = True
