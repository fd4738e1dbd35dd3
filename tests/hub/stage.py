"""A hub for tests: with an agent that is quick, a folder to work in, and turns to wait for."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import msgspec

from trunkline.agents.catalog import adhoc
from trunkline.dialects.acp.content import TextContent
from trunkline.hub import HubOptions, Session
from trunkline.server.packets.frames import packet_of

PLAIN = f"{sys.executable} {shlex.quote(str(Path(__file__).parents[2] / 'benchmarks' / 'agent.py'))}"
"""An agent that takes text and nothing else."""

DEMO = f"{sys.executable} -m trunkline.agents.demo"


def options(tmp_path: Path, **more: Any) -> HubOptions:
    """A hub's options, with an agent that is quick."""
    return HubOptions(data=tmp_path / "data", agents={"fast": adhoc("fast", f"{DEMO} --speed 100")}, **more)


def work(tmp_path: Path) -> str:
    """A folder for sessions."""
    folder = tmp_path / "work"
    folder.mkdir(exist_ok=True)
    return str(folder)


async def until_packet(session: Session, kind: str, after: int = 0) -> list[dict[str, Any]]:
    """Packets up to the first of a kind."""
    packets: list[dict[str, Any]] = []
    while not any(packet["type"] == kind for packet in packets):
        await session.feed.wait(after)
        for entry in await session.feed.read(after=after):
            after = entry.seq
            if (packet := packet_of(entry)) is not None:
                packets.append(msgspec.json.decode(packet))
    return packets


async def until_stopped(session: Session) -> None:
    """Wait until the agent was stopped for want of work."""
    seen = 0
    while b"agent_stopped" not in b"".join(entry.event for entry in await session.feed.read(after=seen)):
        await session.feed.wait(session.feed.last_seq)


async def turn(session: Session, text: str) -> list[dict[str, Any]]:
    """A prompt, and the packets up to its end."""
    accepted = await session.turns.send([TextContent(text=text)], by="test")
    return await until_packet(session, "prompt_response", accepted.seq)


def alive(pid: int) -> bool:
    """Whether a process is there and is no zombie."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def copy_journal(data: Path, copy: Path) -> None:
    """The journal as a crash would leave it."""
    copy.mkdir()
    for name in ("journal.db", "journal.db-wal", "journal.db-log0", "journal.db-log1"):
        if (data / name).exists():
            (copy / name).write_bytes((data / name).read_bytes())
