"""The agent's side of a session: what its driver delivers, and what is done for it while it runs.

Rule: signals go to the intake in the order in which they came, and the end of the process behind all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from trunkline.agents.process import Exit
from trunkline.dialects.signals import Signal
from trunkline.session.approvals.gatekeeper import Gatekeeper
from trunkline.session.background import BackgroundTasks
from trunkline.session.client.permits import Permits
from trunkline.session.deadlines import SilenceWatch
from trunkline.session.driver.base import AgentSession, TakesText
from trunkline.session.driver.line import LineEnd
from trunkline.session.driver.link import AgentLink
from trunkline.session.driver.live_text import Begun, LiveText
from trunkline.session.driver.watch import WatchDriver, Watched
from trunkline.session.fold import Sandboxed
from trunkline.session.intake.intake import Intake
from trunkline.session.intake.read_ahead import ReadAhead
from trunkline.session.policy.decide import Verdict
from trunkline.session.recorder import Recorder
from trunkline.session.turns.turn import TurnPlayer
from trunkline.session.workspace.artifacts import ArtifactFinder
from trunkline.session.workspace.files import AgentsWorkspace


class AgentSide:
    """Implements ``DriverSink`` for one session, and serves the driver and the hub with what is about its agent."""

    def __init__(self, recorder: Recorder, link: AgentLink, *, workspace: AgentsWorkspace, reading: ReadAhead, permits: Permits,
                 intake: Intake, player: TurnPlayer, finder: ArtifactFinder, gate: Gatekeeper, watch: SilenceWatch,
                 background: BackgroundTasks, watched: Watched, live: LiveText,
                 line: LineEnd, not_taken: Callable[[str, str], None]) -> None:
        self.workspace = workspace
        """The session's folders without what the agent's sandbox hides."""
        self.reading = reading
        self.permits = permits
        self._recorder = recorder
        self._link = link
        self._intake = intake
        self._player = player
        self._finder = finder
        self._gate = gate
        self._watch = watch
        self._background = background
        self._watched = watched
        self._live = live
        self.line = line
        """The end of a live line to a program that runs this session elsewhere."""
        self.not_taken = not_taken
        """A prompt that went out by the line was refused: its turn's id, and why."""

    @property
    def running(self) -> bool:
        """Whether the agent's process is up."""
        return self._link.running

    async def list_sessions(self, folders: Sequence[str] = ()) -> list[AgentSession]:
        """The sessions of the agent's own store, from the running agent."""
        return await self._link.driver.list_sessions(folders)

    def set_sandbox(self, sandbox: Sandboxed | None) -> None:
        """What the agent is confined by from its next start on."""
        self._recorder.at().conditions.sandbox(sandbox)

    def set_mcp_servers(self, servers: list[msgspec.Raw]) -> None:
        """What the agent is given when it is started next."""
        self._recorder.at().conditions.mcp_servers(servers)

    def look_again(self) -> None:
        """A hint: what the agent wrote may be more than was read."""
        if self._link.running:
            self._link.driver.look_again()

    async def spawned(self, pid: int, start_time: int | None, marker: str) -> None:
        """The agent's process runs."""
        await self._link.spawned(pid, start_time, marker)

    def on_signals(self, signals: list[Signal]) -> None:
        """The agent sent these."""
        self._watch.on_activity()
        self._intake.take(signals)

    def text_run(self, update: bytes) -> tuple[bytes, TakesText] | None:
        """What takes the next words of the text that this update, the newest, has a piece of; and that piece."""
        found = self._intake.run_behind(update, self._watch)
        return None if found is None else (found[0], found[1].goes_on)

    def exited(self, exit: Exit, stderr: str) -> None:
        """The agent's process ended. While it starts, the start itself says what went wrong."""
        if self._intake.waits:
            self._background.run(self._exited_behind(exit, stderr))
        elif self._link.lost():
            self._player.agent_exited(exit, stderr)

    async def _exited_behind(self, exit: Exit, stderr: str) -> None:
        """An end comes behind all that was sent before it."""
        await self._intake.hurry()
        if self._link.lost():
            self._player.agent_exited(exit, stderr)

    def followed(self, signals: list[tuple[int, Signal]], position: int) -> None:
        """The file that this session follows has these, up to that position."""
        self._watched.on_signals(signals, position)

    async def caught_up(self) -> None:
        """All that the file that this session follows has by now is written down."""
        driver = self._link.driver if self._link.running else None
        if isinstance(driver, WatchDriver):
            await driver.caught_up()

    @property
    def texts_said(self) -> int:
        """How many texts the file has said."""
        return self._live.said

    def was_said(self, begins: Begun) -> bool:
        """Whether the file has a text already that the line is about to tell."""
        return self._live.was_said(begins)

    def tell(self, message_id: str, text: str, *, thinking: bool = False) -> None:
        """The line tells more of a text, from its beginning on, before the file has it."""
        self._live.tell(message_id, text, thinking=thinking)

    def told(self, whole: str | None = None) -> None:
        """That text is whole; this is what the file will say of it, where that is known."""
        self._live.end(whole)
    def followed_part(self, name: str, position: int) -> None:
        """The same of a file beside it; told right before what it has."""
        self._recorder.at().lifecycle.followed_part_to(name, position)

    def acted(self, words: Sequence[str]) -> None:
        """The agent had a file written or a command run by us, in these words."""
        self._finder.acted(words)

    def printed(self, terminal_id: str, output: str, exit_code: int | None) -> None:
        """A command that we ran for the agent has ended: its call's result shows what it printed."""
        self._recorder.at().tools.terminals.keep(terminal_id, output, exit_code)

    def prints(self, terminal_id: str, offset: int, output: str) -> bool:
        """A command that we run for the agent prints; False where no call shows its terminal yet."""
        shown = self._recorder.at().tools.terminals.emit_printed(terminal_id, offset, output)
        if shown:
            self._recorder.write()
        return shown

    async def verdict_on(self, tool: str, given: bytes) -> Verdict:
        """What the rules say of a tool that its agent would run without asking."""
        about = self._recorder.at().policy_asks.of_tool(tool, given)
        return self._gate.verdict(about, await self._gate.look(about))
