"""An agent calls a write completed: what is told of it is what the disk has."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.tooling.hub_process import HubProcess, Session


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Any:
    hub = HubProcess(tmp_path_factory.mktemp("hub"))
    hub.start()
    try:
        yield hub.new_session("puppet")
    finally:
        hub.close()


def written(session: Session, path: str, content: str, **more: Any) -> list[dict[str, Any]]:
    """A write of which the agent says nothing but that it is over; the events of that turn."""
    before = session.view()["lastSeq"]
    call = {"toolCallId": path, "title": "Write", "name": "Write", "kind": "edit", "rawInput": {"path": path, "content": content}}
    ended = {"sessionUpdate": "tool_call_update", "toolCallId": path, "status": "completed", **more}
    steps = [["update", {"sessionUpdate": "tool_call", **call}], ["update", ended], ["say", "done"]]
    session.say(json.dumps(steps))
    page: dict[str, Any] = session.wire.get(f"{session.path}/history?after={before}&limit=1000")
    return list(page["events"])


def test_a_write_that_is_there_is_told_with_what_was_seen(session: Session) -> None:
    (session.folder / "there.py").write_text("x = 1\n")
    events = written(session, "there.py", "x = 1\n")
    change = next(event for event in events if event["type"] == "file:change")
    assert change["_meta"]["seen"] == {"exists": True, "size": 6, "asSaid": True}
    kinds = [f"{event['type']} {event.get('role', '')}".strip() for event in events]
    order = ("tool:result", "file:change", "message:start assistant")
    assert [kinds.index(kind) for kind in order] == sorted(kinds.index(kind) for kind in order), "what came behind it waited"


def test_a_write_that_never_came_about_is_no_change(session: Session) -> None:
    events = written(session, "nowhere.py", "x = 1\n")
    assert any(event["type"] == "tool:result" for event in events)
    assert not any(event["type"].startswith("file:") for event in events)


def test_what_is_not_the_sessions_is_not_looked_at_and_told_as_it_was_said(session: Session) -> None:
    change = next(event for event in written(session, "/nobody/knows.py", "x") if event["type"] == "file:change")
    assert "seen" not in change.get("_meta", {})
