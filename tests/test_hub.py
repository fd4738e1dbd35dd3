"""The hub: sessions by id, opened from the journal, recovered after a crash."""

from __future__ import annotations

import asyncio
import shlex
import sqlite3
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.aio import run
from trunkline.agents.catalog import adhoc
from trunkline.dialects.acp.content import ImageContent, TextContent
from trunkline.errors import HubStopping, Invalid, NotFound, SessionNotFound, Unsupported
from trunkline.feeds.session import packet_of
from trunkline.hub import Answer, Decision, Hub, HubOptions, NewSession, Session
from trunkline.journal.base import RowFilter
from trunkline.session.audit.key import read_audit_key
from trunkline.session.audit.log import AuditLog, Note, read_log
from trunkline.session.fold import QuestionView
from trunkline.session.fold.caps import Caps
from trunkline.session.turns.spending import DOUBLE

PLAIN = f"{sys.executable} {shlex.quote(str(Path(__file__).parents[1] / 'benchmarks' / 'agent.py'))}"
"""An agent that takes text and nothing else."""

DEMO = f"{sys.executable} -m trunkline.agents.demo"


def options(tmp_path: Path, **more: Any) -> HubOptions:
    return HubOptions(data_dir=tmp_path / "data", agents={"fast": adhoc("fast", f"{DEMO} --speed 100")}, **more)


def work(tmp_path: Path) -> str:
    folder = tmp_path / "work"
    folder.mkdir(exist_ok=True)
    return str(folder)


async def until_packet(session: Session, kind: str, after: int = 0) -> list[dict[str, Any]]:
    packets: list[dict[str, Any]] = []
    while not any(packet["type"] == kind for packet in packets):
        await session.feed.wait(after)
        for entry in await session.feed.read(after=after):
            after = entry.seq
            if (packet := packet_of(entry)) is not None:
                packets.append(msgspec.json.decode(packet))
    return packets


async def until_stopped(session: Session) -> None:
    seen = 0
    while b"agent_stopped" not in b"".join(entry.event for entry in await session.feed.read(after=seen)):
        await session.feed.wait(session.feed.last_seq)


async def turn(session: Session, text: str) -> list[dict[str, Any]]:
    accepted = await session.send([TextContent(text=text)], by="test")
    return await until_packet(session, "prompt_response", accepted.seq)


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

    run(scenario(), 30)


def test_a_turn_that_a_crash_cut_off_ends_with_one_error_and_its_approval_denied(tmp_path: Path) -> None:
    async def scenario() -> None:
        hub = Hub(options(tmp_path))
        await hub.__aenter__()
        session = await hub.create(NewSession(agent="fast", cwd=work(tmp_path)), by="test")
        await session.send([TextContent(text="/ask")], by="test")
        asked = (await until_packet(session, "approval_requested"))[-1]
        await session.send([TextContent(text="/echo waits")], when_busy="queue", by="test")
        copy = tmp_path / "crashed"
        await asyncio.to_thread(_copy_journal, tmp_path / "data", copy)
        await hub.__aexit__(None, None, None)
        async with Hub(HubOptions(data_dir=copy, agents=hub.options.agents)) as later:
            found = await later.session(session.id)
            packets = [msgspec.json.decode(p) for e in await found.feed.read(after=0) if (p := packet_of(e))]
            resolved = [p for p in packets if p["type"] == "approval_resolved"]
            errors = [p for p in packets if p["type"] == "error"]
            assert [(p["requestId"], p["approved"], p["reason"]) for p in resolved] == [
                (asked["requestId"], False, "hub_restarted")]
            assert [p["details"]["code"] for p in errors] == ["hub_restarted"]
            assert found.view().status == "error" and len(found.view().queue) == 1
            packets = await turn(found, "/echo back")
            assert any(p["type"] == "agent_message_chunk" and p["content"]["text"] == "back" for p in packets)

    run(scenario(), 30)


async def decided(session: Session) -> None:
    accepted = await session.send([TextContent(text="/ask")], by="test")
    asked = (await until_packet(session, "approval_requested", accepted.seq))[-1]
    await session.decide(asked["requestId"], Decision(decision="allow"), by="test")
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
            await session.send([TextContent(text="/ask")], by="test")
            while not session.fold.approvals:
                await session.feed.wait(session.feed.last_seq)
        assert noted(session)[-1] == Note(session.id, 4, session.fold.chain.head), "what the stop denied is noted too"
        async with Hub(options(tmp_path)) as hub:
            again = await hub.session(session.id)
            assert len(noted(session)) == 2
            await hub.delete(again.id)
            assert noted(session) == [] and read_log(log, read_audit_key(key)).notes[-1].deleted

    run(scenario(), 30)


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

    run(scenario(), 30)


