"""How a conversation with the CLI begins: its version, the process, the greeting, and which conversation it is.

Rule 1: a conversation that comes back without its history says so; one that was wanted by its id is there, or it is an error.
Rule 2: whatever goes wrong names what to do, and leaves no process.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

import msgspec

from trunkline.agents import catalog
from trunkline.agents.catalog import AgentSpec, find_command
from trunkline.agents.resources import Resources
from trunkline.agents.sandbox import Confine
from trunkline.dialects.claude.control import outgoing
from trunkline.dialects.claude.control.requests import ControlAnswer
from trunkline.dialects.signals import Signal, Update
from trunkline.errors import NotFound, TrunklineError
from trunkline.session.driver.base import DriverSink, How, Started
from trunkline.session.driver.stream_json import command, faults
from trunkline.session.driver.stream_json.command import Version, Way
from trunkline.session.driver.stream_json.process import ClaudeProcess
from trunkline.threads import Lane

GREETING_S = 8.0
"""How long the answer to ``initialize`` is waited for. The CLI takes 0.5 to 3 s on two cores; one that takes longer (many MCP
servers, a cold disk) is sent the prompt behind it, and one that knows no such request works without what the answer has."""

VERSION_S = 10.0
"""How long the CLI may take to print its version, on which its flags depend; old builds load all of themselves for it."""

ROOM_LEAST = 1 << 20
"""Bytes that must be free where conversations are kept: on a full disk the CLI goes on and loses the conversation, silently."""

CAPABILITIES = msgspec.Raw(msgspec.json.encode({
    "loadSession": True,
    "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
    "mcpCapabilities": {"http": True, "sse": True},
    "sessionCapabilities": {"resume": {}, "fork": {}},
}))
"""What every agent has that is driven so."""

_HOW: dict[str, How] = {"new": "new", "resume": "resumed", "fork": "forked"}

_encode = msgspec.json.Encoder().encode


class Past(Protocol):
    """The conversations that the CLI has on disk."""

    async def has(self, session_id: str) -> bool:
        """Whether it has this one."""

    def replay(self, session_id: str) -> AsyncIterator[list[Signal]]:
        """What is in it, as signals, in pieces; nothing where it is not there."""

    async def free_bytes(self) -> int | None:
        """How much more fits where they are kept; None where that is not known."""


class Launch(NamedTuple):
    """With what a session's CLI is started. ``confine``: its sandbox."""

    cwd: str
    env: Mapping[str, str]
    mcp_servers: Sequence[msgspec.Raw]
    confine: Confine
    resources: Resources | None


