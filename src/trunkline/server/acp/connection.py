"""One editor's connection: what is sent to it, in order, and what it answers.

Rule 1: ids of ours begin at random, so that an answer to an earlier connection's request is never taken for one to this one's.
Rule 2: whole messages, one after the other; ``send`` returns when the editor can take more.
Rule 3: a request that we take back is cancelled (``$/cancel_request``); what is answered to it all the same is not read.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import msgspec

from trunkline.dialects import jsonrpc
from trunkline.dialects.acp.initialize import ClientCapabilities
from trunkline.dialects.acp.methods import AGENT_REQUESTS, LOGOUT, SESSION_CANCEL, SESSION_FORK
from trunkline.dialects.acp.reading.aliases import with_aliases
from trunkline.dialects.error_codes import ErrorCode
from trunkline.errors import Invalid, NotFound, TrunklineError, Unavailable, Unsupported
from trunkline.server.acp.faults import fault_of
from trunkline.server.websocket import PeerGone

AGENT_METHODS = with_aliases({*AGENT_REQUESTS - {LOGOUT}, SESSION_CANCEL, SESSION_FORK}, side="agent")
"""The requests that are served. A cancel is a notification; who sends it as a request is answered all the same."""

_encode = msgspec.json.Encoder().encode

OnAnswer = Callable[[jsonrpc.Response], None]


class EditorRequest(msgspec.Struct):
    """One request on its way."""

    id: msgspec.Raw
    params: bytes | None
    stream: str | None
    """Where its answer goes: the session's stream, or the connection's."""


class EditorWire(Protocol):
    """The way to an editor."""

    keeps: bool
    """Whether what is sent is kept until it is read, so that nothing is lost when ``send`` is broken off while it waits."""

    async def send(self, lines: Sequence[bytes], stream: str | None) -> None:
        """Send messages; ``stream`` is the session that they belong to. Returns when more can be taken; raises PeerGone."""

    def can_take(self, stream: str | None) -> bool:
        """Whether messages may be written on the spot."""

    def write_now(self, lines: Sequence[bytes], stream: str | None) -> None:
        """Send messages on the spot. Only where ``can_take``."""


class EditorLine:
    """Messages to and from one editor."""

    def __init__(self, wire: EditorWire) -> None:
        self.offers = ClientCapabilities()
        """What the editor can do, as it says."""
        self.wants_cursor = False
        """Whether the editor wants to know where in the journal it is."""
        self.keeps = wire.keeps
        """Whether what is sent is kept, also when whoever sends it does not wait until it is read."""
        self._wire = wire
        self._peer = jsonrpc.Peer(methods=AGENT_METHODS, complains=True, last_id=secrets.randbits(30) << 20)
        self._answers: dict[int, OnAnswer] = {}
        self._last_words: set[asyncio.Task[None]] = set()
        self._gone = False

    def receive(self, message: bytes) -> list[jsonrpc.Message]:
        """The requests and notifications of one message. Answers go to whoever waits for them."""
        self._peer.receive_message(message)
        found: list[jsonrpc.Message] = []
        for each in self._peer.messages_received():
            if isinstance(each, jsonrpc.Response):
                on_answer = self._answers.pop(each.id, None)
                if on_answer is not None:
                    on_answer(each)
            else:
                found.append(each)
        return found

    def take(self) -> list[bytes]:
        """The messages that wait to be sent."""
        return [line[:-1] for line in self._peer.data_to_send()]

    async def send(self, lines: Sequence[bytes], stream: str | None) -> None:
        """Send messages."""
        if lines and not self._gone:
            await self._wire.send(lines, stream)

    def can_take(self, stream: str | None) -> bool:
        """Whether ``write_now`` may be called now: the editor takes what it is sent."""
        return not self._gone and self._wire.can_take(stream)

    def write_now(self, lines: Sequence[bytes], stream: str | None) -> None:
        """Send messages on the spot. Only where ``can_take``."""
        if lines:
            self._wire.write_now(lines, stream)

    async def reply(self, request: EditorRequest, result: msgspec.Struct | dict[str, Any]) -> None:
        """Answer a request."""
        body = _encode(result) if isinstance(result, dict) else result
        await self.send(self.result(request.id, body), request.stream)

    def result(self, request_id: msgspec.Raw, result: bytes | msgspec.Struct) -> list[bytes]:
        """The answer to a request."""
        self._peer.send_result(request_id, result)
        return self.take()

    def error(self, request_id: msgspec.Raw, error: TrunklineError) -> list[bytes]:
        """The refusal of a request."""
        fault = fault_of(error)
        return self.fault(request_id, fault.code, fault.message, _encode(fault.data))

    def fault(self, request_id: msgspec.Raw, code: int, message: str, data: bytes | None = None) -> list[bytes]:
        """The same, by number."""
        self._peer.send_error(request_id, code, message, data)
        return self.take()

    def ask(self, method: str, params: bytes, on_answer: OnAnswer) -> tuple[int, list[bytes]]:
        """A request, and its id; ``on_answer`` gets what comes of it, unless it is taken back."""
        rpc_id = self._peer.send_request(method, params)
        self._answers[rpc_id] = on_answer
        return rpc_id, self.take()

    def take_back(self, rpc_id: int) -> list[bytes]:
        """Nobody waits for that answer any more."""
        self._answers.pop(rpc_id, None)
        self._peer.send_cancel(rpc_id)
        return self.take()

    async def call(self, method: str, params: bytes, stream: str) -> bytes:
        """Ask and wait; a LocalError where the editor refuses, Unavailable when it leaves."""
        if self._gone:
            raise Unavailable("the editor has left")
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

        def on_answer(message: jsonrpc.Response) -> None:
            if answer.done():
                return
            if message.error is not None:
                answer.set_exception(_refusal(method, message.error))
            else:
                answer.set_result(bytes(message.result) if message.result is not None else b"{}")

        rpc_id, lines = self.ask(method, params, on_answer)
        try:
            await self.send(lines, stream)
            return await answer
        except PeerGone:
            raise Unavailable("the editor has left") from None
        finally:
            if not answer.done() or answer.cancelled():
                lines = self.take_back(rpc_id)
                if lines and not self._gone:
                    last = asyncio.get_running_loop().create_task(self._send_last(lines, stream))
                    self._last_words.add(last)
                    last.add_done_callback(self._last_words.discard)

    def close(self) -> None:
        """The editor is gone: whoever waits for it learns so."""
        self._gone = True
        answers, self._answers = self._answers, {}
        gone = jsonrpc.RpcError(GONE, "the editor has left")
        for rpc_id, on_answer in answers.items():
            on_answer(jsonrpc.Response(rpc_id, error=gone))

    async def _send_last(self, lines: list[bytes], stream: str) -> None:
        try:
            await self.send(lines, stream)
        except PeerGone:
            return


GONE = -32099
"""Never on the wire: how a request ends whose editor has left."""


def _refusal(method: str, error: jsonrpc.RpcError) -> TrunklineError:
    if error.code == GONE:
        return Unavailable(error.message)
    kind = {ErrorCode.RESOURCE_NOT_FOUND: NotFound, ErrorCode.METHOD_NOT_FOUND: Unsupported}.get(
        ErrorCode(error.code) if error.code in set(ErrorCode) else ErrorCode.INTERNAL_ERROR, Invalid)
    return kind(f"the editor refused {method}: {error.message}")
