"""Sessions over HTTP, with the real hub and the demo agent."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.server.site import Site, site
from trunkline.hub import Session


def test_a_session_is_started_looked_at_renamed_and_deleted(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            made = await hub.ask("POST", "/sessions", json_body={"agent": "demo", "cwd": str(hub.folder), "title": "One"})
            view = made.json()
            assert made.status == 201
            assert made.header("location") == f"/sessions/{view['id']}"
            assert {"id", "status", "agent", "cwd", "title", "createdAt", "lastSeq"} <= set(view)
            assert (view["agent"], view["title"], view["cwd"]) == ("demo", "One", str(hub.folder.resolve()))
            path = f"/sessions/{view['id']}"
            assert (await hub.ask("GET", path)).json()["id"] == view["id"]
            renamed = await hub.ask("PATCH", path, json_body={"title": "  Two "})
            assert (renamed.status, renamed.json()["title"]) == (200, "Two")
            assert (await hub.ask("DELETE", path)).status == 204
            assert (await hub.ask("GET", path)).status == 404

    run(check())


@pytest.mark.parametrize(("body", "status", "names"), [
    ({"agent": "demo"}, 400, "cwd"), ({"agent": "demo", "cwd": "relative"}, 400, "cwd"), ({"cwd": "/tmp"}, 400, "agent"),
    ({"agent": "demo", "cwd": "/does/not/exist"}, 400, "cwd"), ({"agent": "nobody", "cwd": "/tmp"}, 404, "nobody"),
    ({"agent": "demo", "cwd": "/tmp", "env": {"A": 1}}, 400, "$.env"),
    ({"agent": "demo", "cwd": "/tmp", "shell": 1}, 400, "shell"),
])
def test_a_session_that_cannot_be_started_says_why(tmp_path: Path, body: dict[str, Any], status: int, names: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            answer = await hub.ask("POST", "/sessions", json_body=body)
            assert answer.status == status
            assert names in answer.json()["message"]

    run(check())


def test_the_view_of_one_session_lists_its_commands(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            shown = (await hub.ask("GET", f"/sessions/{session.id}")).json()
            assert "burst" in [command["name"] for command in shown["commands"]]

    run(check())


def test_a_session_can_start_with_its_first_prompt(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session(prompt="/echo at once")
            reader = hub.open("GET", f"/sessions/{session.id}/packets")
            await reader.start()
            seen = b""
            while b"prompt_response" not in seen:
                seen += await reader.piece() or b""
            assert b'"at once"' in seen
            await reader.leave()

    run(check())


def test_the_catalog_lists_the_demo_agent_as_installed(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            listed = (await hub.ask("GET", "/agents")).json()
            demo = next(agent for agent in listed if agent["name"] == "demo")
            assert demo["installed"] is True
            assert {"displayName", "version", "capabilities", "docsUrl"} <= set(demo)

    run(check())


def test_the_listing_says_of_every_agent_whether_it_was_seen_to_ask_before_it_acts(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            listed = {agent["name"]: agent["asksPermission"] for agent in (await hub.ask("GET", "/agents")).json()}
            adapters = {each["name"]: each["capabilities"]["features"] for each in (await hub.ask("GET", "/adapters")).json()}
            assert listed == {name: features["approval"]["toolCalls"] for name, features in adapters.items()}
            assert (listed["demo"], listed["codex-acp"]) == (True, False)

    run(check())


def test_sessions_are_listed_filtered_and_paged_without_gap_or_repeat(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            made = [(await hub.session(title=f"Number {number}")).id for number in range(5)]
            assert {each["id"] for each in (await hub.ask("GET", "/sessions")).json()["sessions"]} == set(made)
            seen: list[str] = []
            path = "/sessions?limit=2"
            while path:
                page = (await hub.ask("GET", path)).json()
                assert len(page["sessions"]) <= 2
                seen += [each["id"] for each in page["sessions"]]
                path = f"/sessions?limit=2&before={page['next']}" if page["next"] is not None else ""
            assert seen == list(reversed(made))
            found = (await hub.ask("GET", "/sessions?text=NUMBER%203")).json()["sessions"]
            assert [each["title"] for each in found] == ["Number 3"]
            assert len((await hub.ask("GET", "/sessions?agent=demo&status=idle,running")).json()["sessions"]) == 5
            assert (await hub.ask("GET", "/sessions?status=error")).json() == {"sessions": [], "next": None}

    run(check())


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "limit=x", "limit=-1", "before=abc", "limit=1e3", "limit=%D9%A3"])
def test_a_page_that_cannot_be_is_refused_by_name(tmp_path: Path, query: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            answer = await hub.ask("GET", f"/sessions?{query}")
            assert answer.status == 400
            assert query.partition("=")[0] in answer.json()["message"]

    run(check())


async def waiting(session: Session, what: str) -> None:
    """Return when the session has an open ask of that kind."""
    while not getattr(session.view(), what):
        await session.feed.wait(session.feed.last_seq)


async def prompt(hub: Site, session: Session, content: str, **fields: Any) -> dict[str, Any]:
    """Send a prompt; returns the 202's body."""
    answer = await hub.ask("POST", f"/sessions/{session.id}/send-message", json_body={"content": content, **fields})
    assert answer.status == 202, answer.body
    body: dict[str, Any] = answer.json()
    return body


