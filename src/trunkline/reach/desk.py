"""What programs in terminals ask becomes an approval or a question of their session here; the first answer wins.

Rule 1: an ask takes the way of every other: the same reading of the call, risk, rules, approvals, journal. Only its answer goes
to a hook. A rule that denies answers at once; one that allows only where the person wants that, and no other hook decides.
Rule 2: no opinion is the answer to all that goes wrong, and to what nobody answers here.
Rule 3: an ask ends in one of four ways: answered here, allowed in the terminal, not allowed there, its program gone. Its card
says which. Whatever is answered later does nothing.
Rule 4: a program whose hook hides its own prompt is left to its person while that one is there: only rules answer it, at once.
Whoever comes back while it is asked here has the prompt in the terminal again.
Rule 5: hooks that were taken out are not answered: a program may call what it read when it started.
Rule 6: a session that asks is followed by its file from then on, as if somebody had attached to it. One that the hub runs itself
asks its own driver, and is left alone here.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from typing import TYPE_CHECKING, Any, Final

import msgspec

from trunkline import discovery
from trunkline.agents import catalog
from trunkline.agents.catalog import AgentSpec
from trunkline.dialects.elsewhere.hooks import NO_OPINION, HookCall, HookDialect, hook_dialect
from trunkline.dialects.elsewhere.plugins import plugin_dialect
from trunkline.dialects.outside import BROKEN, Json
from trunkline.dialects.signals import AskWithdrawn, PermissionAsk, Signal
from trunkline.discovery.base import AgentStore
from trunkline.discovery.processes import idle_seconds
from trunkline.errors import Unavailable
from trunkline.hub import Hub
from trunkline.reach.ending import Program, went_on
from trunkline.reach.foreign import others_decide
from trunkline.reach.install import is_installed
from trunkline.reach.lines.plugin_line import PluginLine
from trunkline.reach.notices import waits_there
from trunkline.reach.sessions import WAIT_S, TerminalSessions
from trunkline.reach.socket import Call, Gone, Wire
from trunkline.reach.there import AsksThere
from trunkline.session.driver.elsewhere import Answered, Decided
from trunkline.threads import Lane

if TYPE_CHECKING:
    from trunkline.hub import Session

BY: Final = "hook"
"""Who attached, in the journal."""
JOIN_S: Final = 1.0
"""How long it is looked for the call that an ask is about; the program writes it down right before it asks."""
JOIN_LOOK_S: Final = 0.05
HERE_S: Final = 2.0
"""How long the session of an ask is looked for while somebody sits at a terminal whose prompt waits for that."""
HOOK_S: Final = 0.5
"""How long a program may take to end its hook after somebody said no in its terminal."""
BACK_LOOK_S: Final = 0.5
"""How far apart it is looked whether the person is back, while a prompt is hidden."""
BACK: Final = "you are back: it asks in its terminal"
FOLLOWING_MOST: Final = 32
"""Sessions that are being attached to because they were prompted."""
READ_ON_LOOP: Final = 64 << 10
"""Bytes of a call that are decoded on the loop; more takes long enough to be somebody else's."""

log = logging.getLogger("trunkline.reach")


class _Open:
    """An ask that waits."""

    def __init__(self, request_id: str, session: Session, call: HookCall, call_id: str, pid: int) -> None:
        self.request_id = request_id
        self.session = session
        self.call = call
        self.call_id = call_id
        self.pid = pid
        loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[Decided | Answered] = loop.create_future()
        self.over: asyncio.Future[AskWithdrawn] = loop.create_future()

    def answered(self, answer: Decided | Answered) -> None:
        """It was answered here, or nobody will."""
        if not self.answer.done():
            self.answer.set_result(answer)

    def end(self, ending: AskWithdrawn) -> None:
        """It was answered there."""
        if not self.over.done():
            self.over.set_result(ending)

    def is_done(self) -> bool:
        """Whether its call has ended, by the session's own file."""
        call = self.session.fold.calls.get(self.call_id)
        return call is not None and call.finished

    def has_run(self) -> bool:
        """Whether it did what it was to do: somebody must have allowed it."""
        call = self.session.fold.calls.get(self.call_id)
        return call is not None and call.finished and call.state.status != "failed"


