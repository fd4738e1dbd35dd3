"""What waits for a person, everywhere, over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.aio import run
from tests.server.site import Site, site
from trunkline.hub import Session


async def waiting(hub: Site, count: int) -> list[dict[str, Any]]:
    """What waits, once that many do."""
    feed = hub.hub.everything
    while len(found := (await hub.ask("GET", "/approvals")).json()["pending"]) < count:
        await feed.wait(feed.last_pos)
    assert isinstance(found, list)
    return found


async def prompt(hub: Site, session: Session, content: str) -> None:
    assert (await hub.ask("POST", f"/sessions/{session.id}/send-message", json_body={"content": content})).status == 202


def test_approvals_and_questions_of_all_sessions_are_listed_until_they_are_answered(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            assert await waiting(hub, 0) == []
            first, second = await hub.session(title="First"), await hub.session(title="Second")
            await prompt(hub, first, "/ask")
            await waiting(hub, 1)
            await prompt(hub, second, "/question")
            one, other = await waiting(hub, 2)
            assert (one["sessionId"], one["title"], one["agent"], one["cwd"]) == (first.id, "First", "demo", first.fold.cwd)
            assert "question" not in one and one["approval"]["options"]
            asked = second.view().pending_questions[0].question_id
            assert (other["sessionId"], other["question"]["questionId"]) == (second.id, asked)
            assert "approval" not in other
            path = f"/sessions/{first.id}/permissions/{one['approval']['requestId']}"
            assert (await hub.ask("POST", path, json_body={"decision": "allow"})).status == 200
            assert [each["sessionId"] for each in await waiting(hub, 1)] == [second.id]

    run(check())


def test_whoever_may_look_sees_what_waits(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            made = (await hub.ask("POST", "/auth/tokens", json_body={"name": "wall", "scope": "view"})).json()
            assert (await hub.ask("GET", "/approvals", token=made["secret"])).status == 200
            assert (await hub.ask("GET", "/approvals", token=None)).status == 401

    run(check())
