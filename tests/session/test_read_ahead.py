"""Long command lines: read off the loop, before the session hears of them, and nothing overtakes them."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterable
from typing import Any

import pytest

from tests.aio import run
from trunkline.agents.process import Exit
from trunkline.dialects.risk import explain_risk
from trunkline.dialects.signals import PermissionAsk, Signal, TurnEnd, Update
from trunkline.session import read_ahead
from trunkline.session.fold import Fold
from trunkline.session.interpret import Interpreter
from trunkline.session.read_ahead import ReadAhead, Reading, needs_reading


def heredoc(number: int) -> str:
    return f"cat > {number}.txt <<'END'\n" + "text\n" * 1500 + "END"


def call(line: str, call_id: str = "c1") -> dict[str, Any]:
    return {"toolCallId": call_id, "title": "Run", "kind": "execute", "rawInput": {"command": line}}


def announced(line: str, call_id: str = "c1") -> Update:
    return Update(json.dumps({"sessionUpdate": "tool_call", "status": "pending", **call(line, call_id)}).encode())


def said(text: str) -> Update:
    return Update(json.dumps({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}).encode())


class Sink:
    """Remembers what it heard, and on which thread lines were read before."""

    def __init__(self) -> None:
        self.heard_: list[Signal | str] = []

    def spawned(self, pid: int, start_time: int | None, marker: str) -> None:
        self.heard_.append("spawned")

    def heard(self, signals: list[Signal]) -> None:
        self.heard_ += signals

    def exited(self, exit: Exit, stderr: str) -> None:
        self.heard_.append("exited")


class Slow(Reading, frozen=True, kw_only=True):
    """Reads when it is told to, and says where."""

    go: threading.Event
    threads: list[str]

    def read(self, signals: Iterable[Signal]) -> None:
        self.threads.append(threading.current_thread().name)
        assert self.go.wait(10)


def reading() -> Reading:
    return Reading(cwd="/work", roots=("/work",), home="/home/ada")


@pytest.fixture(autouse=True)
def loaded() -> None:
    """What judges commands is there, as after the first call of a hub."""
    reading().read([])


def test_with_the_first_call_of_all_comes_what_judges_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_ahead, "_loaded", set())
    assert needs_reading([announced("ls -la")]) and not needs_reading([said("a" * 10_000)])
    reading().read([announced("ls -la")])
    assert not needs_reading([announced("ls -la")])


def test_only_a_large_message_about_a_call_needs_reading() -> None:
    assert needs_reading([said("a"), announced(heredoc(1))])
    assert needs_reading([PermissionAsk("r", json.dumps(call(heredoc(1))).encode(), ())])
    assert not needs_reading([announced("ls -la"), said("a" * 10_000), TurnEnd(stop="end_turn")])


def test_what_comes_behind_a_long_line_waits_for_it_in_order_and_so_does_the_pipe() -> None:
    async def scenario() -> None:
        sink, flow = Sink(), list[str]()
        slow = Slow(cwd="/work", roots=("/work",), home=None, go=threading.Event(), threads=[])
        ahead = ReadAhead(sink, slow, lambda: flow.append("pause"), lambda: flow.append("resume"))
        first, second = announced(heredoc(1)), announced(heredoc(2), "c2")
        before, between, end = said("before"), said("between"), TurnEnd(stop="end_turn")
        ahead.spawned(1, None, "")
        ahead.heard([before])
        ahead.heard([first])
        ahead.heard([between])
        ahead.heard([second])
        ahead.heard([end])
        ahead.exited(Exit(0, None), "")
        await asyncio.sleep(0)
        assert sink.heard_ == ["spawned", before] and set(flow) == {"pause"}
        slow.go.set()
        await ahead.settled()
        assert sink.heard_ == ["spawned", before, first, between, second, end, "exited"]
        assert flow[-1] == "resume" and len(slow.threads) == 2 and "MainThread" not in slow.threads

    run(scenario())


def test_a_line_that_cannot_be_read_is_heard_all_the_same(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Reading, frozen=True, kw_only=True):
        def read(self, signals: Iterable[Signal]) -> None:
            raise RuntimeError("a bug")

    async def scenario() -> None:
        sink = Sink()
        ahead = ReadAhead(sink, Broken(cwd="/work", roots=(), home=None), lambda: None, lambda: None)
        ahead.heard([announced(heredoc(1))])
        ahead.heard([said("after")])
        await ahead.settled()
        assert len(sink.heard_) == 2

    run(scenario())
    assert "could not be read ahead" in caplog.text


@pytest.mark.parametrize("ask", [False, True])
def test_the_fold_finds_what_was_read_and_takes_for_high_what_was_not(ask: bool) -> None:
    line = heredoc(100 + ask)

    def folded() -> str:
        fold = Fold(session_id="s", agent="a", cwd="/work", created_at=1, updated_at=1)
        interpret = Interpreter(fold, roots=("/work",), home="/home/ada").at(1)
        interpret.hear([signal])
        return fold.approvals["r"].risk_level if ask else str(fold.calls["c1"].risk_level)

    signal = PermissionAsk("r", json.dumps(call(line)).encode(), ()) if ask else Update(
        json.dumps({"sessionUpdate": "tool_call", "status": "in_progress", **call(line)}).encode())
    assert folded() == "high"
    reading().read([signal])
    assert folded() == explain_risk("terminal", {"command": line}, cwd="/work", roots=["/work"]).level == "medium"