def test_what_the_hub_itself_asked_still_waits_after_a_restart(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Hub(options(tmp_path)) as hub:
            session = await hub.create(NewSession(agent="fast", cwd=work(tmp_path)), by="test")
            await session.set_limits(Caps(turns=1), None, by="test")
            await turn(session, "/echo one")
            (asked,) = hub.pending()
        async with Hub(options(tmp_path)) as hub:
            assert hub.pending() == [asked]
            assert isinstance(asked.question, QuestionView)
            again = await hub.session(session.id)
            await again.answer(asked.question.question_id, Answer(content={"choice": DOUBLE}), by="test")
            assert hub.pending() == [] and again.view().caps == Caps(turns=2)

    run(scenario(), 30)


def _alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def _copy_journal(data: Path, copy: Path) -> None:
    copy.mkdir()
    for name in ("journal.db", "journal.db-wal"):
        if (data / name).exists():
            (copy / name).write_bytes((data / name).read_bytes())


def test_an_agent_left_behind_by_a_crash_is_ended_at_the_next_start(tmp_path: Path) -> None:
    async def scenario() -> None:
        hub = Hub(options(tmp_path))
        await hub.__aenter__()
        session = await hub.create(NewSession(agent="fast", cwd=work(tmp_path)), by="test")
        (record,) = (tmp_path / "data" / "agents").glob("*.json")
        pid = msgspec.json.decode(record.read_bytes())["pid"]
        copy = tmp_path / "crashed"
        await asyncio.to_thread(_copy_journal, tmp_path / "data", copy)
        (copy / "agents").mkdir()
        (copy / "agents" / record.name).write_bytes(record.read_bytes())
        async with Hub(HubOptions(data_dir=copy)):
            assert not _alive(pid)
            assert not list((copy / "agents").glob("*.json"))
        await hub.__aexit__(None, None, None)
        assert session.feed.closed

    run(scenario(), 30)


def test_deleting_stops_the_agent_and_forgets_the_session(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Hub(options(tmp_path)) as hub:
            session = await hub.create(NewSession(agent="fast", cwd=work(tmp_path)), by="test")
            await hub.delete(session.id)
            assert session.feed.closed and not session.agent_running
            with pytest.raises(SessionNotFound):
                await hub.session(session.id)
            assert await hub.list(RowFilter()) == []

    run(scenario(), 30)


@pytest.mark.parametrize(("new", "error", "names"), [
    (NewSession(agent="nobody", cwd="/"), NotFound, "nobody"),
    (NewSession(agent="demo", cwd="relative"), Invalid, "absolute"),
    (NewSession(agent="demo", cwd="/no/such/folder"), Invalid, "/no/such/folder"),
])
def test_a_bad_start_is_a_clear_error_and_leaves_nothing(
        tmp_path: Path, new: NewSession, error: type[Exception], names: str) -> None:
    async def scenario() -> None:
        async with Hub(options(tmp_path)) as hub:
            with pytest.raises(error, match=names):
                await hub.create(new, by="test")
            assert await hub.list(RowFilter()) == [] and hub.metrics.sessions_open == 0

    run(scenario(), 30)


def test_an_agent_that_dies_at_the_start_leaves_no_session(tmp_path: Path) -> None:
    async def scenario() -> None:
        broken = adhoc("broken", f"{sys.executable} -c \"import sys; sys.exit('no key')\"")
        async with Hub(HubOptions(data_dir=tmp_path / "data", agents={"broken": broken})) as hub:
            with pytest.raises(Exception, match="no key") as caught:
                await hub.create(NewSession(agent="broken", cwd=work(tmp_path)), by="test")
            assert getattr(caught.value, "code", "") == "agent_start_failed"
            assert await hub.list(RowFilter()) == []

    run(scenario(), 30)


def test_a_hub_in_memory_leaves_no_file(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Hub(options(tmp_path, memory=True)) as hub:
            session = await hub.create(NewSession(agent="fast", cwd=work(tmp_path), prompt="/echo hi"), by="test")
            packets = await until_packet(session, "prompt_response")
            assert any(p["type"] == "agent_message_chunk" for p in packets)
        assert not (tmp_path / "data").exists()

    run(scenario(), 30)


def test_the_callers_variables_reach_the_agent_only_if_allowed_and_are_not_stored(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Hub(options(tmp_path)) as hub:
            env = {"PATH": "/caller/bin:/usr/bin:/bin", "TRUNKLINE_TOKEN": "t0ken", "RANDOM_SECRET": "s3cret"}
            session = await hub.create(NewSession(agent="fast", cwd=work(tmp_path), env=env), by="test")
            assert session.env == {"PATH": "/caller/bin:/usr/bin:/bin"}
            await turn(session, "/echo x")
        stored = b"".join(path.read_bytes() for path in (tmp_path / "data").iterdir() if path.is_file())
        assert b"s3cret" not in stored and b"/caller/bin" not in stored

    run(scenario(), 30)


def test_sessions_that_nobody_uses_leave_memory_and_come_back_with_their_readers(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr("trunkline.hub.hub.KEPT_IDLE", 0)
        async with Hub(options(tmp_path, agent_idle_stop_s=0.05)) as hub:
            session = await hub.create(NewSession(agent="fast", cwd=work(tmp_path)), by="test")
            await until_stopped(session)
            other = await hub.create(NewSession(agent="fast", cwd=work(tmp_path)), by="test")
            assert hub.metrics.sessions_open == 1 and other.id != session.id
            again = await hub.session(session.id)
            assert again is session, "a session that somebody still reads is not made twice"
            reading = asyncio.create_task(until_packet(session, "prompt_response", session.feed.last_seq))
            await turn(again, "/echo x")
            assert any(p["type"] == "agent_message_chunk" for p in await reading)

    run(scenario(), 30)


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
            for act in (session.rename("back", by="late"), session.send([TextContent(text="hi")], by="late"),
                        session.set_mode("plan", by="late")):
                with pytest.raises(SessionNotFound):
                    await act
            assert await hub.list(RowFilter()) == []
        async with Hub(options(tmp_path)) as hub:
            assert await hub.list(RowFilter()) == []

    run(scenario(), 30)


@pytest.mark.parametrize("prompt", [[], [ImageContent(data="aGk=", mime_type="image/png")]])
def test_a_start_whose_prompt_is_refused_leaves_nothing(tmp_path: Path, prompt: Any) -> None:
    async def scenario() -> None:
        async with Hub(HubOptions(data_dir=tmp_path / "data", agents={"plain": adhoc("plain", PLAIN)})) as hub:
            with pytest.raises((Invalid, Unsupported)):
                await hub.create(NewSession(agent="plain", cwd=work(tmp_path), prompt=prompt), by="test")
            assert await hub.list(RowFilter()) == [] and hub.metrics.agents_running == 0
            assert not list((tmp_path / "data" / "agents").glob("*.json"))

    run(scenario(), 30)


def test_who_asks_for_an_agents_sessions_while_the_hub_is_stopped_is_told_so(tmp_path: Path) -> None:
    async def check() -> None:
        silent = adhoc("silent", f"{DEMO} --fault silent")
        hub = Hub(HubOptions(data_dir=tmp_path / "data", memory=True, agents={"silent": silent}))
        async with hub:
            asking = asyncio.create_task(hub.agent_sessions("silent"))
            await asyncio.sleep(0)
        with pytest.raises(HubStopping):
            await asking

    run(check())


def test_stopping_the_hub_ends_an_agent_that_is_still_starting(tmp_path: Path) -> None:
    async def scenario() -> None:
        mute = adhoc("mute", f"{sys.executable} -c 'import sys; sys.stdin.read()'")
        hub = Hub(HubOptions(data_dir=tmp_path / "data", agents={"mute": mute}))
        await hub.__aenter__()
        creating = asyncio.create_task(hub.create(NewSession(agent="mute", cwd=work(tmp_path)), by="test"))
        records: list[Path] = []
        while not records:
            await asyncio.sleep(0.01)
            records = list((tmp_path / "data" / "agents").glob("*.json"))
        pid = msgspec.json.decode(records[0].read_bytes())["pid"]
        await hub.__aexit__(None, None, None)
        with pytest.raises(HubStopping):
            await creating
        assert not _alive(pid)

    run(scenario(), 30)


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

    run(scenario(), 30)
