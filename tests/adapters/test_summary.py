"""What was said in a session, as a first message for a new one: its beginning, its end, and what is left out between them."""

from __future__ import annotations

import json

from trunkline.adapters.summary import BEFORE, EACH_CHARS, FIRST_CHARS, LAST_CHARS, summary_of
from trunkline.dialects.notes import CustomNote
from trunkline.dialects.signals import Signal, TurnEnd, Update


def said(kind: str, text: str) -> Update:
    return Update(json.dumps({"sessionUpdate": kind, "content": {"type": "text", "text": text}}).encode())


def test_both_sides_are_in_it_in_order_and_calls_by_their_titles() -> None:
    signals: list[Signal] = [
        said("user_message_chunk", "Make it "), said("user_message_chunk", "blue."), said("agent_thought_chunk", "hm"),
        Update(b'{"sessionUpdate":"tool_call","toolCallId":"1","title":"ls"}'), said("agent_message_chunk", "Blue."),
        TurnEnd(stop="end_turn"), CustomNote("x", b"{}"), Update(b"not JSON")]
    assert summary_of(signals) == BEFORE + "Person: Make it blue.\n\nTool: ls\n\nAgent: Blue."


def test_a_long_one_is_shortened_in_the_middle_and_says_by_how_much() -> None:
    kinds = ("user_message_chunk", "agent_message_chunk")
    signals = [said(kinds[number % 2], f"{number}: " + "x" * 500) for number in range(200)]
    text = summary_of(signals)
    assert "Person: 0: " in text and "Agent: 199: " in text and "Person: 100: " not in text
    assert "messages are left out here" in text
    assert len(text) < len(BEFORE) + FIRST_CHARS + LAST_CHARS + 1_000


def test_one_message_is_cut() -> None:
    text = summary_of([said("user_message_chunk", "y" * 50_000)])
    assert text.count("y") - BEFORE.count("y") == EACH_CHARS


def test_nothing_said_is_nothing_but_the_request() -> None:
    assert summary_of([]) == BEFORE
