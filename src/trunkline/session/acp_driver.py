"""Drives an agent that speaks the Agent Client Protocol over stdio: we are its client.

Rule 1: one read of the pipe becomes one list of signals, in the order in which the agent wrote.
Rule 2: nothing the agent sends raises here. What it may not do is answered with an error; what makes no sense is a signal.
Rule 3: what the agent asks of us (files, terminals) runs in its own task, so that the pipe is read on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

import msgspec

from trunkline.agents.catalog import AgentSpec, launch_command
from trunkline.agents.process import AgentProcess, Exit
from trunkline.dialects import acp, jsonrpc
from trunkline.dialects.signals import (
    AgentFault,
    AskWithdrawn,
    Malformed,
    Note,
    PermissionAsk,
    PermissionOption,
    QuestionAsk,
    Signal,
    TurnEnd,
    Update,
)
from trunkline.errors import (
    AgentAuthRequired,
    AgentError,
    AgentExited,
    AgentNotRunning,
    AgentProtocolMismatch,
    AgentStartFailed,
    Invalid,
    LocalError,
    NotFound,
    TrunklineError,
    Unsupported,
)
from trunkline.session.client_calls import ClientCalls
from trunkline.session.driver import DriverSink, How, Started

START_TIMEOUT_S = 90.0
"""The slowest agents take 7 s to start on two cores; a cold npx or a first login check takes far longer."""

CALL_TIMEOUT_S = 30.0
"""For requests that an agent answers from memory (set_mode, set_config_option)."""

STDERR_LINES = 20

_OUR_CAPABILITIES = acp.ClientCapabilities(
    fs=acp.FileSystemCapabilities(read_text_file=True, write_text_file=True),
    terminal=True,
    session=acp.ClientSessionCapabilities(
        config_options=acp.SessionConfigOptionsCapabilities(boolean=acp.Offered()), notices=acp.Offered(),
        compaction=acp.Offered()),
    elicitation=acp.ElicitationCapabilities(form=acp.Offered(), url=acp.Offered()),
)


class _UpdateParams(msgspec.Struct, rename="camel", gc=False):
    session_id: str
    update: msgspec.Raw


class _Usage(msgspec.Struct):
    """What the stable schema does not know of a prompt's answer, and eight of nineteen agents send."""

    usage: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_read_update_params = msgspec.json.Decoder(_UpdateParams).decode
_encode = msgspec.json.Encoder().encode


