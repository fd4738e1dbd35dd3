"""One live session: the agent's signals and the clients' acts meet here and become entries.

    pen.py         writes entries, in order, into the journal        link.py      the agent: started, kept, stopped
    turn.py        plays turns, each to exactly one end              approvals.py asks and answers
    hold.py        pauses, goes on, ends for good                    spending.py  caps on what is spent
    commands.py    the nine commands, told to clients                permits.py   what the agent has us do
    artifacts.py   what the agent made, found on disk                deadlines.py time limits
    intake.py      what the agent says, in order                     looking.py   what is asked of the disk before that
    read_ahead.py  long commands, read off the loop
    beginnings.py  new, adopted, followed, recovered                 prompts.py   taken, queued, taken back

Rule 1: single writer. Everything runs on the hub's loop; signals arrive by plain calls, acts by coroutines, and both write
through the one interpreter, so entries are numbered in the order in which things happened.
Rule 2: commit, then act. A prompt or a decision goes to the agent, and its acknowledgement to the client, after its entry
is in the journal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Literal

import msgspec

from trunkline.agents.process import Exit
from trunkline.agents.sandbox import Confine
from trunkline.dialects.acp.content import ContentBlock
from trunkline.dialects.context.commands import Command
from trunkline.dialects.context.types import PermissionPolicy
from trunkline.dialects.signals import Signal
from trunkline.errors import NotFound, StorageError, TooManyRequests, TrunklineError
from trunkline.feeds.session import Feed
from trunkline.session.approvals.approvals import Approvals
from trunkline.session.approvals.gatekeeper import Gatekeeper
from trunkline.session.background import Errands
from trunkline.session.client.editors import Editors
from trunkline.session.client.permits import Permits
from trunkline.session.commands.execute import CommandDesk, CommandOutcome
from trunkline.session.commands.refused import RefusedCommands
from trunkline.session.commands.requests import Accepted, Answer, Decision, Scope, check_title
from trunkline.session.commands.slash import offered_commands
from trunkline.session.deadlines import Alarms, SilenceWatch
from trunkline.session.driver.base import AgentSession, Driver
from trunkline.session.driver.link import AgentLink
from trunkline.session.driver.watch import Watched, refuse
from trunkline.session.fold import KEPT_RULES, ApprovalView, Artifact, Fold, SessionView, Waits
from trunkline.session.fold.caps import Caps
from trunkline.session.intake.intake import Intake
from trunkline.session.intake.read_ahead import Reading
from trunkline.session.policy.decide import Rule, Verdict
from trunkline.session.policy.text import check_permission_policy
from trunkline.session.recorder import Pen
from trunkline.session.restore.stored import stored_view
from trunkline.session.services import Lent
from trunkline.session.turns.beginnings import Beginnings
from trunkline.session.turns.hold import Hold
from trunkline.session.turns.prompts import Prompts
from trunkline.session.turns.spending import Spending
from trunkline.session.turns.turn import TurnPlayer
from trunkline.session.workspace.artifacts import ArtifactFinder
from trunkline.session.workspace.files import AgentsWorkspace, Workspace

_encode = msgspec.json.Encoder().encode


class Session:
    """One session of the hub. Its state is ``fold``; its history is ``feed``."""

    def __init__(self, fold: Fold, lent: Lent, make_driver: Callable[[Session], Driver]) -> None:
        self.id = fold.session_id
        self.fold = fold
        self.env: dict[str, str] = {}
        """Variables that came with the session's start; in memory only."""
        self.workspace = Workspace([fold.cwd], lent.guarded)
        self.agents_workspace = AgentsWorkspace(self.workspace, lambda: lent.hider(fold, self.env))
        """The same for what the agent does: without what its sandbox hides."""
        self.editors = Editors(fold)
        """Who of those that send prompts serves files and terminals."""
        self._lent = lent
        self._alarms = Alarms()
        self._errands = Errands()
        self._pen = Pen(fold, lent, self._alarms)
        self._link = AgentLink(self._pen, lambda: make_driver(self), lent.pids, self.agents_workspace)
        self._watch = SilenceWatch(lambda: self._turns.silence_limit(), self._waits_for_person,
                                   lambda: self._turns.fell_silent())
        self.reading = Reading(cwd=fold.cwd, roots=(fold.cwd,), home=lent.home, names=lent.tool_names(fold.agent))
        self._gate = Gatekeeper(fold, lent.policies, lent.clock, self.agents_workspace)
        self._approvals = Approvals(self._pen, self._link, self._alarms, self._errands, self._watch, self._gate,
                                    lent.limits.approval_s)
        self._gate.long_asks.on_verdict = self._approvals.look_again
        self._intake = Intake(self._pen, self._approvals, self.agents_workspace, self.reading, self._check_caps,
                              lambda end: self._turns.answered(end))
        self.permits = Permits(self._pen, self._approvals, self._gate, self.agents_workspace, lent.new_id, self.reading,
                               self._intake.settled)
        self._hold = Hold(self._pen, self._link, self._approvals, self._errands, lent.clock)
        self._spending = self._hold.spending = Spending(self._pen, self._alarms, self._hold, lent.new_id)
        self._finder = ArtifactFinder(self._pen, fold.cwd, self.workspace.lane, lent.preview_url, lent.clock)
        self._turns = self._hold.turns = TurnPlayer(self._pen, self._link, self._approvals, self._finder, self._alarms,
                                                    self._errands, self._watch, self._spending, lent)
        self._approvals.cap_answered = self._spending.answered
        self._prompts = Prompts(self._pen, self._link, self._turns, self._spending, lent.new_id)
        self._beginnings = Beginnings(self._pen, self._link, self._finder, self._turns, self._intake.settled)
        self._desk = CommandDesk(self)
        self._refused = RefusedCommands(lambda name, data, by: self.note(name, data, by=by), lent.clock)
        self._watched = Watched(self._pen, lent.new_id)
        self._closed_by: TrunklineError | None = None

    @property
    def feed(self) -> Feed:
        """The committed entries."""
        return self._pen.feed

    @property
    def roots(self) -> tuple[str, ...]:
        """The folders that the session may touch."""
        return self.workspace.roots

    @property
    def confine(self) -> Confine:
        """Whatever is run for this session passes it: its sandbox, where it has one."""
        return self._lent.confine(self.fold, self.env)

    @property
    def busy(self) -> bool:
        """Whether a turn of ours runs or somebody is waited for."""
        if self.fold.watches is not None:
            return False
        return self.fold.turn is not None or bool(self.fold.approvals)

    @property
    def agent_running(self) -> bool:
        """Whether the agent's process is up."""
        return self._link.running

    def view(self) -> SessionView:
        """The state as clients see it, beside the last entry that readers can have."""
        view = self._pen.view()
        view.last_seq = self.feed.last_seq
        return view

    async def snapshot(self) -> SessionView:
        """State and position copied in one step, told once the position is committed: entries after it are news. While nothing
        can be stored, the state that is stored."""
        view = self._pen.view()
        try:
            await self._pen.stored()
        except StorageError:
            return await stored_view(self._lent.journal, self.id)
        return view

    async def commands(self) -> list[dict[str, Any]] | None:
        """The slash commands that the agent offers."""
        return await offered_commands(self._lent.journal, self.fold)

    def artifacts(self) -> list[Artifact]:
        """What the agent made, oldest first."""
        return list(self.fold.artifacts.values())

    def artifact(self, wanted: str) -> Artifact:
        """One artifact by its id."""
        for artifact in self.fold.artifacts.values():
            if artifact.id == wanted:
                return artifact
        raise NotFound(f"no artifact {wanted} in this session")

    async def open(self, *, env: dict[str, str], mode: str | None, title: str | None, by: str) -> None:
        """Begin a new session: start the agent and write the first entries."""
        self.env = env
        await self._beginnings.new(mode, title, by)

    async def adopt(self, *, by: str) -> None:
        """Begin with a session that the agent has already: what it tells of it again is our history from the first entry on."""
        await self._beginnings.adopt(by)

    async def watch(self, *, by: str) -> None:
        """Follow a session that somebody else's agent writes into a file: from its beginning, or on from where we were."""
        await self._beginnings.watch(by)

    def followed(self, told: list[tuple[int, Signal]], position: int) -> None:
        """The file that this session follows says this, up to that position."""
        self._watched.heard(told, position)

    async def agent_sessions(self, folders: Sequence[str] = ()) -> list[AgentSession]:
        """The sessions of the agent's own store, asked of the running agent."""
        return await self._link.driver.list_sessions(folders)

    def look_again(self) -> None:
        """A hint: what the agent wrote may be more than was heard."""
        if self._link.running:
            self._link.driver.look_again()

    async def send(self, content: Sequence[ContentBlock], *, when_busy: Literal["reject", "queue"] = "reject",
                   idempotency_key: str | None = None, by: str) -> Accepted:
        """Take a prompt: it starts its turn, or waits in the queue. Returns once that is in the journal."""
        self._check_driven()
        await self._hold.settled()
        self._check_open()
        return await self._prompts.take(content, when_busy, idempotency_key, by)

    async def cancel(self, *, by: str) -> bool:
        """End the running turn; False where nothing runs."""
        self._check_driven()
        return await self._turns.cancel(by=by)

    async def execute(self, command: Command, *, command_id: str | None, by: str) -> CommandOutcome:
        """Carry out one of the Agent Context Protocol's commands."""
        self._check_open()
        return await self._desk.execute(command, command_id=command_id, by=by)

    async def refused(self, said: bytes, error: TrunklineError, *, command_id: str | None, by: str) -> None:
        """Write down a command that was refused before it came to us."""
        if self._closed_by is None:
            await self._refused.write(said, error, command_id=command_id, by=by)

    async def pause(self, *, by: str, reason: str | None = None, interrupt: bool = False) -> list[str]:
        """Hold the session: rules allow nothing, the queue waits; with ``interrupt`` the turn ends too. Returns what is held."""
        self._check_driven()
        return await self._hold.pause(by=by, reason=reason, interrupt=interrupt)

    async def resume(self, *, by: str) -> bool:
        """Let a held session go on, and a queue that a failure held back; a session whose agent is gone gets it back. False where
        nothing was held or gone."""
        self._check_driven()
        return await self._hold.resume(by=by)

    async def terminate(self, *, by: str) -> None:
        """End the session: its turn, its agent and everything that the agent started. Its history stays."""
        self._check_driven()
        await self._hold.terminate(by=by)

    async def set_permission_policy(self, policy: PermissionPolicy, *, by: str) -> None:
        """Answer this session's approvals by these rules from now on, those that wait included."""
        self._check_driven()
        self.fold.permission_policy = check_permission_policy(policy)
        self._pen.at().writer.custom("permission_policy_set", {"policy": policy}, meta={"by": by})
        await self._pen.write_and_store()
        self._approvals.look_again()

    def rules_changed(self) -> None:
        """The policy of all sessions was changed: some of what waits here may be decided now."""
        if self._closed_by is None and self.fold.watches is None:
            self._approvals.look_again()

    async def set_limits(self, caps: Caps | None, waits: Waits | None, *, by: str) -> None:
        """Set what the session may spend, and how long its approvals wait."""
        self._check_driven()
        if waits is not None:
            self.fold.waits = waits
        data = {"caps": caps if caps is not None else self.fold.caps, "waits": self.fold.waits}
        self._pen.at().writer.custom("limits_set", data, meta={"by": by})
        if caps is not None:
            self._spending.set(caps)
        await self._pen.write_and_store()

    async def note(self, name: str, data: dict[str, Any], *, by: str) -> None:
        """Write down what somebody did, where no other entry says it."""
        self._pen.at().writer.custom(name, data, meta={"by": by})
        await self._pen.write_and_store()

    async def decide(self, request_id: str, decision: Decision, *, by: str) -> bool:
        """Answer an approval; returns whether that approved it."""
        self._check_driven()
        return await self._approvals.decide(request_id, decision, by=by)

    async def rule_of(self, request_id: str, *, allow: bool, scope: Scope, by: str) -> Rule:
        """The rule that somebody would save by deciding an approval so; nothing is saved."""
        return await self._approvals.rule_of(request_id, allow=allow, scope=scope, by=by)

    async def answered_by(self, rule: Rule) -> list[tuple[ApprovalView, bool]]:
        """The approvals that wait here and that a rule would answer, and whether with yes."""
        return await self._approvals.answered_by(rule)

    async def answer(self, question_id: str, answer: Answer, *, by: str) -> None:
        """Answer a question."""
        self._check_driven()
        await self._approvals.answer(question_id, answer, by=by)

    async def set_mode(self, mode_id: str, *, by: str) -> None:
        """Switch the agent's mode."""
        await self._ensure_agent()
        await self._link.driver.set_mode(mode_id)
        if self.fold.mode != mode_id:
            update = b'{"sessionUpdate":"current_mode_update","currentModeId":%b}' % _encode(mode_id)
            self._pen.at().conditions.mode(mode_id, update, by=by)
        await self._pen.write_and_store()

    async def set_config(self, config_id: str, value: str | bool, *, by: str) -> None:
        """Set one of the agent's options."""
        await self._ensure_agent()
        chosen = self.fold.chosen_options
        if config_id not in chosen and len(chosen) >= KEPT_RULES:
            raise TooManyRequests(f"{KEPT_RULES} options of this session were set already")
        options = await self._link.driver.set_config(config_id, value)
        self.fold.chosen_options[config_id] = value
        self._pen.at().conditions.config(options or self.fold.config_options, by=by)
        await self._pen.write_and_store()

    async def rename(self, title: str, *, by: str) -> None:
        """Give the session a title."""
        self._check_open()
        check_title(title)
        self._pen.at().conditions.title(title.strip(), by=by)
        await self._pen.write_and_store()

    async def edit_queued(self, turn_id: str, content: Sequence[ContentBlock], *, by: str) -> None:
        """Change a prompt that waits."""
        self._check_driven()
        await self._prompts.edit(turn_id, content, by)

    async def drop_queued(self, turn_id: str, *, by: str) -> None:
        """Take a waiting prompt back."""
        self._check_driven()
        await self._prompts.drop(turn_id, by)

    async def close(self, error: TrunklineError) -> None:
        """Stop the agent and end every reader. An open turn ends with ``error``, and so does whatever is asked from now on."""
        self._closed_by = self._closed_by or error
        await self._intake.hurry()
        await self._turns.close(error)
        await self._link.close()
        await self._intake.hurry()
        if self.fold.watches is None:  # who writes a file that we follow goes on without us
            self._approvals.withdraw_all(by="hub", reason=error.code)
            self._pen.at().lifecycle.agent_left()
            self._pen.write()
        await self._hold.settled()
        await self._errands.close()
        self._watch.stop()
        await self._pen.close()
        self._alarms.clear_all()

    def doze(self) -> None:
        """Nobody uses the session: hold nothing in memory but what readers hold. ``wake`` undoes it."""
        self._pen.rest()

    def wake(self) -> None:
        """Somebody uses the session again."""
        self._pen.resume()

    async def store_row(self) -> None:
        """Have the row that lists are made from say what is so now. Where it cannot be stored, what it said last counts."""
        if self._pen.write_row():
            with suppress(StorageError):
                await self._pen.stored()

    def drained(self) -> None:
        """The journal has caught up with all sessions."""
        self._pen.drained()

    async def reread_open_text(self) -> None:
        """Fill in the open message after a restart: the checkpoint names it, the journal has its words."""
        await self._beginnings.reread_open_text(self._lent.journal)

    def recover(self, error: TrunklineError) -> None:
        """Close what a crash left open, so that the next prompt finds the session in order."""
        self._beginnings.recover(error)
        self._spending.check()

    def acted(self) -> None:
        """The agent had a file written or a command run by us."""
        self._finder.acted()

    def printed(self, terminal_id: str, output: str, exit_code: int | None) -> None:
        """A command that we ran for the agent has ended: its call's result tells what it printed."""
        self._pen.at().tools.terminal(terminal_id, output, exit_code)

    def prints(self, terminal_id: str, offset: int, output: str) -> bool:
        """A command that we run for the agent prints; False where no call shows its terminal yet."""
        told = self._pen.at().tools.printing(terminal_id, offset, output)
        if told:
            self._pen.write()
        return told

    async def verdict_on(self, tool: str, given: bytes) -> Verdict:
        """What the rules say of a tool that its agent would run without asking."""
        about = self._pen.at().asks.about_tool(tool, given)
        return self._gate.verdict(about, await self._gate.look(about))

    async def uploaded(self, path: str) -> None:
        """A person put a file into the session's folder: it is not the agent's work."""
        await self._finder.made_by_somebody_else(path)

    async def spawned(self, pid: int, start_time: int | None, marker: str) -> None:
        """The agent's process runs."""
        await self._link.spawned(pid, start_time, marker)

    def heard(self, signals: list[Signal]) -> None:
        """The agent said these."""
        self._watch.heard()
        self._intake.take(signals)

    def _check_caps(self) -> None:
        if self.fold.caps is not None:
            self._spending.check()

    def exited(self, exit: Exit, stderr: str) -> None:
        """The agent's process ended. While it starts, the start itself tells what went wrong."""
        if self._intake.waits:
            self._errands.run(self._exited_behind(exit, stderr))
        elif self._link.lost():
            self._turns.agent_exited(exit, stderr)

    async def _exited_behind(self, exit: Exit, stderr: str) -> None:
        """An end comes behind all that was said before it."""
        await self._intake.hurry()
        if self._link.lost():
            self._turns.agent_exited(exit, stderr)

    async def _ensure_agent(self) -> None:
        """The agent runs; it is stopped again if nobody uses it."""
        self._check_driven()
        await self._hold.settled()
        await self._link.ensure()
        if self.fold.turn is None:
            self._turns.rest()

    def _waits_for_person(self) -> bool:
        return bool(self.fold.approvals or self.fold.questions or self.fold.paused)

    def _check_open(self) -> None:
        if self._closed_by is not None:
            raise self._closed_by

    def _check_driven(self) -> None:
        """Refuse whatever needs an agent of ours."""
        self._check_open()
        if self.fold.watches is not None:
            refuse()
