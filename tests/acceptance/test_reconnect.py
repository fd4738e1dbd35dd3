"""Reconnecting: readers that are cut after every packet, at random, late or never all end with the same [(id, packet)] list."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest

from tests.dialects.packets.shapes_check import validate_packet
from tests.tooling.hub_process import DEMO, HubProcess, Session
from tests.tooling.readers import Background, Cuts, Seen, read_with_cuts

CHUNKS = 5_000


@pytest.fixture(scope="module")
def brisk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    """A hub whose demo plays the tour in a second or two: long enough to be cut many times while it plays."""
    with HubProcess(tmp_path_factory.mktemp("hub"), agents={"brisk": f"{DEMO} --speed 6"}) as hub:
        yield hub


def every_packet() -> Cuts:
    return itertools.repeat(1)


def never() -> Cuts:
    return itertools.repeat(1 << 60)


def at_random(seed: int, most: int) -> Cuts:
    dice = random.Random(seed)
    return iter(lambda: dice.randint(1, most), None)


def read_all(session: Session, prompt: str, readers: dict[str, Cuts]) -> tuple[Seen, dict[str, Seen]]:
    """Send a prompt while these readers watch; returns what the POST itself streamed, and what each reader has in the end."""
    results: dict[str, Seen] = {}

    def read(name: str, cuts: Cuts) -> None:
        results[name] = read_with_cuts(session, cuts)

    own: Seen = []
    with ExitStack() as watching:
        for name, cuts in readers.items():
            watching.enter_context(Background(partial(read, name, cuts)))
        with session.send(prompt, wait_s=60) as stream:
            for packet in stream:
                own.append((packet.id or 0, packet.data))
                if packet.type == "approval_requested":
                    session.post(f"permissions/{packet.value['requestId']}", {"decision": "allow"})
    return own, results


def assert_all_the_same(session: Session, own: Seen, results: dict[str, Seen]) -> Seen:
    late = read_with_cuts(session, never())
    ids = [number for number, _ in late]
    assert ids == sorted(set(ids)), "ids strictly rise"
    for name, seen in results.items():
        assert seen == late, f"the reader that was cut {name} has another list"
    assert own == late[-len(own):], "the POST streamed the same bytes under the same ids"
    with session.attach(after=0) as stream:
        assert [(packet.id, packet.data) for _, packet in zip(late, stream, strict=False)] == late
    return late


def test_the_tour_survives_every_cut(brisk: HubProcess) -> None:
    session = brisk.new_session("brisk")
    readers = {"never": never(), "after every packet": every_packet(), "often": at_random(1, 9), "seldom": at_random(2, 40)}
    own, results = read_all(session, "Show me everything", readers)
    late = assert_all_the_same(session, own, results)
    types = [json.loads(data)["type"] for _, data in late]
    assert {"agent_message_chunk", "agent_thought_chunk", "tool_call_start", "tool_call_progress", "agent_plan_update",
            "usage_update", "approval_requested", "approval_resolved", "artifact_created", "prompt_response"} <= set(types)
    for _, data in late:
        validate_packet(json.loads(data))
    session.delete()


def test_a_turn_of_five_thousand_chunks_survives_cuts_at_random(brisk: HubProcess) -> None:
    session = brisk.new_session("fast")
    readers = {f"at random, seed {seed}": at_random(seed, 700) for seed in range(5)} | {"never": never()}
    own, results = read_all(session, f"/burst {CHUNKS} 20 6000", readers)
    late = assert_all_the_same(session, own, results)
    texts = [json.loads(data)["content"]["text"] for _, data in late if b'"agent_message_chunk"' in data]
    assert [int(text[:8]) for text in texts] == list(range(CHUNKS))
    session.delete()


@pytest.mark.slow
def test_a_turn_of_five_thousand_chunks_survives_a_cut_after_every_packet(brisk: HubProcess) -> None:
    session = brisk.new_session("fast")
    readers = {"after every packet": every_packet(), "at random": at_random(7, 50)}
    own, results = read_all(session, f"/burst {CHUNKS} 20 1500", readers)
    assert_all_the_same(session, own, results)
    session.delete()


def test_readers_that_come_while_a_burst_runs_flat_out_get_all_of_it(brisk: HubProcess) -> None:
    session = brisk.new_session("fast")
    own, results = read_all(session, f"/burst {CHUNKS} 20", {"never": never(), "at random": at_random(3, 2_000)})
    assert_all_the_same(session, own, results)
    session.delete()


def test_a_restart_of_the_hub_changes_no_byte_of_the_past(tmp_path_factory: pytest.TempPathFactory) -> None:
    with HubProcess(tmp_path_factory.mktemp("hub")) as hub:
        session = hub.new_session(mode="auto")
        session.say("Show me everything")
        session.say("/burst 3000 20")
        before = read_with_cuts(session, never(), turns=2)
        hub.restart()
        assert read_with_cuts(session, at_random(5, 900), turns=2) == before
        session.say("/echo more")
        assert read_with_cuts(session, never(), turns=3)[:len(before)] == before


# Stored packets: runs of chunks are joined, and a cursor may point into one


@pytest.fixture(scope="module")
def told(brisk: HubProcess) -> tuple[Session, Seen]:
    session = brisk.new_session("fast", mode="auto")
    for prompt in ("/burst 400 12", "Show me everything", "/burst 50 9"):
        session.say(prompt)
    return session, read_with_cuts(session, never(), turns=3)


def pages(session: Session, after: int, limit: int) -> Iterator[dict[str, Any]]:
    """Stored packets after a cursor, page by page."""
    cursor: int | None = after
    while cursor is not None:
        page = session.wire.get(f"{session.path}/messages?after={cursor}&limit={limit}")
        yield from page["messages"]
        cursor = page["nextAfter"]


def joined(seen: Seen) -> list[tuple[str, str]]:
    """What was said in all, by kind: the text of neighbouring chunks in one piece; other packets as they are."""
    told: list[tuple[str, str]] = []
    for _, data in seen:
        packet = json.loads(data)
        kind = packet["type"]
        if not kind.endswith("_chunk"):
            told.append((kind, json.dumps(packet, sort_keys=True)))
        elif told and told[-1][0] == kind:
            told[-1] = (kind, told[-1][1] + packet["content"]["text"])
        else:
            told.append((kind, packet["content"]["text"]))
    return told


def as_seen(messages: Iterator[dict[str, Any]]) -> Seen:
    return [(message["seq"], json.dumps(message["packet"]).encode()) for message in messages]


@pytest.mark.parametrize("limit", [1, 7, 1000])
def test_stored_packets_tell_what_the_stream_told(told: tuple[Session, Seen], limit: int) -> None:
    session, seen = told
    stored = as_seen(pages(session, 0, limit))
    assert joined(stored) == joined(seen)
    assert len(stored) < len(seen) / 2, "runs of chunks are joined"
    assert {number for number, _ in stored} <= {number for number, _ in seen}, "a run has the seq of its last chunk"


def test_a_cursor_inside_a_run_gets_the_rest_of_it_only(told: tuple[Session, Seen]) -> None:
    session, seen = told
    dice = random.Random(11)
    for index in sorted(dice.sample(range(len(seen) - 1), 40)):
        cursor = seen[index][0]
        assert joined(as_seen(pages(session, cursor, 50))) == joined(seen[index + 1:]), cursor


def test_a_reader_may_page_first_and_attach_after(told: tuple[Session, Seen]) -> None:
    session, seen = told
    first = session.wire.get(f"{session.path}/messages?limit=5")
    with session.attach(after=first["nextAfter"]) as stream:
        rest = [(packet.id, packet.data) for _, packet in zip(range(20), stream, strict=False)]
    start = [number for number, _ in seen].index(first["nextAfter"]) + 1
    assert rest == seen[start:start + 20]


def backwards(session: Session, before: int, limit: int, get: Callable[[str], Any]) -> Seen:
    """Stored packets from the end to the beginning."""
    found: Seen = []
    cursor: int | None = before
    while cursor is not None:
        page = get(f"{session.path}/messages?before={cursor}&limit={limit}")
        found = as_seen(iter(page["messages"])) + found
        cursor = page["nextBefore"]
    return found


def test_stored_packets_can_be_paged_backwards(told: tuple[Session, Seen]) -> None:
    session, seen = told
    assert joined(backwards(session, seen[-1][0] + 1, 6, session.wire.get)) == joined(seen)
