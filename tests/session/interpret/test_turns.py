"""Turns, as entries; what was asked in one ends with it."""

from __future__ import annotations

import msgspec
import pytest

from tests.session.interpret.told import Told, events, names, packets
from tests.session.script import OPTIONS, text, update
from trunkline.dialects.signals import PermissionAsk
from trunkline.errors import AgentError
from trunkline.session.fold import checkpoint, restore, view_of


def block(text: str) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode({"type": "text", "text": text}))


def test_a_prompt_is_one_user_chunk_per_block_and_titles_the_session() -> None:
    told = Told()
    link = msgspec.Raw(b'{"type":"resource_link","uri":"file:///a","name":"a"}')
    told.at().turns.start("turn-1", [block("Fix it\nplease"), link], by="ann")
    entries = told.take()
    assert [packet["type"] for packet in packets(entries)] == ["user_message_chunk"] * 2
    assert names(entries) == ["turn_started", "message:start", "message:delta", "user_content", "message:complete",
                              "session:status_changed"]
    assert told.fold.title == "Fix it"
    assert told.fold.turn is not None and told.fold.turn.seq == entries[0].seq - 1


def test_the_end_carries_the_response_packet_last() -> None:
    told = Told().turn()
    told.hear(text("done"))
    told.at().turns.end("max_tokens", b'{"inputTokens":3,"outputTokens":4,"cachedReadTokens":5}')
    entries = told.take()
    assert names(entries) == ["message:complete", "resource:token_usage", "session:status_changed"]
    assert events(entries)[0]["stopReason"] == "max_tokens"
    assert events(entries)[1]["cumulative"] == {"inputTokens": 3, "outputTokens": 4, "cacheReadTokens": 5}
    (packet,) = packets(entries)
    assert (packet["type"], packet["stopReason"], packet["_meta"]) == ("prompt_response", "max_tokens", {})
    assert events(entries)[-1]["_meta"] == {"turnId": "turn-1", "stopReason": "max_tokens"}


def test_an_empty_answer_is_remarked() -> None:
    told = Told().turn()
    told.at().turns.end("end_turn")
    assert events(told.take())[-1]["_meta"]["empty"] is True


def test_a_failure_is_one_error_packet_with_both_codes() -> None:
    told = Told().turn()
    told.at().turns.fail(AgentError("the model said no", agent_code="400"), rpc_code=400)
    entries = told.take()
    (packet,) = packets(entries)
    assert (packet["type"], packet["code"], packet["details"]) == ("error", 400, {"code": "agent_error", "agentCode": "400"})
    assert told.fold.status == "error" and told.fold.turn is None


def test_the_status_is_error_after_a_failed_turn_until_the_next_prompt() -> None:
    told = Told().turn()
    told.at().turns.fail(AgentError("no"))
    told.at().lifecycle.paused(None, [], "ann")
    told.at().lifecycle.unpaused("ann")
    assert (told.fold.status, told.turn().fold.status) == ("error", "running")
    told.at().turns.end("end_turn")
    assert told.fold.status == "idle"


def test_a_stop_sequence_reaches_the_packet_and_nothing_else() -> None:
    told = Told().turn()
    told.at().turns.end("end_turn", agent_stop="stop_sequence")
    entries = told.take()
    assert packets(entries)[-1]["stopReason"] == "stop_sequence"
    assert events(entries)[-1]["_meta"]["stopReason"] == "end_turn"


def failure_of(told: Told) -> tuple[str, str] | None:
    failed = told.fold.failed
    return None if failed is None else (failed.code, failed.message)


def test_how_a_turn_broke_off_is_known_until_the_next_one_begins() -> None:
    told = Told().turn()
    assert failure_of(told) is None
    told.at().turns.fail(AgentError("x" * 2_000))
    assert failure_of(told) == ("agent_error", "x" * 500)
    told.at().turns.start("turn-2", [msgspec.Raw(b'{"type":"text","text":"again"}')], by="me")
    assert failure_of(told) is None


def missed_of(told: Told) -> str | None:
    return view_of(told.fold).missed


def test_that_nobody_answered_in_time_is_known_until_the_next_turn_begins() -> None:
    told = Told().turn()
    for request_id in ("first", "second"):
        told.hear(PermissionAsk(request_id, msgspec.json.encode({"toolCallId": request_id}), OPTIONS))
    told.at().asks.resolve("first", approved=True, resolved_by="user", who="ann")
    assert missed_of(told) is None
    told.at().asks.resolve("second", approved=False, resolved_by="timeout", who="hub")
    told.at().turns.end("end_turn")
    assert missed_of(told) is not None
    told.at().turns.start("turn-2", [msgspec.Raw(b'{"type":"text","text":"again"}')], by="me")
    assert missed_of(told) is None


def test_the_end_of_a_turn_resolves_what_nobody_answered() -> None:
    told = Told().turn()
    told.hear(PermissionAsk("req", msgspec.json.encode({"toolCallId": "c"}), OPTIONS))
    told.at().turns.end("end_turn")
    entries = told.take()
    resolved = next(packet for packet in packets(entries) if packet["type"] == "approval_resolved")
    assert (resolved["approved"], resolved["resolvedBy"]) == (False, "policy")
    assert packets(entries)[-1]["type"] == "prompt_response" and told.fold.approvals == {}


@pytest.mark.parametrize("ended", ["stop", "failure"])
def test_what_was_asked_is_resolved_before_the_call_ends_that_waited_for_it(ended: str) -> None:
    told = Told().turn()
    told.hear(PermissionAsk("req", msgspec.json.encode({"toolCallId": "c", "rawInput": {"command": "ls"}}), OPTIONS))
    if ended == "stop":
        told.at().turns.end("end_turn")
    else:
        told.at().turns.fail(AgentError("gone"))
    entries = told.take()
    assert [name for name in names(entries) if name in ("approval:resolved", "tool:error")] == ["approval:resolved", "tool:error"]
    error = next(event for event in events(entries) if event["type"] == "tool:error")
    why = "the agent is done" if ended == "stop" else "agent_error"
    assert (error["error"]["code"], error["_meta"]["denied"]) == (
        "denied", {"by": "hub", "resolvedBy": "policy", "reason": why})
    assert why in error["error"]["message"]
    assert [event["to"] for event in events(entries) if event["type"] == "session:status_changed"] == [
        "idle" if ended == "stop" else "error"]


def test_a_checkpoint_brings_back_everything_but_bodies() -> None:
    told = Told().turn()
    told.hear(text("open"), update(sessionUpdate="tool_call", toolCallId="c", title="T", status="in_progress",
                                   rawInput={"command": "x" * 10_000}))
    told.hear(PermissionAsk("req", msgspec.json.encode({"toolCallId": "d", "rawInput": {"command": "ls"}}), OPTIONS),
              text("more"))
    again = restore(checkpoint(told.fold))
    assert again.text is not None and told.fold.text is not None
    assert (again.text.message_id, again.text.parts) == (told.fold.text.message_id, [])
    assert again.calls["c"].state.raw_input is None and again.calls["d"].state.raw_input == b'{"command":"ls"}'
    assert again.approvals == told.fold.approvals and again.turn == told.fold.turn
    assert len(checkpoint(told.fold)) < 4_000
