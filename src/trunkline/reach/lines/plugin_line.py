"""The line of a plugin of ours: one program in a terminal, with the sessions that it has.

Rule 1: a session that the program shows, works on or asks about is followed, and has this line. What its sub-agents ask is asked
in the session that they work for; what they say is in nobody's journal.
Rule 2: which sessions a program has is known from here on, by its process: nobody has to guess (``discovery/told.py``).
Rule 3: an ask is about the call that the program has stored, which is waited for a moment: the plugin's word is a part of it.
Models name their calls, and use names again: a call that has ended, or that another session has, is not the one.
Rule 4: a line that ends takes its asks with it. It says whether the program has ended, or only hung up.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from trunkline import discovery
from trunkline.agents import catalog
from trunkline.agents.catalog import AgentSpec
from trunkline.dialects.elsewhere.lines import AskOver, Asks, LineEvent, NotTaken
from trunkline.dialects.elsewhere.plugins import Asked, InSession, PluginDialect, PluginEvent, Shows, Stored, Works
from trunkline.dialects.outside import BROKEN
from trunkline.discovery.base import HasParts
from trunkline.discovery.processes import is_running
from trunkline.discovery.told import TOLD
from trunkline.errors import Unavailable
from trunkline.hub import Hub
from trunkline.reach.ending import GONE
from trunkline.reach.lines.live import LOST, LiveLine
from trunkline.reach.sessions import TerminalSessions
from trunkline.reach.socket import Wire
from trunkline.session.driver.elsewhere import Answered, Decided
from trunkline.threads import Lane

if TYPE_CHECKING:
    from trunkline.hub import Session

JOIN_S: Final = 1.0
"""How long it is waited for the call that an ask is about; the program stores it as it asks."""
JOIN_LOOK_S: Final = 0.05
GOING_S: Final = 3.0
"""How long a program may take to end behind its line."""
SESSIONS_MOST: Final = 64
"""Sessions of one program that have its line; the one that was spoken of longest ago loses it."""
EVENTS_MOST: Final = 10_000
"""What a plugin may tell before it is taken; one that tells more is hung up on, and comes back."""
TOLD_BYTES: Final = 32 << 20
"""The same in bytes, of all its sessions together."""

log = logging.getLogger("trunkline.reach")

Event = Asked | LineEvent | Works


class PluginLine:
    """One plugin's line."""

    def __init__(self, hub: Hub, spec: AgentSpec, dialect: PluginDialect, pid: int, wire: Wire, sessions: TerminalSessions,
                 lane: Lane) -> None:
        self._hub = hub
        self._spec = spec
        self._dialect = dialect
        self._pid = pid
        self._wire = wire
        self._found = sessions
        self._lane = lane
        self._open: dict[str, _OfSession] = {}
        """What has the line, by the program's ids; the one that was spoken of last is last."""
        self._roots: dict[str, str] = {}
        self._shown = ""
        self._turns: dict[str, _OfSession] = {}
        """Prompts that were sent, by their turns."""
        self._untaken = _Untaken()

    async def serve(self) -> None:
        """Take all that it tells, until it ends."""
        why = LOST
        try:
            async for line in self._wire.lines():
                self._untaken.size = len(line)
                for event in self._dialect.read(line):
                    if not await self._take(event):
                        return
            why = await self._why()
        finally:
            await self._end(why)

    async def _take(self, event: PluginEvent) -> bool:
        match event:
            case Shows():
                self._shown = event.session_id
                self._tell_processes()
                return not event.session_id or (await self._of(event.session_id))[0].take(None)
            case InSession():
                session, is_root = await self._of(event.session_id)
                is_taken = session.take(event.event) if is_root else session.take_of_sub_agent(event.event)
                self._tell_processes()
                return is_taken
            case NotTaken():
                sent = self._turns.pop(event.turn_id, None)
                return sent is None or sent.take(event)

    async def _of(self, session_id: str) -> tuple[_OfSession, bool]:
        """What takes what is about that session; and whether it is about no sub-agent of it."""
        root = await self._root_of(session_id)
        known = self._open.pop(root, None)
        if known is None:
            if len(self._open) >= SESSIONS_MOST:
                await self._open.pop(next(iter(self._open))).close(LOST)
            known = _OfSession(self._dialect, root, self._wire, self._join, self._remember, self._untaken)
        self._open[root] = known
        return known, root == session_id

    async def _join(self, of: _OfSession) -> LiveLine | None:
        session = await self._found.find(self._spec, of.session_id)
        return None if session is None else LiveLine(self._hub, session, of)

    def _remember(self, turn_id: str, of: _OfSession) -> None:
        self._turns[turn_id] = of
        if len(self._turns) > SESSIONS_MOST:
            del self._turns[next(iter(self._turns))]

    async def _root_of(self, session_id: str) -> str:
        """The session that a sub-agent works for; itself for any other."""
        if session_id not in self._roots:
            try:
                found = await self._lane.run(self._look_for_root, session_id)
            except Unavailable:
                return session_id
            if found is None:
                return session_id  # it is not stored yet
            if len(self._roots) >= SESSIONS_MOST * 4:
                self._roots.clear()
            self._roots[session_id] = found
        return self._roots[session_id]

    def _look_for_root(self, session_id: str) -> str | None:
        store: object = discovery.store_of(self._spec.store, catalog.expand(self._spec.paths.sessions, self._hub.environ))
        return store.root_of(session_id) if isinstance(store, HasParts) else session_id

    def _tell_processes(self) -> None:
        """A session is a program's that shows it, or works on it."""
        TOLD.has(self._pid, {self._shown, *(each.session_id for each in self._open.values() if each.is_busy)} - {""})

    async def _why(self) -> str:
        """Why it has hung up: mostly since the program is going, which takes it a moment."""
        TOLD.forget(self._pid)
        for _ in range(int(GOING_S / JOIN_LOOK_S) if self._open and self._pid else 0):
            if not is_running(self._pid):
                return GONE
            await asyncio.sleep(JOIN_LOOK_S)
        return LOST

    async def _end(self, why: str) -> None:
        TOLD.forget(self._pid)
        await asyncio.gather(*(each.close(why) for each in self._open.values()))


