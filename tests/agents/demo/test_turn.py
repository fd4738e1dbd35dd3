"""One turn of the demo: asked, cancelled and ended in order."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.demo.client import calls_of, choose, demo, text_of, update_of


def test_one_turn_at_a_time_in_a_session_and_many_side_by_side(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        session, other = client.open(), client.open()
        running = client.begin_prompt(session, "/silent")
        assert client.prompt(session, "/echo x")[0]["error"]["code"] == -32600
        assert text_of(client.prompt(other, "/echo y")[1]) == "y"
        client.cancel(session)
        assert client.answer_to(running)["result"] == {"stopReason": "cancelled"}


@pytest.mark.parametrize("prompt", ["/silent", "/slow 60", "/burst 1000000 10 5", "/ask", "a tour", "/question"])
def test_whatever_runs_can_be_cancelled(tmp_path: Path, prompt: str) -> None:
    with demo(tmp_path, capabilities={"elicitation": {"form": {}}}) as client:
        session = client.open()
        running = client.begin_prompt(session, prompt)
        if prompt != "/silent":
            client.next()
        client.cancel(session)
        assert client.answer_to(running)["result"] == {"stopReason": "cancelled"}
        assert text_of(client.prompt(session, "/echo next")[1]) == "next"


def test_a_cancel_takes_open_requests_back_and_closes_open_calls(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        session = client.open()
        running = client.begin_prompt(session, "/ask 2")
        asked = [client.until(lambda message: message.get("method") == "session/request_permission")["id"] for _ in range(2)]
        client.cancel(session)
        client.answer_to(running)
        withdrawn = [m["params"]["requestId"] for m in client.messages if m.get("method") == "$/cancel_request"]
        assert withdrawn == asked
        assert [call[-1]["status"] for call in calls_of([update_of(m) for m in client.messages])] == ["failed", "failed"]


def test_a_cancelled_permission_ends_the_turn_as_cancelled(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        client.replies["session/request_permission"] = lambda params: {"outcome": {"outcome": "cancelled"}}
        assert client.prompt(client.open(), "/ask")[0]["result"] == {"stopReason": "cancelled"}


def test_cancelling_the_prompts_request_cancels_the_turn(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        running = client.begin_prompt(client.open(), "/silent")
        client.send({"method": "$/cancel_request", "params": {"requestId": running}})
        assert client.answer_to(running)["result"] == {"stopReason": "cancelled"}


def test_allow_and_reject_are_told_apart_by_option_id(tmp_path: Path) -> None:
    for option, status, said in (
        ("allow-once", "completed", "Approved."),
        ("allow-always", "completed", "Approved for good."),
        ("reject-once", "failed", "Not approved."),
        ("odd", "failed", "Not approved."),
    ):
        with demo(tmp_path) as client:
            client.replies["session/request_permission"] = choose(option)
            answer, updates = client.prompt(client.open(), "/ask")
            assert answer["result"] == {"stopReason": "end_turn"}
            assert calls_of(updates)[0][-1]["status"] == status
            assert text_of(updates) == f"{said}\n"
