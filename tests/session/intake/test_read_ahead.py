"""Long command lines: read off the loop, before the session hears of them."""

from __future__ import annotations

import json
import time
import tracemalloc
from typing import Any

import pytest

from tests.session.script import update
from trunkline.dialects.risk import explain_risk
from trunkline.dialects.signals import PermissionAsk, TurnEnd, Update
from trunkline.session import judges
from trunkline.session.fold import Fold
from trunkline.session.intake.read_ahead import ReadAhead, needs_reading
from trunkline.session.interpret import Interpreter


def heredoc(number: int) -> str:
    return f"cat > {number}.txt <<'END'\n" + "text\n" * 1500 + "END"


def call(line: str, call_id: str = "c1") -> dict[str, Any]:
    return {"toolCallId": call_id, "title": "Run", "kind": "execute", "rawInput": {"command": line}}


def announced(line: str, call_id: str = "c1") -> Update:
    return Update(json.dumps({"sessionUpdate": "tool_call", "status": "pending", **call(line, call_id)}).encode())


def said(text: str) -> Update:
    return Update(json.dumps({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}).encode())


def reading() -> ReadAhead:
    return ReadAhead(cwd="/work", roots=("/work",), home="/home/ada")


@pytest.fixture(autouse=True)
def loaded() -> None:
    """What judges commands is there, as after the first call of a hub."""
    reading().read([])


def test_with_the_first_call_of_all_comes_what_judges_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judges, "_loaded", set())
    assert needs_reading([announced("ls -la")]) and not needs_reading([said("a" * 10_000)])
    reading().read([announced("ls -la")])
    assert not needs_reading([announced("ls -la")])


def test_only_a_large_message_about_a_call_needs_reading() -> None:
    assert needs_reading([said("a"), announced(heredoc(1))])
    assert needs_reading([PermissionAsk("r", json.dumps(call(heredoc(1))).encode(), ())])
    assert not needs_reading([announced("ls -la"), said("a" * 10_000), TurnEnd(stop="end_turn")])


@pytest.mark.parametrize("ask", [False, True])
def test_the_fold_finds_what_was_read_and_takes_for_high_what_was_not(ask: bool) -> None:
    line = heredoc(100 + ask)

    def folded() -> str:
        fold = Fold(session_id="s", agent="a", cwd="/work", created_at=1, updated_at=1)
        interpret = Interpreter(fold, roots=("/work",), home="/home/ada").at(1)
        interpret.on_signals([signal])
        return fold.approvals["r"].risk_level if ask else str(fold.calls["c1"].risk_level)

    signal = PermissionAsk("r", json.dumps(call(line)).encode(), ()) if ask else Update(
        json.dumps({"sessionUpdate": "tool_call", "status": "in_progress", **call(line)}).encode())
    assert folded() == "high"
    reading().read([signal])
    assert folded() == explain_risk("terminal", {"command": line}, cwd="/work", roots=["/work"]).level == "medium"


def long_call(names: list[str]) -> Update:
    return update(sessionUpdate="tool_call", toolCallId="c", title="Look", kind="other", rawInput=dict.fromkeys(names, "a text"))


def test_the_names_of_an_inputs_members_are_taken_apart_once() -> None:
    """By our own time: with names that came before it takes half as long as with new ones."""
    reads = reading()

    def took_s(*names: str) -> float:
        call = long_call([f"{name}{'ABCDEFGHIJ'[number % 10]}{number}" for name in names for number in range(500)])
        began = time.thread_time()
        reads.read([call])
        return time.thread_time() - began

    took_s("warm")
    first = min(took_s(f"someRatherLongName_ofAMember_{number}") for number in range(5))
    again = min(took_s("someRatherLongName_ofAMember_4") for _ in range(5))
    assert again < 0.8 * first


def test_long_names_of_members_are_not_kept() -> None:
    reads = reading()
    reads.read([long_call(["warm" * 2000])])
    tracemalloc.start()
    try:
        for number in range(20):
            reads.read([long_call([f"{number}" + "x" * 200_000])])
        assert tracemalloc.get_traced_memory()[0] < 1_000_000, "that would be a fourth of them"
    finally:
        tracemalloc.stop()