class TerminalDesk:
    """Serves the hooks of one hub."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._open: dict[str, _Open] = {}
        self._sessions = TerminalSessions(hub, BY)
        self._following: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._held: dict[Wire, AgentSpec] = {}
        """The lines of plugins that are open."""
        self._lane = Lane()
        self._there = AsksThere(hub, self._sessions.find, self._program, self._lane)

    async def close(self) -> None:
        """Attach to nothing any more; who calls is hung up on by the door."""
        for task in self._following.values():
            task.cancel()
        await asyncio.gather(*self._following.values(), return_exceptions=True)
        await self._there.close()

    async def take(self, call: Call, gone: Gone) -> bytes:
        """Serve one call of a hook."""
        spec = self._hub.agents[call.agent] if call.agent in self._hub.agents else None
        dialect = hook_dialect(spec.hooks) if spec is not None else None
        if spec is None or dialect is None or not await self._is_installed(spec):
            return NO_OPINION
        read = dialect.read(call.body) if len(call.body) <= READ_ON_LOOP else await self._lane.run(dialect.read, call.body)
        if read is None:
            return NO_OPINION
        match call.kind, read.does:
            case "ask", "asks":
                return await self._ask(spec, dialect, read, call, gone)
            case "check", "checks":
                return await self._there.check(spec, dialect, read, len(call.body))
            case "report", "asks_there":
                self._there.asked(spec, dialect, read, call.pid)
            case "report", "goes_on" | "waits":
                self._on_report(spec, read, call.pid)
        return NO_OPINION

    async def hold(self, call: Call, wire: Wire) -> None:
        """Serve the line of a plugin."""
        spec = self._hub.agents[call.agent] if call.agent in self._hub.agents else None
        dialect = plugin_dialect(spec.hooks) if spec is not None else None
        if spec is None or dialect is None or not await self._is_installed(spec):
            return
        self._held[wire] = spec
        try:
            await PluginLine(self._hub, spec, dialect, call.pid, wire, self._sessions, self._lane).serve()
        finally:
            del self._held[wire]

    async def look(self) -> None:
        """Hang up on plugins that were taken out meanwhile."""
        for wire, spec in list(self._held.items()):
            if not await self._is_installed(spec):
                wire.hang_up()

    async def _ask(self, spec: AgentSpec, dialect: HookDialect, call: HookCall, by: Call, gone: Gone) -> bytes:
        only_rules = not dialect.races and not await self._is_away(by.pid)
        if not only_rules:
            by.waits()
        session = await self._sessions.find(spec, call.session_id, HERE_S if only_rules else WAIT_S)
        if session is None:
            return NO_OPINION
        request_id = f"req_{secrets.token_hex(8)}"
        call_id = await self._call_in(session, call) or request_id
        ask = dialect.ask(call, request_id, call_id)
        if isinstance(ask, PermissionAsk):
            allow = await self._rules_allow(spec, dialect, call, by.pid)
            ask = msgspec.structs.replace(ask, rules_allow=allow, only_rules=only_rules)
        if gone.done() or (only_rules and not isinstance(ask, PermissionAsk)):
            return NO_OPINION
        self._go_on(session.id, by.pid, call.part)
        back = asyncio.ensure_future(_never() if dialect.races or only_rules else self._comes_back(by.pid))
        try:
            answer = await self._wait(_Open(request_id, session, call, call_id, by.pid), ask, spec, gone, back)
        finally:
            back.cancel()
        match answer:
            case Decided():
                return dialect.decided(call, answer.option_id, answer.reason, answer.edited)
            case Answered():
                return dialect.answered(call, answer.action, answer.content)
        return NO_OPINION

    async def _wait(self, waiting: _Open, ask: Signal, spec: AgentSpec, gone: Gone, back: Gone) -> Decided | Answered | None:
        """Put it before people, and wait for the first answer, here or there; None where it was there, or is to be given there
        because the person is ``back``."""
        request_id, program = waiting.request_id, self._program(spec, waiting.pid)
        self._open[request_id] = waiting
        self._hub.asks_elsewhere.open(request_id, waiting.answered)
        watching = asyncio.create_task(program.stopped_waiting(request_id, waiting.is_done))
        try:
            waiting.session.agent.on_signals([ask])
            await asyncio.wait((waiting.answer, waiting.over, watching, gone, back), return_when=asyncio.FIRST_COMPLETED)
            if waiting.answer.done():
                return waiting.answer.result()
            if back.done() and not (watching.done() or gone.done()):
                waiting.end(AskWithdrawn(request_id, by="agent", reason=BACK))
            ending = waiting.over.result() if waiting.over.done() else await _ending(waiting, program, watching, gone)
            waiting.session.agent.on_signals([ending])
            return None
        finally:
            watching.cancel()
            self._open.pop(request_id, None)
            self._hub.asks_elsewhere.close(request_id)

    def _on_report(self, spec: AgentSpec, call: HookCall, pid: int) -> None:
        key = spec.name, call.session_id
        if call.does == "goes_on":
            self._there.go_on(key, call)
        if key not in self._following and len(self._following) < FOLLOWING_MOST:
            task = self._following[key] = asyncio.create_task(self._reported(spec, call, pid, frozenset(self._open)))
            task.add_done_callback(lambda _: self._following.pop(key, None))

    async def _reported(self, spec: AgentSpec, call: HookCall, pid: int, before: frozenset[str]) -> None:
        """The work went on, or waits: have the session followed, and what was asked ``before`` ended. To have it followed takes a
        moment, and the next ask may come meanwhile."""
        session = await self._sessions.find(spec, call.session_id)
        if session is None:
            return
        if call.does == "goes_on":
            self._go_on(session.id, pid, call.part if call.of_part else None, asked=before)
            session.agent.look_again()
        elif not any(waiting.session is session for waiting in self._open.values()):
            session.agent.on_signals([waits_there(spec, call.message)])

    def _go_on(self, session_id: str, pid: int, part: str | None = None, asked: frozenset[str] | None = None) -> None:
        """The session went on in that process, or that part of it: what it had asked before is over; ``asked``: only those of
        these. Another process may have the same session, and what it asks still waits there."""
        for waiting in list(self._open.values()):
            is_meant = waiting.session.id == session_id and waiting.pid == pid and part in (None, waiting.call.part)
            if is_meant and (asked is None or waiting.request_id in asked):
                waiting.end(went_on(waiting.request_id))

    async def _is_installed(self, spec: AgentSpec) -> bool:
        return await self._lane.run(is_installed, self._hub.options.data, spec.name)

    async def _is_away(self, pid: int) -> bool:
        """Whether nobody sits at the terminal that asks: somebody said so, or no key was pressed there for as long as the setting
        says."""
        if self._hub.away.is_away:
            return True
        after_s = self._hub.options.away_after
        if not after_s or not pid:
            return False
        try:
            idle_s = await self._lane.run(idle_seconds, pid)
        except Unavailable:
            return False
        return idle_s is not None and idle_s >= after_s

    async def _comes_back(self, pid: int) -> None:
        """Return when somebody sits at the terminal again."""
        is_away = True
        while is_away:  # a terminal's device tells nobody that a key was pressed
            await asyncio.sleep(BACK_LOOK_S)
            is_away = await self._is_away(pid)

    async def _call_in(self, session: Session, call: HookCall) -> str | None:
        """The id of the call that is asked about, in the session's files; None where it is not found there in time."""
        looked: dict[str, bytes | None] = {}
        for left in range(int(JOIN_S / JOIN_LOOK_S), -1, -1):
            for call_id, raw in _free_calls(session, call.tool):
                if looked.get(call_id, b"") is not raw and await self._has(raw, call.given):
                    return call_id
                looked[call_id] = raw
            if left:
                session.agent.look_again()
                await asyncio.sleep(JOIN_LOOK_S)
        return None

    async def _has(self, raw: bytes | None, given: Json) -> bool:
        """Whether a call's input is what is asked about. Others have their turn meanwhile: there may be very many calls."""
        if len(raw or b"") > READ_ON_LOOP:
            return await self._lane.run(_asks, raw, given)
        await asyncio.sleep(0)
        return _asks(raw, given)

    async def _rules_allow(self, spec: AgentSpec, dialect: HookDialect, call: HookCall, pid: int) -> bool:
        """Whether rules may allow what is asked: where the person wants that, and no hook of somebody else's decides, too."""
        if not self._hub.options.terminal_rules:
            return False
        return not await others_decide(self._hub, self._lane, spec, dialect, call.cwd, pid)

    def _program(self, spec: AgentSpec, pid: int) -> Program:
        return Program(pid, lambda: self._store(spec), self._lane)

    def _store(self, spec: AgentSpec) -> AgentStore | None:
        return discovery.store_of(spec.store, catalog.expand(spec.paths.sessions, self._hub.environ))


