"""A long session over HTTP: read in joined pages, and taken away as a file."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.tooling.hub_process import HubProcess, Session

CHUNKS = 3_000


def said(events: list[dict[str, Any]], message: str) -> str:
    return "".join(event["delta"] for event in events if event["type"] == "message:delta" and event["messageId"] == message)


def backwards(session: Session, query: str) -> list[dict[str, Any]]:
    """Every event, page by page from the end, as the page reads it."""
    found: list[dict[str, Any]] = []
    before: int | None = session.view()["lastSeq"] + 1
    while before is not None:
        page = session.wire.get(f"{session.path}/history?before={before}&{query}")
        found = page["events"] + found
        before = page["nextBefore"]
    return found


def test_joined_pages_say_what_the_stream_said_in_far_fewer_events(session: Session) -> None:
    session.say(f"/burst {CHUNKS} 12")
    plain, joined = backwards(session, "limit=700"), backwards(session, "limit=7&joined=true")
    messages = {event["messageId"] for event in plain if event["type"] == "message:delta"}
    assert {event["messageId"] for event in joined if event["type"] == "message:delta"} == messages
    for message in messages:
        assert said(joined, message) == said(plain, message)
    assert len(plain) > CHUNKS and len(joined) < 40
    seqs = [event["seq"] for event in joined]
    assert seqs == sorted(set(seqs)) and seqs[-1] == plain[-1]["seq"]


def test_a_session_can_be_taken_away_whole(hub: HubProcess) -> None:
    session = hub.new_session(title="../Ünsafe \"name\"\r\n")
    session.say(f"/burst {CHUNKS} 12")
    answer = hub.wire.ask("GET", f"{session.path}/export?format=json")
    whole = answer.expect(200)
    assert whole["events"] == backwards(session, "limit=5000")
    assert answer.headers["content-disposition"].startswith('attachment; filename="nsafe-name-')
    text = hub.wire.ask("GET", f"{session.path}/export?format=markdown")
    assert text.headers["content-type"].startswith("text/markdown")
    message = next(event["messageId"] for event in reversed(whole["events"]) if event["type"] == "message:delta")
    assert said(whole["events"], message) in text.body.decode()
    refused = hub.wire.ask("GET", f"{session.path}/export?format=xml")
    assert refused.expect(400)["details"]["allowed"] == ["markdown", "json"]
    session.delete()


@pytest.mark.slow
def test_the_newest_page_of_a_very_long_session_costs_no_more_than_that_of_a_long_one(hub: HubProcess) -> None:
    def newest_page_s(session: Session) -> float:
        path = f"{session.path}/history?before={session.view()['lastSeq'] + 1}&joined=true&limit=200"
        took = []
        for _ in range(5):
            began = time.perf_counter()
            session.wire.get(path)
            took.append(time.perf_counter() - began)
        return min(took)

    long, very_long = hub.new_session(), hub.new_session()
    long.say("/burst 12000 12", wait_s=60)
    very_long.say("/burst 50000 12", wait_s=120)
    assert newest_page_s(very_long) < 3 * newest_page_s(long) + 0.02
    for session in (long, very_long):
        session.delete()
