"""Readers of a session's packets that lose their connection, come late, stall, or see a hub die under them.

A reader keeps what it has seen as [(id, bytes)] and takes the stream up again after the last id, as any client may.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self

from tests.tooling.hub_process import Session
from tests.tooling.wire import Broken, Packet, Stream

Seen = list[tuple[int, bytes]]
Cuts = Iterator[int]
"""How many packets each connection lives for."""


def is_end(data: bytes) -> bool:
    """Whether a packet ends a turn."""
    return (b'"prompt_response"' in data or b'"error"' in data) and json.loads(data)["type"] in ("prompt_response", "error")


def take(packet: Packet, seen: Seen) -> None:
    """Keep a packet; its id must be higher than all before."""
    assert packet.id is not None, f"an entry has an id: {packet.data[:200]!r}"
    assert not seen or packet.id > seen[-1][0], f"{packet.id} came after {seen[-1][0]}"
    seen.append((packet.id, packet.data))


def read_with_cuts(session: Session, cuts: Cuts, *, turns: int = 1, wait_s: float = 60) -> Seen:
    """Read from the beginning to the end of so many turns, cutting the connection as told and taking it up again."""
    seen: Seen = []
    while turns > 0:
        with session.attach(wait_s=wait_s) if not seen else session.attach(last_event_id=seen[-1][0], wait_s=wait_s) as stream:
            for _, packet in zip(range(next(cuts)), stream, strict=False):
                take(packet, seen)
                turns -= is_end(packet.data)
                if turns == 0:
                    break
    return seen


class Background:
    """Work in a thread; leaving waits for it and raises what it raised."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._thread.join(90)
        if error is None:
            assert not self._thread.is_alive(), "a reader hangs"
            if self._failure is not None:
                raise self._failure

    def _run(self) -> None:
        try:
            self._work()
        except BaseException as failure:
            self._failure = failure


class Witness:
    """Attaches to a session and writes down what it sees until the hub dies under it."""

    def __init__(self, session: Session, seen: Seen, on_packet: Callable[[], object] = lambda: None) -> None:
        self.seen = seen
        self._on_packet = on_packet
        self._changed = threading.Condition()
        self._at_start = len(seen)
        self._ended = False
        stream = session.attach(last_event_id=seen[-1][0], wait_s=120) if seen else session.attach(wait_s=120)
        self._watching = Background(lambda: self._watch(stream))
        self._watching.__enter__()

    def saw(self, packets: int, within_s: float = 60) -> None:
        """Wait until it has seen so many packets in this life of the hub."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or len(self.seen) - self._at_start >= packets, within_s)
            self._check(len(self.seen) - self._at_start >= packets)

    def saw_type(self, kind: str, count: int = 1, within_s: float = 60) -> None:
        """Wait until it has seen packets of this type in this life of the hub."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or self._count(kind) >= count, within_s)
            self._check(self._count(kind) >= count)

    def join(self) -> None:
        """Wait for its end, after the hub's."""
        self._watching.__exit__(None, None, None)

    def _check(self, came: bool) -> None:
        if not came and self._ended:
            raise Broken("the hub died before that came")
        assert came, "too few packets came"

    def _count(self, kind: str) -> int:
        return sum(json.loads(data)["type"] == kind for _, data in self.seen[self._at_start:])

    def _watch(self, stream: Stream) -> None:
        try:
            with stream:
                for packet in stream:
                    with self._changed:
                        take(packet, self.seen)
                        self._changed.notify_all()
                    self._on_packet()
        except (Broken, ConnectionError):
            return  # the hub was killed
        finally:
            with self._changed:
                self._ended = True
                self._changed.notify_all()
