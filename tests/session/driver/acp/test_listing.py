"""What sessions an agent has of its own: every page once, each session once, and an end to it."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.aio import run
from trunkline.agents.pid_files import PidFiles
from trunkline.errors import AgentError, Unsupported
from trunkline.session.driver.acp import listing
from trunkline.session.driver.acp.listing import PAGES_MOST, Inquiry, NoCalls, list_sessions


class Agent:
    """Answers with pages, by folder and cursor."""

    def __init__(self, **pages: Any) -> None:
        self.pages = pages
        self.asked: list[dict[str, Any]] = []

    async def __call__(self, method: str, params: dict[str, Any]) -> msgspec.Raw | None:
        self.asked.append(params)
        page = self.pages[params.get("cwd", "everywhere") + params.get("cursor", "")]
        if isinstance(page, Exception):
            raise page
        return msgspec.Raw(json.dumps(page).encode())


def session(key: str, **more: Any) -> dict[str, Any]:
    return {"sessionId": key, "cwd": "/w", **more}


def test_pages_are_followed_and_a_session_is_listed_once() -> None:
    agent = Agent(everywhere={"sessions": [session("a", title="A")], "nextCursor": "2"},
                  everywhere2={"sessions": [session("a", title="again"), session("b")]})
    found = run(list_sessions(agent))
    assert [(each.session_id, each.title) for each in found] == [("a", "A"), ("b", None)]
    assert agent.asked == [{}, {"cursor": "2"}]


def test_sessions_that_are_listed_only_with_their_folder_are_found_and_a_folder_that_fails_costs_the_others_nothing() -> None:
    agent = Agent(everywhere={"sessions": [session("a")]}, there={"sessions": [session("b"), session("a")]},
                  gone=AgentError("no such folder"))
    assert {each.session_id for each in run(list_sessions(agent, ["gone", "there"]))} == {"a", "b"}


def test_the_time_of_creation_is_read_where_an_agent_adds_one() -> None:
    stamped = session("a", _meta={"createdAt": "2026-01-01T00:00:00Z"})
    (found,) = run(list_sessions(Agent(everywhere={"sessions": [stamped]})))
    assert found.created_at == "2026-01-01T00:00:00Z"
    (found,) = run(list_sessions(Agent(everywhere={"sessions": [session("a", _meta={"createdAt": 7})]})))
    assert found.created_at is None


def test_an_agent_that_always_names_a_next_page_is_not_asked_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "PAGES_MOST", 5)
    asked: list[dict[str, Any]] = []

    async def endless(method: str, params: dict[str, Any]) -> msgspec.Raw:
        asked.append(params)
        return msgspec.Raw(json.dumps({"sessions": [session(str(len(asked)))], "nextCursor": str(len(asked))}).encode())

    assert len(run(list_sessions(endless))) == 5 < PAGES_MOST
    again = Agent(everywhere={"sessions": [], "nextCursor": "x"}, everywherex={"sessions": [], "nextCursor": "x"})
    assert run(list_sessions(again)) == [] and len(again.asked) == 2, "the same page again is the last"


def test_an_agent_that_is_started_to_be_asked_is_on_record_until_it_is_over(tmp_path: Path) -> None:
    async def check() -> None:
        pids = PidFiles(tmp_path)
        inquiry = Inquiry("list-1", pids)
        await inquiry.spawned(os.getpid(), None, "marker")
        assert [record.session_id for record in await asyncio.to_thread(pids.left_behind)] == ["list-1"]
        await inquiry.over()
        assert await asyncio.to_thread(pids.left_behind) == []
        with pytest.raises(Unsupported, match="fs/read_text_file"):
            await NoCalls().accept("fs/read_text_file", b"{}", lambda session_id: None)()

    run(check())
