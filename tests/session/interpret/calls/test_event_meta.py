"""A call's input and risk as its events carry them."""

from __future__ import annotations

from trunkline.dialects.acp.calls import CallState
from trunkline.session.interpret.calls.event_meta import cut_input, risk_meta, shown_input
from trunkline.session.interpret.writer import TEXT_LIMIT


def made_with(raw_input: bytes | None) -> CallState:
    return CallState(tool_call_id="c", raw_input=raw_input)


def test_an_input_is_always_an_object() -> None:
    assert bytes(shown_input(made_with(b'{"a":1}'))) == b'{"a":1}'
    assert bytes(shown_input(made_with(None))) == b"{}"
    assert bytes(shown_input(made_with(b'"ls"'))) == b'{"value":"ls"}'


def test_an_input_that_is_too_long_is_left_out_and_its_size_is_said() -> None:
    just = made_with(b'"' + b"x" * (TEXT_LIMIT - 2) + b'"')
    assert cut_input(just) == {} and len(bytes(shown_input(just))) > TEXT_LIMIT
    longer = made_with(b'"' + b"x" * (TEXT_LIMIT - 1) + b'"')
    assert cut_input(longer) == {"truncated": {"bytes": TEXT_LIMIT + 1}}
    assert bytes(shown_input(longer)) == b"{}"


def test_only_a_risk_with_doubts_says_that_it_is_not_sure() -> None:
    assert risk_meta("it reads", ()) == {"reason": "it reads"}
    assert risk_meta("it reads", ("what?",)) == {"reason": "it reads", "sure": False, "doubts": ["what?"]}
