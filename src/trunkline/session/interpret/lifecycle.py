"""The session as a whole: it starts, comes back, is held, goes on, and is over. Also where it runs, and news for people.

Rule 1: a session is ``completed`` when somebody ended it or its agent left in good order, never because a turn is over.
Rule 2: a summary says what the fold counted while the session ran; nothing in it is guessed.
Rule 3: the environment is emitted again only when something about it is new.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from trunkline import decoders
from trunkline.dialects.context.envelope import iso_ms
from trunkline.dialects.context.events import (
    EnvironmentInfoEvent,
    NotificationEvent,
    SessionCompletedEvent,
    SessionPausedEvent,
    SessionResumedEvent,
    SessionStartedEvent,
)
from trunkline.dialects.context.types import (
    EnvironmentAgent,
    EnvironmentContext,
    EnvironmentModel,
    EnvironmentProject,
    EnvironmentRuntime,
    FileChangeSummary,
    SessionStatus,
    SessionSummary,
    TokenUsage,
    to_raw,
)
from trunkline.dialects.outside import BROKEN
from trunkline.dialects.packets.notices import gap_packet
from trunkline.journal.gap import NAME as GAP
from trunkline.journal.gap import TAKEN_OVER
from trunkline.session.fold import Fold, Pause, Waits
from trunkline.session.fold.kept import Arrival
from trunkline.session.interpret.calls.tools import ToolInterpreter
from trunkline.session.interpret.text import TextInterpreter
from trunkline.session.interpret.usage import breakdown_of, other_costs
from trunkline.session.interpret.writer import Writer

UNKNOWN = "unknown"
"""For what the protocol demands and the agent did not report."""

AFRESH = "The agent started afresh"
LOST = "It could not bring its earlier session back and does not remember what was said before."
"""Of an agent that came back without its memory: in the journal, and by a face that cannot show that."""

MOVED = "session_moved"
"""The event that says that a session came from another hub."""

Level = Literal["info", "warning", "error", "success"]


class _AgentInfo(msgspec.Struct):
    name: str | None = None
    title: str | None = None
    version: str | None = None


class LifecycleInterpreter:
    """From the first entry of a session to its last."""

    def __init__(self, writer: Writer, text: TextInterpreter, tools: ToolInterpreter, *,
                 seal: Callable[[bytes], bytes] | None = None) -> None:
        """``seal`` puts an event into the chain of approvals."""
        self._seal = seal
        self._writer = writer
        self._text = text
        self._tools = tools

    def started(self, agent: str, model: str | None, cwd: str, environment: EnvironmentContext | None) -> None:
        """The agent is there, for the first time."""
        self._writer.add(SessionStartedEvent(
            agent=agent, project_path=cwd, project_name=name_of_folder(cwd), working_directory=cwd,
            model=model or msgspec.UNSET, environment=environment or msgspec.UNSET))
        if environment is not None:
            self.environment(environment)

    def resumed(self, previous: str | None, how: str, **more: Any) -> None:
        """The agent is there again; ``how`` it came to its session: resumed, loaded or new. ``more`` rides in ``_meta``."""
        fold = self._writer.fold
        if fold.watches is None:  # who writes a file that we follow was never gone
            self._tools.agent_gone()
        if fold.token_reports is not None:
            fold.token_reports = msgspec.structs.replace(fold.token_reports, began_anew=True)
        forgets = how == "new" and fold.turns > (fold.turn is not None)
        meta = {"how": how, **({"forgets": True} if forgets else {}), **more}
        self._writer.add(SessionResumedEvent(previous_session_id=previous or msgspec.UNSET, meta=meta))
        if forgets:
            self.notify("warning", AFRESH, LOST)

    def paused(self, reason: str | None, held: list[str], by: str) -> None:
        """Somebody holds the session; ``held`` names what stands still (``turn``, ``approvals``, ``queue``)."""
        since = iso_ms(self._writer.at)
        self._writer.fold.paused = Pause(since=since, by=by, reason=reason, held=held)
        self._writer.add(SessionPausedEvent(reason=reason or msgspec.UNSET, meta={"held": held, "by": by}))
        self._writer.status("paused", reason=reason or "paused", meta={"by": by})

    def lift_pause(self) -> None:
        """Nothing is held any more; that the session goes on (``unpaused``) or is over (``completed``) is written next."""
        self._writer.fold.paused = None

    def unpaused(self, by: str) -> None:
        """The session goes on where it was held."""
        self.lift_pause()
        self._writer.add(SessionResumedEvent(meta={"how": "unpaused", "by": by}))
        self._writer.status(standing(self._writer.fold), reason="resumed", meta={"by": by})

    def completed(self, reason: str, by: str) -> None:
        """The session is over: its turn has ended and its agent is gone, or is going. What is still open ends with it."""
        self._text.close()
        self._tools.close_all(cancelled=True)
        self._tools.agent_gone()
        self._writer.status("completed", reason=reason, meta={"by": by})
        self._writer.add(SessionCompletedEvent(
            summary=summary_of(self._writer.fold, self._writer.at),
            meta={"reason": reason, "by": by, **other_costs(self._writer.fold)}))

    def arrived(self, arrival: Arrival) -> None:
        """The session goes on at this hub. What was sealed before was sealed by another: the chain of approvals goes on from
        there, and this very entry is its first record here."""
        writer, fold = self._writer, self._writer.fold
        if arrival.hole:
            self._leave_out(arrival)
        data = {"from": arrival.came_from, "to": arrival.to, "epoch": arrival.epoch, "after": arrival.after,
                "chain": {"n": fold.chain.n, "head": fold.chain.head}}
        writer.custom(MOVED, data, meta={"by": arrival.by} if arrival.by else None, seal=self._seal)

    def _leave_out(self, arrival: Arrival) -> None:
        """A gap where the hub before may have written more: whoever has seen some of that stands in it, and meets it."""
        writer = self._writer
        first, last = arrival.after + 1, arrival.after + arrival.hole
        before = arrival.came_from
        what = (f"{arrival.to} took this session over from {before}, which could not be asked. What {before} alone has behind "
                f"entry {arrival.after}, if anything, is not part of it.")
        notice = {"sessionUpdate": "notice", "severity": "warning", "title": "Taken over", "description": what}
        writer.fold.seq = last - 1
        writer.custom(GAP, {"from": first, "to": last, "why": TAKEN_OVER, "message": what}, update=bytes(to_raw(notice)),
                      packet=gap_packet(first, last, what, writer.at))

    def tail_aside(self, epoch: int, node: str, entries: int) -> None:
        """The hub that had the session before is back, and has put aside what only it had; said once for each epoch."""
        fold = self._writer.fold
        if epoch in fold.asides:
            return
        fold.asides = [*fold.asides, epoch]
        self._writer.custom("session_tail_aside", {"node": node, "epoch": epoch, "entries": entries})

    def agent_left(self) -> None:
        """The agent is gone, and no turn runs: nothing more will come of what it left open."""
        self._text.close()
        self._tools.close_all(cancelled=False)
        self._tools.agent_gone()

    def own_turn_ended(self) -> None:
        """The agent has done what nobody asked it to. Where no turn runs, nothing more will come of what it left open."""
        if self._writer.fold.turn is None:
            self._text.close()
            self._tools.close_turn(cancelled=False)

    def followed_part_to(self, name: str, position: int) -> None:
        """The same of a file beside it."""
        self._writer.fold.watch_parts[name] = position

    def taken_over(self) -> None:
        """The agent is ours from now on: the file is followed no more. That it came is written when it has."""
        fold = self._writer.fold
        fold.watches, fold.ahead, fold.waits = None, None, Waits()

    def given_back(self, path: str, position: int, parts: Mapping[str, int], waits: Waits) -> None:
        """The agent is somebody else's from now on: the file is followed, from there on."""
        fold = self._writer.fold
        fold.watches, fold.watch_position, fold.waits = path, position, waits
        fold.watch_parts.clear()
        for name, taken in parts.items():
            fold.watch_parts[name] = taken

    def environment(self, environment: EnvironmentContext) -> None:
        """Where the session runs, and on what; nothing is written where that is known already."""
        if self._writer.fold.environment == environment:
            return
        self._writer.fold.environment = environment
        sandbox = self._writer.fold.sandbox
        meta = {"sandbox": msgspec.to_builtins(sandbox)} if sandbox is not None else msgspec.UNSET
        self._writer.add(EnvironmentInfoEvent(context=environment, meta=meta))

    def model(self, model: EnvironmentModel) -> None:
        """The agent works with this model now. Where no environment was emitted yet, there is only the model to report."""
        fold = self._writer.fold
        if fold.environment is not None:
            self.environment(msgspec.structs.replace(fold.environment, model=model))
        elif fold.model != model:
            self._writer.custom("model", model)
        fold.model = model

    def notify(self, level: Level, title: str, message: str, action_url: str | None = None,
               **meta: Any) -> None:
        """News for a person; no answer is expected."""
        self._writer.add(NotificationEvent(
            level=level, title=title, message=message, action_url=action_url or msgspec.UNSET, meta=meta or msgspec.UNSET))


