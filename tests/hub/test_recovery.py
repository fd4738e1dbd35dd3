"""What an earlier hub left open is closed by the next one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec

from tests.aio import run
from tests.hub.stage import alive, copy_journal, options, turn, until_packet, work
from trunkline.dialects.acp.content import TextContent
from trunkline.hub import Answer, Hub, HubOptions, NewSession
from trunkline.server.packets.frames import packet_of
from trunkline.session.fold import QuestionView
from trunkline.session.fold.caps import Caps
from trunkline.session.turns.spending import DOUBLE


def test_a_turn_that_a_crash_cut_off_ends_with_one_error_and_its_approval_denied(tmp_path: Path) -> None:
    async def scenario() -> None:
        hub = Hub(options(tmp_path))
        await hub.__aenter__()
        session = await hub.create(NewSession(agent="fast", cwd=work(tmp_path)), by="test")
        await session.turns.send([TextContent(text="/ask")], by="test")
        asked = (await until_packet(session, "approval_requested"))[-1]
        await session.turns.send([TextContent(text="/echo waits")], when_busy="queue", by="test")
        copy = tmp_path / "crashed"
        await asyncio.to_thread(copy_journal, tmp_path / "data", copy)
        await hub.__aexit__(None, None, None)
        async with Hub(HubOptions(data=copy, agents=hub.options.agents)) as later:
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

    run(scenario())


def test_what_the_hub_itself_asked_still_waits_after_a_restart(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Hub(options(tmp_path)) as hub:
            session = await hub.create(NewSession(agent="fast", cwd=work(tmp_path)), by="test")
            await session.settings.set_limits(Caps(turns=1), None, by="test")
            await turn(session, "/echo one")
            (asked,) = hub.pending()
        async with Hub(options(tmp_path)) as hub:
            assert hub.pending() == [asked]
            assert isinstance(asked.question, QuestionView)
            again = await hub.session(session.id)
            await again.approvals.answer(asked.question.question_id, Answer(content={"choice": DOUBLE}), by="test")
            assert hub.pending() == [] and again.view().caps == Caps(turns=2)

    run(scenario())


def test_an_agent_left_behind_by_a_crash_is_ended_at_the_next_start(tmp_path: Path) -> None:
    async def scenario() -> None:
        hub = Hub(options(tmp_path))
        await hub.__aenter__()
        session = await hub.create(NewSession(agent="fast", cwd=work(tmp_path)), by="test")
        (record,) = (tmp_path / "data" / "agents").glob("*.json")
        pid = msgspec.json.decode(record.read_bytes())["pid"]
        copy = tmp_path / "crashed"
        await asyncio.to_thread(copy_journal, tmp_path / "data", copy)
        (copy / "agents").mkdir()
        (copy / "agents" / record.name).write_bytes(record.read_bytes())
        async with Hub(HubOptions(data=copy)):
            assert not alive(pid)
            assert not list((copy / "agents").glob("*.json"))
        await hub.__aexit__(None, None, None)
        assert session.feed.closed

    run(scenario())
