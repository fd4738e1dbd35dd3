"""Permissions and questions of a running turn, answered in the terminal.

Rule 1: one thing is asked at a time; what somebody else answers meanwhile is withdrawn.
Rule 2: what was typed before a question appeared, or as it did, is no answer to it, and nothing is approved that nobody can
have read (``card``). So where a person is asked, whatever else is to be shown waits (``holds_screen``): an agent cannot push what
it asks for out of the window, nor write something else below it.
Rule 3: without a terminal nothing is answered, unless the caller gave ``--allow`` or ``--deny``: then somebody else decides,
or the hub's timeout does (closed).
"""

from __future__ import annotations

import asyncio
import os
import termios
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

from trunkline.cli.terminal.card import REST_S, ApprovalCard, question_lines, quoted_lines
from trunkline.cli.terminal.form import DECLINE, Field, fields_of
from trunkline.cli.terminal.outlet import Outlet
from trunkline.cli.terminal.screen import Screen
from trunkline.client import Client, Scope
from trunkline.dialects.outside import is_whole_number
from trunkline.dialects.visible import one_revealed_line
from trunkline.errors import Invalid, TrunklineError, Unsupported

Policy = Literal["ask", "wait", "allow", "deny"]
ONCE = ("a", "approve", "y", "yes")
ALWAYS = ("l", "always")
DENY = ("d", "deny", "n", "no")
NO = ("n", "no", DECLINE)
TITLE_CHARS = 60
"""Characters of a field's title that stand in its prompt; a longer one stands above."""
Fields = Mapping[str, Any]


class Declined(Exception):
    """Somebody does not want to answer a question."""


class Keyboard:
    """Lines typed at a terminal, read without a thread, so that waiting for one can be cancelled."""

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor

    def forget(self) -> None:
        """Drop what was typed and not read."""
        termios.tcflush(self._descriptor, termios.TCIFLUSH)

    async def line(self) -> str:
        """The next line; EOFError when the input was closed (Ctrl-D)."""
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self._descriptor, _settle, ready)
        try:
            await ready
        finally:
            loop.remove_reader(self._descriptor)
        # A terminal hands out whole lines, so this cannot block.
        data = os.read(self._descriptor, 65536)
        if not data:
            raise EOFError("the input was closed")
        return data.decode("utf-8", "replace").strip()


