"""Which capability a session shows by what happens in it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.session.interpret.call_builders import ask, call, diff, listening, more
from tests.session.interpret.told import Told
from tests.session.script import text, update


def shown(*signals: Any) -> list[str]:
    told = listening()
    told.hear(*signals)
    told.at().turns.end("end_turn")
    told.take()
    return told.fold.shown


def ended(kind: str, **fields: Any) -> list[Any]:
    ending = {key: fields.pop(key) for key in ("content", "rawOutput") if key in fields}
    return [call(kind=kind, status="in_progress", **fields), more(status="completed", **ending)]


@pytest.mark.parametrize(("signals", "flag"), [
    ([text("hm", "agent_thought_chunk")], "thinking"),
    ([update(sessionUpdate="plan", entries=[{"content": "a", "priority": "high", "status": "pending"}])], "planning.todos"),
    (ended("edit", content=[diff("/w/a", "x\n")]), "fileOperations.diffs"),
    ([ask(kind="execute", rawInput={"command": "make"})], "approval.toolCalls"),
    (ended("fetch", rawInput={"query": "q"}, rawOutput={"results": [{"url": "https://t.test"}]}), "webSearch"),
])
def test_what_happens_shows_what_an_agent_can(signals: list[Any], flag: str) -> None:
    assert flag in shown(*signals)


def test_a_change_without_a_diff_and_a_page_without_a_search_show_neither() -> None:
    assert "fileOperations.diffs" not in shown(*ended("delete", rawInput={"path": "/w/a"}))
    assert "webSearch" not in shown(*ended("fetch", rawInput={"url": "https://x.test/a"}))


def test_what_was_shown_once_is_not_listed_twice() -> None:
    told = Told().turn()
    for number in range(2):
        told.hear(text("hm", "agent_thought_chunk", messageId=str(number)), text("so", messageId=f"{number} said"))
    assert told.fold.shown.count("thinking") == 1