async def ended(session: Session, turn_id: str) -> bytes:
    """The events up to the end of that turn."""
    position, seen = 0, b""
    while True:
        for entry in await session.feed.read(after=position):
            position, seen = entry.seq, seen + entry.event
            if entry.packet and b'"prompt_response"' in entry.packet and turn_id.encode() in entry.event:
                return seen
        await session.feed.wait(position)


@pytest.mark.parametrize(("body", "approved"), [
    ({"decision": "allow"}, True), ({"decision": "deny", "reason": "not today"}, False),
    ({"decision": "allow", "scope": "always"}, True),
])
def test_a_permission_is_answered_by_a_decision(tmp_path: Path, body: dict[str, Any], approved: bool) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            sent = await prompt(hub, session, "/ask")
            await waiting(session, "pending_approvals")
            request_id = session.view().pending_approvals[0].request_id
            shown = (await hub.ask("GET", f"/sessions/{session.id}")).json()
            assert shown["pendingApprovals"][0]["requestId"] == request_id
            path = f"/sessions/{session.id}/permissions/{request_id}"
            answer = await hub.ask("POST", path, json_body=body)
            assert (answer.status, answer.json()["pendingApprovals"]) == (200, [])
            events = await ended(session, sent["turnId"])
            assert (b'"approved":true' in events) == approved
            late = await hub.ask("POST", path, json_body=body)
            assert (late.status, late.json()["code"]) == (409, "already_resolved")

    run(check())


