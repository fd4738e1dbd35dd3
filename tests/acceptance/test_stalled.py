"""A reader that stops reading costs the hub a number, and gets everything when it comes back."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from tests.tooling.hub_process import HubProcess, Session
from tests.tooling.processes import resident_bytes
from tests.tooling.readers import Seen, is_end, take
from tests.tooling.wire import Stream

NewHub = Callable[..., HubProcess]
SMALL_BUFFER = 4096
MEGABYTE = 1 << 20


def stalled(session: Session, wait_s: float = 60) -> Stream:
    """A reader that has read one packet and has room for very little more."""
    stream = session.attach(receive_buffer=SMALL_BUFFER, wait_s=wait_s)
    next(stream)
    return stream


def rest_of_turn(stream: Stream) -> Seen:
    seen: Seen = []
    for packet in [stream.seen[0]]:
        take(packet, seen)
    for packet in stream:
        take(packet, seen)
        if is_end(packet.data):
            return seen
    raise AssertionError("the stream ended before the turn")


def run_turn(session: Session, prompt: str) -> int:
    """Play a turn with a reader that keeps up; returns how many packets it saw."""
    count = 0
    with session.send(prompt, wait_s=120) as stream:
        for _ in stream:
            count += 1
    return count


def test_a_stalled_reader_gets_everything_when_it_comes_back(hub: HubProcess) -> None:
    session = hub.new_session()
    with stalled(session) as stream:
        run_turn(session, "/burst 20000 100")
        stream.answer.allow(60)
        seen = rest_of_turn(stream)
    assert seen == session.history()
    assert sum(b'"agent_message_chunk"' in data for _, data in seen) == 20_000
    session.delete()


def test_a_stalled_reader_holds_nobody_up(hub: HubProcess) -> None:
    session = hub.new_session()
    readers = [stalled(session) for _ in range(10)]
    assert run_turn(session, "/burst 5000 100") == 5002
    for reader in readers:
        reader.close()
    assert run_turn(session, "/echo next") == 3
    session.delete()


def growth(hub: HubProcess, prompt: str, readers: int) -> int:
    """Bytes by which the hub's memory grows in a turn that so many readers do not read."""
    session = hub.new_session()
    streams = [stalled(session) for _ in range(readers)]
    before = resident_bytes(hub.pid)
    run_turn(session, prompt)
    grown = resident_bytes(hub.pid) - before
    for stream in streams:
        stream.close()
    session.delete()
    return grown


def test_readers_that_stall_do_not_grow_the_hub(new_hub: NewHub) -> None:
    """Thirty readers that miss 10 MB each: were anything queued for them, it would be 300 MB."""
    assert growth(new_hub(), "/burst 30000 100", 30) < 60 * MEGABYTE


@pytest.mark.slow
def test_memory_is_the_same_with_and_without_a_stalled_reader(new_hub: NewHub) -> None:
    without = growth(new_hub(), "/burst 200000 100", 0)
    with_one = growth(new_hub(), "/burst 200000 100", 1)
    assert abs(with_one - without) < 20 * MEGABYTE, (without, with_one)


@pytest.mark.slow
def test_a_reader_that_stalls_for_a_minute_gets_everything(hub: HubProcess) -> None:
    session = hub.new_session()
    with stalled(session, wait_s=180) as stream:
        run_turn(session, "/burst 20000 100")
        threading.Event().wait(61)
        seen = rest_of_turn(stream)
    assert seen == session.history()
    session.delete()
