"""Streams of a test's own on servers that it shares: names that nobody else has, made and ready."""

from __future__ import annotations

import asyncio
import itertools
import os

from trunkline.cluster import jetstream
from trunkline.cluster.connection import Connection
from trunkline.cluster.jetstream import Ack, Page, Refusal
from trunkline.errors import NodeAway

_numbers = itertools.count()


class Scratch:
    """A stream with subjects below a name of its own; ``live.<name>`` has what is stored, as it is stored."""

    def __init__(self, connection: Connection, replicas: int) -> None:
        self.connection = connection
        self.replicas = replicas
        self.name = f"s{os.getpid()}-{next(_numbers)}"

    async def make(self, **more: object) -> None:
        config = {"name": self.name, "subjects": [f"{self.name}.>"], "num_replicas": self.replicas, "allow_direct": True,
                  "allow_atomic": True, "discard": "new", "republish": {"src": f"{self.name}.>", "dest": f"live.{self.name}.>"}}
        jetstream.accepted(await jetstream.ask(self.connection, f"STREAM.CREATE.{self.name}", config | more), "making the stream")
        await self.wait_ready()

    async def wait_ready(self) -> None:
        """A stream that was just made may have nobody who answers for a moment."""
        while True:
            try:
                await self.connection.request(f"{self.name}.ready", b"")
                return
            except NodeAway:
                await asyncio.sleep(0.01)

    def subject(self, name: str) -> str:
        return f"{self.name}.{name}"

    async def put(self, name: str, body: bytes, *, fence: int | None = None, msg_id: str | None = None) -> Ack | Refusal:
        """Publish as shippers do; 10164, which a lone writer may meet, is tried again."""
        headers = {} if fence is None else {jetstream.FENCE: str(fence)}
        if msg_id is not None:
            headers[jetstream.MSG_ID] = msg_id
        while True:
            answer = await jetstream.publish(self.connection, self.subject(name), body, headers)
            if not isinstance(answer, Refusal) or answer.err_code != jetstream.IN_FLIGHT:
                return answer

    async def page(self, name: str, from_seq: int, max_bytes: int = 1 << 20) -> Page:
        """Five of a subject's messages."""
        return await jetstream.read_page(self.connection, self.name, self.subject(name), from_seq=from_seq, batch=5,
                                         max_bytes=max_bytes)

    async def stored(self, name: str) -> list[bytes]:
        """All bodies of a subject, in order."""
        found: list[bytes] = []
        page = await self.page(name, 1)
        while page.messages:
            found += [message.data for message in page.messages]
            page = await self.page(name, page.messages[-1].seq + 1)
        return found

    async def change(self, what: str, **asked: object) -> None:
        """Delete or purge."""
        jetstream.accepted(await jetstream.ask(self.connection, f"STREAM.{what}.{self.name}", asked), what)


def seq_of(answer: Ack | Refusal) -> int:
    """Of what was stored."""
    assert isinstance(answer, Ack), answer
    return answer.seq


def err_of(answer: Ack | Refusal) -> int:
    """Why it was refused."""
    assert isinstance(answer, Refusal), answer
    return answer.err_code