class AcpDriver:
    """One ACP agent process with one session in it."""

    def __init__(self, spec: AgentSpec, *, cwd: str, env: Mapping[str, str], calls: ClientCalls,
                 mcp_servers: Sequence[msgspec.Raw], sink: DriverSink, new_id: Callable[[], str], version: str) -> None:
        self._spec = spec
        self._cwd = cwd
        self._env = env
        self._calls = calls
        self._mcp_servers = list(mcp_servers)
        self._sink = sink
        self._new_id = new_id
        self._version = version
        self._peer = jsonrpc.Peer(methods=acp.CLIENT_METHODS)
        self._process: AgentProcess | None = None
        self._gone: TrunklineError | None = None
        self._session_id: str | None = None
        self._replaying = False
        self._early: list[tuple[str, bytes]] = []
        self._answers: dict[int, Callable[[jsonrpc.Response], None]] = {}
        self._prompt_id: int | None = None
        self._asks: dict[str, msgspec.Raw] = {}
        self._questions: dict[str, msgspec.Raw] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._takes = acp.PromptCapabilities()
        self._turn_signals: list[Signal] = []

    async def start(self, previous: str | None) -> Started:
        """Start the agent and open a session: the previous one where the agent can, else a new one."""
        self._process = await AgentProcess.spawn(
            launch_command(self._spec, self._env), cwd=self._cwd, env=self._env, on_data=self._received, on_exit=self._exited)
        self._sink.spawned(self._process.pid, self._process.start_time, self._process.marker)
        try:
            async with asyncio.timeout(START_TIMEOUT_S):
                hello = await self._initialize()
                how, opened = await self._open(hello, previous)
        except TimeoutError:
            raise self._start_failed(f"said nothing for {START_TIMEOUT_S:.0f} s while starting") from None
        except AgentExited as error:
            raise self._start_failed(error.message) from error
        assert self._session_id is not None
        asyncio.get_running_loop().call_soon(self._deliver_early)
        return Started(
            how=how, agent_session_id=self._session_id, agent_info=_raw_or_none(hello.agent_info),
            capabilities=_raw_or_none(hello.agent_capabilities), modes=_raw_or_none(opened.modes),
            config_options=_raw_or_none(opened.config_options),
        )

    def check_prompt(self, blocks: Sequence[msgspec.Raw]) -> None:
        """Raise Unsupported when the agent cannot take one of the blocks."""
        for raw in blocks:
            block = acp.read(bytes(raw), acp.ContentBlock)
            if isinstance(block, acp.ImageContent) and not self._takes.image:
                raise Unsupported(f"{self._spec.display_name} takes no images in prompts")
            if isinstance(block, acp.AudioContent) and not self._takes.audio:
                raise Unsupported(f"{self._spec.display_name} takes no audio in prompts")

    def prompt(self, blocks: Sequence[msgspec.Raw]) -> None:
        """Send a prompt; its end is heard as TurnEnd."""
        params = {"sessionId": self._session_id, "prompt": [self._as_allowed(block) for block in blocks]}
        self._prompt_id = self._peer.send_request(acp.SESSION_PROMPT, _encode(params))
        self._answers[self._prompt_id] = self._prompt_answered
        self._flush()

    def cancel(self) -> None:
        """Ask the agent to end the turn."""
        self._peer.send_notification(acp.SESSION_CANCEL, _encode({"sessionId": self._session_id}))
        self._flush()

    def answer_permission(self, request_id: str, option_id: str | None) -> None:
        """Answer an ask by option, or as cancelled. An ask that was withdrawn or answered is ignored."""
        rpc_id = self._asks.pop(request_id, None)
        if rpc_id is None:
            return
        outcome = {"outcome": "cancelled"} if option_id is None else {"outcome": "selected", "optionId": option_id}
        self._peer.send_result(rpc_id, _encode({"outcome": outcome}))
        self._flush()

    def answer_question(self, request_id: str, action: str, content: msgspec.Raw | None) -> None:
        """Answer a question: accept with content, decline or cancel."""
        rpc_id = self._questions.pop(request_id, None)
        if rpc_id is None:
            return
        answer: dict[str, Any] = {"action": action}
        if action == "accept" and content is not None:
            answer["content"] = content
        self._peer.send_result(rpc_id, _encode(answer))
        self._flush()

    async def set_mode(self, mode_id: str) -> None:
        """Switch the agent's mode."""
        await self._bounded(acp.SESSION_SET_MODE, {"sessionId": self._session_id, "modeId": mode_id})

    async def set_config(self, config_id: str, value: str | bool) -> msgspec.Raw | None:
        """Set an option; the agent's complete list of options comes back."""
        params: dict[str, Any] = {"sessionId": self._session_id, "configId": config_id, "value": value}
        if isinstance(value, bool):
            params["type"] = "boolean"
        result = await self._bounded(acp.SESSION_SET_CONFIG_OPTION, params)
        return _raw_or_none(acp.decode_result(acp.SESSION_SET_CONFIG_OPTION, result).config_options)

    def pause_reading(self) -> None:
        """Stop taking the agent's output for a while."""
        if self._process is not None:
            self._process.pause_reading()

    def resume_reading(self) -> None:
        """Take it again."""
        if self._process is not None:
            self._process.resume_reading()

    async def stop(self) -> None:
        """End the agent and everything it started."""
        for task in list(self._tasks):
            task.cancel()
        await self._calls.close()
        if self._process is not None:
            await self._process.stop()

    def _received(self, data: bytes) -> None:
        self._peer.receive_data(data)
        signals: list[Signal] = []
        for message in self._peer.messages_received():
            if isinstance(message, jsonrpc.Notification):
                # The hot path: an update of our session is taken apart right here.
                if message.method == "session/update" and message.params is not None:
                    try:
                        told = _read_update_params(message.params)
                    except (msgspec.DecodeError, RecursionError) as error:
                        signals.append(_unreadable(acp.SESSION_UPDATE, message.params, str(error)))
                        continue
                    if told.session_id == self._session_id and not self._replaying:
                        signals.append(Update(bytes(told.update)))
                    else:
                        self._out_of_place(told, signals)
                else:
                    self._notified(message, signals)
            elif isinstance(message, jsonrpc.Response):
                self._answered(message, signals)
            elif isinstance(message, jsonrpc.Request):
                self._requested(message, signals)
            else:
                signals.append(message)
        self._flush()
        if signals:
            self._sink.heard(signals)

    def _notified(self, message: jsonrpc.Notification, signals: list[Signal]) -> None:
        if message.method == acp.CANCEL_REQUEST:
            self._withdrawn(message.params, signals)
            return
        params = message.params if message.params is not None else msgspec.Raw(b"null")
        signals.append(Note("notification", _encode({"method": message.method, "params": params})))

    def _out_of_place(self, told: _UpdateParams, signals: list[Signal]) -> None:
        """An update before our session is open is held; a replay of what the journal has is not news."""
        if self._replaying and told.session_id == self._session_id:
            return
        if self._session_id is None:
            self._early.append((told.session_id, bytes(told.update)))
        else:
            signals.append(Note("foreign_update", _encode({"sessionId": told.session_id, "update": told.update})))

    def _deliver_early(self) -> None:
        early, self._early = self._early, []
        mine: list[Signal] = [Update(update) for session_id, update in early if session_id == self._session_id]
        if mine:
            self._sink.heard(mine)

    def _answered(self, message: jsonrpc.Response, signals: list[Signal]) -> None:
        handler = self._answers.pop(message.id, None)
        if handler is None:
            return
        self._turn_signals = signals
        handler(message)

    def _prompt_answered(self, message: jsonrpc.Response) -> None:
        self._prompt_id = None
        if message.error is not None:
            fault = AgentFault(message.error.code, message.error.message, _raw_bytes(message.error.data))
            self._turn_signals.append(TurnEnd(error=fault))
            return
        self._turn_signals.append(self._turn_end(bytes(message.result) if message.result is not None else b"{}"))

    def _turn_end(self, result: bytes) -> TurnEnd:
        try:
            answer: acp.PromptResponse = acp.decode_result(acp.SESSION_PROMPT, result)
            usage = msgspec.json.decode(result, type=_Usage).usage
        except (AgentError, msgspec.DecodeError) as error:
            return TurnEnd(error=AgentFault(acp.ErrorCode.INVALID_PARAMS, str(error), None))
        return TurnEnd(stop=answer.stop_reason, usage=_raw_bytes(usage))

    def _requested(self, message: jsonrpc.Request, signals: list[Signal]) -> None:
        method = acp.canonical_method(message.method, side="client")
        asks = {acp.SESSION_REQUEST_PERMISSION: self._permission, acp.ELICITATION_CREATE: self._question}
        read = asks.get(method)
        if read is None:
            self._spawn(self._serve(method, message))
            return
        try:
            signals.append(read(message, self._new_id()))
        except Invalid as error:
            self._peer.send_error(message.id, acp.ErrorCode.INVALID_PARAMS, error.message)
            signals.append(_unreadable(message.method, message.params, error.message))

    def _permission(self, message: jsonrpc.Request, request_id: str) -> Signal:
        ask: acp.RequestPermissionRequest = acp.decode_params(acp.SESSION_REQUEST_PERMISSION, message.params)
        self._asks[request_id] = message.id
        options = tuple(PermissionOption(option.option_id, option.name, option.kind) for option in ask.options)
        return PermissionAsk(request_id, bytes(ask.tool_call), options)

    def _question(self, message: jsonrpc.Request, request_id: str) -> Signal:
        ask: acp.CreateElicitationRequest = acp.decode_params(acp.ELICITATION_CREATE, message.params)
        schema = bytes(ask.requested_schema) if isinstance(ask, acp.FormElicitation) else None
        if schema is not None and not schema.startswith(b"{"):
            raise Invalid("requestedSchema must be an object")
        self._questions[request_id] = message.id
        url = ask.url if isinstance(ask, acp.UrlElicitation) else None
        return QuestionAsk(request_id, ask.message, schema, url, ask.tool_call_id)

    def _withdrawn(self, params: msgspec.Raw | None, signals: list[Signal]) -> None:
        try:
            wanted = bytes(acp.decode_params(acp.CANCEL_REQUEST, params).request_id)
        except Invalid as error:
            signals.append(_unreadable(acp.CANCEL_REQUEST, params, error.message))
            return
        for table in (self._asks, self._questions):
            for request_id, rpc_id in table.items():
                if bytes(rpc_id) == wanted:
                    del table[request_id]
                    self._peer.send_error(rpc_id, acp.ErrorCode.REQUEST_CANCELLED, "request cancelled")
                    signals.append(AskWithdrawn(request_id))
                    return

    def _exited(self, exit: Exit) -> None:
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

    async def _initialize(self) -> acp.InitializeResponse:
        asked = acp.InitializeRequest(
            protocol_version=acp.PROTOCOL_VERSION, client_capabilities=_OUR_CAPABILITIES,
            client_info=acp.Implementation(name="trunkline", title="Trunkline", version=self._version))
        hello: acp.InitializeResponse = acp.decode_result(acp.INITIALIZE, await self._call(acp.INITIALIZE, asked))
        if hello.protocol_version != acp.PROTOCOL_VERSION:
            raise AgentProtocolMismatch(
                f"{self._spec.display_name} speaks version {hello.protocol_version} of the Agent Client Protocol, "
                f"Trunkline speaks {acp.PROTOCOL_VERSION}. Another release of the agent may speak it.",
                details={"command": list(self._spec.command), "answered": hello.protocol_version})
        self._takes = hello.capabilities.prompt
        self._check_servers(hello.capabilities.mcp)
        return hello

    def _check_servers(self, offered: acp.McpCapabilities) -> None:
        """Agents drop MCP servers that they cannot reach, silently; we do not."""
        for raw in self._mcp_servers:
            server = acp.read(bytes(raw), acp.McpServer)
            if isinstance(server, acp.McpServerHttp) and not offered.http:
                raise Unsupported(f"{self._spec.display_name} takes no MCP servers over http: {server.name}")
            if isinstance(server, acp.McpServerSse) and not offered.sse:
                raise Unsupported(f"{self._spec.display_name} takes no MCP servers over sse: {server.name}")

    async def _open(self, hello: acp.InitializeResponse, previous: str | None) -> tuple[How, _Opened]:
        if previous is not None:
            again = await self._reopen(hello, previous)
            if again is not None:
                return again
        params = {"cwd": self._cwd, "mcpServers": self._mcp_servers}
        try:
            return "new", await self._open_by(acp.SESSION_NEW, params)
        except AgentError as error:
            if error.agent_code != str(int(acp.ErrorCode.AUTH_REQUIRED)):
                raise
            await self._authenticate(hello, error)
            return "new", await self._open_by(acp.SESSION_NEW, params)

    async def _reopen(self, hello: acp.InitializeResponse, previous: str) -> tuple[How, _Opened] | None:
        """The session as it was, by resume, else by load; None where the agent can do neither or has lost it."""
        params = {"sessionId": previous, "cwd": self._cwd, "mcpServers": self._mcp_servers}
        ways: list[tuple[How, str]] = []
        if hello.capabilities.session.resume:
            ways.append(("resumed", acp.SESSION_RESUME))
        if hello.capabilities.load_session:
            ways.append(("loaded", acp.SESSION_LOAD))
        for how, method in ways:
            self._session_id, self._replaying = previous, True
            try:
                return how, await self._open_by(method, params)
            except AgentError:
                self._session_id = None
            finally:
                self._replaying = False
        return None

    async def _open_by(self, method: str, params: dict[str, Any]) -> _Opened:
        """Open a session; its id is known to us before the next message of the same read is looked at."""

        def learn_id(result: bytes) -> None:
            if self._session_id is None:
                self._session_id = _read_opened(result).session_id

        result = await self._call(method, params, at_once=learn_id)
        if self._session_id is None:
            raise AgentError(f"{self._spec.display_name} answered {method} without a sessionId")
        return _read_opened(bytes(result) if result is not None else b"{}")

    async def _authenticate(self, hello: acp.InitializeResponse, refused: AgentError) -> None:
        """Log in where the agent offers exactly one way that needs no terminal; else say what the person has to do."""
        methods = [method for method in hello.auth_methods or [] if isinstance(method, acp.AuthMethodAgent)]
        if len(methods) == 1:
            try:
                await self._call(acp.AUTHENTICATE, {"methodId": methods[0].id})
                return
            except AgentError as error:
                refused = error
        names = ", ".join(f"{method.name} ({method.id})" for method in hello.auth_methods or [])
        offers = f" It offers: {names}." if names else ""
        advice = self._spec.login_hint or "Log in with the agent's own command, then try again."
        raise AgentAuthRequired(
            f"{self._spec.display_name} wants a login first: {refused.message}.{offers} {advice}",
            details={"command": list(self._spec.command), "agentMessage": refused.message, "docsUrl": self._spec.docs_url})

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
        params = bytes(message.params) if message.params is not None else b"{}"
        try:
            result = await self._calls.serve(method, params)
        except TrunklineError as error:
            self._peer.send_error(message.id, _rpc_code(error), error.message, _encode({"code": error.code}))
        else:
            self._peer.send_result(message.id, result)
        self._flush()

    def _as_allowed(self, raw: msgspec.Raw) -> msgspec.Raw:
        """An embedded resource becomes plain text for agents that take none; everything else goes as it is."""
        if self._takes.embedded_context:
            return raw
        block = acp.read(bytes(raw), acp.ContentBlock)
        if not isinstance(block, acp.EmbeddedResource):
            return raw
        resource = block.resource
        inside = resource.text if isinstance(resource.text, str) else "(binary)"
        return msgspec.Raw(acp.encode(acp.TextContent(text=f"{resource.uri}:\n\n{inside}")))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _flush(self) -> None:
        chunks = self._peer.data_to_send()
        if chunks and self._process is not None and self._gone is None:
            self._process.write(b"".join(chunks))

    def _running(self) -> AgentProcess:
        if self._process is None:
            raise AgentNotRunning(f"{self._spec.display_name} is not running")
        return self._process

    def _start_failed(self, what: str) -> AgentStartFailed:
        stderr = self._process.stderr_tail(STDERR_LINES) if self._process is not None else ""
        command = " ".join(self._spec.command)
        message = f"{self._spec.display_name} could not be started: {what}. Command: {command}."
        if stderr:
            message += f" Its last words on stderr: {stderr.strip()[-600:]}"
        message += f" Run the command by hand to see more. {self._spec.docs_url}".rstrip()
        return AgentStartFailed(message, details={"command": list(self._spec.command), "stderr": stderr})


