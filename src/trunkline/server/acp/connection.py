"""One editor's connection: what is sent to it, in order, and what it answers.

Rule 1: ids of ours begin at random, so that an answer to an earlier connection's request is never taken for one to this one's.
Rule 2: whole messages, one after the other; ``send`` returns when the editor can take more.
Rule 3: a request that we take back is told so (``$/cancel_request``); what is answered to it all the same is not heard.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from trunkline.dialects import jsonrpc
from trunkline.dialects.acp.aliases import with_aliases
from trunkline.dialects.acp.initialize import ClientCapabilities
from trunkline.dialects.acp.methods import AGENT_REQUESTS, LOGOUT, SESSION_CANCEL, SESSION_FORK
from trunkline.dialects.codes import ErrorCode
from trunkline.errors import Invalid, NotFound, TrunklineError, Unavailable, Unsupported
from trunkline.server.acp.faults import fault_of

AGENT_METHODS = with_aliases({*AGENT_REQUESTS - {LOGOUT}, SESSION_CANCEL, SESSION_FORK}, side="agent")
"""The requests that are served. A cancel is a notification; who sends it as a request is answered all the same."""

_encode = msgspec.json.Encoder().encode

Answered = Callable[[jsonrpc.Response], None]


class Left(Exception):
    """The editor has gone."""


class Wire(Protocol):
    """The way to an editor."""

    keeps: bool
    """Whether what is sent is kept until it is read, so that nothing is lost when ``send`` is broken off while it waits."""

    async def send(self, lines: Sequence[bytes], stream: str | None) -> None:
        """Send messages; ``stream`` is the session that they belong to. Returns when more can be taken; raises Left."""


class EditorLine:
    """Messages to and from one editor."""

    def __init__(self, wire: Wire) -> None:
        self.offers = ClientCapabilities()
        """What the editor said that it can do."""
        self.tells_cursor = False
        """Whether the editor wants to know where in the journal it is."""
        self._wire = wire
        self._peer = jsonrpc.Peer(methods=AGENT_METHODS, complains=True, last_id=secrets.randbits(30) << 20)
        self._answers: dict[int, Answered] = {}
        self._last_words: set[asyncio.Task[None]] = set()
        self._gone = False

    @property
    def keeps(self) -> bool:
        """Whether what is sent is kept, also when whoever sends it does not wait until it is read."""
        return self._wire.keeps

    def hear(self, message: bytes) -> list[jsonrpc.Message]:
        """What one message says: requests and notifications. Answers go to whoever asked."""
        self._peer.receive_message(message)
        heard: list[jsonrpc.Message] = []
        for each in self._peer.messages_received():
            if isinstance(each, jsonrpc.Response):
                answered = self._answers.pop(each.id, None)
                if answered is not None:
                    answered(each)
            else:
                heard.append(each)
        return heard

    def take(self) -> list[bytes]:
        """The messages that wait to be sent."""
        return [line[:-1] for line in self._peer.data_to_send()]

    async def send(self, lines: Sequence[bytes], stream: str | None) -> None:
        """Send messages."""
        if lines and not self._gone:
            await self._wire.send(lines, stream)

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

    def ask(self, method: str, params: bytes, answered: Answered) -> tuple[int, list[bytes]]:
        """A request, and its id; ``answered`` hears what comes of it, unless it is taken back."""
        rpc_id = self._peer.send_request(method, params)
        self._answers[rpc_id] = answered
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

        def answered(message: jsonrpc.Response) -> None:
            if answer.done():
                return
            if message.error is not None:
                answer.set_exception(_refusal(method, message.error))
            else:
                answer.set_result(bytes(message.result) if message.result is not None else b"{}")

        rpc_id, lines = self.ask(method, params, answered)
        try:
            await self.send(lines, stream)
            return await answer
        except Left:
            raise Unavailable("the editor has left") from None
        finally:
            if not answer.done() or answer.cancelled():
                lines = self.take_back(rpc_id)
                if lines and not self._gone:
                    last = asyncio.get_running_loop().create_task(self._send_last(lines, stream))
                    self._last_words.add(last)
                    last.add_done_callback(self._last_words.discard)

    def close(self) -> None:
        """The editor is gone: whoever waits for it hears so."""
        self._gone = True
        answers, self._answers = self._answers, {}
        gone = jsonrpc.RpcError(GONE, "the editor has left")
        for rpc_id, answered in answers.items():
            answered(jsonrpc.Response(rpc_id, error=gone))

    async def _send_last(self, lines: list[bytes], stream: str) -> None:
        try:
            await self.send(lines, stream)
        except Left:
            return


GONE = -32099
"""Never on the wire: how a request ends whose editor has left."""


def _refusal(method: str, error: jsonrpc.RpcError) -> TrunklineError:
    if error.code == GONE:
        return Unavailable(error.message)
    kind = {ErrorCode.RESOURCE_NOT_FOUND: NotFound, ErrorCode.METHOD_NOT_FOUND: Unsupported}.get(
        ErrorCode(error.code) if error.code in set(ErrorCode) else ErrorCode.INTERNAL_ERROR, Invalid)
    return kind(f"the editor refused {method}: {error.message}")
