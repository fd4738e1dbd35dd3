"""Sessions by id: found again, listed, deleted, and readable beside one that is not."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from tests.aio import run
from tests.hub.stage import options, turn, work
from trunkline.dialects.acp.content import TextContent
from trunkline.errors import SessionNotFound
from trunkline.hub import Hub, NewSession
from trunkline.journal.base import RowFilter
from trunkline.server.packets.frames import packet_of


def test_a_session_is_found_again_by_the_next_hub_with_its_history(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Hub(options(tmp_path)) as hub:
            session = await hub.create(NewSession(agent="fast", cwd=work(tmp_path), title="Mine"), by="test")
            await turn(session, "/echo first")
            assert session.view().agent_start == "new"
            before = [(e.seq, e.event, packet_of(e)) for e in await session.feed.read(after=0)]
        async with Hub(options(tmp_path)) as hub:
            (view,) = await hub.list(RowFilter())
            assert (view.id, view.title, view.status, view.last_seq) == (session.id, "Mine", "idle", before[-1][0])
            again = await hub.session(session.id)
            assert [(e.seq, e.event, packet_of(e)) for e in await again.feed.read(after=0)] == before
            packets = await turn(again, "/echo second")
            assert any(p["type"] == "agent_message_chunk" and p["content"]["text"] == "second" for p in packets)
            entries = await again.feed.read(after=before[-1][0])
            assert b'"how":"resumed"' in b"".join(e.event for e in entries), "it is told how the agent came back"
            assert again.view().agent_start == "resumed"

    run(scenario())


def test_deleting_stops_the_agent_and_forgets_the_session(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Hub(options(tmp_path)) as hub:
            session = await hub.create(NewSession(agent="fast", cwd=work(tmp_path)), by="test")
            await hub.delete(session.id)
            assert session.feed.closed and not session.agent.running
            with pytest.raises(SessionNotFound):
                await hub.session(session.id)
            assert await hub.list(RowFilter()) == []

    run(scenario())


def test_a_deleted_session_stays_deleted_whoever_holds_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Hub(options(tmp_path)) as hub:
            session = await hub.create(NewSession(agent="fast", cwd=work(tmp_path)), by="test")
            deleting = asyncio.create_task(hub.delete(session.id))
            for _ in range(50):
                await asyncio.sleep(0)
                if deleting.done():
                    break
            with pytest.raises(SessionNotFound):
                await hub.session(session.id)
            await deleting
            acts = (lambda: session.rename("back", by="late"), lambda: session.turns.send([TextContent(text="hi")], by="late"),
                    lambda: session.settings.set_mode("plan", by="late"))
            for act in acts:
                with pytest.raises(SessionNotFound):
                    await act()
            assert await hub.list(RowFilter()) == []
        async with Hub(options(tmp_path)) as hub:
            assert await hub.list(RowFilter()) == []

    run(scenario())


def test_one_session_that_cannot_be_read_spoils_no_other(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Hub(options(tmp_path)) as hub:
            good = await hub.create(NewSession(agent="fast", cwd=work(tmp_path)), by="test")
            bad = await hub.create(NewSession(agent="fast", cwd=work(tmp_path)), by="test")
        with sqlite3.connect(tmp_path / "data" / "journal.db") as database:
            damage = "UPDATE sessions SET summary = x'00', checkpoint = x'00', status = 'running' WHERE id = ?"
            database.execute(damage, (bad.id,))
        async with Hub(options(tmp_path)) as hub:
            assert {view.id: view.status for view in await hub.list(RowFilter())} == {good.id: "idle", bad.id: "idle"}
            assert (await hub.session(good.id)).view().status == "idle"
            again = await hub.session(bad.id)
            assert (again.fold.agent, again.fold.cwd, again.fold.title) == ("fast", work(tmp_path), bad.fold.title)
            assert (await turn(again, "/echo still here"))[-1]["type"] == "prompt_response"
            await hub.delete(bad.id)
            assert [view.id for view in await hub.list(RowFilter())] == [good.id]

    run(scenario())
