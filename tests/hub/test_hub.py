"""The hub as a whole: what it leaves behind, and how it stops."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import msgspec
import pytest

from tests.aio import eventually, run
from tests.hub.stage import alive, options, turn, until_packet, work
from trunkline.agents.catalog import adhoc
from trunkline.agents.pid_files import PidFiles, PidRecord
from trunkline.errors import HubStopping
from trunkline.hub import Hub, HubOptions, NewSession
from trunkline.hub import hub as hub_module


def test_a_hub_in_memory_leaves_no_file(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Hub(options(tmp_path, store="memory:")) as hub:
            session = await hub.create(NewSession(agent="fast", cwd=work(tmp_path), prompt="/echo hi"), by="test")
            packets = await until_packet(session, "prompt_response")
            assert any(p["type"] == "agent_message_chunk" for p in packets)
        assert not (tmp_path / "data").exists()

    run(scenario())


def test_stopping_the_hub_ends_an_agent_that_is_still_starting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        loop, record, running = asyncio.get_running_loop(), PidFiles.record, asyncio.Event()

        def recorded(self: PidFiles, agent: PidRecord) -> None:
            record(self, agent)
            loop.call_soon_threadsafe(running.set)

        monkeypatch.setattr(PidFiles, "record", recorded)
        mute = adhoc("mute", f"{sys.executable} -c 'import sys; sys.stdin.read()'")
        hub = Hub(HubOptions(data=tmp_path / "data", agents={"mute": mute}))
        await hub.__aenter__()
        creating = asyncio.create_task(hub.create(NewSession(agent="mute", cwd=work(tmp_path)), by="test"))
        await running.wait()
        (agent,) = (tmp_path / "data" / "agents").glob("*.json")
        pid = msgspec.json.decode(agent.read_bytes())["pid"]
        await hub.__aexit__(None, None, None)
        with pytest.raises(HubStopping):
            await creating
        assert not alive(pid)

    run(scenario())


def test_a_hub_that_expects_a_session_has_ready_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ready: list[str] = []

    async def load() -> None:
        ready.append("code")

    async def open_nursery() -> None:
        ready.append("nursery")

    async def scenario() -> None:
        async with Hub(options(tmp_path)) as hub:
            await eventually(lambda: hub.metrics.commits == 0)
            assert ready == [], "nobody is there"
            hub.expect_session()
            hub.expect_session()
            await eventually(lambda: len(ready) >= 2)
            await asyncio.sleep(0)
        assert ready == ["code", "nursery"]

    monkeypatch.setattr(hub_module, "WARM_AFTER_S", 0.0)
    monkeypatch.setattr(hub_module, "load_for_sessions", load)
    monkeypatch.setattr(hub_module, "open_nursery", open_nursery)
    run(scenario())


def test_a_hub_that_stops_makes_nothing_ready_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        async with Hub(options(tmp_path)) as hub:
            hub.expect_session()
            waiting = hub._warming
        assert waiting is not None
        await asyncio.wait((waiting,))
        assert waiting.cancelled()

    monkeypatch.setattr(hub_module, "WARM_AFTER_S", 600.0)
    run(scenario())


@pytest.mark.parametrize(("setting", "member"), [("documented", "filePath"), ("agent", "file_path")])
def test_packets_hold_what_the_setting_says(tmp_path: Path, setting: str, member: str) -> None:
    async def scenario() -> None:
        async with Hub(options(tmp_path, store="memory:", packets_raw=setting)) as hub:
            session = await hub.create(NewSession(agent="fast", cwd=work(tmp_path)), by="test")
            read = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Read", "kind": "read", "status": "completed",
                    "rawInput": {"file_path": "/a.py"}, "rawOutput": {"vendor": "x"}}
            packets = await turn(session, f"/raw {json.dumps(read)}")
            (done,) = [packet for packet in packets if packet["type"] == "tool_call_progress"]
            assert list(done["rawInput"]) == [member] and ("vendor" in done["rawOutput"]) == (setting == "agent")

    run(scenario())
