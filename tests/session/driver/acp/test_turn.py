"""The turn of an agent: what it takes in a prompt, and how the turn ends."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.aio import run
from tests.session.driver.acp.test_service import Hands
from tests.session.driver.acp.wire import Wire
from trunkline.dialects.acp.initialize import PromptCapabilities
from trunkline.dialects.signals import TurnEnd
from trunkline.errors import Unsupported
from trunkline.session.driver.acp.opening import Inbox
from trunkline.session.driver.acp.service import ClientService
from trunkline.session.driver.acp.turn import PromptTurn, as_taken, check_prompt


def block(**members: Any) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(members))


TEXT = block(type="text", text="hi")
IMAGE = block(type="image", data="aGk=", mimeType="image/png")
RESOURCE = block(type="resource", resource={"uri": "file:///a.txt", "text": "inside"})


async def ended(**answer: Any) -> tuple[TurnEnd, Hands]:
    """How a turn ends by this answer to its prompt."""
    wire, hands, inbox = Wire(), Hands(lambda: b"{}"), Inbox()
    service = ClientService(hands, wire.connection, inbox.is_ours, lambda _: None)
    turn = PromptTurn(wire.spec, wire.connection, inbox, hands, service)
    turn.send_prompt([TEXT])
    (sent,) = wire.process.written
    assert (sent["method"], sent["id"]) == ("session/prompt", turn.prompt_id)
    for message in wire.write(id=sent["id"], **answer):
        wire.connection.on_response(message)
    assert turn.prompt_id is None
    (end,) = turn.signals
    assert isinstance(end, TurnEnd)
    await service.close()
    return end, hands


def test_a_turn_ends_by_its_stop_reason() -> None:
    end, hands = run(ended(result={"stopReason": "max_tokens"}))
    assert (end.stop, end.error, hands.ended) == ("max_tokens", None, [])


def test_a_stop_sequence_is_an_end_in_the_agents_own_word() -> None:
    end, _ = run(ended(result={"stopReason": "stop_sequence"}))
    assert (end.stop, end.agent_stop, end.error) == ("end_turn", "stop_sequence", None)


def test_a_turn_ends_by_an_error_that_is_told_as_it_came() -> None:
    end, _ = run(ended(error={"code": -32000, "message": "no credit", "data": {"left": 0}}))
    assert end.error is not None
    assert (end.stop, end.error.code, end.error.message, end.error.data) == (None, -32000, "no credit", b'{"left": 0}')


def test_an_answer_that_makes_no_sense_is_the_agents_fault() -> None:
    end, _ = run(ended(result={"stopReason": 7}))
    assert end.stop is None and end.error is not None


def test_a_prompt_is_refused_for_what_the_agent_does_not_take() -> None:
    with pytest.raises(Unsupported, match="Quiet takes no images"):
        check_prompt([TEXT, IMAGE], PromptCapabilities(), "Quiet")
    check_prompt([TEXT, IMAGE], PromptCapabilities(image=True), "Quiet")


def test_a_resource_is_plain_text_for_who_takes_none() -> None:
    assert as_taken(RESOURCE, PromptCapabilities(embedded_context=True)) is RESOURCE
    assert msgspec.json.decode(as_taken(RESOURCE, PromptCapabilities())) == {"type": "text", "text": "file:///a.txt:\n\ninside"}
    assert as_taken(TEXT, PromptCapabilities()) == TEXT