class StreamJsonOpening:
    """Starts the CLI of one session. ``new_process`` makes the process that is to be started; ``emit`` takes what it reports."""

    def __init__(self, spec: AgentSpec, launch: Launch, past: Past, sink: DriverSink, *, new_uuid: Callable[[], str],
                 new_process: Callable[[], ClaudeProcess], emit: Callable[[list[Signal]], None]) -> None:
        self._spec = spec
        self._launch = launch
        self._past = past
        self._sink = sink
        self._new_uuid = new_uuid
        self._new_process = new_process
        self._emit = emit
        self._version: str | None = None
        self._bypass = command.may_bypass(launch.env, os.geteuid())
        self.is_greeted = True
        """It reported what it has; until it did, nothing of that is offered."""
        self.can_ask = True
        """Whether this version can be made to ask about a tool that it would run without."""
        self.lost: NotFound | None = None
        """Why the previous conversation did not come back."""

    async def open(self, previous: str | None, *, fork: bool, wanted: bool) -> tuple[ClaudeProcess, Way]:
        """Start the CLI: with the previous conversation where it has it, else with a new one; ``wanted``: only with it."""
        version = await self._find_version()
        way = self._way(previous, fork=fork)
        try:
            return await self._start(way, version), way
        except NotFound as lost:
            if wanted or way.kind == "new":
                raise
            self.lost = lost
        way = Way("new", self._new_uuid())
        return await self._start(way, version), way

    async def _find_version(self) -> Version | None:
        """Which version is installed; one that cannot be driven is refused before it is started."""
        await find_command(self._spec, self._launch.env)
        found = await catalog.detect(self._spec, self._launch.env, within_s=VERSION_S)
        version = command.read_version(found.version)
        self._version = found.version
        self.can_ask = version is None or version >= command.ASKS_FOR_HOOKS
        if version is not None and version < command.LEAST:
            raise faults.too_old(self._spec, version)
        return version

    def _way(self, previous: str | None, *, fork: bool) -> Way:
        if previous is None:
            return Way("new", self._new_uuid())
        return Way("fork", self._new_uuid(), previous) if fork else Way("resume", previous)

    async def _start(self, way: Way, version: Version | None) -> ClaudeProcess:
        """Start a process and greet it."""
        await self._check_is_there(way, version)
        if not await self.has_room():
            raise faults.start_failure(self._spec, faults.NO_SPACE, "", self._version)
        cli, launch = self._new_process(), self._launch
        lane = Lane(1)
        servers = await lane.run(command.write_mcp_config, launch.mcp_servers)
        words = command.flags(way, version=version, bypass=self._bypass, mcp_config=servers)
        try:
            program = await launch.confine((*await find_command(self._spec, launch.env), *words), cwd=launch.cwd,
                                          reads=[servers] if servers else [])
            process = await cli.spawn(program, cwd=launch.cwd, env=launch.env, resources=launch.resources or self._spec.resources,
                                      daemons=self._spec.daemons)
            await self._sink.spawned(process.pid, process.start_time, process.marker)
            await self._greet(cli)
            return cli
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
        cli.translator.opening(is_opening=True)
        answer = cli.request(lambda request_id: outgoing.initialize(request_id, **outgoing.hooked()))
        done, _ = await asyncio.wait([answer], timeout=GREETING_S)
        if done and not faults.is_unknown_request(answer.result().error):
            cli.translator.opening(is_opening=False)
            self._emit(cli.translator.settings.greeted(cli.body_of("initialize", answer.result())))
            return
        self.is_greeted = False
        self._emit([faults.notice(
            f"{self._spec.display_name} does not say what it has", "It did not answer the request with which it is told the "
            "rules. It works without its modes, models and commands, and rules hold only for what it asks about by itself.")])
        if not done:
            answer.add_done_callback(lambda late: self._greeted_late(cli, late))

    def _greeted_late(self, cli: ClaudeProcess, answer: asyncio.Future[ControlAnswer]) -> None:
        if answer.cancelled() or answer.exception() is not None or not answer.result().ok or cli.ended is not None:
            return
        self.is_greeted = True
        cli.translator.opening(is_opening=False)
        signals = cli.translator.settings.greeted(answer.result().body)
        options = {"sessionUpdate": "config_option_update", "configOptions": cli.translator.settings.options()}
        self._emit([*signals, Update(_encode(options))])

    async def _check_is_there(self, way: Way, version: Version | None) -> None:
        """An old version greets back before it has looked for the conversation, and ends when it does not find it."""
        wanted = way.source if way.kind == "fork" else way.session_id
        if way.kind != "new" and (version is None or version < command.LOOKS_FIRST) and not await self._past.has(wanted):
            raise faults.start_failure(
                self._spec, f"No conversation found with session ID: {wanted}", "", self._version)

    def _start_failure(self, cli: ClaudeProcess, error: TrunklineError) -> TrunklineError:
        failure = cli.translator.failure
        what = failure.message if failure is not None else error.message
        return faults.start_failure(self._spec, what, cli.stderr, self._version)

    def started(self, cli: ClaudeProcess, way: Way, *, adopt: bool) -> Started:
        """What was begun, with what this CLI has."""
        info = {"name": self._spec.name, "title": self._spec.display_name, "version": self._version or "unknown"}
        return Started(
            how="loaded" if adopt and way.kind == "resume" else _HOW[way.kind], agent_session_id=way.session_id,
            agent_info=msgspec.Raw(_encode(info)), capabilities=CAPABILITIES,
            modes=self.modes(cli) if self.is_greeted else None,
            config_options=cli.translator.settings.options() if self.is_greeted else None)

    def modes(self, cli: ClaudeProcess) -> msgspec.Raw:
        """The modes that can be chosen."""
        return cli.translator.settings.modes(bypass=self._bypass)

    async def has_room(self) -> bool:
        """Whether more fits where conversations are kept."""
        free = await self._past.free_bytes()
        return free is None or free >= ROOM_LEAST
