"""Prompts about what happens beside the conversation: limits, notes, plans, leaving."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.demo.client import TAKES_ALL, choose, demo, notes_of, text_of
from tests.aio import WITHIN_S

END = {"stopReason": "end_turn"}


def test_limit_tells_of_the_limit_the_retry_and_the_cost(tmp_path: Path) -> None:
    with demo(tmp_path, capabilities=TAKES_ALL) as client:
        answer, updates = client.prompt(client.open(), "/limit 0")
        assert answer["result"] == END and "waited" in text_of(updates)
        assert [kind for kind, _ in notes_of(client.messages)] == ["rate_limit", "retry", "hook", "cost"]


@pytest.mark.parametrize(("option", "says"), [("allow-once", "The plan stands"), ("reject-once", "another time")])
def test_plan_shows_its_plan_and_leaves_plan_mode_whatever_the_answer(tmp_path: Path, option: str, says: str) -> None:
    with demo(tmp_path) as client:
        client.replies["session/request_permission"] = choose(option)
        answer, updates = client.prompt(client.open(), "/plan")
        assert answer["result"] == END and says in text_of(updates)
        modes = [update["currentModeId"] for update in updates if update["sessionUpdate"] == "current_mode_update"]
        assert modes == ["plan", "ask"]
        (ask,) = [message["params"] for message in client.messages if message.get("method") == "session/request_permission"]
        assert ask["toolCall"]["kind"] == "switch_mode" and ask["toolCall"]["rawInput"]["plan"].startswith("1. ")


def test_note_sends_any_note_to_a_client_that_takes_them(tmp_path: Path) -> None:
    with demo(tmp_path, capabilities=TAKES_ALL) as client:
        client.is_strict = False
        client.prompt(client.open(), '/note tomorrow {"a": [1]}')
        assert notes_of(client.messages) == [("tomorrow", {"a": [1]})]
    with demo(tmp_path) as client:
        client.prompt(client.open(), '/note progress {"label": "x"}')
        assert notes_of(client.messages) == []


def test_leave_ends_its_turn_before_it_exits_in_good_order(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        answer, _ = client.prompt(client.open(), "/leave")
        assert answer["result"] == END and client.process.wait(WITHIN_S) == 0