def environment_of(fold: Fold, project: EnvironmentProject, runtime: EnvironmentRuntime) -> EnvironmentContext:
    """The session's environment: what the agent says of itself and its model, and what was found around it."""
    try:
        info = decoders.decode(fold.agent_info, _AgentInfo | None) or _AgentInfo()
    except BROKEN:
        info = _AgentInfo()
    agent = EnvironmentAgent(name=fold.agent, version=info.version or UNKNOWN, display_name=info.title or info.name or fold.agent)
    return EnvironmentContext(agent=agent, model=fold.model or EnvironmentModel(id=UNKNOWN), project=project, runtime=runtime)


def standing(fold: Fold) -> SessionStatus:
    """The status that follows from what is open: asks first, then the turn, then how the last one ended."""
    if fold.approvals:
        return "waiting_for_approval"
    if fold.questions:
        return "waiting_for_input"
    if fold.turn is not None:
        return "running"
    return "error" if fold.failed is not None else "idle"


def summary_of(fold: Fold, at: int) -> SessionSummary:
    """What the session came to by now."""
    cost = fold.cost
    return SessionSummary(
        files_changed=[FileChangeSummary(path=path, change_type=tally.change_type, lines_added=tally.lines_added,
                                         lines_removed=tally.lines_removed) for path, tally in fold.files.items()],
        token_usage=fold.tokens or TokenUsage(input_tokens=0, output_tokens=0),
        cost=msgspec.UNSET if cost is None else breakdown_of(cost),
        duration=(at - fold.created_at) // 1000, tool_calls_count=fold.tool_calls, messages_count=fold.messages,
        error_count=fold.errors,
    )


def name_of_folder(path: str) -> str:
    """What people call a project: its folder."""
    return path.rstrip("/").rsplit("/", 1)[-1] or path
