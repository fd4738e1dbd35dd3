"""Drives an agent that speaks the Agent Client Protocol over stdio: we are its client.

Rule 1: one read of the pipe becomes one list of signals, in the order in which the agent wrote.
Rule 2: nothing the agent sends raises here. What it may not do is answered with an error; what makes no sense is a signal.

Its parts: ``connection`` (the wire), ``opening`` (how a session is opened), ``turn`` (the prompt that runs), ``asks`` (what a
person decides), ``service`` (what the agent has us do).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from trunkline.agents.catalog import AgentSpec, find_command
from trunkline.agents.process import AgentProcess, Exit
from trunkline.agents.resources import Resources
from trunkline.agents.sandbox import Confine, as_is
from trunkline.dialects import jsonrpc
from trunkline.dialects.acp.initialize import InitializeResponse
from trunkline.dialects.acp.methods import CANCEL_REQUEST, SESSION_SET_CONFIG_OPTION, SESSION_SET_MODE, SESSION_UPDATE
from trunkline.dialects.acp.reading.aliases import canonical_method
from trunkline.dialects.acp.reading.decode import decode_result
from trunkline.dialects.jsonrpc import Notification
from trunkline.dialects.jsonrpc.envelope import ENVELOPE
from trunkline.dialects.notes import NOTE_METHOD, CustomNote, read_note_params
from trunkline.dialects.outside import BROKEN
from trunkline.dialects.signals import Signal, Update
from trunkline.errors import AgentExited
from trunkline.session.driver.acp.asks import AcpAsks
from trunkline.session.driver.acp.connection import AgentConnection
from trunkline.session.driver.acp.listing import list_sessions
from trunkline.session.driver.acp.opening import AcpOpening, Inbox, Opened, noted, raw_or_none
from trunkline.session.driver.acp.service import NAMED_CHARS, ClientService
from trunkline.session.driver.acp.turn import PromptTurn
from trunkline.session.driver.acp.usual_line import usual_line
from trunkline.session.driver.base import AgentSession, ClientCalls, DriverSink, How, Started
from trunkline.session.driver.daemons import DaemonsLeft

START_TIMEOUT_S = 90.0
"""The slowest agents take 7 s to start on two cores; a cold npx or a first login check takes far longer."""

_encode = msgspec.json.Encoder().encode

T = TypeVar("T")


class AcpDriver:
    """One ACP agent process with one session in it."""

    def __init__(self, spec: AgentSpec, *, cwd: str, env: Mapping[str, str], calls: ClientCalls,
                 mcp_servers: Sequence[msgspec.Raw], sink: DriverSink, new_id: Callable[[], str], version: str,
                 fork: bool = False, is_known: bool = False, confine: Confine = as_is,
                 resources: Resources | None = None) -> None:
        """``fork``: the session that it begins with is a branch of the previous one. ``is_known``: it has a history here, so that
        a replay is no news. ``confine``: the session's sandbox."""
        self._spec = spec
        self._cwd = cwd
        self._env = env
        self._sink = sink
        self._fork = fork
        self._is_known = is_known
        self._confine = confine
        self._resources = resources or spec.resources
        self._inbox = Inbox()
        self._connection = AgentConnection(spec, self._take_messages)
        self._opening = AcpOpening(spec, cwd, list(mcp_servers), version, self._inbox, self._connection.call)
        self._asks = AcpAsks(self._connection.peer, new_id, self._inbox.is_ours)
        self._service = ClientService(calls, self._connection, self._inbox.is_ours, self._emit_late)
        self._turn = PromptTurn(spec, self._connection, self._inbox, calls, self._service)
        self._lists = False
        self._daemons_left = DaemonsLeft(sink)
        self._held: list[Signal] = []
        """Signals that wait until it is written down that, and how, the session was opened."""
        self._is_live = False
        self._emit_signals: Callable[[list[Signal]], None] = self._held.extend
        """Where signals go: there, and from then on to the session."""

    async def start(self, previous: str | None, *, adopt: bool = False) -> Started:
        """Start the agent and open a session: the previous one where the agent can, else a new one; or adopt one."""
        if adopt and not self._is_known:
            self._emit_signals, self._is_live = self._sink.on_signals, True
        try:
            hello, how, opened = await self._in_time(self._open(previous, adopt))
        except BaseException:
            self._deliver_early()
            raise
        assert self._inbox.session_id is not None
        asyncio.get_running_loop().call_soon(self._deliver_early)
        return Started(
            how=how, agent_session_id=self._inbox.session_id, agent_info=raw_or_none(hello.agent_info),
            capabilities=raw_or_none(hello.agent_capabilities), modes=raw_or_none(opened.modes),
            config_options=raw_or_none(opened.config_options), models=raw_or_none(opened.models),
        )

    async def greet(self) -> None:
        """Start the agent and open no session: enough to ask what it has."""
        await self._in_time(self._launch())

    async def list_sessions(self, folders: Sequence[str] = ()) -> list[AgentSession]:
        """The sessions of the agent's own store; none where it does not offer to list them."""
        return await list_sessions(self._connection.call_in_time, folders) if self._lists else []

    async def _open(self, previous: str | None, adopt: bool) -> tuple[InitializeResponse, How, Opened]:
        hello = await self._launch()
        if adopt and previous is not None:
            if self._fork:
                return hello, *await self._opening.fork(hello, previous)
            return hello, *await self._opening.adopt(hello, previous, known=self._is_known)
        return hello, *await self._opening.open(hello, previous)

    async def _in_time(self, starting: Coroutine[Any, Any, T]) -> T:
        """What belongs to a start, within its time; whatever goes wrong names the command and its last words."""
        try:
            async with asyncio.timeout(START_TIMEOUT_S):
                return await starting
        except TimeoutError:
            raise self._connection.start_failed(f"said nothing for {START_TIMEOUT_S:.0f} s while starting") from None
        except AgentExited as error:
            raise self._connection.start_failed(error.message) from error

    async def _launch(self) -> InitializeResponse:
        command = await self._confine(await find_command(self._spec, self._env), cwd=self._cwd)
        process = self._connection.process = await AgentProcess.spawn(
            command, cwd=self._cwd, env=self._env, on_data=self._connection.receive_data, on_exit=self._on_exit,
            resources=self._resources, daemons=self._spec.daemons)
        await self._sink.spawned(process.pid, process.start_time, process.marker)
        hello = await self._opening.greet()
        self._turn.takes = hello.capabilities.prompt
        self._lists = hello.capabilities.session.list is not None
        return hello

    def check_prompt(self, blocks: Sequence[msgspec.Raw]) -> None:
        """Raise Unsupported when the agent cannot take one of the blocks."""
        self._turn.check_prompt(blocks)

    def prompt(self, blocks: Sequence[msgspec.Raw]) -> None:
        """Send a prompt; its end comes as a TurnEnd."""
        self._turn.send_prompt(blocks)

    def cancel(self) -> None:
        """Have the agent end the turn."""
        self._turn.cancel()

    def cancel_late(self) -> None:
        """The turn that is over was cancelled: end the commands that were started in it."""
        self._service.end_commands(turn_ended=True)

    def answer_permission(self, request_id: str, option_id: str | None, *, reason: str | None = None,
                          updated_input: msgspec.Raw | None = None) -> None:
        """Answer an ask by option, or as cancelled."""
        self._asks.answer_permission(request_id, option_id, reason)
        self._connection.flush()

    def answer_question(self, request_id: str, action: str, content: msgspec.Raw | None) -> None:
        """Answer a question: accept with content, decline or cancel."""
        self._asks.answer_question(request_id, action, content)
        self._connection.flush()

    def refuse(self, request_id: str, reason: str) -> None:
        """Answer an ask or a question with an error."""
        self._asks.refuse(request_id, reason)
        self._connection.flush()

    async def set_mode(self, mode_id: str) -> None:
        """Switch the agent's mode."""
        await self._connection.call_in_time(SESSION_SET_MODE, {"sessionId": self._inbox.session_id, "modeId": mode_id})

    async def set_config(self, config_id: str, value: str | bool) -> msgspec.Raw | None:
        """Set an option; the agent's complete list of options comes back."""
        params: dict[str, Any] = {"sessionId": self._inbox.session_id, "configId": config_id, "value": value}
        if isinstance(value, bool):
            params["type"] = "boolean"
        result = await self._connection.call_in_time(SESSION_SET_CONFIG_OPTION, params)
        return raw_or_none(decode_result(SESSION_SET_CONFIG_OPTION, result).config_options)

    def pause_reading(self) -> None:
        """Stop taking the agent's output for a while."""
        self._connection.pause_reading()

    def resume_reading(self) -> None:
        """Take it again."""
        self._connection.resume_reading()

    def look_again(self) -> None:
        """Nothing to look at: the agent says everything itself."""

    async def stop(self, *, at_once: bool = False) -> None:
        """End the agent and everything it started; ``at_once``: without the time to end by itself."""
        _, process = await asyncio.gather(self._service.close(), self._connection.stop(at_once=at_once))
        if process is not None:
            self._daemons_left.emit(process)

    def _take_messages(self, line: bytes = b"") -> None:
        read, peer = self._inbox.read, self._connection.peer
        signals: list[Signal] = []
        for message in peer.messages_received():
            if isinstance(message, Notification):
                if message.method == "session/update" and message.params is not None:
                    signals += read(message.params)
                else:
                    self._on_notification(message, signals)
            elif isinstance(message, jsonrpc.Response):
                if signals:  # a turn's last word does not wait until its end is read, which comes with it more often than not
                    self._emit_signals(signals)
                    signals = []
                self._turn.signals = signals
                self._connection.on_response(message)
            elif isinstance(message, jsonrpc.Request):
                self._on_request(message, signals)
            else:
                signals.append(message)
        if peer.has_output:
            self._connection.flush()
        if signals:
            self._emit_signals(signals)
            if len(signals) == 1:
                self._learn(line, signals[0])

    def _learn(self, line: bytes, signal: Signal) -> None:
        """Have lines taken that are like the one which was read, and meant this and nothing else."""
        usual = self._connection.usual
        if type(signal) is Update and self._is_live and usual.is_worth_it() and self._means(line, signal):
            found = self._sink.text_run(signal.raw)
            usual.line = None if found is None else usual_line(line, signal.raw, *found)

    def _means(self, line: bytes, signal: Update) -> bool:
        """Whether what was read means this by itself: it may be but the end of a line, and the signal come of another."""
        try:
            envelope = ENVELOPE.decode(line)
        except BROKEN:
            return False
        return (envelope.id is msgspec.UNSET and envelope.method == SESSION_UPDATE and envelope.params is not msgspec.UNSET
                and self._inbox.read(envelope.params) == (signal,))

    def _on_notification(self, message: Notification, signals: list[Signal]) -> None:
        if message.method == CANCEL_REQUEST:
            withdrawn = self._asks.withdrawn(message.params)
            signals += [] if withdrawn is None else [withdrawn]
            return
        if canonical_method(message.method, side="client") == SESSION_UPDATE and message.params is not None:
            signals += self._inbox.read(message.params)
            return
        params = message.params if message.params is not None else msgspec.Raw(b"null")
        if message.method == NOTE_METHOD and (note := read_note_params(bytes(params))) is not None:
            signals.append(note)
            return
        signals.append(CustomNote("notification", _encode({"method": message.method[:NAMED_CHARS], "params": noted(params)})))

    def _on_request(self, message: jsonrpc.Request, signals: list[Signal]) -> None:
        method = canonical_method(message.method, side="client")
        if self._asks.takes(method):
            signals.append(self._asks.on_request(method, message))
        else:
            self._service.on_request(method, message)

    def _emit_late(self, signals: list[Signal]) -> None:
        """Of what was done for the agent meanwhile: where signals go by then."""
        self._emit_signals(signals)

    def _deliver_early(self) -> None:
        early = [*self._inbox.take_early(), *self._held]
        self._held.clear()
        self._emit_signals, self._is_live = self._sink.on_signals, True
        if early:
            self._sink.on_signals(early)

    def _on_exit(self, exit: Exit) -> None:
        self._take_messages()
        stderr = self._connection.on_exit(exit, but=self._turn.prompt_id)
        self._sink.exited(exit, stderr)
