"""What programs ask in terminals and take no answer to from here: shown while it waits, and said how it ended.

Rule 1: such an ask is watched. Its card says that it is answered in the terminal; it ends when its program goes on (which hooks
tell, or the session's file) or is gone.
Rule 2: where its program runs in a tmux pane and the person wants that (``terminal_keys``), it can be answered here: by one key,
sent only while the pane asks about exactly this (``panes.py``). Where that failed, it is said, and the ask is watched again.
Rule 3: rules are asked before, by a check, which a program makes before it asks or runs: a denial is the answer to that, at once,
and is written down like every other. Nobody is asked, and nothing waits.
Rule 4: a session asks one thing at a time.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

import msgspec

from trunkline.agents.catalog import AgentSpec
from trunkline.dialects.elsewhere.hooks import NO_OPINION, HookCall, HookDialect, ShowsPrompt
from trunkline.dialects.outside import BROKEN, Json
from trunkline.dialects.signals import AskWithdrawn, PermissionAsk
from trunkline.hub import Hub
from trunkline.reach.ending import Program, allowed_there, went_on
from trunkline.reach.notices import not_reached
from trunkline.reach.panes import Pane, find_pane
from trunkline.session.driver.elsewhere import Answered, Decided
from trunkline.threads import Lane

if TYPE_CHECKING:
    from trunkline.hub import Session

CHECK_S: Final = 1.5
"""How long a check may take here; the hook gives up a little later."""
CHECKED_MOST: Final = 8
"""Calls of a session that are kept from their checks, for the prompts that may follow."""
SESSIONS_MOST: Final = 256
"""Sessions of which some are kept."""
CHECKED_BYTES: Final = 4 << 20
"""What all calls that are kept said, as it came. Read, it may take some twenty times as much memory."""
READ_MOST: Final = 1 << 20
"""Bytes of a call's input that are read to compare it with what is asked."""

Key = tuple[str, str]
"""An agent's name, and its own id of a session."""
FindSession = Callable[[AgentSpec, str], Awaitable["Session | None"]]
MakeProgram = Callable[[AgentSpec, int], Program]

log = logging.getLogger("trunkline.reach")


