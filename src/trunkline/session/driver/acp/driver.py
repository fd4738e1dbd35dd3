"""Drives an agent that speaks the Agent Client Protocol over stdio: we are its client.

Rule 1: one read of the pipe becomes one list of signals, in the order in which the agent wrote.
Rule 2: nothing the agent sends raises here. What it may not do is answered with an error; what makes no sense is a signal.
Rule 3: what the agent asks of us (files, terminals) runs in its own task, so that the pipe is read on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import msgspec

from trunkline.agents.catalog import AgentSpec, find_command
from trunkline.agents.exit_reason import last_words
from trunkline.agents.process import AgentProcess, Exit
from trunkline.agents.resources import Resources
from trunkline.agents.sandbox import Confine, as_is
from trunkline.dialects import jsonrpc
from trunkline.dialects.acp.aliases import CLIENT_METHODS, canonical_method
from trunkline.dialects.acp.decode import decode_result
from trunkline.dialects.acp.initialize import InitializeResponse, PromptCapabilities
from trunkline.dialects.acp.methods import (
    CANCEL_REQUEST,
    FS_READ_TEXT_FILE,
    SESSION_CANCEL,
    SESSION_PROMPT,
    SESSION_SET_CONFIG_OPTION,
    SESSION_SET_MODE,
    SESSION_UPDATE,
    TERMINAL_OUTPUT,
)
from trunkline.dialects.acp.sessions import PromptResponse
from trunkline.dialects.acp.usage import answer_stop, answer_usage
from trunkline.dialects.codes import ErrorCode
from trunkline.dialects.jsonrpc import Notification
from trunkline.dialects.signals import NOTE_METHOD, AgentFault, Note, Signal, TurnEnd, sent_note
from trunkline.errors import (
    AgentError,
    AgentExited,
    AgentNotRunning,
    AgentStartFailed,
    Forbidden,
    LocalError,
    NotFound,
    TrunklineError,
    Unsupported,
)
from trunkline.session.driver.acp.asks import AcpAsks
from trunkline.session.driver.acp.limits import Served
from trunkline.session.driver.acp.listing import listed
from trunkline.session.driver.acp.opening import Inbox, Opened, Opening, noted, raw_or_none
from trunkline.session.driver.acp.prompts import as_taken, check_prompt
from trunkline.session.driver.base import AgentSession, Calls, DriverSink, How, Started
from trunkline.session.driver.daemons import DaemonsLeft

START_TIMEOUT_S = 90.0
"""The slowest agents take 7 s to start on two cores; a cold npx or a first login check takes far longer."""

CALL_TIMEOUT_S = 30.0
"""For requests that an agent answers from memory (set_mode, set_config_option)."""

STDERR_LINES = 20

ANSWERS_AT_ONCE = 4
"""Files and outputs that are read for the agent at once: each may have 64 MiB, which wait until it has read what came before."""

GAP_S = 0.005
"""How long others have their turn while many lines wait here."""

LONG_ANSWER = 1 << 20
"""Bytes from which on an answer waits until the agent has read what came before it."""

_LONG_ANSWERS = (FS_READ_TEXT_FILE, TERMINAL_OUTPUT)

NAMED_CHARS = 80
"""As much of an id that is not ours is told."""

AT_ONCE_TERM_S = 1.0
"""What an agent that had its grace already gets between SIGTERM and SIGKILL."""

_encode = msgspec.json.Encoder().encode

T = TypeVar("T")


class AcpDriver:
    """One ACP agent process with one session in it."""

    def __init__(self, spec: AgentSpec, *, cwd: str, env: Mapping[str, str], calls: Calls,
                 mcp_servers: Sequence[msgspec.Raw], sink: DriverSink, new_id: Callable[[], str], version: str,
                 fork: bool = False, confine: Confine = as_is, resources: Resources | None = None) -> None:
        """``fork``: the session that it begins with is a branch of the previous one. ``confine``: the session's sandbox."""
        self._confine = confine
        self._resources = resources or spec.resources
        self._spec = spec
        self._cwd = cwd
        self._env = env
        self._calls = calls
        self._sink = sink
        self._fork = fork
        self._inbox = Inbox()
        self._opening = Opening(spec, cwd, list(mcp_servers), version, self._inbox, self._call)
        self._peer = jsonrpc.Peer(methods=CLIENT_METHODS)
        self._process: AgentProcess | None = None
        self._gone: TrunklineError | None = None
        self._answers: dict[int, Callable[[jsonrpc.Response], None]] = {}
        self._prompt_id: int | None = None
        self._asks = AcpAsks(self._peer, new_id, self._inbox.is_ours)
        self._long_answers = asyncio.Semaphore(ANSWERS_AT_ONCE)
        self._answering = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._served = Served()
        self._takes = PromptCapabilities()
        self._lists = False
        self._daemons_left = DaemonsLeft(sink)
        self._is_held = False
        """Whether the session does not take what the agent says."""
        self._gives_way = False
        """Whether others have their turn after a long line."""
        self._turn_signals: list[Signal] = []
        self._held: list[Signal] = []
        self._hear: Callable[[list[Signal]], None] = self._held.extend
        """Where signals go: they are held until it is written down that, and how, the session was opened."""

    async def start(self, previous: str | None, *, adopt: bool = False) -> Started:
        """Start the agent and open a session: the previous one where the agent can, else a new one; or adopt one."""
        if adopt:
            self._hear = self._sink.heard
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
        return await listed(self._bounded, folders) if self._lists else []

    async def _open(self, previous: str | None, adopt: bool) -> tuple[InitializeResponse, How, Opened]:
        hello = await self._launch()
        if adopt and previous is not None:
            way_in = self._opening.fork if self._fork else self._opening.adopt
            return hello, *await way_in(hello, previous)
        return hello, *await self._opening.open(hello, previous)

    async def _in_time(self, starting: Coroutine[Any, Any, T]) -> T:
        """What belongs to a start, within its time; whatever goes wrong names the command and its last words."""
        try:
            async with asyncio.timeout(START_TIMEOUT_S):
                return await starting
        except TimeoutError:
            raise self._start_failed(f"said nothing for {START_TIMEOUT_S:.0f} s while starting") from None
        except AgentExited as error:
            raise self._start_failed(error.message) from error

    async def _launch(self) -> InitializeResponse:
        command = await self._confine(await find_command(self._spec, self._env), cwd=self._cwd)
        self._process = await AgentProcess.spawn(
            command, cwd=self._cwd, env=self._env, on_data=self._received, on_exit=self._exited,
            resources=self._resources, daemons=self._spec.daemons)
        await self._sink.spawned(self._process.pid, self._process.start_time, self._process.marker)
        hello = await self._opening.greet()
        self._takes = hello.capabilities.prompt
        self._lists = hello.capabilities.session.list is not None
        return hello

    def check_prompt(self, blocks: Sequence[msgspec.Raw]) -> None:
        """Raise Unsupported when the agent cannot take one of the blocks."""
        check_prompt(blocks, self._takes, self._spec.display_name)

    def prompt(self, blocks: Sequence[msgspec.Raw]) -> None:
        """Send a prompt; its end is heard as TurnEnd."""
        params = {"sessionId": self._inbox.session_id, "prompt": [as_taken(block, self._takes) for block in blocks]}
        self._calls.turn_began()
        self._prompt_id = self._peer.send_request(SESSION_PROMPT, _encode(params))
        self._answers[self._prompt_id] = self._prompt_answered
        self._flush()

    def cancel(self) -> None:
        """Ask the agent to end the turn. Where it has just done so, and the session has yet to hear of it, its commands end."""
        if self._prompt_id is None:
            self.cancel_late()
            return
        self._peer.send_notification(SESSION_CANCEL, _encode({"sessionId": self._inbox.session_id}))
        self._flush()
        for ending in self._calls.turn_cancelled():
            self._spawn(self._end_command(ending))

    def cancel_late(self) -> None:
        """The turn that is over was cancelled: end the commands that were started in it."""
        for ending in self._calls.turn_cancelled(ended=True):
            self._spawn(self._end_command(ending))

    def answer_permission(self, request_id: str, option_id: str | None, *, reason: str | None = None,
                          updated_input: msgspec.Raw | None = None) -> None:
        """Answer an ask by option, or as cancelled."""
        self._asks.answer_permission(request_id, option_id, reason)
        self._flush()

    def answer_question(self, request_id: str, action: str, content: msgspec.Raw | None) -> None:
        """Answer a question: accept with content, decline or cancel."""
        self._asks.answer_question(request_id, action, content)
        self._flush()

    def refuse(self, request_id: str, reason: str) -> None:
        """Answer an ask or a question with an error."""
        self._asks.refuse(request_id, reason)
        self._flush()

    async def set_mode(self, mode_id: str) -> None:
        """Switch the agent's mode."""
        await self._bounded(SESSION_SET_MODE, {"sessionId": self._inbox.session_id, "modeId": mode_id})

    async def set_config(self, config_id: str, value: str | bool) -> msgspec.Raw | None:
        """Set an option; the agent's complete list of options comes back."""
        params: dict[str, Any] = {"sessionId": self._inbox.session_id, "configId": config_id, "value": value}
        if isinstance(value, bool):
            params["type"] = "boolean"
        result = await self._bounded(SESSION_SET_CONFIG_OPTION, params)
        return raw_or_none(decode_result(SESSION_SET_CONFIG_OPTION, result).config_options)

    def pause_reading(self) -> None:
        """Stop taking the agent's output for a while."""
        self._is_held = True
        if self._process is not None:
            self._process.pause_reading()

    def resume_reading(self) -> None:
        """Take it again."""
        self._is_held = False
        if self._process is not None and not self._gives_way:
            self._process.resume_reading()

    def look_again(self) -> None:
        """Nothing to look at: the agent says everything itself."""

    async def stop(self, *, at_once: bool = False) -> None:
        """End the agent and everything it started; ``at_once``: without the time to end by itself."""
        for task in list(self._tasks):
            task.cancel()
        ends = [self._calls.close()]
        if self._process is not None:
            ends.append(self._end_process(self._process, at_once))
        await asyncio.gather(*ends)

    async def _end_command(self, ending: Coroutine[Any, Any, Any]) -> None:
        with suppress(TrunklineError):  # an editor that refuses has to look after its terminal itself
            await ending

    async def _end_process(self, process: AgentProcess, at_once: bool) -> None:
        if at_once:
            await process.stop(close_stdin_s=0, term_s=AT_ONCE_TERM_S)
        else:
            await process.stop()
        self._daemons_left.tell(process)

    def _received(self, data: bytes) -> None:
        self._peer.receive_data(data)
        if self._peer.had_large_line:
            # To read it took a while; what it says is looked at when others have had their turn.
            self._gives_way = True
            if self._process is not None:
                self._process.pause_reading()
            asyncio.get_running_loop().call_later(GAP_S, self._go_on_reading)
        else:
            self._take_messages()

    def _go_on_reading(self) -> None:
        self._gives_way = False
        if not self._is_held:
            self.resume_reading()
        self._take_messages()

    def _take_messages(self) -> None:
        read = self._inbox.read
        signals: list[Signal] = []
        for message in self._peer.messages_received():
            if isinstance(message, Notification):
                if message.method == "session/update" and message.params is not None:
                    signals += read(message.params)
                else:
                    self._notified(message, signals)
            elif isinstance(message, jsonrpc.Response):
                self._answered(message, signals)
            elif isinstance(message, jsonrpc.Request):
                self._requested(message, signals)
            else:
                signals.append(message)
        if self._peer.has_output:
            self._flush()
        if signals:
            self._hear(signals)

    def _notified(self, message: Notification, signals: list[Signal]) -> None:
        if message.method == CANCEL_REQUEST:
            withdrawn = self._asks.withdrawn(message.params)
            signals += [] if withdrawn is None else [withdrawn]
            return
        if canonical_method(message.method, side="client") == SESSION_UPDATE and message.params is not None:
            signals += self._inbox.read(message.params)
            return
        params = message.params if message.params is not None else msgspec.Raw(b"null")
        if message.method == NOTE_METHOD and (note := sent_note(bytes(params))) is not None:
            signals.append(note)
            return
        signals.append(Note("notification", _encode({"method": message.method[:NAMED_CHARS], "params": noted(params)})))

    def _deliver_early(self) -> None:
        early = [*self._inbox.take_early(), *self._held]
        self._held.clear()
        self._hear = self._sink.heard
        if early:
            self._sink.heard(early)

    def _answered(self, message: jsonrpc.Response, signals: list[Signal]) -> None:
        handler = self._answers.pop(message.id, None)
        if handler is None:
            return
        self._turn_signals = signals
        handler(message)

    def _prompt_answered(self, message: jsonrpc.Response) -> None:
        self._prompt_id = None
        self._calls.turn_ended()
        if message.error is not None:
            fault = AgentFault(message.error.code, message.error.message, _raw_bytes(message.error.data))
            self._turn_signals.append(TurnEnd(error=fault))
            return
        end = self._turn_end(bytes(message.result) if message.result is not None else b"{}")
        if end.stop == "cancelled":  # also where nobody but the agent itself did that
            self.cancel_late()
        self._turn_signals.append(end)

    def _turn_end(self, result: bytes) -> TurnEnd:
        try:
            answer: PromptResponse = decode_result(SESSION_PROMPT, result)
        except AgentError as error:
            return TurnEnd(error=AgentFault(ErrorCode.INVALID_PARAMS, str(error), None))
        return TurnEnd(stop=answer.stop_reason, said=answer_stop(result), usage=answer_usage(result),
                       usage_of_session=self._spec.quirks.usage_of_session)

    def _requested(self, message: jsonrpc.Request, signals: list[Signal]) -> None:
        method = canonical_method(message.method, side="client")
        if self._asks.takes(method):
            signals.append(self._asks.asked(method, message))
            return
        size = len(memoryview(message.params)) if message.params is not None else 0
        why = self._served.refusal(method, size)
        if why is not None:
            self._peer.send_error(message.id, ErrorCode.INVALID_REQUEST, why)
            return
        self._served.begin(size)
        self._spawn(self._serve(method, message)).add_done_callback(lambda _: self._served.end(size))

    def _exited(self, exit: Exit) -> None:
        self._take_messages()
        stderr = self._running().stderr_tail(STDERR_LINES)
        self._gone = AgentExited(
            f"{self._spec.display_name} ended ({exit})",
            details={"command": list(self._spec.command), "exitCode": exit.code, "signal": exit.signal, "stderr": stderr})
        answers, self._answers = self._answers, {}
        for rpc_id, handler in answers.items():
            if rpc_id != self._prompt_id:
                lost = jsonrpc.RpcError(code=-32603, message=str(exit), data=None)
                handler(jsonrpc.Response(id=rpc_id, result=None, error=lost))
        self._sink.exited(exit, stderr)

    async def _bounded(self, method: str, params: dict[str, Any]) -> msgspec.Raw | None:
        try:
            async with asyncio.timeout(CALL_TIMEOUT_S):
                return await self._call(method, params)
        except TimeoutError:
            raise AgentError(f"{self._spec.display_name} did not answer {method} within {CALL_TIMEOUT_S:.0f} s") from None

    async def _call(self, method: str, params: Any, *, at_once: Callable[[bytes], None] | None = None) -> msgspec.Raw | None:
        """Send a request and wait for its answer. ``at_once`` sees the result before any later message is handled."""
        if self._gone is not None:
            raise self._gone
        answer: asyncio.Future[msgspec.Raw | None] = asyncio.get_running_loop().create_future()

        def settle(message: jsonrpc.Response) -> None:
            if answer.done():
                return
            if self._gone is not None:
                answer.set_exception(self._gone)
            elif message.error is not None:
                answer.set_exception(_refusal(self._spec, method, message.error))
            else:
                if at_once is not None:
                    at_once(bytes(message.result) if message.result is not None else b"{}")
                answer.set_result(message.result)

        rpc_id = self._peer.send_request(method, _encode(params))
        self._answers[rpc_id] = settle
        self._flush()
        try:
            return await answer
        finally:
            self._answers.pop(rpc_id, None)

    async def _serve(self, method: str, message: jsonrpc.Request) -> None:
        """Answer what the agent asks of its client: a file, a terminal."""
        if method not in _LONG_ANSWERS:
            await self._answer(method, message)
            return
        async with self._long_answers:
            await self._answer(method, message)

    async def _answer(self, method: str, message: jsonrpc.Request) -> None:
        params: bytes = message.params if message.params is not None else b"{}"
        try:
            result = await self._calls.serve(method, params, partial(self._check_caller, method))
            if len(result) > LONG_ANSWER:
                await self._send_long(message.id, result)
                return
        except TrunklineError as error:
            self._peer.send_error(message.id, _rpc_code(error), error.message, _encode(_rpc_data(error)))
        except Exception as error:  # the request's boundary: an agent that is not answered hangs
            self._peer.send_error(message.id, ErrorCode.INTERNAL_ERROR, f"{method} failed: {error!r}")
        else:
            self._peer.send_result(message.id, result)
        self._flush()

    async def _send_long(self, request_id: msgspec.Raw, result: bytes) -> None:
        """One after the other, each when the agent has read the one before."""
        async with self._answering:
            await self._running().drain()
            self._peer.send_result(request_id, result)
            self._flush()

    def _check_caller(self, method: str, session_id: str) -> None:
        """Forbidden for a session that is not ours, and told: whoever reads along should know that it was tried."""
        if not self._inbox.is_ours(session_id):
            self._hear([Note("foreign_call", _encode({"method": method, "sessionId": session_id[:NAMED_CHARS]}))])
            raise Forbidden(f"sessionId {session_id[:NAMED_CHARS]!r} is not the session of this connection")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _flush(self) -> None:
        chunks = self._peer.data_to_send()
        if not chunks or self._process is None or self._gone is not None:
            return
        if sum(map(len, chunks)) <= LONG_ANSWER:
            self._process.write(b"".join(chunks))
            return
        for chunk in chunks:
            self._process.write(chunk)

    def _running(self) -> AgentProcess:
        if self._process is None:
            raise AgentNotRunning(f"{self._spec.display_name} is not running")
        return self._process

    def _start_failed(self, what: str) -> AgentStartFailed:
        stderr = self._process.stderr_tail(STDERR_LINES) if self._process is not None else ""
        command = " ".join(self._spec.command)
        message = f"{self._spec.display_name} could not be started: {what}. Command: {command}."
        if stderr:
            message += f" Its last words on stderr: {last_words(stderr) or stderr.strip()[-600:]}"
        message += f" Run the command by hand to see more. {self._spec.docs_url}".rstrip()
        return AgentStartFailed(message, details={"command": list(self._spec.command), "stderr": stderr})


def _rpc_code(error: TrunklineError) -> int:
    if isinstance(error, NotFound):
        return ErrorCode.RESOURCE_NOT_FOUND
    if isinstance(error, Unsupported):
        return ErrorCode.METHOD_NOT_FOUND
    return ErrorCode.INVALID_PARAMS if isinstance(error, LocalError) else ErrorCode.INTERNAL_ERROR


def _rpc_data(error: TrunklineError) -> dict[str, Any]:
    reason = (error.details or {}).get("reason")
    return {"code": error.code} if reason is None else {"code": error.code, "reason": reason}


def _refusal(spec: AgentSpec, method: str, error: jsonrpc.RpcError) -> AgentError:
    return AgentError(
        f"{spec.display_name} refused {method}: {error.message}", details={"method": method}, agent_code=str(error.code))


def _raw_bytes(value: Any) -> bytes | None:
    raw = raw_or_none(value)
    return bytes(raw) if raw is not None else None