async def _never() -> None:
    """Nobody is waited for."""
    await asyncio.get_running_loop().create_future()


async def _ending(waiting: _Open, program: Program, watching: asyncio.Task[AskWithdrawn], gone: Gone) -> AskWithdrawn:
    """How it ended there. A no ends the work and the hook, in either order: what seems to be a yes is one if the hook stays."""
    if watching.done() and watching.result().approved and not waiting.has_run():
        await asyncio.wait((gone,), timeout=HOOK_S)
    return await program.hook_ended(waiting.request_id) if gone.done() and not waiting.has_run() else await watching


def _free_calls(session: Session, tool: str) -> list[tuple[str, bytes | None]]:
    """The calls of a tool that run and that nobody has asked about, with their inputs."""
    asked = {view.tool_call_id for view in session.fold.approvals.values()}
    return [(call_id, known.state.raw_input) for call_id, known in session.fold.calls.items()
            if not known.finished and call_id not in asked and known.state.name in ("", None, tool)]


def _asks(raw: bytes | None, given: Json) -> bool:
    """Whether a call's input has all that is asked about; some programs leave out of the ask what changes nothing."""
    known = _input(raw)
    return known == given or (bool(given) and isinstance(known, dict) and given.items() <= known.items())


def _input(raw: bytes | None) -> Any:
    try:
        return msgspec.json.decode(raw or b"null")
    except BROKEN:
        return None