class _Opened(msgspec.Struct, rename="camel"):
    """What an agent answers when it opens a session; by load and resume it names no id."""

    session_id: str | None = None
    modes: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    config_options: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


def _read_opened(result: bytes) -> _Opened:
    try:
        return msgspec.json.decode(result if result != b"null" else b"{}", type=_Opened)
    except msgspec.DecodeError:
        return _Opened()


def _unreadable(method: str, params: msgspec.Raw | None, why: str) -> Malformed:
    raw = bytes(params) if params is not None else b""
    return Malformed(raw[:4096], f"{method}: {why}", len(raw))


def _rpc_code(error: TrunklineError) -> int:
    if isinstance(error, NotFound):
        return acp.ErrorCode.RESOURCE_NOT_FOUND
    if isinstance(error, Unsupported):
        return acp.ErrorCode.METHOD_NOT_FOUND
    return acp.ErrorCode.INVALID_PARAMS if isinstance(error, LocalError) else acp.ErrorCode.INTERNAL_ERROR


def _refusal(spec: AgentSpec, method: str, error: jsonrpc.RpcError) -> AgentError:
    return AgentError(
        f"{spec.display_name} refused {method}: {error.message}", details={"method": method}, agent_code=str(error.code))


def _raw_or_none(value: Any) -> msgspec.Raw | None:
    if value is None or value is msgspec.UNSET:
        return None
    raw = value if isinstance(value, msgspec.Raw) else msgspec.Raw(_encode(value))
    return None if bytes(raw) == b"null" else raw


def _raw_bytes(value: Any) -> bytes | None:
    raw = _raw_or_none(value)
    return bytes(raw) if raw is not None else None
