"""Drives the Claude Code CLI by its own stream of JSON lines: one process per session, its input open until the end.

    opening.py   version, process, greeting          command.py   which conversation, with which flags
    prompts.py   the prompt that waits to be sent    process.py   the process, control requests, the end
    faults.py    what goes wrong, and what to do     dialects/claude     what its lines mean

Rule 1: permissions come as ``can_use_tool`` on the same stream. Nothing is written into anybody's settings.
Every tool is shown to the rules before it runs, also where the CLI would not ask: what they deny or want asked is asked about.
Rule 2: a stream that falls silent is reported to people long before the session gives up on it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec

from trunkline.agents.catalog import AgentSpec
from trunkline.agents.process import Exit
from trunkline.agents.resources import Resources
from trunkline.agents.sandbox import Confine, as_is
from trunkline.dialects.acp.content import AudioContent, ContentBlock
from trunkline.dialects.acp.options import SessionModeState
from trunkline.dialects.acp.reading.lenient import read_lenient
from trunkline.dialects.claude.control import outgoing
from trunkline.dialects.claude.control.requests import Ruling
from trunkline.dialects.notes import CustomNote
from trunkline.dialects.signals import AgentFault, Signal, TurnEnd
from trunkline.errors import AgentNotRunning, Invalid, Unsupported
from trunkline.session.deadlines import SilenceWatch
from trunkline.session.driver.base import AgentSession, DriverSink, Started
from trunkline.session.driver.daemons import DaemonsLeft
from trunkline.session.driver.stream_json import faults
from trunkline.session.driver.stream_json.opening import Launch, Past, StreamJsonOpening
from trunkline.session.driver.stream_json.process import ClaudeProcess
from trunkline.session.driver.stream_json.prompts import WaitingPrompt
from trunkline.session.policy.decide import Verdict

STALL_S = 120.0
"""How long the CLI may send nothing, with no tool running and nobody asked, before people are warned."""


_encode = msgspec.json.Encoder().encode


ToolVerdict = Callable[[str, bytes], Awaitable[Verdict]]
"""What the rules say of a tool, by its name and its input as JSON."""

async def _no_rule(tool: str, given: bytes) -> Verdict:
    return Verdict("ask", None, "default", "no rule fits")


class StreamJsonDriver:
    """One CLI with one conversation in it."""

    def __init__(self, spec: AgentSpec, *, cwd: str, env: Mapping[str, str], mcp_servers: Sequence[msgspec.Raw],
                 sink: DriverSink, new_id: Callable[[str], str], new_uuid: Callable[[], str], past: Past,
                 verdict: ToolVerdict | None = None, fork: bool = False, is_known: bool = False,
                 waits: Callable[[], bool] = lambda: False, confine: Confine = as_is, resources: Resources | None = None) -> None:
        """``verdict`` is what the rules say of a tool and its input. ``fork``: the session begins as a branch of
        ``previous``. ``is_known``: it has a history here, which is not told again. ``waits``: a tool runs or a person is
        asked, so that silence means nothing. ``confine``: the session's sandbox."""
        self._spec = spec
        self._sink = sink
        self._daemons_left = DaemonsLeft(sink)
        self._new_id = new_id
        self._past = past
        self._verdict = verdict or _no_rule
        self._fork = fork
        self._is_known = is_known
        self._cli: ClaudeProcess | None = None
        self._opening = StreamJsonOpening(spec, Launch(cwd, env, mcp_servers, confine, resources), past, sink, new_uuid=new_uuid,
                                          new_process=self._new_process, emit=self._emit_signals)
        self._prompts = WaitingPrompt(spec, self._running, self._opening.has_room, new_uuid=new_uuid, emit=self._emit_signals,
                                      on_sent=self._watch_turn, is_plain=lambda: not self._opening.is_greeted)
        self._is_open = False
        self._prompted = False
        self._held: list[Signal] = []
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._watch = SilenceWatch(waits)

    async def start(self, previous: str | None, *, adopt: bool = False) -> Started:
        """Start the CLI: with the previous conversation where it has it, else with a new one; to adopt or fork, only with it."""
        is_wanted = adopt or self._fork
        cli, way = await self._opening.open(previous, fork=self._fork, wanted=is_wanted)
        if self._opening.lost is not None and self._is_known:
            # Why it begins anew. That it does, the session reports.
            self._emit_signals([CustomNote("conversation_lost", _encode({"message": self._opening.lost.message}))])
        if is_wanted and previous is not None and not self._is_known:
            await self._replay(previous)
        self._is_open = True
        asyncio.get_running_loop().call_soon(self._deliver_early)
        return self._opening.started(cli, way, adopt=adopt)

    def _new_process(self) -> ClaudeProcess:
        self._cli = ClaudeProcess(self._spec.display_name, self._new_id, self._emit_signals, self._exited, self._ruling,
                                  self._daemons_left.emit)
        return self._cli

    async def _replay(self, session_id: str) -> None:
        """Emit a conversation that somebody else began: the CLI does not."""
        async for step in self._past.replay(session_id):
            await self._flowing.wait()
            self._sink.on_signals([signal for signal in step if not isinstance(signal, TurnEnd)])

    async def list_sessions(self, folders: Sequence[str] = ()) -> list[AgentSession]:
        """The CLI lists nothing; its files are found by ``discovery``."""
        return []

    def check_prompt(self, blocks: Sequence[msgspec.Raw]) -> None:
        """Raise Unsupported for audio, which the CLI does not take."""
        for raw in blocks:
            if isinstance(read_lenient(bytes(raw), ContentBlock), AudioContent):
                raise Unsupported(f"{self._spec.display_name} takes no audio in prompts")

    def prompt(self, blocks: Sequence[msgspec.Raw]) -> None:
        """Send a prompt, or hold it until the CLI is at rest; its end comes as TurnEnd. With a full disk it is not sent."""
        self._prompted = True
        self._prompts.hold(blocks)
        self._watch_turn()

    def cancel_late(self) -> None:
        """Nothing is left: the hub runs no commands for it."""

    def cancel(self) -> None:
        """Interrupt the turn. A prompt that the CLI was not sent ends without it."""
        cli = self._running()
        cli.request(outgoing.interrupt)
        if self._prompts.drop():
            self._emit_signals([TurnEnd(stop="cancelled")])

    def answer_permission(self, request_id: str, option_id: str | None, *, reason: str | None = None,
                          updated_input: msgspec.Raw | None = None) -> None:
        """Answer an ask by option, or as cancelled; with the input that a person changed."""
        cli = self._running()
        edited = bytes(updated_input) if updated_input is not None else None
        line = cli.translator.control.answer_permission(request_id, option_id, reason=reason, updated_input=edited)
        if line is not None:
            cli.write(line)

    def answer_question(self, request_id: str, action: str, content: msgspec.Raw | None) -> None:
        """Answer a question: accept with content, decline or cancel."""
        cli = self._running()
        line = cli.translator.control.answer_question(request_id, action, bytes(content) if content is not None else None)
        if line is not None:
            cli.write(line)

    def refuse(self, request_id: str, reason: str) -> None:
        """Deny an ask, with that as the reason; a question is not answered."""
        self.answer_permission(request_id, None, reason=reason)

    async def set_mode(self, mode_id: str) -> None:
        """Switch the permission mode. Old versions take any word, so that it is looked up here."""
        cli = self._running()
        offered = [mode.id for mode in read_lenient(bytes(self._opening.modes(cli)), SessionModeState).available_modes]
        if mode_id not in offered:
            raise Invalid(f"{self._spec.display_name} has no mode {mode_id!r}; its modes are: {', '.join(offered)}")
        await cli.ask("set_permission_mode", lambda request_id: outgoing.set_mode(request_id, mode_id))

    async def set_config(self, config_id: str, value: str | bool) -> msgspec.Raw | None:
        """Set an option; the complete list of options comes back."""
        cli = self._running()
        body = await cli.ask(
            config_id, lambda request_id: cli.translator.settings.request(request_id, config_id, value))
        return cli.translator.settings.took(config_id, value, body)

    def pause_reading(self) -> None:
        """Stop taking the CLI's output, and its history, for a while."""
        self._flowing.clear()
        if self._cli is not None:
            self._cli.pause_reading()

    def resume_reading(self) -> None:
        """Take it again."""
        self._flowing.set()
        if self._cli is not None:
            self._cli.resume_reading()

    def look_again(self) -> None:
        """Nothing to look at: the CLI says everything itself."""

    async def stop(self, *, at_once: bool = False) -> None:
        """End the CLI and everything it started; ``at_once``: without the time to end by itself."""
        self._watch.stop()
        self._prompts.stop()
        if self._cli is not None:
            await self._cli.stop(at_once=at_once)

    async def _ruling(self, tool: str, given: bytes) -> Ruling | None:
        """What is answered to a tool that is about to run. What an old version cannot have asked does not run."""
        verdict = await self._verdict(tool, given)
        if verdict.action == "allow" or verdict.source == "default":
            return None
        if verdict.action == "ask" and not self._opening.can_ask:
            return Ruling("deny", f"{verdict.why}; this version of {self._spec.display_name} cannot ask about it: update it")
        return Ruling(verdict.action, verdict.why)

    def _emit_signals(self, signals: list[Signal]) -> None:
        self._watch.on_activity()
        explained = [self._explained(signal) if isinstance(signal, TurnEnd) else signal for signal in signals]
        if not self._is_open:
            self._held += explained
        elif explained:
            self._sink.on_signals(explained)
        self._prompts.send_next()

    def _explained(self, end: TurnEnd) -> TurnEnd:
        self._prompted = False
        self._watch.stop()
        if end.error is None:
            return end
        return msgspec.structs.replace(end, error=faults.explained(self._spec, end.error))

    def _deliver_early(self) -> None:
        early, self._held = self._held, []
        if early:
            self._sink.on_signals(early)

    def _watch_turn(self) -> None:
        self._watch.start(lambda: STALL_S, self._fell_silent)

    def _fell_silent(self) -> None:
        self._emit_signals([faults.notice(
            f"{self._spec.display_name} is silent", f"Nothing was heard for {STALL_S:.0f} s; its model may be slow or out of "
            "reach. It may still go on; cancel it to stop waiting.")])

    def _exited(self, exit: Exit, stderr: str) -> None:
        self._watch.stop()
        if not self._is_open:
            return  # whoever waits for the start gets it as an error
        fault: AgentFault | None = faults.death(self._spec, exit, stderr) if self._prompted else None
        if fault is not None:
            self._sink.on_signals([TurnEnd(error=fault)])
        self._sink.exited(exit, stderr)

    def _running(self) -> ClaudeProcess:
        if self._cli is None:
            raise AgentNotRunning(f"{self._spec.display_name} is not running")
        return self._cli
