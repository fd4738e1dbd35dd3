"""Whether another program has a session open: by its agent's files and the processes that they name, as they are at that moment.

Rule 1: two programs that write into one session spoil it. An agent that comes back to its session is started only if nobody else
has it, whoever wants it started.
Rule 2: what this hub runs itself is nobody else. Some stores know only that a program works in the same folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from trunkline import discovery
from trunkline.agents import catalog
from trunkline.agents.catalog import AgentSpec
from trunkline.agents.pid_files import PidFiles
from trunkline.agents.process_table import parent_of
from trunkline.discovery.base import AgentStore, FoundSession, held_by
from trunkline.errors import SessionInUse
from trunkline.session.fold import Fold
from trunkline.threads import Lane

ANCESTORS_MOST: Final = 32
"""Processes above one that are looked at."""


class Elsewhere:
    """The sessions that agents have on this machine."""

    def __init__(self, agents: Mapping[str, AgentSpec], environ: Mapping[str, str], pids: PidFiles, lane: Lane) -> None:
        self._agents = agents
        self._environ = environ
        self._pids = pids
        self._lane = lane

    async def find(self, spec: AgentSpec, session_id: str) -> FoundSession | None:
        """What an agent's files say of a session, and who has it open; None where there is none such."""
        return await self._lane.run(self._look_for, spec, session_id)

    async def check_free(self, fold: Fold) -> None:
        """Refuse to start an agent on a session that another program has open. A branch leaves its source alone."""
        spec = self._agents.get(fold.agent)
        if spec is None or not spec.store or fold.watches is not None or fold.agent_session_id in (None, fold.fork_of):
            return
        found = await self.find(spec, fold.agent_session_id or "")
        if found is not None and found.in_use:
            raise SessionInUse(f"{in_use_words(spec, found)}: end it there, or give it back here, and it is followed",
                               details={"sessionId": found.id, "pid": found.pid, "can": ["wait"]})

    def store(self, spec: AgentSpec) -> AgentStore | None:
        """Where an agent keeps its sessions. It looks at the disk."""
        return discovery.store_of(spec.store, catalog.expand(spec.paths.sessions, self._environ))

    def _look_for(self, spec: AgentSpec, session_id: str) -> FoundSession | None:
        store = self.store(spec)
        found = store.find(session_id) if store is not None else None
        return found if found is None else without(found, [record.pid for record in self._pids.left_behind()])


def without(found: FoundSession, ours: Iterable[int]) -> FoundSession:
    """A session as others have it: who has it that is not one of these, nor was started by one."""
    if found.pid is None:
        return found
    above = frozenset(ours)
    return held_by(found, [pid for pid in (found.pid, *found.others) if not is_below(pid, above)])


def in_use_words(spec: AgentSpec, found: FoundSession) -> str:
    """Who has a session, and why that matters."""
    where = f"process {found.pid}" if found.pid is not None else "another program"
    return (f"this session is open in {spec.display_name} elsewhere ({where}), and two programs that write into one session "
            "spoil it")


def is_below(pid: int | None, above: Iterable[int]) -> bool:
    """Whether a process is one of these, or was started by one."""
    ours = frozenset(above)
    for _ in range(ANCESTORS_MOST):
        if pid is None or pid <= 1:
            return False
        if pid in ours:
            return True
        pid = parent_of(pid)
    return False
