"""How a session changes hands: taken over from another program, forked off it, begun anew from it, given back.

Rule 1: two programs that write into one session spoil it. Whether another one has it is looked at right before its agent is
started here, by the process itself, and again before that is told anything: whoever came meanwhile keeps it. One that has it can
be forked here, where its agent can, or waited for.
Rule 2: taken over or given back, it is the same session under the same id: its journal goes on, and nothing is in it twice. What
another program wrote is read before it is taken over; what was done here is not read again when it is followed.
Rule 3: what can be done, and what that does, is said before it is done.
Rule 4: where an agent cannot resume its own session without harm, a new one begins with what was said in the old one, of which a
copy is put aside first.
"""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from trunkline import discovery
from trunkline.adapters.summary import summary_of
from trunkline.agents import catalog
from trunkline.agents.catalog import AgentSpec
from trunkline.agents.process_table import start_time
from trunkline.dialects.elsewhere.hooks import hook_limit_s
from trunkline.discovery.base import AgentStore, FoundSession
from trunkline.discovery.processes import is_running
from trunkline.disk.reading import open_plain
from trunkline.errors import Invalid, NotFound, SessionInUse, StorageError, TooLarge, Unsupported
from trunkline.hub import Hub, NewSession
from trunkline.hub.drivers import read_past
from trunkline.hub.elsewhere import in_use_words
from trunkline.hub.shapes import HandoverView, Way
from trunkline.session.driver.elsewhere import FileEnd, waits_elsewhere

if TYPE_CHECKING:
    from trunkline.hub import Session

How = Literal["resume", "fork", "summary"]

KEPT: Final = "kept"
"""The folder, in the data folder, of copies that are put aside."""
KEPT_MOST: Final = 256 << 20
"""Bytes of a session's file that is copied."""
LOOK_S: Final = 1.0
"""How far apart it is looked whether a program that has a session still runs."""