class TerminalAsks:
    """The open requests of a turn: approvals and questions that nobody has answered yet."""

    def __init__(self, hub: Client, session_id: str, screen: Screen, policy: Policy, keyboard: Keyboard | None = None,
                 clock: Callable[[], float] = time.monotonic, when_free: Callable[[], None] = lambda: None,
                 root: str = "", outlet: Outlet | None = None, in_line: Callable[[], bool] = lambda: False) -> None:
        self._hub = hub
        self._session_id = session_id
        self._screen = screen
        self._policy = policy
        self._keyboard = keyboard or Keyboard()
        self._clock = clock
        self._when_free = when_free
        self._root = root
        self._outlet = outlet
        self._in_line = in_line
        """Whether something else was written to this terminal that has not ended its line."""
        self._open: deque[Fields] = deque()
        self._task: asyncio.Task[None] | None = None
        self._current = ""
        self._card: ApprovalCard | None = None
        self._typing = False
        self._may_withdraw = False
        """Whether somebody else's answer takes back what is asked: not while our own is on its way."""
        self._questioned_at = float("inf")
        """When the question appeared that is asked."""

    @property
    def prompt_is_open(self) -> bool:
        """Whether the terminal's last line is a prompt now."""
        return self._typing

    @property
    def holds_screen(self) -> bool:
        """Whether a person is being asked, so that nothing else may be written."""
        return self._policy == "ask" and bool(self._open or self._current)

    def see(self, packet: Fields) -> None:
        """Take note of a packet: a new ask is queued, a resolved one withdrawn."""
        kind = packet.get("type")
        if kind in ("approval_requested", "question_requested"):
            self._open.append(packet)
            self._go_on()
        elif kind in ("approval_resolved", "question_resolved"):
            self._withdraw(_id_of(packet))

    def show_again(self) -> None:
        """Other things had to be written below what is asked for."""
        if self._card is not None:
            self._card.print()

    async def close(self) -> None:
        """Stop asking."""
        self._open.clear()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):  # we cancelled it
                await self._task

    def _go_on(self) -> None:
        if self._open and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._answer_all())

    def _withdraw(self, ask_id: str) -> None:
        self._open = deque(packet for packet in self._open if _id_of(packet) != ask_id)
        # While our own answer is on its way, its resolution is no surprise.
        if self._current == ask_id and self._may_withdraw and self._task is not None:
            self._task.cancel()
            self._task = None
            self._done()
            self._go_on()
            self._release()

    async def _answer_all(self) -> None:
        while self._open:
            packet = self._open.popleft()
            self._current = _id_of(packet)
            try:
                await self._answer(packet)
            except TrunklineError as error:  # too late, or not allowed, or no hub: somebody else may answer
                self._screen.note(error.message, indent="  ")
            except EOFError:
                self._screen.line("left for somebody else to answer", dim=True, indent="  ")
            self._done()
        self._release()

    def _release(self) -> None:
        if not self.holds_screen:
            self._when_free()

    def _done(self) -> None:
        self._current = ""
        self._card = None
        self._typing = self._may_withdraw = False
        self._screen.last_line("")

    async def _answer(self, packet: Fields) -> None:
        is_approval = packet.get("type") == "approval_requested"
        if self._policy == "wait":
            self._screen.line(f"waiting for somebody to answer at {self._hub.endpoint.url}", dim=True, indent="  ")
            return
        if self._policy == "ask" and self._outlet is not None:
            self._may_withdraw = True
            await self._outlet.drained(lambda: self._screen.note("what was written before is not read yet", indent="  "))
            self._may_withdraw = False
        if self._policy == "ask" and self._in_line():
            self._screen.line()
        if is_approval:
            await self._approve(packet)
        else:
            await self._reply(packet)

    async def _approve(self, packet: Fields) -> None:
        request_id = _id_of(packet)
        if self._policy != "ask":
            await self._hub.decide(self._session_id, request_id, allow=self._policy == "allow")
            return
        self._card = card = ApprovalCard(self._screen, packet, self._clock, self._root)
        card.print()
        while True:
            card.stay()
            answer = (await self._prompt(card.prompt)).lower()
            try:
                if answer in ("v", "view"):
                    await self._page_through(card)
                elif _approves(answer, card.options) and (why_not := card.rests()):
                    self._screen.note(why_not, indent="    ")
                elif await self._decide(request_id, answer, card.options):
                    return
                else:
                    self._screen.line("that is none of the answers", dim=True, indent="    ")
            except (Invalid, Unsupported) as error:  # there is no "always" for this, say: the ask still waits
                self._screen.note(error.message, indent="    ")

    async def _page_through(self, card: ApprovalCard) -> None:
        """Show all of it, a window at a time."""
        if why_not := card.too_small():
            self._screen.note(why_not, indent="    ")
            return
        pages, is_asked, before = card.pages(), True, card.prints
        for number, page in enumerate(pages, 1):
            for line in page:
                line.print(self._screen)
            if is_asked and number < len(pages):
                answer = await self._prompt(card.pager(number, len(pages)))
                if answer.lower() in ("q", "quit"):
                    return
                is_asked = not (card.was_looked_through and answer.lower() in ("a", "all"))
        if card.prints == before:  # nothing was written between the pages
            card.was_paged()

    async def _decide(self, request_id: str, answer: str, options: Sequence[Fields]) -> bool:
        """Send what was typed to the hub; False when it is no answer."""
        if answer in (*ONCE, *ALWAYS):
            scope: Scope = "always" if answer in ALWAYS else "once"
            await self._hub.decide(self._session_id, request_id, allow=True, scope=scope)
        elif answer in DENY:
            await self._hub.decide(self._session_id, request_id, allow=False)
        elif (option := _option(answer, options)) is not None:
            await self._hub.decide(self._session_id, request_id, option_id=str(option["optionId"]))
        else:
            return False
        return True

    async def _reply(self, packet: Fields) -> None:
        question_id = _id_of(packet)
        if self._policy != "ask":  # --allow is about permissions; nobody has decided what to answer
            await self._hub.answer_question(self._session_id, question_id, None, action="decline")
            return
        for line in question_lines(str(packet.get("question", "")), str(packet.get("url") or ""), self._screen.columns):
            line.print(self._screen)
        self._questioned_at = self._clock()
        try:
            await self._reply_to(question_id, packet)
        except Declined:
            await self._hub.answer_question(self._session_id, question_id, None, action="decline")

    async def _reply_to(self, question_id: str, packet: Fields) -> None:
        if packet.get("url"):
            await self._typed("  Enter when you are done there, n to decline > ", NO)
            await self._hub.answer_question(self._session_id, question_id, None, action="accept")
            return
        fields = fields_of(packet)
        if not fields:
            await self._typed("  Enter to agree, n to decline > ", NO)
        while not await self._filled_in(question_id, fields):
            pass

    async def _filled_in(self, question_id: str, fields: Sequence[Field]) -> bool:
        """Have the form filled in once and send it; False where the hub says that it does not fit."""
        answers = {field.name: await self._fill(field) for field in fields}
        content = {name: answer for name, answer in answers.items() if answer is not None}
        try:
            await self._hub.answer_question(self._session_id, question_id, content)
        except Invalid as error:
            if not fields:  # there is nothing that could be answered otherwise
                raise
            self._screen.note(error.message, indent="    ")
            return False
        return True

    async def _fill(self, field: Field) -> Any:
        title = one_revealed_line(field.title)
        if len(title) > TITLE_CHARS:
            for line in quoted_lines(title, self._screen.columns):
                line.print(self._screen)
            title = "your answer"
        for number, choice in enumerate(field.choices, 1):
            self._screen.line(f"{number}  {one_revealed_line(choice.title)}", indent="    ")
        while True:
            try:
                return field.read(await self._typed(f"  {DECLINE} refuses · {title} > "))
            except ValueError as error:
                self._screen.line(str(error), dim=True, indent="    ")

    async def _typed(self, prompt: str, refusals: Sequence[str] = (DECLINE,)) -> str:
        """A line for a question that has stood on the screen for its rest; Declined where nobody wants to answer."""
        while True:
            text = await self._prompt(prompt)
            if text.lower() in refusals:
                raise Declined
            if self._clock() - self._questioned_at >= REST_S:
                return text
            self._screen.note("this has only just appeared: look at it, and answer again", indent="    ")

    async def _prompt(self, text: str) -> str:
        self._typing = self._may_withdraw = True
        self._keyboard.forget()
        self._screen.prompt(text)
        answer = await self._keyboard.line()
        self._typing = self._may_withdraw = False
        self._screen.answered()
        return answer


def _approves(answer: str, options: Sequence[Fields]) -> bool:
    """Whether an answer may let the agent do it: of a kind that nobody knows, only the agent knows that."""
    option = _option(answer, options)
    alike = [each for each in options if option is not None and each.get("optionId") == option.get("optionId")]
    return answer in (*ONCE, *ALWAYS) or not all(str(each.get("kind", "")).startswith("reject") for each in alike)


def _option(answer: str, options: Sequence[Fields]) -> Fields | None:
    """The option with the number that was typed."""
    return options[int(answer) - 1] if is_whole_number(answer) and 1 <= int(answer) <= len(options) else None


def _settle(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


def _id_of(packet: Fields) -> str:
    return str(packet.get("requestId") or packet.get("questionId") or "")
