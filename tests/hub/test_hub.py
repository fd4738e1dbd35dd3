"""The hub as a whole: what it leaves behind, and how it stops."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import msgspec
import pytest

from tests.aio import run
from tests.hub.stage import alive, options, until_packet, work
from trunkline.agents.catalog import adhoc
from trunkline.agents.pid_files import PidFiles, PidRecord
from trunkline.errors import HubStopping
from trunkline.hub import Hub, HubOptions, NewSession


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
