"""What waits for a person, everywhere, over HTTP."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.aio import run
from tests.server.site import Site, site
from tests.tooling import puppet
from trunkline.agents import catalog
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


def test_always_of_what_is_not_known_is_refused_on_every_face(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            hub.hub.options.agents["puppet"] = catalog.adhoc("puppet", f"{sys.executable} {puppet.__file__}")
            made = await hub.ask("POST", "/sessions", json_body={"agent": "puppet", "cwd": str(hub.folder)})
            session = await hub.hub.session(made.json()["id"])
            call = {"toolCallId": "confirm-1", "title": "Confirm Agent Actions", "kind": "other"}
            kinds = {"y": "allow_once", "a": "allow_always"}
            options = [{"optionId": option, "name": kind, "kind": kind} for option, kind in kinds.items()]
            steps = [["ask", "session/request_permission", {"toolCall": call, "options": options}]]
            await prompt(hub, session, json.dumps(steps))
            (one,) = await waiting(hub, 1)
            view = one["approval"]
            assert (view["riskLevel"], view["sure"], view["doubts"], view.get("always")) == (
                "high", False, ["not known what this does"], None)
            path = f"/sessions/{session.id}/permissions/{view['requestId']}"
            always = {"decision": "allow", "scope": "always"}
            preview = f"/approvals/{view['requestId']}/always-preview"
            for to, body in ((path, always), (path, {"optionId": "a"}), (preview, always)):
                refused = await hub.ask("POST", to, json_body=body)
                assert (refused.status, refused.json()["code"]) == (400, "invalid") and "not known" in refused.json()["message"]
            command = {"command": "approve_tool_call", "requestId": view["requestId"], "toolCallId": view["toolCallId"],
                       "_meta": {"scope": "always"}}
            refused = await hub.ask("POST", f"/sessions/{session.id}/commands", json_body={"command": command})
            assert refused.status == 400, refused.body
            assert (await hub.ask("POST", path, json_body={"decision": "allow"})).status == 200

    run(check())
