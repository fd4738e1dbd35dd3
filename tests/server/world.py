"""A hub's feeds without agents: sessions, commits as the committer makes them, and lines that can be told to take no more."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from tests.server.context.ws.socket import messages_in
from trunkline.feeds.hub import HubFeed
from trunkline.feeds.session import Feed, TailBudget
from trunkline.journal.base import Entry, Group, SessionRow
from trunkline.journal.stores.memory import MemoryJournal
from trunkline.server.sse import Outlet

DELTA, ASK = "message:delta", "approval:requested"


def text_entry(session_id: str, seq: int, kind: str = DELTA) -> Entry:
    """An entry of the agent's text that says its number; or one that asks somebody."""
    event = {"seq": seq, "sessionId": session_id, "timestamp": "t", "type": kind, "requestId": f"{session_id}{seq}"}
    packet = b'{"type":"agent_message_chunk","n":%d}' % seq
    update = b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%d"}}' % seq
    return Entry(seq, 1_790_000_000_000_000 + seq, json.dumps(event, separators=(",", ":")).encode(),
                 update=update if kind == DELTA else None, packet=packet)


class PassingJournal(MemoryJournal):
    """A journal in which others have their turn while one reads, as in one on a disk. ``meanwhile`` happens then, once."""

    meanwhile: Callable[[], None] | None = None

    async def read(self, *args: Any, **kwargs: Any) -> list[Entry]:
        """As always, a little later."""
        found = await super().read(*args, **kwargs)
        await asyncio.sleep(0)
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        return found

    async def read_hub(self, *args: Any, **kwargs: Any) -> list[tuple[str, Entry]]:
        """The same."""
        found = await super().read_hub(*args, **kwargs)
        await asyncio.sleep(0)
        return found


class World:
    """The journal, the hub's feed, and the feeds of the sessions a, b and c."""

    def __init__(self) -> None:
        self.journal = PassingJournal()
        self.everything = HubFeed(self.journal)
        budget = TailBudget()
        self.feeds = {name: Feed(name, self.journal, 0, budget) for name in "abc"}

    def commit(self, *sessions: str, count: int = 1, kind: str = DELTA) -> None:
        """One commit: so many entries of each session, the journal first, then the sessions' feeds, then the hub's."""
        parts = {name: [text_entry(name, self.feeds[name].last_seq + number, kind) for number in range(1, count + 1)]
                 for name in sessions}
        self.journal.append_now(Group(parts, {name: _row(name) for name in sessions}))
        for name, entries in parts.items():
            self.feeds[name].committed(entries, sum(entry.size() for entry in entries))
        self.everything.committed(parts)

    def begin_turn(self, session: str, turn_id: str) -> None:
        """Commit the start of a turn, which has no packet."""
        event = {"type": "custom", "eventName": "turn_started", "data": {"turnId": turn_id}}
        entry = Entry(self.feeds[session].last_seq + 1, 1, json.dumps(event).encode())
        self.journal.append_now(Group({session: [entry]}, {session: _row(session)}))
        self.feeds[session].committed([entry], entry.size())
        self.everything.committed({session: [entry]})

    def hub(self) -> Any:
        """What a delivery asks of a hub."""
        return SimpleNamespace(everything=self.everything, pending=list)

    def session(self, name: str) -> Any:
        """What a cursor or an attachment asks of a session."""
        fold = SimpleNamespace(approvals={}, questions={}, calls={}, sent={}, turn=None, queue=[])
        editors = SimpleNamespace(left=lambda editor: None, take_back=lambda key: None)
        return SimpleNamespace(id=name, feed=self.feeds[name], fold=fold, editors=editors)

    def close(self) -> None:
        """No more will come."""
        for feed in self.feeds.values():
            feed.close()
        self.everything.close()


def _row(session_id: str) -> SessionRow:
    return SessionRow(id=session_id, agent="a", cwd="/", title="", status="idle", created_at=0, updated_at=0, summary=b"{}",
                      checkpoint=b"{}", checkpoint_seq=0)


class Stream:
    """The way out of a stream of Server-Sent Events, ASGI's and the direct one. ``flows`` cleared: it takes no more."""

    def __init__(self) -> None:
        self.flows = asyncio.Event()
        self.flows.set()
        self.got = b""
        self.writes = 0
        """How often it was written to on the spot."""
        self.outlet = Outlet(self._send, lambda: 0.0, self)  # type: ignore[arg-type]  # it is as much of a body as is used

    async def _send(self, message: Any) -> None:
        await self.flows.wait()
        self.got += message["body"]

    @property
    def can_take(self) -> bool:
        return self.flows.is_set()

    def write(self, piece: bytes) -> bool:
        if not self.flows.is_set():
            return False
        self.got += piece
        self.writes += 1
        return True

    def ids(self) -> list[int]:
        """The ids of all frames, in the order in which they came."""
        return [int(line[4:]) for line in self.got.split(b"\n") if line.startswith(b"id: ")]


class Line:
    """A connection that keeps what it takes. ``flows`` cleared: it takes no more."""

    keeps = False

    def __init__(self) -> None:
        self.flows = asyncio.Event()
        self.flows.set()
        self.got: list[Any] = []
        """Every message."""
        self.writes: list[Any] = []
        """What came on the spot, by the write."""

    # The line of a client on the WebSocket.

    @property
    def can_take(self) -> bool:
        return self.flows.is_set()

    def write_now(self, frames: bytes) -> None:
        assert self.flows.is_set(), "it was not looked first"
        found = [json.loads(text) for _, text in messages_in(frames)]
        self.writes.append(found)
        self.got += found

    async def send_text(self, text: str) -> None:
        await self.flows.wait()
        self.got.append(json.loads(text))


class Wire(Line):
    """The same for an editor."""

    async def send(self, lines: Sequence[bytes], stream: str | None) -> None:
        await self.flows.wait()
        self.got += map(json.loads, lines)

    def can_take(self, stream: str | None) -> bool:  # type: ignore[override]
        return self.flows.is_set()

    def write_now(self, lines: Sequence[bytes], stream: str | None) -> None:  # type: ignore[override]
        assert self.flows.is_set(), "it was not looked first"
        self.writes.append([json.loads(line) for line in lines])
        self.got += self.writes[-1]
