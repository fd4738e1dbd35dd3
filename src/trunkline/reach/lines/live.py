"""One session's live line: what its program tells goes in, in order and behind what its file has; what people decide goes out.

Whatever carries the line (a socket, files, a plugin) makes one of these for each session, and hands it what the program told
(``dialects/elsewhere/lines.py``). Its own end of the line is a ``Program``.
Rule 1: the file first. Before a text begins, and before anybody is asked, the session's file is read to its end.
Rule 2: an ask takes the way of every other; its answer goes to the program. It ends in one of four ways, as asks of hooks do. One
that comes again with something else in it is another, from the moment that it comes: nobody's yes to the one is one to the other.
Rule 3: a line that is lost takes its asks with it: they stay in the terminal, and the session is followed by its file.
Rule 4: a session that was taken over is its own agent's: what the line still tells of it is nobody's.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from trunkline.dialects.acp.content import TextContent
from trunkline.dialects.elsewhere.lines import AskOver, Asks, LineEvent, NotTaken, Said, Says, WaitsThere
from trunkline.dialects.signals import AskWithdrawn, PermissionAsk, QuestionAsk
from trunkline.errors import TrunklineError
from trunkline.hub import Hub
from trunkline.reach.ending import allowed_there, not_allowed_there, went_on
from trunkline.reach.notices import waits_there
from trunkline.session.driver.elsewhere import Answered, Decided
from trunkline.session.driver.live_text import Begun

if TYPE_CHECKING:
    from trunkline.hub import Session

FILE_S: Final = 3.0
"""How long the session's file may take to be read before what the line asks is written; text is left to it then."""
WRITTEN_S: Final = 5.0
"""How long a program may take to write into the session's file what it has told already: the turn that a text is in, and the call
that it asks about."""
WRITTEN_LOOK_S: Final = 0.05
EVENTS_MOST: Final = 20_000
"""What a line may tell before it is taken; one that tells more is lost, and the file says the rest."""
TOLD_BYTES: Final = 32 << 20
"""The same in characters and bytes: half a minute's words are some kilobytes, one ask may carry a file."""
CHANGED: Final = "it asks about something else now"
LOST: Final = "the line to its program was lost; it asks in its terminal"

OthersDecide = Callable[[], Awaitable[bool]]

log = logging.getLogger("trunkline.reach")


class Program(Protocol):
    """The program's end of one session's line. Nothing here waits, and nothing raises: a line that is lost says so by itself."""

    def decided(self, key: str, decided: Decided) -> str:
        """Answer an ask; returns what is to be prompted behind it, since no answer can carry it ("": nothing). A decision without
        an option is none, and is not sent."""

    def answered(self, key: str, answered: Answered) -> None:
        """Answer a question."""

    def check_prompt(self, blocks: Sequence[msgspec.Raw]) -> None:
        """Raise Unsupported when the program cannot take one of the blocks."""

    def prompt(self, turn_id: str, blocks: Sequence[msgspec.Raw]) -> None:
        """Send a prompt; one that is refused comes back as ``NotTaken``."""

    def cancel(self) -> None:
        """Interrupt the turn."""


