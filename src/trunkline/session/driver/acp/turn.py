"""The turn of an ACP agent: the prompt that runs, what the agent takes in one, and how it ends.

Rule: the end of a turn is a signal in its place: behind what was read before it, which goes ahead, and with what comes after it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from trunkline.agents.catalog import AgentSpec
from trunkline.dialects import jsonrpc
from trunkline.dialects.acp.content import AudioContent, ContentBlock, EmbeddedResource, ImageContent, TextContent
from trunkline.dialects.acp.initialize import PromptCapabilities
from trunkline.dialects.acp.methods import SESSION_CANCEL, SESSION_PROMPT
from trunkline.dialects.acp.reading.decode import decode_result
from trunkline.dialects.acp.reading.lenient import read_lenient
from trunkline.dialects.acp.sessions import PromptResponse
from trunkline.dialects.acp.shape import encode_acp
from trunkline.dialects.acp.usage import answer_stop, answer_usage
from trunkline.dialects.error_codes import ErrorCode
from trunkline.dialects.signals import AgentFault, Signal, TurnEnd
from trunkline.errors import AgentError, Unsupported
from trunkline.session.driver.acp.connection import AgentConnection
from trunkline.session.driver.acp.opening import Inbox, raw_or_none
from trunkline.session.driver.acp.service import ClientService
from trunkline.session.driver.base import ClientCalls

_encode = msgspec.json.Encoder().encode

PLAIN_TEXT = b'{"type":"text",'
"""How a block of text begins: prompts are encoded by us, type first. Any agent takes it, and it need not be read."""


class PromptTurn:
    """The prompts of one agent, one at a time."""

    def __init__(self, spec: AgentSpec, connection: AgentConnection, inbox: Inbox, calls: ClientCalls,
                 service: ClientService) -> None:
        self.takes = PromptCapabilities()
        self._spec = spec
        self._connection = connection
        self._inbox = inbox
        self._calls = calls
        self._service = service
        self.prompt_id: int | None = None
        """The request that runs."""
        self.signals: list[Signal] = []
        """Where the end of a turn goes: among what the agent wrote before it."""

    def check_prompt(self, blocks: Sequence[msgspec.Raw]) -> None:
        """Raise Unsupported when the agent cannot take one of the blocks."""
        check_prompt(blocks, self.takes, self._spec.display_name)

    def send_prompt(self, blocks: Sequence[msgspec.Raw]) -> None:
        """A turn begins."""
        params = {"sessionId": self._inbox.session_id, "prompt": [as_taken(block, self.takes) for block in blocks]}
        self._calls.turn_began()
        self.prompt_id = self._connection.send_request(SESSION_PROMPT, params, self._on_answer)

    def cancel(self) -> None:
        """Have the agent end the turn. Where it has just done so, and the session has yet to learn of it, its commands end."""
        if self.prompt_id is None:
            self._service.end_commands(turn_ended=True)
            return
        self._connection.peer.send_notification(SESSION_CANCEL, _encode({"sessionId": self._inbox.session_id}))
        self._connection.flush()
        self._service.end_commands()

    def _on_answer(self, message: jsonrpc.Response) -> None:
        self.prompt_id = None
        self._calls.turn_ended()
        if message.error is not None:
            data = raw_or_none(message.error.data)
            fault = AgentFault(message.error.code, message.error.message, None if data is None else bytes(data))
            self.signals.append(TurnEnd(error=fault))
            return
        end = self._end(bytes(message.result) if message.result is not None else b"{}")
        if end.stop == "cancelled":  # also where nobody but the agent itself did that
            self._service.end_commands(turn_ended=True)
        self.signals.append(end)

    def _end(self, result: bytes) -> TurnEnd:
        try:
            answer: PromptResponse = decode_result(SESSION_PROMPT, result)
        except AgentError as error:
            return TurnEnd(error=AgentFault(ErrorCode.INVALID_PARAMS, str(error), None))
        return TurnEnd(stop=answer.stop_reason, agent_stop=answer_stop(result), usage=answer_usage(result),
                       usage_of_session=self._spec.quirks.usage_of_session)


def check_prompt(blocks: Sequence[msgspec.Raw], takes: PromptCapabilities, agent: str) -> None:
    """Raise Unsupported when the agent cannot take one of the blocks."""
    for raw in blocks:
        if bytes(raw).startswith(PLAIN_TEXT):
            continue
        block = read_lenient(bytes(raw), ContentBlock)
        if isinstance(block, ImageContent) and not takes.image:
            raise Unsupported(f"{agent} takes no images in prompts")
        if isinstance(block, AudioContent) and not takes.audio:
            raise Unsupported(f"{agent} takes no audio in prompts")


def as_taken(raw: msgspec.Raw, takes: PromptCapabilities) -> msgspec.Raw:
    """An embedded resource becomes plain text for agents that take none; everything else goes as it is."""
    if takes.embedded_context or bytes(raw).startswith(PLAIN_TEXT):
        return raw
    block = read_lenient(bytes(raw), ContentBlock)
    if not isinstance(block, EmbeddedResource):
        return raw
    resource = block.resource
    inside = resource.text if isinstance(resource.text, str) else "(binary)"
    return msgspec.Raw(encode_acp(TextContent(text=f"{resource.uri}:\n\n{inside}")))
