"""The wire to one ACP agent: its process, the bytes to and from it, and the requests of ours that wait for an answer.

Rule 1: bytes are read in the order in which the agent wrote them. After a line of many megabytes others have their turn first.
Rule 2: whoever waits for an answer gets one, also when the agent is gone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from trunkline.agents.catalog import AgentSpec
from trunkline.agents.exit_reason import last_words
from trunkline.agents.process import AgentProcess, Exit
from trunkline.dialects import jsonrpc
from trunkline.dialects.acp.reading.aliases import CLIENT_METHODS
from trunkline.errors import AgentError, AgentExited, AgentNotRunning, AgentStartFailed
from trunkline.session.driver.acp.usual_line import UsualLines

CALL_TIMEOUT_S = 30.0
"""For requests that an agent answers from memory (set_mode, set_config_option)."""

STDERR_LINES = 20

GAP_S = 0.005
"""How long others have their turn while many lines wait here."""

LONG_ANSWER = 1 << 20
"""Bytes from which on an answer waits until the agent has read what came before it."""

AT_ONCE_TERM_S = 1.0
"""What an agent that had its grace already gets between SIGTERM and SIGKILL."""

OnResponse = Callable[[jsonrpc.Response], None]

_encode = msgspec.json.Encoder().encode


class AgentConnection:
    """One agent process that speaks JSON-RPC; ``on_messages`` is called when it has written something, with what was
    read just now."""

    def __init__(self, spec: AgentSpec, on_messages: Callable[[bytes], None]) -> None:
        self.peer = jsonrpc.Peer(methods=CLIENT_METHODS)
        self.process: AgentProcess | None = None
        self.usual = UsualLines()
        self._spec = spec
        self._on_messages = on_messages
        self._gone: AgentExited | None = None
        self._waiting: dict[int, OnResponse] = {}
        """Who waits for which answer."""
        self._is_held = False
        """Whether the session takes nothing now."""
        self._gives_way = False
        """Whether others have their turn after a long line."""

    def running(self) -> AgentProcess:
        """The agent's process; AgentNotRunning where it was not started."""
        if self.process is None:
            raise AgentNotRunning(f"{self._spec.display_name} is not running")
        return self.process

    def receive_data(self, data: bytes) -> None:
        """The agent wrote this."""
        line = self.usual.line
        if line is not None:
            if line.take(data):
                return
            self.usual.end()
        self.peer.receive_data(data)
        if self.peer.had_large_line:
            # To read it took a while; what it says is looked at when others have had their turn.
            self._gives_way = True
            if self.process is not None:
                self.process.pause_reading()
            asyncio.get_running_loop().call_later(GAP_S, self._go_on_reading)
        else:
            self._on_messages(data)

    def pause_reading(self) -> None:
        """Stop taking the agent's output for a while."""
        self._is_held = True
        if self.process is not None:
            self.process.pause_reading()

    def resume_reading(self) -> None:
        """Take it again."""
        self._is_held = False
        if self.process is not None and not self._gives_way:
            self.process.resume_reading()

    def flush(self) -> None:
        """Write what the peer has to send."""
        chunks = self.peer.data_to_send()
        if not chunks or self.process is None or self._gone is not None:
            return
        if sum(map(len, chunks)) <= LONG_ANSWER:
            self.process.write(b"".join(chunks))
            return
        for chunk in chunks:
            self.process.write(chunk)

    def send_request(self, method: str, params: Any, on_response: OnResponse) -> int:
        """Send a request; its answer goes to ``on_response``. Its id."""
        rpc_id = self.peer.send_request(method, _encode(params))
        self._waiting[rpc_id] = on_response
        self.flush()
        return rpc_id

    def on_response(self, message: jsonrpc.Response) -> None:
        """An answer came; one that nobody waits for is nobody's."""
        on_response = self._waiting.pop(message.id, None)
        if on_response is not None:
            on_response(message)

    async def call(self, method: str, params: Any, *, at_once: Callable[[bytes], None] | None = None) -> msgspec.Raw | None:
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
                answer.set_exception(self._refusal(method, message.error))
            else:
                if at_once is not None:
                    at_once(bytes(message.result) if message.result is not None else b"{}")
                answer.set_result(message.result)

        rpc_id = self.send_request(method, params, settle)
        try:
            return await answer
        finally:
            self._waiting.pop(rpc_id, None)

    async def call_in_time(self, method: str, params: dict[str, Any]) -> msgspec.Raw | None:
        """The same, for what an agent answers from memory."""
        try:
            async with asyncio.timeout(CALL_TIMEOUT_S):
                return await self.call(method, params)
        except TimeoutError:
            raise AgentError(f"{self._spec.display_name} did not answer {method} within {CALL_TIMEOUT_S:.0f} s") from None

    def on_exit(self, exit: Exit, *, but: int | None) -> str:
        """The process ended: whoever waits is answered, ``but`` the request with this id. Its last lines on stderr."""
        stderr = self.running().stderr_tail(STDERR_LINES)
        self._gone = AgentExited(
            f"{self._spec.display_name} ended ({exit})",
            details={"command": list(self._spec.command), "exitCode": exit.code, "signal": exit.signal, "stderr": stderr})
        waiting, self._waiting = self._waiting, {}
        for rpc_id, on_response in waiting.items():
            if rpc_id != but:
                lost = jsonrpc.RpcError(code=-32603, message=str(exit), data=None)
                on_response(jsonrpc.Response(id=rpc_id, result=None, error=lost))
        return stderr

    async def stop(self, *, at_once: bool) -> AgentProcess | None:
        """End the process and all that it started; it, where there was one."""
        if self.process is not None:
            await (self.process.stop(close_stdin_s=0, term_s=AT_ONCE_TERM_S) if at_once else self.process.stop())
        return self.process

    def start_failed(self, what: str) -> AgentStartFailed:
        """The error that names the command and its last words."""
        stderr = self.process.stderr_tail(STDERR_LINES) if self.process is not None else ""
        command = " ".join(self._spec.command)
        message = f"{self._spec.display_name} could not be started: {what}. Command: {command}."
        if stderr:
            message += f" Its last words on stderr: {last_words(stderr) or stderr.strip()[-600:]}"
        message += f" Run the command by hand to see more. {self._spec.docs_url}".rstrip()
        return AgentStartFailed(message, details={"command": list(self._spec.command), "stderr": stderr})

    def _go_on_reading(self) -> None:
        self._gives_way = False
        if not self._is_held:
            self.resume_reading()
        self._on_messages(b"")

    def _refusal(self, method: str, error: jsonrpc.RpcError) -> AgentError:
        return AgentError(f"{self._spec.display_name} refused {method}: {error.message}", details={"method": method},
                          agent_code=str(error.code))