class LiveLine:
    """The line of one session."""

    def __init__(self, hub: Hub, session: Session, program: Program, before: Iterable[LineEvent] = (),
                 others_decide: OthersDecide | None = None) -> None:
        """``before``: what was told before the session was found. ``others_decide``: whether somebody else's hook may decide what
        is asked, where the program does not say that itself."""
        self.session = session
        self._hub = hub
        self._program = program
        self._others_decide = others_decide
        self._events: deque[tuple[LineEvent, int]] = deque((event, 0) for event in before)
        """What was told, and how many texts the file had said by then."""
        self._told_bytes = sum(weight_of(event) for event, _ in self._events)
        self._more = asyncio.Event()
        self._at_rest = asyncio.Event()
        self._open: dict[str, str] = {}
        """The request ids of what is asked, by the program's keys."""
        self._put: dict[str, PermissionAsk | QuestionAsk] = {}
        """What people were shown for them."""
        self._piece: tuple[str, bool] | None = None
        self._read_since: int | None = None
        self._read_at = 0
        self._is_late = False
        """Whether the file was first with this piece."""
        session.agent.line.connect(program)
        self._task = asyncio.get_running_loop().create_task(self._run())
        self._behind: set[asyncio.Task[None]] = set()

    def take(self, event: LineEvent) -> bool:
        """The program told this; False: it told too much, and the line should be closed."""
        if len(self._events) >= EVENTS_MOST or self._told_bytes + weight_of(event) > TOLD_BYTES:
            return False
        self._told_bytes += weight_of(event)
        if isinstance(event, Asks) and self._put.get(event.key, event.ask) != event.ask:
            self._withdraw(event.key, AskWithdrawn("", by="agent", reason=CHANGED))
        self._events.append((event, self.session.agent.texts_said if self._read_since is None else self._read_since))
        self._at_rest.clear()
        self._more.set()
        return True

    def settle(self) -> None:
        """An ask about a call that has ended, by the session's file, was answered: not every program says so. What it said and is
        not taken yet says it better: a call that failed may have been allowed."""
        if not self._at_rest.is_set():
            return
        fold = self.session.fold
        for key, request_id in list(self._open.items()):
            view = fold.approvals.get(request_id)
            call = fold.calls.get(view.tool_call_id) if view is not None else None
            if call is not None and call.finished:
                self._withdraw(key, not_allowed_there("") if call.state.status == "failed" else allowed_there(""))

    def begin_reading(self) -> None:
        """Of a line that is read now and then: what is told next is no older than the reading before this one."""
        self._read_since, self._read_at = self._read_at, self.session.agent.texts_said

    async def close(self, why: str = LOST) -> None:
        """The line is gone, or is not wanted any more: what it told is taken, what it asked is left to the terminal."""
        with suppress(TimeoutError):
            async with asyncio.timeout(FILE_S):
                await self._at_rest.wait()
        self._task.cancel()
        await asyncio.wait((self._task, *self._behind))
        for key in list(self._open):
            self._withdraw(key, AskWithdrawn("", by="agent", reason=why))
        self.session.agent.line.disconnect(self._program, why)

    async def _run(self) -> None:
        while True:
            if not self._events:
                self._at_rest.set()
                self._more.clear()
                await self._more.wait()
            event, since = self._events.popleft()
            self._told_bytes -= weight_of(event)
            try:
                if self._is_elsewhere:
                    await self._take(event, since)
            except TrunklineError as error:
                log.info("what a line told is not taken: %s", error.message)
            except Exception:  # the line's boundary: the file says the same a moment later
                log.exception("what a line told could not be taken")

    @property
    def _is_elsewhere(self) -> bool:
        return self.session.fold.watches is not None

    async def _take(self, event: LineEvent, since: int) -> None:
        agent = self.session.agent
        match event:
            case Says():
                if (event.message_id, event.thinking) != self._piece:
                    await self._begin(event, since)
                if not self._is_late:
                    agent.tell(event.message_id, event.text, thinking=event.thinking)
            case Said():
                if self._piece is not None and not self._is_late:
                    agent.told(event.whole)
                self._piece = None
            case Asks():
                await self._file_first()
                if event.call_id:
                    await self._until(lambda: event.call_id in self.session.fold.calls)
                self._ask(event, rules_allow=await self._rules_allow(event))
            case AskOver(approved=True):
                self._withdraw(event.key, allowed_there(""))
            case AskOver(approved=False):
                self._withdraw(event.key, not_allowed_there(""))
            case AskOver():
                self._withdraw(event.key, went_on(""))
            case WaitsThere():
                agent.on_signals([waits_there(self._hub.agents.get(self.session.fold.agent), event.message)])
            case NotTaken():
                agent.not_taken(event.turn_id, event.why)

    async def _begin(self, event: Says, since: int) -> None:
        """A text begins: behind what the file has, and not at all where that is it."""
        is_read = await self._file_first() and await self._until(lambda: self.session.fold.turn is not None)
        self._piece = event.message_id, event.thinking
        begun = Begun(event.message_id, event.text, event.thinking, since, self._whole_of(event))
        self._is_late = not is_read or not self._is_elsewhere or self.session.agent.was_said(begun)

    def _whole_of(self, begin: Says) -> str | None:
        """All of a text that has just begun, where its end is here, too."""
        texts = [begin.text]
        for event, _ in self._events:
            match event:
                case Said():
                    return event.whole or "".join(texts)
                case Says() if (event.message_id, event.thinking) == (begin.message_id, begin.thinking):
                    texts.append(event.text)
                case _:
                    return None
        return None

    async def _until(self, is_there: Callable[[], bool]) -> bool:
        """Wait until the file has something that its program writes in a moment; whether it came."""
        for left in range(int(WRITTEN_S / WRITTEN_LOOK_S), -1, -1):
            if is_there():
                return True
            if left:
                await asyncio.sleep(WRITTEN_LOOK_S)
                await self._file_first()
        return False

    async def _file_first(self) -> bool:
        """What the file has by now stands before what the line tells next; False: it could not be read in time."""
        try:
            async with asyncio.timeout(FILE_S):
                await self.session.agent.caught_up()
        except TimeoutError:
            return False
        return True

    async def _rules_allow(self, event: Asks) -> bool:
        """Whether rules may allow it: where the person wants that, and nobody else decides."""
        ask = event.ask
        if not isinstance(ask, PermissionAsk) or not ask.rules_allow or not self._hub.options.terminal_rules:
            return False
        return self._others_decide is None or not await self._others_decide()

    def _ask(self, event: Asks, *, rules_allow: bool) -> None:
        if not self._is_elsewhere or self._asks_otherwise(event):  # while its file was waited for
            return
        if event.key in self._open and self._put.get(event.key) == event.ask:
            return  # it is told again
        self._withdraw(event.key, AskWithdrawn("", by="agent", reason=CHANGED))
        self._put[event.key] = event.ask
        request_id = self._open[event.key] = f"req_{secrets.token_hex(8)}"
        ask = msgspec.structs.replace(event.ask, request_id=request_id)
        if isinstance(ask, PermissionAsk):
            ask = msgspec.structs.replace(ask, rules_allow=rules_allow)
        self._hub.asks_elsewhere.open(request_id, partial(self._on_answer, event.key))
        self.session.agent.on_signals([ask])

    def _asks_otherwise(self, event: Asks) -> bool:
        """Whether the same ask has come with something else in it by now."""
        return any(isinstance(later, Asks) and later.key == event.key and later.ask != event.ask for later, _ in self._events)

    def _on_answer(self, key: str, answer: Decided | Answered) -> None:
        self._open.pop(key, None)
        self._put.pop(key, None)
        if isinstance(answer, Answered):
            self._program.answered(key, answer)
            return
        words = self._program.decided(key, answer)
        if words:
            task = asyncio.get_running_loop().create_task(self._prompt_behind(words))
            self._behind.add(task)
            task.add_done_callback(self._behind.discard)

    async def _prompt_behind(self, words: str) -> None:
        """Say why something was not allowed, as the next prompt."""
        try:
            await self.session.turns.send([TextContent(text=words)], when_busy="queue", by="hub")
        except TrunklineError as error:
            log.info("a reason could not be sent: %s", error.message)

    def _withdraw(self, key: str, ending: AskWithdrawn) -> None:
        """It was answered there, or cannot be here any more."""
        request_id = self._open.pop(key, None)
        self._put.pop(key, None)
        if request_id is not None:
            self._hub.asks_elsewhere.close(request_id)
        if request_id is not None and self._is_elsewhere:
            self.session.agent.on_signals([msgspec.structs.replace(ending, request_id=request_id)])


def weight_of(event: LineEvent) -> int:
    """About how much of what was told is long."""
    match event:
        case Says():
            return len(event.text)
        case Said():
            return len(event.whole or "")
        case Asks(ask=PermissionAsk() as ask):
            return len(ask.tool_call)
        case Asks(ask=QuestionAsk() as ask):
            return len(ask.message) + len(ask.schema or b"")
    return 0