class Handover:
    """The sessions of one agent."""

    def __init__(self, hub: Hub, spec: AgentSpec) -> None:
        self._hub = hub
        self._spec = spec

    async def view(self, session: Session) -> HandoverView:
        """Who has a session, and what can be done."""
        fold = session.fold
        command = self._spec.resume_command(fold.agent_session_id, fold.cwd)
        said = fold.turns > 0 and fold.agent_session_id is not None
        if fold.watches is None:
            return HandoverView(session_id=fold.session_id, here=True, running=False, resume_command=command if said else None,
                                can_give_back=said)
        found = await self._find(fold.agent_session_id or "")
        in_use = found is not None and found.in_use
        return HandoverView(
            session_id=fold.session_id, here=False, running=in_use, pid=found.pid if found is not None and in_use else None,
            ways=await self._ways(found), resume_command=command)

    async def wait(self, session: Session, seconds: float) -> None:
        """Return when the program that has a session open has ended, or the session is here; at the latest after that time."""
        found = await self._find(session.fold.agent_session_id or "")
        if found is None or found.pid is None or session.fold.watches is None:
            return
        began, until = await self._hub.lane.run(start_time, found.pid), time.monotonic() + seconds
        while session.fold.watches is not None and not self._hub.closing and time.monotonic() < until:
            if not await self._hub.lane.run(is_running, found.pid, "" if began is None else str(began)):
                return
            await asyncio.sleep(min(LOOK_S, max(0.0, until - time.monotonic())))

    async def take_over(self, session: Session, how: How, *, by: str) -> Session:
        """Go on here with a session that is followed: itself, a branch of it, or a new one that begins with what was said."""
        if how == "fork":
            return await self._hub.fork(session.id, by=by)
        async with self._hub.attach_lock(self._spec.name, session.fold.agent_session_id or ""):
            if how == "summary":
                return await self._begin_anew(session, by)
            await self.resume(session, by=by)
            return session

    async def resume(self, session: Session, *, by: str) -> None:
        """Go on with the very session; whoever calls holds the lock of attaching to it. What is here already stays so."""
        if session.fold.watches is None:
            return
        await self.check_before(session.fold.agent_session_id or "")
        await catalog.find_command(self._spec, self._hub.environ)
        await self._hub.take_over(session, lambda: self.check(session.fold.agent_session_id or ""), by=by)

    async def check_before(self, session_id: str) -> None:
        """The same as ``check``, and refuse what another agent of this hub has already: several speak for one program."""
        if self._hub.drives(session_id):
            raise SessionInUse("another session of this hub goes on with it: give that one back first",
                               details={"sessionId": session_id, "can": []})
        await self.check(session_id)

    async def check(self, session_id: str) -> None:
        """Refuse what must not be resumed here: because of its agent, or because another program has it."""
        if not await self._hub.lane.run(self._resumes):
            raise Unsupported(f"{self._spec.display_name} may delete a session that it is to resume; it can be followed, and "
                              "a new session can begin with what was said in it", details={"can": ["summary"]})
        found = await self._find(session_id)
        if found is None:
            raise NotFound(f"{self._spec.display_name} has no session {session_id} any more", details={"sessionId": session_id})
        if found.in_use:
            raise await self._in_use(found)

    async def give_back(self, session: Session, *, by: str) -> None:
        """End the agent here, and follow its session from now on by its file, where that can be read."""
        fold = session.fold
        if fold.watches is not None:
            return
        if fold.turns == 0 or fold.agent_session_id is None:
            raise Invalid("nothing was said in this session yet: there is nothing to go on with elsewhere")
        async with self._hub.attach_lock(self._spec.name, fold.agent_session_id):
            giving = session.lifecycle.give_back(lambda: self._hub.lane.run(self._end_of, fold.agent_session_id or ""), by=by)
            await asyncio.shield(asyncio.ensure_future(giving))  # whoever asked may leave: it is done whole

    async def _ways(self, found: FoundSession | None) -> list[Way]:
        name, can_fork = self._spec.display_name, await self._hub.can_fork(self._spec.name)
        if found is None:
            return [Way("resume", False, f"{name} has this session no more.")]
        if not await self._hub.lane.run(self._resumes):
            return [Way("summary", True, f"A new session begins with what was said in this one, as a first message. {name} may "
                                         "delete a session that it is to resume, so this one stays as it is, and a copy of its "
                                         "file is put into Trunkline's data folder first.")]
        fork = [Way("fork", True, "A branch with the conversation so far begins here. The other program keeps its own.")]
        if found.in_use:
            where = f"process {found.pid}" if found.pid is not None else "another program"
            return [Way("resume", False, f"It is open in {name} elsewhere ({where}). Two programs that write into one session "
                                         "spoil it: end it there, and it can be continued here."), *(fork if can_fork else [])]
        return [Way("resume", True, f"{name} goes on with this session here. Do not open it elsewhere meanwhile."),
                *(fork if can_fork else [])]

    async def _in_use(self, found: FoundSession) -> SessionInUse:
        can = ["fork", "wait"] if await self._hub.can_fork(self._spec.name) else ["wait"]
        return SessionInUse(f"{in_use_words(self._spec, found)}: end it there{', or fork it' if 'fork' in can else ''}",
                            details={"sessionId": found.id, "pid": found.pid, "can": can})

    async def _begin_anew(self, session: Session, by: str) -> Session:
        if await self._hub.lane.run(self._resumes):
            raise Unsupported(f"{self._spec.display_name} goes on with its own sessions; resume it", details={"can": ["resume"]})
        found = await self._find(session.fold.agent_session_id or "")
        if found is None:
            raise NotFound(f"{self._spec.display_name} has this session no more")
        kept, text = await self._hub.lane.run(self._put_aside, found)
        title = f"{session.fold.title or found.title} (continued)"[:200]
        begun = await self._hub.create(NewSession(agent=self._spec.name, cwd=found.cwd, title=title, prompt=text), by=by)
        await begun.note("continues", {"sessionId": session.id, "agentSessionId": found.id, "kept": kept}, by=by)
        await session.note("continued_in", {"sessionId": begun.id, "kept": kept}, by=by)
        return begun

    def _put_aside(self, found: FoundSession) -> tuple[str, str]:
        """Copy a session's file, before anything is started that may touch it; the copy's place, and what was said in it."""
        folder = self._hub.options.file(KEPT)
        if folder is None:
            raise Unsupported("this hub keeps no files, so that no copy of the session can be put aside first")
        path = _copied(found.path, folder, f"{self._spec.name}-{found.id}-{time.strftime('%Y%m%dT%H%M%S')}")
        reading, store = discovery.reading_of(self._spec.store), self._store()
        return path, summary_of(read_past(store, reading, found.id) if reading is not None and store is not None else [])

    async def _find(self, session_id: str) -> FoundSession | None:
        return await self._hub.elsewhere.find(self._spec, session_id)

    def _end_of(self, session_id: str) -> FileEnd | None:
        store, kind = self._store(), discovery.store_type(self._spec.store)
        found = store.find(session_id) if store is not None else None
        if found is None or kind is None:
            return None
        return FileEnd(found.path, *kind.ending(found.path, session_id), waits_elsewhere(hook_limit_s(self._spec.hooks)))

    def _resumes(self) -> bool:
        store = self._store()
        return store is None or store.resumes

    def _store(self) -> AgentStore | None:
        return self._hub.elsewhere.store(self._spec)


def _copied(path: str, folder: Path, name: str) -> str:
    place = folder / f"{name}{Path(path).suffix}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open_plain(path) as source, open(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy:
            if os.fstat(source.fileno()).st_size > KEPT_MOST:
                raise TooLarge(f"{path} is too large to be copied: more than {KEPT_MOST >> 20} MiB")
            while piece := source.read(1 << 20):
                copy.write(piece)
            copy.flush()
            os.fsync(copy.fileno())
    except OSError as error:
        raise StorageError(f"no copy of {path} could be put aside: {error.strerror}") from error
    return str(place)
