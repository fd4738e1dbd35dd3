"""A session as a file, over HTTP."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.aio import run
from tests.server.context.test_joining import feed_of
from tests.server.site import Site, site
from trunkline.hub import Decision, Session
from trunkline.server.sessions.export import _json, _markdown, _stretches


async def decided(hub: Site) -> Session:
    session = await hub.session(title="Mend the *roof*")
    await hub.ask("POST", f"/sessions/{session.id}/send-message", json_body={"content": "/ask"})
    while not session.fold.approvals:
        await session.feed.wait(session.feed.last_seq)
    await session.approvals.decide(next(iter(session.fold.approvals)), Decision(decision="allow"), by="phone (d1)")
    while session.fold.turn is not None:
        await session.feed.wait(session.feed.last_seq)
    return session


def test_the_json_has_a_head_and_every_event_as_it_is_in_the_journal(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await decided(hub)
            answer = await hub.ask("GET", f"/sessions/{session.id}/export?format=json")
            assert (answer.status, answer.header("content-type")) == (200, "application/json")
            disposition = answer.header("content-disposition") or ""
            assert disposition.startswith('attachment; filename="mend-the-roof-') and disposition.endswith('.json"')
            whole = answer.json()
            assert (whole["trunkline"], whole["lastSeq"]) == (1, session.feed.last_seq)
            assert whole["session"]["title"] == "Mend the *roof*"
            history = (await hub.ask("GET", f"/sessions/{session.id}/history?limit=5000")).json()
            assert whole["events"] == history["events"]

    run(check())


def test_the_markdown_can_be_read_and_says_who_decided(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await decided(hub)
            answer = await hub.ask("GET", f"/sessions/{session.id}/export")
            assert answer.header("content-type") == "text/markdown; charset=utf-8"
            assert (answer.header("content-disposition") or "").endswith('.md"')
            text = answer.body.decode()
            assert text.startswith("# Mend the *roof*\n\n- Agent: demo\n")
            for part in ("\n## You\n\n/ask\n", "> **Approval needed**", "> **Approved** by phone (d1)"):
                assert part in text

    run(check())


@pytest.mark.parametrize("form", ["pdf", "JSON", "markdown "])
def test_another_format_is_refused_and_the_error_names_what_there_is(tmp_path: Path, form: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            answer = await hub.ask("GET", f"/sessions/{session.id}/export?format={form}")
            assert (answer.status, answer.json()["details"]) == (400, {"field": "format", "allowed": ["markdown", "json"]})
            assert (await hub.ask("GET", "/sessions/none/export")).status == 404

    run(check())


def test_it_ends_at_the_entry_that_was_the_last_when_it_was_asked_for() -> None:
    async def check() -> None:
        feed = await feed_of([{"type": "tool:start"}] * 3_000)
        feed.last_seq = 2_500
        read: list[int] = []
        async for entries in _stretches(feed, 2_500):
            read += [entry.seq for entry in entries]
            feed.last_seq = 3_000
        assert read == list(range(1, 2_501))

    run(check())


def test_what_happens_while_it_is_written_is_not_in_it(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            await hub.turn(session, "/echo before")
            view = await session.snapshot()
            await hub.turn(session, "/echo between")
            body = _json(session, view)
            pieces = [await anext(body)]
            await hub.turn(session, "/echo after")
            pieces += [piece async for piece in body]
            whole = json.loads(b"".join(pieces))
            assert whole["lastSeq"] == whole["session"]["lastSeq"] == whole["events"][-1]["seq"] == view.last_seq
            assert session.feed.last_seq > view.last_seq
            told = b"".join([piece async for piece in _markdown(session, view)]).decode()
            assert "before" in told and "between" not in told

    run(check())
