"""What an ACP agent asks of people, on the wire: which request waits for which answer.

Rule 1: an ask is answered once: by a person, or by the agent, which may withdraw it.
Rule 2: an ask of another session is refused: nobody here knows what it is about.
Rule 3: what waits holds nothing of its line but what is shown and answered; a line that says too much is not read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from trunkline.dialects import jsonrpc
from trunkline.dialects.acp.client import RequestPermissionRequest
from trunkline.dialects.acp.elicitation import CreateElicitationRequest, FormElicitation, UrlElicitation
from trunkline.dialects.acp.methods import CANCEL_REQUEST, ELICITATION_CREATE, SESSION_REQUEST_PERMISSION
from trunkline.dialects.acp.permission import offered_kind
from trunkline.dialects.acp.reading.decode import decode_params
from trunkline.dialects.error_codes import ErrorCode
from trunkline.dialects.notes import CustomNote
from trunkline.dialects.signals import AskWithdrawn, PermissionAsk, PermissionOption, QuestionAsk, Signal
from trunkline.errors import Invalid
from trunkline.session.driver.acp.opening import noted, unreadable
from trunkline.session.interpret.asks.waiting import ASK_BYTES

_encode = msgspec.json.Encoder().encode


class _Foreign(Exception):
    """The ask is about a session that is not ours. No error of the tree: nobody but us hears of it."""


class AcpAsks:
    """The open permissions and questions of one agent. What they answer is written to the peer; the driver sends it."""

    def __init__(self, peer: jsonrpc.Peer, new_id: Callable[[], str], is_ours: Callable[[str], bool]) -> None:
        self._peer = peer
        self._new_id = new_id
        self._is_ours = is_ours
        self._permissions: dict[str, msgspec.Raw] = {}
        self._questions: dict[str, msgspec.Raw] = {}
        self._readers = {SESSION_REQUEST_PERMISSION: self._permission, ELICITATION_CREATE: self._question}

    def takes(self, method: str) -> bool:
        """Whether this is a request for a person."""
        return method in self._readers

    def on_request(self, method: str, message: jsonrpc.Request) -> Signal:
        """The agent wants a decision; what makes no sense is answered with an error, and written down."""
        try:
            _check_size(message.params)
            return self._readers[method](message, self._new_id())
        except _Foreign as error:
            self._peer.send_error(message.id, ErrorCode.INVALID_PARAMS, str(error))
            return CustomNote("foreign_ask", _encode({"method": method, "params": noted(message.params)}))
        except Invalid as error:
            self._peer.send_error(message.id, ErrorCode.INVALID_PARAMS, error.message)
            return unreadable(message.method, message.params, error.message)

    def withdrawn(self, params: msgspec.Raw | None) -> Signal | None:
        """The agent takes an ask back; None where it is none of these."""
        try:
            wanted = bytes(decode_params(CANCEL_REQUEST, params).request_id)
        except Invalid as error:
            return unreadable(CANCEL_REQUEST, params, error.message)
        for table in (self._permissions, self._questions):
            for request_id, rpc_id in table.items():
                if bytes(rpc_id) == wanted:
                    del table[request_id]
                    self._peer.send_error(rpc_id, ErrorCode.REQUEST_CANCELLED, "request cancelled")
                    return AskWithdrawn(request_id)
        return None

    def answer_permission(self, request_id: str, option_id: str | None, reason: str | None) -> None:
        """Answer an ask by option, or as cancelled. The reason rides in ``_meta``: the protocol has no field for it."""
        rpc_id = self._permissions.pop(request_id, None)
        if rpc_id is None:
            return
        outcome = {"outcome": "cancelled"} if option_id is None else {"outcome": "selected", "optionId": option_id}
        answer: dict[str, Any] = {"outcome": outcome}
        if reason is not None:
            answer["_meta"] = {"trunkline": {"reason": reason}}
        self._peer.send_result(rpc_id, _encode(answer))

    def answer_question(self, request_id: str, action: str, content: msgspec.Raw | None) -> None:
        """Answer a question: accept with content, decline or cancel."""
        rpc_id = self._questions.pop(request_id, None)
        if rpc_id is None:
            return
        answer: dict[str, Any] = {"action": action}
        if action == "accept" and content is not None:
            answer["content"] = content
        self._peer.send_result(rpc_id, _encode(answer))

    def refuse(self, request_id: str, reason: str) -> None:
        """Answer either with an error: nobody can be asked."""
        rpc_id = self._permissions.pop(request_id, None) or self._questions.pop(request_id, None)
        if rpc_id is not None:
            self._peer.send_error(rpc_id, ErrorCode.INVALID_REQUEST, reason)

    def _permission(self, message: jsonrpc.Request, request_id: str) -> Signal:
        ask: RequestPermissionRequest = decode_params(SESSION_REQUEST_PERMISSION, message.params)
        self._check_ours(ask.session_id)
        self._permissions[request_id] = message.id
        options = tuple(PermissionOption(option.option_id, option.name, offered_kind(option)) for option in ask.options)
        return PermissionAsk(request_id, bytes(ask.tool_call), options)

    def _question(self, message: jsonrpc.Request, request_id: str) -> Signal:
        ask: CreateElicitationRequest = decode_params(ELICITATION_CREATE, message.params)
        schema = bytes(ask.requested_schema) if isinstance(ask, FormElicitation) else None
        if schema is not None and not schema.startswith(b"{"):
            raise Invalid("requestedSchema must be an object")
        self._check_ours(ask.session_id)
        self._questions[request_id] = message.id
        url = ask.url if isinstance(ask, UrlElicitation) else None
        return QuestionAsk(request_id, ask.message, schema, url, ask.tool_call_id)

    def _check_ours(self, session_id: str | None) -> None:
        if session_id is not None and not self._is_ours(session_id):
            raise _Foreign(f"sessionId {session_id[:80]!r} is not the session of this connection")


def _check_size(params: msgspec.Raw | None) -> None:
    size = len(memoryview(params)) if params is not None else 0
    if size > ASK_BYTES:
        raise Invalid(f"who is asked is told at most {ASK_BYTES >> 20} MiB, and this says {size} bytes")
