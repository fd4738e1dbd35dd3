"""Packet streams over connections that break."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress

import msgspec
import pytest

from tests.aio import run
from tests.client.scripted import Exchange, served
from trunkline.client import Client, Endpoint
from trunkline.errors import NotFound, SessionNotFound, StorageError, TurnInProgress, Unavailable

LAST = 40


async def _send_after(exchange: Exchange, after: int, upto: int) -> None:
    for seq in range(after + 1, upto + 1):
        await exchange.packet(seq, "prompt_response" if seq == LAST else "agent_message_chunk", stopReason="end_turn", n=seq)


def test_a_stream_that_is_cut_anywhere_goes_on_with_no_gap_and_no_duplicate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trunkline.client.streams.FIRST_PAUSE_S", 0.002)
    chance = random.Random(7)
    cuts: list[int] = []

    async def flaky(exchange: Exchange) -> None:
        after = int(exchange.headers.get("last-event-id", "0"))
        cuts.append(after)
        await exchange.begin_stream()
        upto = min(LAST, after + chance.randint(0, 5))
        await _send_after(exchange, after, upto)
        if upto < LAST:
            await exchange.frame(b"event: message\nid: %d\ndata: {\"type\":" % (upto + 1))  # half a frame is not seen
            await asyncio.sleep(0)  # let it leave, so that a cut in the middle of a frame really happens
            exchange.cut()
        else:
            await exchange.end()

    async def scene() -> None:
        async with served(flaky) as hub, Client(hub.url) as client:
            seen = [(seq, packet["n"]) async for seq, packet in client.turn("s", after=0)]
        assert seen == [(seq, seq) for seq in range(1, LAST + 1)]
        assert len(cuts) > 5

    run(scene())


def test_a_turn_is_taken_up_again_under_its_idempotency_key() -> None:
    requests: list[tuple[str, bytes, str, str]] = []

    async def whole_turn_each_time(exchange: Exchange) -> None:
        key, seen = exchange.headers["idempotency-key"], exchange.headers.get("last-event-id", "")
        requests.append((exchange.method + exchange.path, exchange.body, key, seen))
        await exchange.begin_stream()
        await _send_after(exchange, 30, 35)
        if len(requests) == 1:
            exchange.cut()
            return
        await _send_after(exchange, 35, LAST)
        await exchange.end()

    async def scene() -> None:
        async with served(whole_turn_each_time) as hub, Client(hub.url) as client:
            seen = [seq async for seq, _ in client.stream_turn("s", "hello")]
        assert seen == list(range(31, LAST + 1))

    run(scene())
    (first_target, first_body, first_key, nothing), (target, body, key, resumed) = requests
    assert (target, body, key) == (first_target, first_body, first_key) == (
        "POST/sessions/s/send-message", b'{"content":"hello","whenBusy":"reject"}', first_key)
    assert (nothing, resumed) == ("", "35")


def test_a_stream_that_ends_cleanly_before_the_turn_does_is_taken_up_again() -> None:
    async def short(exchange: Exchange) -> None:
        after = int(exchange.headers.get("last-event-id", "0"))
        await exchange.begin_stream()
        await _send_after(exchange, after, min(LAST, after + 20))
        await exchange.end()

    async def scene() -> None:
        async with served(short) as hub, Client(hub.url) as client:
            assert [seq async for seq, _ in client.turn("s", after=0)] == list(range(1, LAST + 1))

    run(scene())


def test_the_hub_is_looked_for_again_when_it_moved() -> None:
    async def refuses(exchange: Exchange) -> None:
        exchange.cut()

    async def answers(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await _send_after(exchange, int(exchange.headers["last-event-id"]), LAST)
        await exchange.end()

    async def scene() -> None:
        async with served(refuses) as old, served(answers) as new:
            async def find() -> Endpoint:
                return Endpoint(new.url, "other token")

            async with Client(old.url, find=find) as client:
                assert [seq async for seq, _ in client.turn("s", after=38)] == [39, 40]
                assert client.endpoint == Endpoint(new.url, "other token")

    run(scene())


def test_waiting_for_the_hub_ends_after_the_time_given() -> None:
    async def scene() -> None:
        async with served(lambda exchange: exchange.json(503, {"code": "storage_error", "message": "disk full"})) as hub:
            async with Client(hub.url, reconnect_s=0.1) as client:
                with pytest.raises(StorageError, match="disk full"):
                    async for _ in client.packets("s"):
                        raise AssertionError("no packet can come")
            assert hub.connections > 1

    run(scene())


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (404, {"code": "session_not_found", "message": "no"}, SessionNotFound),
        (409, {"code": "turn_in_progress", "message": "busy"}, TurnInProgress),
        (404, {"type": "error", "message": "Session not found", "code": None, "details": {"code": "session_not_found"}},
         SessionNotFound),
    ],
)
def test_an_error_that_will_not_pass_is_raised_at_once(status: int, body: object, expected: type[Exception]) -> None:
    async def scene() -> None:
        async with served(lambda exchange: exchange.json(status, body)) as hub, Client(hub.url) as client:
            with pytest.raises(expected):
                async for _ in client.stream_turn("s", "hello"):
                    raise AssertionError("no packet can come")
            assert hub.connections == 1

    run(scene())


def test_the_error_packet_that_answers_an_unknown_session_as_a_stream_is_raised() -> None:
    async def not_found(exchange: Exchange) -> None:
        await exchange.begin_stream(404)
        packet = {"type": "error", "message": "Session not found", "code": None, "details": {"code": "session_not_found"}}
        await exchange.frame(b"event: message\ndata: %b\n\n" % msgspec.json.encode(packet))
        await exchange.end()

    async def scene() -> None:
        async with served(not_found) as hub, Client(hub.url) as client:
            with pytest.raises(SessionNotFound, match="Session not found"):
                async for _ in client.packets("s"):
                    raise AssertionError("no packet can come")

    run(scene())


def test_a_failure_in_the_middle_of_a_stream_is_raised_not_shown_as_a_packet() -> None:
    async def failing(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.packet(1)
        packet = {"type": "error", "message": "taken out of the queue", "code": None, "details": {"code": "not_found"}}
        await exchange.frame(b"event: message\ndata: %b\n\n" % msgspec.json.encode(packet))
        await exchange.end()

    async def scene() -> None:
        seen = []
        async with served(failing) as hub, Client(hub.url) as client:
            with pytest.raises(NotFound, match="taken out of the queue"):
                async for seq, _ in client.stream_turn("s", "hello"):
                    seen.append(seq)
        assert seen == [1]

    run(scene())


def test_a_silent_connection_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trunkline.client.streams.SILENCE_S", 0.05)

    async def silent(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await asyncio.Event().wait()

    async def scene() -> None:
        async with served(silent) as hub, Client(hub.url, reconnect_s=0.1) as client:
            with pytest.raises(Unavailable, match="said nothing"):
                async for _ in client.packets("s"):
                    raise AssertionError("no packet can come")

    run(scene())


def test_leaving_a_stream_closes_its_connection() -> None:
    left = asyncio.Event()

    async def endless(exchange: Exchange) -> None:
        await exchange.begin_stream()
        seq = 0
        try:
            while True:
                seq += 1
                await exchange.packet(seq)
                await asyncio.sleep(0)
        except ConnectionError:
            left.set()
            raise

    async def scene() -> None:
        async with served(endless) as hub, Client(hub.url) as client:
            stream = client.packets("s")
            async for seq, _ in stream:
                if seq == 3:
                    break
            await stream.aclose()
            await left.wait()

    run(scene())


def test_an_error_that_is_never_said_to_its_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trunkline.client.streams.SILENCE_S", 0.2)

    async def half(exchange: Exchange) -> None:
        await exchange.begin_stream(500)
        with suppress(OSError):
            while True:
                await exchange.frame(b"x")
                await asyncio.sleep(0.01)

    async def scene() -> None:
        async with served(half) as hub, Client(hub.url, reconnect_s=0) as client:
            with pytest.raises(Unavailable, match="did not finish its answer"):
                await anext(client.packets("s"))

    run(scene())
