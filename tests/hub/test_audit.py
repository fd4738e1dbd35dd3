"""How far approvals have come is noted outside the database."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

from tests.aio import run
from tests.hub.stage import options, until_packet, work
from trunkline.dialects.acp.content import TextContent
from trunkline.hub import Decision, Hub, NewSession, Session
from trunkline.session.audit.key import read_audit_key
from trunkline.session.audit.log import AuditLog, Note, read_log


async def decided(session: Session) -> None:
    accepted = await session.turns.send([TextContent(text="/ask")], by="test")
    asked = (await until_packet(session, "approval_requested", accepted.seq))[-1]
    await session.approvals.decide(asked["requestId"], Decision(decision="allow"), by="test")
    await until_packet(session, "prompt_response", accepted.seq)


def test_approvals_are_noted_outside_the_database_when_a_turn_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note, wrote = AuditLog.note, asyncio.Event()

    def noting(self: AuditLog, notes: Iterable[Note]) -> None:
        note(self, notes)
        wrote.set()

    monkeypatch.setattr(AuditLog, "note", noting)
    log, key = tmp_path / "data" / "audit.log", tmp_path / "data" / "audit.key"

    def noted(session: Session) -> list[Note]:
        return read_log(log, read_audit_key(key)).kept().get(session.id, [])

    async def scenario() -> None:
        async with Hub(options(tmp_path)) as hub:
            session = await hub.create(NewSession(agent="fast", cwd=work(tmp_path)), by="test")
            await decided(session)
            await wrote.wait()
            assert noted(session) == [Note(session.id, 2, session.fold.chain.head)]
            await session.turns.send([TextContent(text="/ask")], by="test")
            while not session.fold.approvals:
                await session.feed.wait(session.feed.last_seq)
        assert noted(session)[-1] == Note(session.id, 4, session.fold.chain.head), "what the stop denied is noted too"
        async with Hub(options(tmp_path)) as hub:
            again = await hub.session(session.id)
            assert len(noted(session)) == 2
            await hub.delete(again.id)
            assert noted(session) == [] and read_log(log, read_audit_key(key)).notes[-1].deleted

    run(scenario())


def test_a_session_that_comes_back_with_fewer_approvals_is_put_on_record(tmp_path: Path) -> None:
    data = tmp_path / "data"

    async def scenario() -> None:
        async with Hub(options(tmp_path)) as hub:
            session = await hub.create(NewSession(agent="fast", cwd=work(tmp_path)), by="test")
            await decided(session)
        with sqlite3.connect(data / "journal.db") as database:
            (state,) = database.execute("SELECT checkpoint FROM sessions").fetchone()
            changed = {**msgspec.json.decode(state), "chain": {"n": 1, "head": "x"}}
            database.execute("UPDATE sessions SET checkpoint = ?, crc = NULL", (msgspec.json.encode(changed),))
        database.close()
        async with Hub(options(tmp_path)) as hub:
            await hub.session(session.id)
        notes = read_log(data / "audit.log", read_audit_key(data / "audit.key")).notes
        assert [(note.n, note.head) for note in notes] == [(2, session.fold.chain.head), (1, "x")]

    run(scenario())
