"""Search over HTTP, with the real hub and the demo agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.aio import run
from tests.server.site import site


def test_a_word_of_a_turn_is_found_with_its_session_and_place(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session(title="About herons")
            await hub.turn(session, "/echo a heronry by the lake")
            answer = (await hub.ask("GET", "/search?q=heron")).json()
            assert (answer["query"], answer["complete"]) == ("heron", True)
            assert {hit["kind"] for hit in answer["hits"]} == {"title", "user", "assistant"}
            assert {hit["sessionId"] for hit in answer["hits"]} == {session.id}
            best = answer["hits"][0]
            assert (best["kind"], best["title"], best["agent"], best["url"]) == (
                "title", "About herons", "demo", f"/sessions/{session.id}")
            assert {"text": "herons", "match": True} in best["snippet"]
            prompt = next(hit for hit in answer["hits"] if hit["kind"] == "user")
            assert prompt["url"].startswith(f"/sessions/{session.id}/history?after=")
            assert b"heronry" in (await session.feed.read(after=prompt["seq"] - 1))[0].event
            assert (await hub.ask("DELETE", f"/sessions/{session.id}")).status == 204
            assert (await hub.ask("GET", "/search?q=heron")).json()["hits"] == []

    run(check())


@pytest.mark.parametrize("query", ["", "?q=", "?q=***", "?q=a&limit=0", "?q=a&limit=1000", "?q=" + "a" * 600])
def test_a_question_that_cannot_be_answered_is_refused(tmp_path: Path, query: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            answer = await hub.ask("GET", "/search" + query)
            assert (answer.status, answer.json()["code"]) == (400, "invalid")

    run(check())
