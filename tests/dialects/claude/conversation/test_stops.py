"""How turns end: the table of stop reasons, row by row."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from tests.tooling.rows import every_row
from trunkline.dialects.claude.conversation.stops import stop_of
from trunkline.dialects.claude.frames.types import ResultFrame


def result(**fields: Any) -> ResultFrame:
    return msgspec.convert({"type": "result", "subtype": "success", **fields}, ResultFrame)


@every_row(("fields", "stop"), [
    ({}, "end_turn"),
    ({"stop_reason": "end_turn", "terminal_reason": "completed"}, "end_turn"),
    ({"stop_reason": "stop_sequence"}, "end_turn"),
    ({"stop_reason": "refusal"}, "refusal"),
    ({"stop_reason": "max_tokens"}, "max_tokens"),
    ({"subtype": "error_max_turns", "is_error": True, "stop_reason": "tool_use", "terminal_reason": "max_turns"},
     "max_turn_requests"),
    ({"subtype": "error_max_turns", "is_error": False}, "max_turn_requests"),
    ({"subtype": "error_max_budget_usd", "is_error": True, "terminal_reason": "budget_exhausted"}, "max_turn_requests"),
    ({"subtype": "error_during_execution", "is_error": True, "terminal_reason": "aborted_streaming"}, "cancelled"),
    ({"subtype": "error_during_execution", "is_error": True, "terminal_reason": "aborted_tools"}, "cancelled"),
    ({"subtype": "cancelled"}, "cancelled"),
    ({"subtype": "max_tokens"}, "max_tokens"),
])
def test_a_result_has_its_stop_reason(fields: dict[str, Any], stop: str) -> None:
    end = stop_of(result(**fields))
    assert (end.stop, end.error) == (stop, None)


def test_a_stop_sequence_keeps_its_own_word() -> None:
    assert [stop_of(result(stop_reason=reason)).agent_stop for reason in ("stop_sequence", "end_turn", None)] == [
        "stop_sequence", None, None]


def test_an_old_build_that_says_only_in_a_message_that_it_was_interrupted_was_cancelled() -> None:
    assert stop_of(result(subtype="error_during_execution"), interrupted=True).stop == "cancelled"
    assert stop_of(result(), interrupted=True).stop == "end_turn", "it went on after the interruption"


@every_row(("fields", "error", "code", "message"), [
    ({"is_error": True, "result": "API Error: 500."}, None, -32603, "API Error: 500"),
    ({"is_error": True, "result": "Invalid API key", "api_error_status": 401}, None, -32000, "Invalid API key"),
    ({"is_error": True, "result": "Not logged in · Please run /login"}, "authentication_failed", -32000,
     "Not logged in · Please run /login"),
    ({"subtype": "error_during_execution", "errors": ["No conversation found", "[ede_diagnostic] x"]}, None, -32603,
     "No conversation found"),
    ({"subtype": "error_tomorrow"}, None, -32603, "error_tomorrow"),
])
def test_an_error_is_told_in_the_clis_own_words(fields: dict[str, Any], error: str | None, code: int, message: str) -> None:
    end = stop_of(result(**fields), error=error)
    assert end.stop is None and end.error is not None
    assert (end.error.code, end.error.message) == (code, message)


@every_row(("fields", "error", "reason"), [
    ({"result": "Credit balance is too low"}, None, "billing_error"),
    ({"result": "x"}, "billing_error", "billing_error"),
    ({"result": "x", "api_error_status": 429}, None, "rate_limit"),
    ({"result": "x", "api_error_status": 529}, "unknown", "overloaded"),
    ({"result": "x", "terminal_reason": "prompt_too_long"}, "invalid_request", "prompt_too_long"),
    ({"result": "x"}, None, "unknown"),
])
def test_an_error_says_of_what_kind_it_is(fields: dict[str, Any], error: str | None, reason: str) -> None:
    end = stop_of(result(is_error=True, **fields), error=error)
    assert end.error is not None and json.loads(end.error.data or b"")["error"] == reason
