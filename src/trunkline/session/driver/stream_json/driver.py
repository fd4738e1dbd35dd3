"""Drives the Claude Code CLI by its own stream of JSON lines: one process per session, its input open until the end.

    command.py   which conversation, with which flags      process.py   the process, control requests, the end
    faults.py    what goes wrong, and what to do           dialects/claude     what its lines mean

Rule 1: permissions come as ``can_use_tool`` on the same stream. Nothing is written into anybody's settings.
Every tool is shown to the rules before it runs, also where the CLI would not ask: what they deny or want asked is asked about.
Rule 2: never two prompts in one turn: the CLI would fold the second into the first. One that comes while the CLI works of its
own accord (a background task woke it) waits until that is over.
Rule 3: a conversation that comes back without its history says so; one that was asked for by its id is there, or it is an error.
Rule 4: a stream that falls silent is told to people long before the session gives up on it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Protocol

import msgspec

from trunkline.agents import catalog
from trunkline.agents.catalog import AgentSpec, find_command
from trunkline.agents.process import Exit
from trunkline.agents.resources import Resources
from trunkline.agents.sandbox import Confine, as_is
from trunkline.dialects.acp.content import AudioContent, ContentBlock
from trunkline.dialects.acp.lenient import read_lenient
from trunkline.dialects.acp.options import SessionModeState
from trunkline.dialects.claude import outgoing
from trunkline.dialects.claude.translate import ControlAnswer, Ruling
from trunkline.dialects.signals import AgentFault, Note, Signal, TurnEnd, Update
from trunkline.errors import AgentNotRunning, Invalid, NotFound, TrunklineError, Unsupported
from trunkline.session.deadlines import SilenceWatch
from trunkline.session.driver.base import AgentSession, DriverSink, How, Started
from trunkline.session.driver.daemons import DaemonsLeft
from trunkline.session.driver.stream_json import command, faults
from trunkline.session.driver.stream_json.command import Version, Way
from trunkline.session.driver.stream_json.process import ClaudeProcess
from trunkline.session.policy.decide import Verdict
from trunkline.threads import Lane

GREETING_S = 8.0
"""How long the answer to ``initialize`` is waited for. The CLI takes 0.5 to 3 s on two cores; one that takes longer (many MCP
servers, a cold disk) is told the prompt behind it, and one that knows no such request works without what the answer has."""

VERSION_S = 10.0
"""How long the CLI may take to print its version, on which its flags depend; old builds load all of themselves for it."""

ROOM_LEAST = 1 << 20
"""Bytes that must be free where conversations are kept: on a full disk the CLI goes on and loses what is said, silently."""

STALL_S = 120.0
"""How long the CLI may say nothing, with no tool running and nobody asked, before people are told."""


class Past(Protocol):
    """The conversations that the CLI has on disk."""

    async def has(self, session_id: str) -> bool:
        """Whether it has this one."""

    def told(self, session_id: str) -> AsyncIterator[list[Signal]]:
        """What was said in it, in pieces; nothing where it is not there."""

    async def free_bytes(self) -> int | None:
        """How much more fits where they are kept; None where that cannot be told."""


CAPABILITIES = msgspec.Raw(msgspec.json.encode({
    "loadSession": True,
    "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
    "mcpCapabilities": {"http": True, "sse": True},
    "sessionCapabilities": {"resume": {}, "fork": {}},
}))
"""What every agent has that is driven so."""

_HOW: dict[str, How] = {"new": "new", "resume": "resumed", "fork": "forked"}

_encode = msgspec.json.Encoder().encode


Judge = Callable[[str, bytes], Awaitable[Verdict]]
"""What the rules say of a tool, by its name and its input as JSON."""

async def _no_rule(tool: str, given: bytes) -> Verdict:
    return Verdict("ask", None, "default", "no rule fits")


class StreamJsonDriver:
    """One CLI with one conversation in it."""

    def __init__(self, spec: AgentSpec, *, cwd: str, env: Mapping[str, str], mcp_servers: Sequence[msgspec.Raw],
                 sink: DriverSink, new_id: Callable[[str], str], new_uuid: Callable[[], str], past: Past,
                 verdict: Judge | None = None, fork: bool = False, is_known: bool = False,
                 waits: Callable[[], bool] = lambda: False, confine: Confine = as_is, resources: Resources | None = None) -> None:
        """``verdict`` is what the rules say of a tool and its input. ``fork``: the session begins as a branch of
        ``previous``. ``is_known``: something was said in it before. ``waits``: a tool runs or a person is asked, so that silence
        means nothing. ``confine``: the session's sandbox."""
        self._confine = confine
        self._spec = spec
        self._resources = resources or spec.resources
        self._cwd = cwd
        self._env = env
        self._servers = list(mcp_servers)
        self._sink = sink
        self._daemons_left = DaemonsLeft(sink)
        self._new_id = new_id
        self._new_uuid = new_uuid
        self._past = past
        self._verdict = verdict or _no_rule
        self._can_ask = True
        self._fork = fork
        self._is_known = is_known
        self._cli: ClaudeProcess | None = None
        self._is_open = False
        self._is_greeted = True
        """It said what it has; until it did, nothing of that is offered."""
        self._version: str | None = None
        self._bypass = command.may_bypass(env, os.geteuid())
        self._prompted = False
        self._next: list[msgspec.Raw] | None = None
        """A prompt that waits until the disk was looked at, and the CLI has ended what it began of its own accord."""
        self._looking: asyncio.Task[None] | None = None
        self._held: list[Signal] = []
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._watch = SilenceWatch(lambda: STALL_S, waits, self._fell_silent)

    async def start(self, previous: str | None, *, adopt: bool = False) -> Started:
        """Start the CLI: with the previous conversation where it has it, else with a new one; to adopt or fork, only with it."""
        version = await self._find_version()
        asked_for = adopt or self._fork
        way = self._way(previous)
        try:
            await self._open(way, version)
        except NotFound as lost:
            if asked_for or way.kind == "new":
                raise
            way = Way("new", self._new_uuid())
            await self._open(way, version)
            self._say_lost(lost)
        if asked_for and previous is not None:
            await self._replay(previous)
        self._is_open = True
        asyncio.get_running_loop().call_soon(self._deliver_early)
        return self._started(way, adopt)

    async def list_sessions(self, folders: Sequence[str] = ()) -> list[AgentSession]:
        """The CLI lists nothing; its files are found by ``discovery``."""
        return []

    def check_prompt(self, blocks: Sequence[msgspec.Raw]) -> None:
        """Raise Unsupported for audio, which the CLI does not take."""
        for raw in blocks:
            if isinstance(read_lenient(bytes(raw), ContentBlock), AudioContent):
                raise Unsupported(f"{self._spec.display_name} takes no audio in prompts")

    def prompt(self, blocks: Sequence[msgspec.Raw]) -> None:
        """Send a prompt, or hold it until the CLI is at rest; its end is heard as TurnEnd. With a full disk it is not sent."""
        self._prompted = True
        self._running()
        self._next = list(blocks)
        self._watch.start()
        self._looking = asyncio.get_running_loop().create_task(self._send_if_room())

    async def _send_if_room(self) -> None:
        """Look at the disk, then send the prompt that waits, unless it was called off meanwhile."""
        has_room = await self._has_room()
        self._looking = None
        if self._next is None or self._running().ended is not None:
            return
        if has_room:
            self._send_next()
        else:
            self._next = None
            self._hear([TurnEnd(error=faults.disk_full(self._spec))])

    def _send_next(self) -> None:
        """Send the prompt that waits, if it may be sent now."""
        if self._next is not None and self._looking is None and not self._running().translator.working:
            blocks, self._next = self._next, None
            self._send(blocks)

    def cancel_late(self) -> None:
        """Nothing is left: the hub runs no commands for it."""

    def cancel(self) -> None:
        """Interrupt the turn. A prompt that the CLI has not heard of ends without it."""
        cli = self._running()
        cli.request(outgoing.interrupt)
        if self._next is not None:
            self._next = None
            self._hear([TurnEnd(stop="cancelled")])

    def answer_permission(self, request_id: str, option_id: str | None, *, reason: str | None = None,
                          updated_input: msgspec.Raw | None = None) -> None:
        """Answer an ask by option, or as cancelled; with the input that a person changed."""
        cli = self._running()
        edited = bytes(updated_input) if updated_input is not None else None
        line = cli.translator.answer_permission(request_id, option_id, reason=reason, updated_input=edited)
        if line is not None:
            cli.write(line)

    def answer_question(self, request_id: str, action: str, content: msgspec.Raw | None) -> None:
        """Answer a question: accept with content, decline or cancel."""
        cli = self._running()
        line = cli.translator.answer_question(request_id, action, bytes(content) if content is not None else None)
        if line is not None:
            cli.write(line)

    def refuse(self, request_id: str, reason: str) -> None:
        """Deny an ask, with that as the reason; a question is not answered."""
        self.answer_permission(request_id, None, reason=reason)

    async def set_mode(self, mode_id: str) -> None:
        """Switch the permission mode. Old versions take any word, so that it is looked up here."""
        cli = self._running()
        offered = [mode.id for mode in read_lenient(bytes(self._modes(cli)), SessionModeState).available_modes]
        if mode_id not in offered:
            raise Invalid(f"{self._spec.display_name} has no mode {mode_id!r}; its modes are: {', '.join(offered)}")
        await cli.ask("set_permission_mode", lambda request_id: outgoing.set_mode(request_id, mode_id))

    async def set_config(self, config_id: str, value: str | bool) -> msgspec.Raw | None:
        """Set an option; the complete list of options comes back."""
        cli = self._running()
        body = await cli.ask(
            config_id, lambda request_id: cli.translator.option_request(request_id, config_id, value))
        return cli.translator.option_set(config_id, value, body)

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
        if self._looking is not None:
            self._looking.cancel()
        if self._cli is not None:
            await self._cli.stop(at_once=at_once)

    async def _find_version(self) -> Version | None:
        """Which version is installed; one that cannot be driven is refused before it is started."""
        await find_command(self._spec, self._env)
        found = await catalog.detect(self._spec, self._env, within_s=VERSION_S)
        version = command.read_version(found.version)
        self._version = found.version
        self._can_ask = version is None or version >= command.ASKS_FOR_HOOKS
        if version is not None and version < command.LEAST:
            raise faults.too_old(self._spec, version)
        return version

    def _way(self, previous: str | None) -> Way:
        if previous is None:
            return Way("new", self._new_uuid())
        return Way("fork", self._new_uuid(), previous) if self._fork else Way("resume", previous)

    async def _open(self, way: Way, version: Version | None) -> None:
        """Start a process and greet it; whatever goes wrong says what to do, and leaves no process."""
        await self._check_is_there(way, version)
        if not await self._has_room():
            raise faults.start_failure(self._spec, faults.NO_SPACE, "", self._version)
        cli = self._cli = ClaudeProcess(self._spec.display_name, self._new_id, self._hear, self._exited, self._ruling,
                                        self._daemons_left.tell)
        lane = Lane(1)
        servers = await lane.run(command.write_mcp_config, self._servers)
        words = command.flags(way, version=version, bypass=self._bypass, mcp_config=servers)
        try:
            program = await self._confine((*await find_command(self._spec, self._env), *words), cwd=self._cwd,
                                          reads=[servers] if servers else [])
            process = await cli.spawn(program, cwd=self._cwd, env=self._env, resources=self._resources,
                                      daemons=self._spec.daemons)
            await self._sink.spawned(process.pid, process.start_time, process.marker)
            await self._greet(cli)
        except TrunklineError as error:
            await cli.stop()
            if cli.ended is None:  # there never was a process
                raise
            raise self._start_failure(cli, error) from error
        finally:
            if servers is not None:
                await asyncio.shield(lane.run(os.unlink, servers))

    async def _greet(self, cli: ClaudeProcess) -> None:
        """Ask the CLI what it has and hand it the hooks. Lines are read in order: what is sent next waits behind it."""
        answer = cli.request(lambda request_id: outgoing.initialize(request_id, **outgoing.hooked()))
        done, _ = await asyncio.wait([answer], timeout=GREETING_S)
        if done and not faults.is_unknown_request(answer.result().error):
            self._hear(cli.translator.greeted(cli.body_of("initialize", answer.result())))
            return
        self._is_greeted = False
        self._notice("warning", f"{self._spec.display_name} does not say what it has", "It did not answer the request with which "
                     "it is told the rules. It works without its modes, models and commands, and rules hold only for what it "
                     "asks about by itself.")
        if not done:
            answer.add_done_callback(lambda late: self._greeted_late(cli, late))

    def _greeted_late(self, cli: ClaudeProcess, answer: asyncio.Future[ControlAnswer]) -> None:
        if answer.cancelled() or answer.exception() is not None or not answer.result().ok or cli is not self._cli:
            return
        self._is_greeted = True
        told = cli.translator.greeted(answer.result().body)
        options = {"sessionUpdate": "config_option_update", "configOptions": cli.translator.options()}
        self._hear([*told, Update(_encode(options))])

    async def _check_is_there(self, way: Way, version: Version | None) -> None:
        """An old version greets back before it has looked for the conversation, and ends when it does not find it."""
        wanted = way.source if way.kind == "fork" else way.session_id
        if way.kind != "new" and (version is None or version < command.LOOKS_FIRST) and not await self._past.has(wanted):
            raise faults.start_failure(
                self._spec, f"No conversation found with session ID: {wanted}", "", self._version)

    async def _ruling(self, tool: str, given: bytes) -> Ruling | None:
        """What is to be said to a tool that is about to run. What an old version cannot have asked does not run."""
        verdict = await self._verdict(tool, given)
        if verdict.action == "allow" or verdict.source == "default":
            return None
        if verdict.action == "ask" and not self._can_ask:
            return Ruling("deny", f"{verdict.why}; this version of {self._spec.display_name} cannot ask about it: update it")
        return Ruling(verdict.action, verdict.why)

    async def _has_room(self) -> bool:
        free = await self._past.free_bytes()
        return free is None or free >= ROOM_LEAST

    def _start_failure(self, cli: ClaudeProcess, error: TrunklineError) -> TrunklineError:
        told = cli.translator.failure
        what = told.message if told is not None else error.message
        return faults.start_failure(self._spec, what, cli.stderr, self._version)

    def _started(self, way: Way, adopt: bool) -> Started:
        cli = self._running()
        info = {"name": self._spec.name, "title": self._spec.display_name, "version": self._version or "unknown"}
        return Started(
            how="loaded" if adopt and way.kind == "resume" else _HOW[way.kind], agent_session_id=way.session_id,
            agent_info=msgspec.Raw(_encode(info)), capabilities=CAPABILITIES,
            modes=self._modes(cli) if self._is_greeted else None,
            config_options=cli.translator.options() if self._is_greeted else None)

    def _modes(self, cli: ClaudeProcess) -> msgspec.Raw:
        return cli.translator.modes(bypass=self._bypass)

    async def _replay(self, session_id: str) -> None:
        """Tell what was said in a conversation that somebody else began: the CLI does not."""
        async for told in self._past.told(session_id):
            await self._flowing.wait()
            self._sink.heard([signal for signal in told if not isinstance(signal, TurnEnd)])

    def _say_lost(self, lost: NotFound) -> None:
        """Why it begins anew. That it does, the session tells."""
        if self._is_known:
            self._hear([Note("conversation_lost", _encode({"message": lost.message}))])

    def _send(self, blocks: Sequence[msgspec.Raw]) -> None:
        cli = self._running()
        name = self._new_uuid()
        cli.translator.prompted(name)
        cli.write(outgoing.user_message([bytes(block) for block in blocks], cli.translator.session_id, name))
        self._watch.start()

    def _hear(self, signals: list[Signal]) -> None:
        self._watch.heard()
        told = [self._explained(signal) if isinstance(signal, TurnEnd) else signal for signal in signals]
        if not self._is_open:
            self._held += told
        elif told:
            self._sink.heard(told)
        self._send_next()

    def _explained(self, end: TurnEnd) -> TurnEnd:
        self._prompted = False
        self._watch.stop()
        if end.error is None:
            return end
        return msgspec.structs.replace(end, error=faults.explained(self._spec, end.error))

    def _deliver_early(self) -> None:
        early, self._held = self._held, []
        if early:
            self._sink.heard(early)

    def _fell_silent(self) -> None:
        self._notice("warning", f"{self._spec.display_name} is silent", f"Nothing was heard for {STALL_S:.0f} s; its model may "
                     "be slow or out of reach. It may still go on; cancel the turn to stop waiting.")

    def _notice(self, severity: str, title: str, description: str) -> None:
        update = {"sessionUpdate": "notice", "severity": severity, "title": title, "description": description}
        self._hear([Update(_encode(update))])

    def _exited(self, exit: Exit, stderr: str) -> None:
        self._watch.stop()
        if not self._is_open:
            return  # whoever waits for the start hears of it
        fault: AgentFault | None = faults.death(self._spec, exit, stderr) if self._prompted else None
        if fault is not None:
            self._sink.heard([TurnEnd(error=fault)])
        self._sink.exited(exit, stderr)

    def _running(self) -> ClaudeProcess:
        if self._cli is None:
            raise AgentNotRunning(f"{self._spec.display_name} is not running")
        return self._cli