Join = Callable[["_OfSession"], Awaitable["LiveLine | None"]]
"""Follow the session, and give it the line."""


class _Untaken:
    """What a plugin told and nobody has taken yet."""

    def __init__(self) -> None:
        self.size = 0
        """Bytes of the line that is read now; each thing that it tells counts as all of it."""
        self.bytes = 0


class _OfSession:
    """One session's share of the line. Implements ``live.Program``."""

    def __init__(self, dialect: PluginDialect, session_id: str, wire: Wire, join: Join,
                 remember: Callable[[str, _OfSession], None], untaken: _Untaken) -> None:
        self.session_id = session_id
        self.is_busy = False
        self._dialect = dialect
        self._wire = wire
        self._join = join
        self._remember = remember
        self._asked: dict[str, Asked] = {}
        self._untaken = untaken
        self._events: asyncio.Queue[tuple[Event | None, int]] = asyncio.Queue(EVENTS_MOST)
        """Each with its size."""
        self._line: LiveLine | None = None
        self._task = asyncio.get_running_loop().create_task(self._run())

    def take(self, event: Event | None) -> bool:
        """The program told this; None: that it has the session. False: it told too much."""
        if isinstance(event, Works):
            self.is_busy = event.is_busy
        elif isinstance(event, AskOver):
            self._asked.pop(event.key, None)
        size = self._untaken.size
        if self._events.full() or self._untaken.bytes + size > TOLD_BYTES:
            return False
        self._untaken.bytes += size
        self._events.put_nowait((event, size))
        return True

    def take_of_sub_agent(self, event: Event) -> bool:
        """The same of what a sub-agent told: only what it asks counts. Its calls are not in this session."""
        if isinstance(event, Asked):
            return self.take(msgspec.structs.replace(event, call_id=""))
        return not isinstance(event, AskOver) or self.take(event)

    async def close(self, why: str) -> None:
        """The line has ended."""
        self._task.cancel()
        await asyncio.wait((self._task,))
        self._drop_all()
        if self._line is not None:
            await self._line.close(why)

    async def _run(self) -> None:
        while True:
            event, size = await self._events.get()
            self._untaken.bytes -= size
            try:
                self._line = self._line or await self._join(self)
                if self._line is None:
                    self._drop_all()
                else:
                    await self._hand_over(self._line, event)
            except Exception:  # the line's boundary: what was not taken is in the store a moment later, or is asked there
                log.exception("what a plugin told could not be taken")

    async def _hand_over(self, line: LiveLine, event: Event | None) -> None:
        if isinstance(event, Asked):
            await self._ask(line, event)
        elif isinstance(event, Works):
            line.session.agent.look_again()
        elif event is not None:
            line.take(event)

    def _drop_all(self) -> None:
        """Nobody here listens: there is no such session, the hub runs it itself, or the line has ended."""
        while not self._events.empty():
            self._untaken.bytes -= self._events.get_nowait()[1]

    async def _ask(self, line: LiveLine, asked: Asked) -> None:
        stored = await _stored(line.session, asked.call_id) if asked.call_id else None
        self._asked[asked.key] = asked
        is_new = stored is not None or asked.call_id not in line.session.fold.calls
        line.take(Asks(asked.key, self._dialect.ask(asked, asked.call_id if asked.call_id and is_new else asked.key, stored)))

    def decided(self, key: str, decided: Decided) -> str:
        """Answer an ask."""
        self._asked.pop(key, None)
        self._wire.send(self._dialect.decided(key, decided.option_id, decided.reason))
        return ""

    def answered(self, key: str, answered: Answered) -> None:
        """Answer a question."""
        asked = self._asked.pop(key, None)
        if asked is not None:
            self._wire.send(self._dialect.answered(asked, answered.action, answered.content))

    def check_prompt(self, blocks: Sequence[msgspec.Raw]) -> None:
        """Raise Unsupported for a block that the program does not take."""
        self._dialect.check_prompt(blocks)

    def prompt(self, turn_id: str, blocks: Sequence[msgspec.Raw]) -> None:
        """Send a prompt."""
        self._remember(turn_id, self)
        self._wire.send(self._dialect.prompt(self.session_id, turn_id, blocks))

    def cancel(self) -> None:
        """End the turn."""
        self._wire.send(self._dialect.cancel(self.session_id))


async def _stored(session: Session, call_id: str) -> Stored | None:
    """The call as its program has stored it; None where it is not there in time. One that has ended is an older one."""
    for left in range(int(JOIN_S / JOIN_LOOK_S), -1, -1):
        known = session.fold.calls.get(call_id)
        given = _object(known.state.raw_input) if known is not None and not known.finished else None
        if known is not None and given is not None:
            return known.state.name or known.state.title, given
        if left:
            session.agent.look_again()
            await asyncio.sleep(JOIN_LOOK_S)
    return None


def _object(raw: bytes | None) -> dict[str, Any] | None:
    try:
        value = msgspec.json.decode(raw or b"null")
    except BROKEN:
        return None
    return value if isinstance(value, dict) else None