class AsksThere:
    """The asks of one hub that are answered in their terminals."""

    def __init__(self, hub: Hub, find: FindSession, program: MakeProgram, lane: Lane) -> None:
        self._hub = hub
        self._find = find
        self._program = program
        self._lane = lane
        self._checked: dict[Key, list[tuple[HookCall, int]]] = {}
        """Calls, each with the bytes that it came in; the session that was spoken of last is last."""
        self._checked_bytes = 0
        self._watching: dict[Key, _Watched] = {}

    async def close(self) -> None:
        """Watch nothing any more."""
        tasks = [each.task for each in self._watching.values() if each.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def check(self, spec: AgentSpec, dialect: HookDialect, call: HookCall, size: int) -> bytes:
        """What rules that deny say of a call, in no time; nothing, where none does. ``size``: the bytes that it came in."""
        self._keep((spec.name, call.session_id), call, size)
        try:
            async with asyncio.timeout(CHECK_S):
                session = await self._find(spec, call.session_id)
                if session is None:
                    return NO_OPINION
                request_id = _new_id()
                ask = dialect.ask(call, request_id, request_id)
                if not isinstance(ask, PermissionAsk):
                    return NO_OPINION
                return await self._by_rule(session, dialect, call, msgspec.structs.replace(ask, only_rules=True))
        except TimeoutError:
            return NO_OPINION

    async def _by_rule(self, session: Session, dialect: HookDialect, call: HookCall, ask: PermissionAsk) -> bytes:
        """Have it denied where everything is written down; what no rule denies is not."""
        answer: asyncio.Future[Decided | Answered] = asyncio.get_running_loop().create_future()
        self._hub.asks_elsewhere.open(ask.request_id, lambda given: None if answer.done() else answer.set_result(given))
        try:
            session.agent.on_signals([ask])
            given = await answer
        finally:
            self._hub.asks_elsewhere.close(ask.request_id)
            if not answer.done():
                session.agent.on_signals([went_on(ask.request_id)])
        return dialect.decided(call, given.option_id, given.reason, None) if isinstance(given, Decided) else NO_OPINION

    def _keep(self, key: Key, call: HookCall, size: int) -> None:
        if size > CHECKED_BYTES:
            return
        calls = self._checked.pop(key, [])
        if len(calls) >= CHECKED_MOST:
            self._checked_bytes -= calls.pop(0)[1]
        self._checked[key] = [*calls, (call, size)]
        self._checked_bytes += size
        while len(self._checked) > SESSIONS_MOST or self._checked_bytes > CHECKED_BYTES:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        key, calls = next(iter(self._checked.items()))
        self._checked_bytes -= calls.pop(0)[1]
        if not calls:
            del self._checked[key]

    def asked(self, spec: AgentSpec, dialect: HookDialect, call: HookCall, pid: int) -> None:
        """A program asks its person."""
        key = spec.name, call.session_id
        if len(self._watching) >= SESSIONS_MOST and key not in self._watching:
            return
        self.go_on(key)
        watched = _Watched(self._whole(key, call))
        self._watching[key] = watched
        watched.task = asyncio.create_task(self._watch(spec, dialect, watched, pid))
        watched.task.add_done_callback(lambda _: self._over(key, watched))

    def go_on(self, key: Key, call: HookCall | None = None) -> bool:
        """A session went on: what it had asked is over. Whether it had."""
        watched = self._watching.get(key)
        if watched is None:
            return False
        watched.end(ran=call is not None and call.ran and call.given == watched.call.given)
        return True

    def _over(self, key: Key, watched: _Watched) -> None:
        if self._watching.get(key) is watched:
            del self._watching[key]

    def _whole(self, key: Key, call: HookCall) -> HookCall:
        """The call that a prompt is about, with all of its input, where its check had that."""
        for checked, _ in reversed(self._checked.get(key, [])):
            if call.given and all(checked.given.get(name) == value for name, value in call.given.items() if name != "content"):
                return msgspec.structs.replace(call, tool=checked.tool, given=checked.given)
        return call

    async def _watch(self, spec: AgentSpec, dialect: HookDialect, watched: _Watched, pid: int) -> None:
        session = await self._find(spec, watched.call.session_id)
        if session is None:
            return
        pane = await self._pane(dialect, watched.call, pid)
        while not watched.over.done() and not await self._put(spec, dialect, session, watched, pid, pane):
            session.agent.on_signals([not_reached(spec)])
            pane = None

    async def _put(self, spec: AgentSpec, dialect: HookDialect, session: Session, watched: _Watched, pid: int,
                   pane: Pane | None) -> bool:
        """Put it before people until it is over; False where an answer did not reach the program."""
        request_id = _new_id()
        ask = dialect.ask(watched.call, request_id, request_id)
        if not isinstance(ask, PermissionAsk):
            return True
        if pane is None:
            ask = msgspec.structs.replace(ask, options=(), answer_there=True)
        answer: asyncio.Future[Decided | Answered] = asyncio.get_running_loop().create_future()
        self._hub.asks_elsewhere.open(request_id, lambda given: None if answer.done() else answer.set_result(given))
        watched.known = set(session.fold.calls)
        gone = asyncio.create_task(self._program(spec, pid).stopped_waiting(request_id, lambda: watched.look(session)))
        try:
            session.agent.on_signals([ask])
            await asyncio.wait((answer, watched.over, gone), return_when=asyncio.FIRST_COMPLETED)
            if watched.over.done() and answer.done():
                return True  # its terminal was quicker: the next prompt there may look the same
            if answer.done():
                return await self._press(dialect, watched, pane, answer.result())
            session.agent.on_signals([watched.ending(request_id) if watched.over.done() else gone.result()])
            return True
        finally:
            gone.cancel()
            self._hub.asks_elsewhere.close(request_id)

    async def _pane(self, dialect: HookDialect, call: HookCall, pid: int) -> Pane | None:
        """Its pane, where the person wants keys to be sent and the pane shows what is asked."""
        if not self._hub.options.terminal_keys or not isinstance(dialect, ShowsPrompt):
            return None
        pane = await find_pane(pid, self._hub.environ, self._lane)
        return pane if pane is not None and await pane.will_show(lambda screen: dialect.is_shown(screen, call)) else None

    async def _press(self, dialect: HookDialect, watched: _Watched, pane: Pane | None, answer: Decided | Answered) -> bool:
        if pane is None or not isinstance(dialect, ShowsPrompt) or not isinstance(answer, Decided):
            return True
        key = dialect.keys.get(answer.option_id or "")
        if key is None:
            return True  # nobody answers it here any more: it waits in its terminal
        return await pane.press(key, lambda screen: dialect.is_shown(screen, watched.call))


class _Watched:
    """An ask that waits in a terminal."""

    def __init__(self, call: HookCall) -> None:
        self.call = call
        self.over: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        """Whether its tool ran."""
        self.known: set[str] = set()
        """The calls that its session had before, and those that were looked at since."""
        self.task: asyncio.Task[None] | None = None

    def end(self, *, ran: bool) -> None:
        """It was answered."""
        if not self.over.done():
            self.over.set_result(ran)

    def look(self, session: Session) -> bool:
        """Look whether the session's file has the call by now: it is written when it has ended, also where somebody said no, of
        which no hook tells. Says whether it ran, which ``over`` says already."""
        for call_id, call in session.fold.calls.items():
            if call_id in self.known or not call.finished:
                continue
            self.known.add(call_id)  # it says nothing else any more
            if has_input(call.state.raw_input, self.call.given):
                self.end(ran=call.state.status == "completed")
        return False

    def ending(self, request_id: str) -> AskWithdrawn:
        """How it ended."""
        return allowed_there(request_id) if self.over.result() else went_on(request_id)


def has_input(raw: bytes | None, given: Json) -> bool:
    """Whether a call's input has all of this. One that is too long to be read here has not: that its program goes on is told."""
    if len(raw or b"") > READ_MOST:
        return False
    try:
        known = msgspec.json.decode(raw or b"null")
    except BROKEN:
        return False
    return bool(given) and isinstance(known, dict) and all(known.get(name) == value for name, value in given.items())


def _new_id() -> str:
    return f"req_{secrets.token_hex(8)}"
