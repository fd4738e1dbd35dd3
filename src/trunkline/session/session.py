"""One live session: the agent's signals and the clients' acts meet here and become entries.

What others may do with it, by name:

    turns       prompts sent, changed, taken back; cancel, pause, resume, terminate
    approvals   approvals decided, questions answered            rules       what rules would answer here
    settings    mode, options, limits, permission policy         agent       what the driver delivers, and what it is served
    lifecycle   the hub's: open, adopt, watch, recover, rest, close

Rule 1: single writer. Everything runs on the hub's loop; signals arrive by plain calls, acts by coroutines, and both write
through the one interpreter, so entries are numbered in the order in which things happened.
Rule 2: commit, then act. A prompt or a decision goes to the agent, and its acknowledgement to the client, after its entry
is in the journal.
Rule 3: a part is made with what it needs, in the order of this file; no part is given anything later.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from trunkline.agents.sandbox import Confine
from trunkline.dialects.context.commands import Command
from trunkline.errors import NotFound, StorageError, TrunklineError
from trunkline.feeds.session import Feed
from trunkline.session.admission import Admission
from trunkline.session.agent import AgentSide
from trunkline.session.approvals.approvals import Approvals
from trunkline.session.approvals.decisions import Decisions
from trunkline.session.approvals.gatekeeper import Gatekeeper
from trunkline.session.approvals.grants import Grants
from trunkline.session.approvals.session_rules import SessionRules
from trunkline.session.background import BackgroundTasks
from trunkline.session.client.editors import Editors
from trunkline.session.client.permits import Permits
from trunkline.session.commands.execute import CommandDesk, CommandOutcome
from trunkline.session.commands.refused import RefusedCommands
from trunkline.session.commands.requests import check_title
from trunkline.session.commands.slash import offered_commands
from trunkline.session.deadlines import Alarms, SilenceWatch
from trunkline.session.driver.base import Driver
from trunkline.session.driver.line import LineEnd
from trunkline.session.driver.link import AgentLink
from trunkline.session.driver.live_text import LiveText
from trunkline.session.driver.watch import Watched
from trunkline.session.fold import Artifact, Fold, SessionView
from trunkline.session.intake.intake import Intake
from trunkline.session.intake.read_ahead import ReadAhead
from trunkline.session.lifecycle import Lifecycle
from trunkline.session.recorder import Recorder
from trunkline.session.restore.reload import stored_view
from trunkline.session.services import Services
from trunkline.session.settings import SessionSettings
from trunkline.session.turns.elsewhere import PromptsElsewhere, TurnsElsewhere
from trunkline.session.turns.hold import Hold
from trunkline.session.turns.prompts import PromptsHere
from trunkline.session.turns.spending import Spending
from trunkline.session.turns.turn import TurnPlayer
from trunkline.session.turns.turns import Turns
from trunkline.session.workspace.artifacts import ArtifactFinder
from trunkline.session.workspace.files import AgentsWorkspace, Workspace
from trunkline.threads import Lane


class Session:
    """One session of the hub. Its state is ``fold``; its history is ``feed``."""

    def __init__(self, fold: Fold, services: Services, make_driver: Callable[[Session], Driver]) -> None:
        self.id = fold.session_id
        self.fold = fold
        self.env: dict[str, str] = {}
        """Variables that came with the session's start; in memory only."""
        self.workspace = Workspace([fold.cwd], services.guarded)
        self.editors = Editors(fold)
        """Who of those that send prompts serves files and terminals."""
        self._services = services
        self._admission = Admission(fold)
        alarms, background, watch = Alarms(), BackgroundTasks(), SilenceWatch(fold.waits_for_person)
        recorder = self._recorder = Recorder(fold, services, alarms)
        inside = AgentsWorkspace(self.workspace, partial(services.hider, fold, self.env))
        link = AgentLink(recorder, partial(make_driver, self), services.pids, inside, partial(services.check_free, fold))
        gate, grants = Gatekeeper(fold, services.policies, services.clock, inside), Grants(recorder, inside)
        approvals = Approvals(recorder, link, alarms, background, watch, gate, grants, services.limits.approval_timeout)
        finder = ArtifactFinder(recorder, fold.cwd, self.workspace.lane, services.preview_url, services.clock, services.makers)
        player = TurnPlayer(recorder, link, approvals, finder, alarms, background, watch, services)
        hold = Hold(recorder, link, approvals, background, player)
        spending = Spending(recorder, alarms, hold, player, services.new_id)
        reading = ReadAhead(cwd=fold.cwd, roots=(fold.cwd,), home=services.home, names=services.tool_names(fold.agent))
        intake = Intake(recorder, approvals, inside, reading, spending.on_written, player.answered)
        permits = Permits(recorder, approvals, gate, inside, services.new_id, reading, grants, intake.settled)
        line, live = LineEnd(recorder), LiveText(recorder)
        elsewhere = PromptsElsewhere(recorder, line, alarms, background, services.new_id)
        self.agent = AgentSide(
            recorder, link, workspace=inside, reading=reading, permits=permits, intake=intake, player=player, finder=finder,
            gate=gate, watch=watch, background=background,
            watched=Watched(recorder, services.new_id, live, elsewhere), live=live, line=line, not_taken=elsewhere.not_taken)
        self.lifecycle = Lifecycle(
            recorder, link, admission=self._admission, env=self.env, finder=finder, player=player, hold=hold, spending=spending,
            approvals=approvals, intake=intake, background=background, alarms=alarms, line=line)
        self.rules = SessionRules(fold, approvals, gate, self._admission)
        self._finder = finder
        self._turns = Turns(PromptsHere(recorder, link, player, services.new_id), player, hold, self._admission)
        self._turns_elsewhere = TurnsElsewhere(elsewhere, recorder, self._admission)
        self._decisions = Decisions(recorder, approvals, gate, self.rules, spending)
        self._settings = SessionSettings(recorder, link, approvals, player, hold, spending)
        self._refused = RefusedCommands(recorder.note, services.clock)
        self._desk = CommandDesk(self, recorder)

    @property
    def turns(self) -> Turns | TurnsElsewhere:
        """Prompts and turns; refused where the session is closed or only watched."""
        if self._admission.has_line:
            return self._turns_elsewhere
        self._admission.check_driven()
        return self._turns

    @property
    def approvals(self) -> Decisions:
        """Decisions and answers; refused where the session is closed, or is watched and nothing was asked in it."""
        self._admission.check_answered()
        return self._decisions

    @property
    def settings(self) -> SessionSettings:
        """What can be set; refused where the session is closed or only watched."""
        self._admission.check_driven()
        return self._settings

    @property
    def feed(self) -> Feed:
        """The committed entries."""
        return self._recorder.feed

    @property
    def roots(self) -> tuple[str, ...]:
        """The folders that the session may touch."""
        return self.workspace.roots

    @property
    def lane(self) -> Lane:
        """Where work for it is done that may wait for a disk."""
        return self.workspace.lane

    @property
    def confine(self) -> Confine:
        """Whatever is run for this session passes it: its sandbox, where it has one."""
        return self._services.confine(self.fold, self.env)

    @property
    def busy(self) -> bool:
        """Whether a turn of ours runs or somebody is waited for."""
        if self.fold.watches is not None:
            return bool(self.fold.approvals or self.fold.questions)
        return self.fold.turn is not None or bool(self.fold.approvals)

    def view(self) -> SessionView:
        """The state as clients see it, beside the last entry that readers can have."""
        view = self._recorder.view()
        view.last_seq, view.node = self.feed.last_seq, self._services.node
        return view

    async def snapshot(self) -> SessionView:
        """State and position copied in one step, given once the position is committed: entries after it are news. While nothing
        can be stored, the state that is stored. ClusterUnavailable as for ``Recorder.stored_soon``."""
        view = self._recorder.view()
        try:
            await self._recorder.stored_soon()
        except StorageError:
            view = await stored_view(self._services.journal, self.id)
        view.node = self._services.node
        return view

    async def commands(self) -> list[dict[str, Any]] | None:
        """The slash commands that the agent offers."""
        return await offered_commands(self._services.journal, self.fold)

    def artifacts(self) -> list[Artifact]:
        """What the agent made, oldest first."""
        return list(self.fold.artifacts.values())

    def artifact(self, artifact_id: str) -> Artifact:
        """One artifact by its id."""
        for artifact in self.fold.artifacts.values():
            if artifact.id == artifact_id:
                return artifact
        raise NotFound(f"no artifact {artifact_id} in this session")

    async def execute(self, command: Command, *, command_id: str | None, by: str) -> CommandOutcome:
        """Carry out one of the Agent Context Protocol's commands."""
        self._admission.check_open()
        return await self._desk.execute(command, command_id=command_id, by=by)

    async def refused(self, line: bytes, error: TrunklineError, *, command_id: str | None, by: str) -> None:
        """Write down a command that was refused before it came to us."""
        if self._admission.is_open:
            await self._refused.write(line, error, command_id=command_id, by=by)

    async def rename(self, title: str, *, by: str) -> None:
        """Give the session a title; one that is only watched has its own here."""
        self._admission.check_open()
        check_title(title)
        self._recorder.at().conditions.title(title.strip(), by=by)
        await self._recorder.write_and_store()

    async def note(self, name: str, data: dict[str, Any], *, by: str) -> None:
        """Write down what somebody did, where no other entry says it."""
        await self._recorder.note(name, data, by=by)

    async def uploaded(self, path: str) -> None:
        """A person put a file into the session's folder: it is not the agent's work."""
        await self._finder.made_by_somebody_else(path)