def test_a_permission_is_answered_by_option_id(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            sent = await prompt(hub, session, "/ask")
            await waiting(session, "pending_approvals")
            ask = session.view().pending_approvals[0]
            option = next(each for each in ask.options if each.kind == "reject_once")
            path = f"/sessions/{session.id}/permissions/{ask.request_id}"
            assert (await hub.ask("POST", path, json_body={"optionId": "none of them"})).status == 400
            assert (await hub.ask("POST", path, json_body={"optionId": option.option_id})).status == 200
            assert b'"approved":false' in await ended(session, sent["turnId"])

    run(check())


@pytest.mark.parametrize("body", [
    {}, {"optionId": "a", "decision": "allow"}, {"decision": "maybe"}, {"decision": "allow", "scope": "x"},
])
def test_an_answer_that_says_nothing_or_two_things_is_refused(tmp_path: Path, body: dict[str, Any]) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            assert (await hub.ask("POST", f"/sessions/{session.id}/permissions/x", json_body=body)).status == 400

    run(check())


def test_an_unknown_permission_or_question_is_not_found(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            for path, body in (("permissions/x", {"decision": "deny"}), ("questions/x", {"action": "cancel"})):
                answer = await hub.ask("POST", f"/sessions/{session.id}/{path}", json_body=body)
                assert (answer.status, answer.json()["code"]) == (404, "not_found")

    run(check())


def test_a_question_is_answered_with_content(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            sent = await prompt(hub, session, "/question")
            await waiting(session, "pending_questions")
            question_id = session.view().pending_questions[0].question_id
            answer = await hub.ask("POST", f"/sessions/{session.id}/questions/{question_id}", json_body={"action": "decline"})
            assert (answer.status, answer.json()["pendingQuestions"]) == (200, [])
            await ended(session, sent["turnId"])

    run(check())


def test_a_turn_is_cancelled_and_a_quiet_session_has_none_to_cancel(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            assert (await hub.ask("POST", f"/sessions/{session.id}/cancel")).json() == {"cancelled": False}
            sent = await prompt(hub, session, "/silent")
            assert (await hub.ask("POST", f"/sessions/{session.id}/cancel")).json() == {"cancelled": True}
            assert b'"stopReason":"cancelled"' in await ended(session, sent["turnId"])

    run(check())


def test_a_busy_session_refuses_a_prompt_or_lets_it_wait_visibly_editably_and_removably(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            await prompt(hub, session, "/silent")
            base = f"/sessions/{session.id}"
            refused = await hub.ask("POST", f"{base}/send-message", json_body={"content": "and this"})
            assert (refused.status, refused.json()["code"]) == (409, "turn_in_progress")
            first = await prompt(hub, session, "/echo first", whenBusy="queue")
            second = await prompt(hub, session, "/echo second", whenBusy="queue")
            assert (first["queued"], second["queued"]) == (True, True)
            queue = (await hub.ask("GET", f"{base}/queue")).json()
            assert [each["turnId"] for each in queue] == [first["turnId"], second["turnId"]]
            one = await hub.ask("GET", f"{base}/queue/{first['turnId']}")
            assert one.json()["content"][0]["text"] == "/echo first"
            edited = await hub.ask("PATCH", f"{base}/queue/{first['turnId']}", json_body={"content": "/echo edited"})
            assert edited.json()[0]["content"][0]["text"] == "/echo edited"
            assert (await hub.ask("DELETE", f"{base}/queue/{second['turnId']}")).status == 204
            assert (await hub.ask("GET", f"{base}/queue/{second['turnId']}")).status == 404
            assert (await hub.ask("DELETE", f"{base}/queue/{second['turnId']}")).status == 404
            await hub.ask("POST", f"{base}/cancel")
            assert b"edited" in await ended(session, first["turnId"])

    run(check())


def test_the_whole_queue_is_cleared_at_once(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            await prompt(hub, session, "/silent")
            for number in range(3):
                await prompt(hub, session, f"/echo {number}", whenBusy="queue")
            assert (await hub.ask("DELETE", f"/sessions/{session.id}/queue")).status == 204
            assert (await hub.ask("GET", f"/sessions/{session.id}/queue")).json() == []

    run(check())


def test_mode_and_options_are_set(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            view = (await hub.ask("GET", f"/sessions/{session.id}")).json()
            other = next(mode["id"] for mode in view["modes"]["availableModes"] if mode["id"] != view["mode"])
            answer = await hub.ask("POST", f"/sessions/{session.id}/mode", json_body={"modeId": other})
            assert (answer.status, answer.json()["mode"]) == (200, other)
            assert (await hub.ask("POST", f"/sessions/{session.id}/mode", json_body={"mode": other})).status == 400

    run(check())


def test_two_answers_at_the_same_time_have_one_winner(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            await prompt(hub, session, "/ask")
            await waiting(session, "pending_approvals")
            path = f"/sessions/{session.id}/permissions/{session.view().pending_approvals[0].request_id}"
            answers = await asyncio.gather(*(hub.ask("POST", path, json_body={"decision": "allow"}) for _ in range(5)))
            assert sorted(answer.status for answer in answers) == [200, 409, 409, 409, 409]

    run(check())
