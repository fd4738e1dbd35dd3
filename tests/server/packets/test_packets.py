"""The packets face: a turn as a stream, attach and resume, stored packets by the page."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.server.site import STREAM, Exchange, Site, frames, site
from trunkline.hub import Session
from trunkline.server import paging
from trunkline.server.packets import history
from trunkline.server.packets.frames import packet_of

Numbered = tuple[int, dict[str, Any]]
ECHOED = ["user_message_chunk", "agent_message_chunk", "prompt_response"]


def texts(found: list[Numbered], kind: str = "agent_message_chunk") -> list[str]:
    """The texts of the chunks of one kind."""
    return [packet["content"]["text"] for _, packet in found if packet["type"] == kind]


async def stored(hub: Site, session: Session) -> list[Numbered]:
    """Every packet of a session, by a reader that attaches from the beginning and reads what is there."""
    return [each async for each in reading(hub, session, 0, session.feed.last_seq)]


async def reading(hub: Site, session: Session, after: int, until: int) -> AsyncIterator[Numbered]:
    """Packets after a cursor up to the last one at or before ``until``."""
    reader = hub.open("GET", f"/sessions/{session.id}/packets?after={after}")
    await reader.start()
    whole = [entry.seq for entry in await session.feed.read(after=0, limit=100_000, max_bytes=1 << 30)
             if packet_of(entry) is not None and after < entry.seq <= until]
    seen = 0
    while seen < len(whole):
        for each in frames(await reader.piece() or b""):
            seen += 1
            yield each
    await reader.leave()


def test_a_prompt_streams_its_turn_and_the_stream_ends_after_the_response(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            found = await hub.turn(session, "/burst 5 12")
            assert [packet["type"] for _, packet in found] == [
                "user_message_chunk", *["agent_message_chunk"] * 5, "prompt_response"]
            assert [len(text) for text in texts(found)] == [12] * 5
            ids = [seq for seq, _ in found]
            assert ids == sorted(set(ids))

    run(check())


def test_the_stream_is_framed_as_the_seeds_say_and_must_not_be_buffered(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            answer = await hub.ask("POST", f"/sessions/{session.id}/send-message", json_body={"content": "/echo line\nbreak"},
                                   headers=STREAM)
            assert answer.header("content-type") == "text/event-stream; charset=utf-8"
            assert answer.header("x-accel-buffering") == "no"
            assert answer.header("cache-control") == "no-cache, no-transform"
            for frame in answer.body.decode().strip("\n").split("\n\n"):
                event, identity, data = frame.split("\n")
                assert event == "event: message"
                assert identity.startswith("id: ")
                assert json.loads(data.removeprefix("data: "))["timestamp"]

    run(check())


@pytest.mark.parametrize(
    "accept", [None, "*/*", "text/*, */*;q=0.1", "application/json;q=0, */*", "application/json, text/event-stream"])
def test_a_plain_client_gets_its_packets(tmp_path: Path, accept: str | None) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            answer = await hub.ask("POST", f"/sessions/{session.id}/send-message", json_body={"content": "/echo hi"},
                                   headers={"accept": accept})
            assert (answer.status, answer.header("content-type")) == (200, "text/event-stream; charset=utf-8")
            assert [packet["type"] for _, packet in frames(answer.body)] == ECHOED

    run(check())


@pytest.mark.parametrize(("body", "status", "code"), [
    ({"content": ""}, 400, "invalid"), ({"content": "x", "more": 1}, 400, "invalid"),
    ({"content": "/echo no"}, 409, "turn_in_progress")])
def test_an_error_of_a_streaming_request_is_a_packet_whatever_its_status(
    tmp_path: Path, body: dict[str, Any], status: int, code: str
) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            await hub.ask("POST", f"/sessions/{session.id}/send-message", json_body={"content": "/silent"})
            path = f"/sessions/{session.id}/send-message"
            for accept in ("text/event-stream", None):
                answer = await hub.ask("POST", path, json_body=body, headers={"accept": accept})
                packet = answer.json()
                assert (answer.status, packet["type"], packet["code"], packet["details"]["code"]) == (status, "error", None, code)
                assert packet["message"] and packet["timestamp"]
            as_json = (await hub.ask("POST", path, json_body=body)).json()
            assert (as_json["code"], as_json["message"]) == (code, packet["message"])

    run(check())


def test_an_attaching_reader_without_a_token_is_told_by_a_packet(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            answer = await hub.ask("GET", f"/sessions/{session.id}/packets", token=None)
            assert (answer.status, answer.json()["type"], answer.json()["details"]["code"]) == (401, "error", "unauthorized")
            assert answer.header("www-authenticate") == "Bearer"

    run(check())


def test_who_asks_for_json_is_answered_202_with_where_to_attach(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            answer = await hub.ask("POST", f"/sessions/{session.id}/send-message", json_body={"content": "/echo hi"})
            assert answer.status == 202
            sent = answer.json()
            reader = hub.open("GET", f"/sessions/{session.id}/packets?after={sent['seq']}")
            await reader.start()
            seen = b""
            while b"prompt_response" not in seen:
                seen += await reader.piece() or b""
            await reader.leave()
            assert [packet["type"] for _, packet in frames(seen)] == ECHOED

    run(check())


def test_a_prompt_may_be_content_blocks_whatever_its_spaces(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            body = json.dumps({"content": [{"type": "text", "text": "/echo blocks"},
                                           {"type": "resource_link", "uri": "file:///x", "name": "x"}]}, indent=2).encode()
            answer = await hub.ask("POST", f"/sessions/{session.id}/send-message", body=body, headers=STREAM)
            found = frames(answer.body)
            assert [packet["type"] for _, packet in found].count("user_message_chunk") == 2
            assert found[-1][1]["type"] == "prompt_response"

    run(check())


@pytest.mark.parametrize("content", ["/crash", "/error"])
def test_a_turn_that_fails_ends_its_stream_with_an_error_packet(tmp_path: Path, content: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            found = await hub.turn(session, content)
            assert [packet["type"] for _, packet in found].count("error") == 1
            last = found[-1][1]
            assert last["type"] == "error"
            assert last["code"] is None or isinstance(last["code"], int)
            assert last["details"]["code"] in ("agent_exited", "agent_error")

    run(check())


def test_words_that_look_like_the_end_of_a_turn_do_not_end_it(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            update = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "t", "status": "completed",
                      "rawOutput": {"type": "error"}, "rawInput": {"type": "prompt_response"}}
            found = await hub.turn(session, "/raw " + json.dumps(update, separators=(",", ":")))
            assert [packet["type"] for _, packet in found][-1] == "prompt_response"
            assert any(packet["type"] == "tool_call_progress" for _, packet in found)
            assert texts(await hub.turn(session, '/echo "type":"prompt_response"')) == ['"type":"prompt_response"']

    run(check())


def test_closing_the_post_leaves_the_turn_running(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            post = hub.open("POST", f"/sessions/{session.id}/send-message", json_body={"content": "/silent"}, headers=STREAM)
            await post.start()
            first = frames(await post.piece() or b"")
            await post.leave()
            assert session.view().turn is not None
            await hub.ask("POST", f"/sessions/{session.id}/cancel")
            rest = [each async for each in reading(hub, session, first[-1][0], await _end(session))]
            assert rest[-1][1] == {**rest[-1][1], "type": "prompt_response", "stopReason": "cancelled"}

    run(check())


async def _end(session: Session) -> int:
    """The seq of the running turn's last entry."""
    while session.view().turn is not None:
        await session.feed.wait(session.feed.last_seq)
    return session.feed.last_seq


def test_a_waiting_prompts_stream_is_silent_until_its_own_turn_and_then_has_only_that(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path, keepalive_s=0.02) as hub:
            session = await hub.session()
            await hub.ask("POST", f"/sessions/{session.id}/send-message", json_body={"content": "/silent"})
            body = {"content": "/echo mine", "whenBusy": "queue"}
            waiting = hub.open("POST", f"/sessions/{session.id}/send-message", json_body=body, headers=STREAM)
            assert (await waiting.start())[0] == 200
            for _ in range(3):
                assert (await waiting.piece() or b"").startswith(b": keepalive ")
            await hub.ask("POST", f"/sessions/{session.id}/cancel")
            seen = b""
            while (piece := await waiting.piece()) is not None:
                seen += piece
            assert [packet["type"] for _, packet in frames(seen)] == ECHOED
            assert texts(frames(seen)) == ["mine"]

    run(check())


def test_a_waiting_prompt_that_is_taken_back_ends_its_stream_with_an_error(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            await hub.ask("POST", f"/sessions/{session.id}/send-message", json_body={"content": "/silent"})
            body = {"content": "/echo mine", "whenBusy": "queue"}
            waiting = hub.open("POST", f"/sessions/{session.id}/send-message", json_body=body, headers=STREAM)
            await waiting.start()
            await hub.ask("DELETE", f"/sessions/{session.id}/queue")
            frame = (await waiting.piece() or b"").decode()
            assert await waiting.piece() is None
            assert "id:" not in frame
            packet = json.loads(frame.split("data: ")[1])
            assert (packet["type"], packet["details"]["code"]) == ("error", "not_found")

    run(check())


def test_the_same_idempotency_key_is_one_prompt_and_replays_its_turn(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            headers = {"idempotency-key": "once", **STREAM}
            path, body = f"/sessions/{session.id}/send-message", {"content": "/burst 4 10"}
            first = frames((await hub.ask("POST", path, json_body=body, headers=headers)).body)
            again = frames((await hub.ask("POST", path, json_body=body, headers=headers)).body)
            assert again == first
            other = frames((await hub.ask("POST", path, json_body=body, headers={**headers, "idempotency-key": "twice"})).body)
            assert other[0][0] > first[-1][0]
            plain = await hub.ask("POST", path, json_body=body, headers={"idempotency-key": "once"})
            assert plain.status == 202

    run(check())


PICTURE = {"type": "image", "data": "aGk=", "mediaType": "image/png"}


def test_a_picture_may_say_its_media_type_wherever_a_prompt_is_taken(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            content = [{"type": "text", "text": "/echo hi"}, PICTURE]
            session = await hub.session(prompt=content)
            path = f"/sessions/{session.id}"
            body = {"content": content, "whenBusy": "queue"}
            sent = await hub.ask("POST", f"{path}/send-message", json_body=body, headers=STREAM)
            assert sent.status == 200, sent.body
            await hub.ask("POST", f"{path}/send-message", json_body={"content": "/silent"})
            waiting = await hub.ask("POST", f"{path}/send-message", json_body={"content": "x", "whenBusy": "queue"})
            edited = await hub.ask("PATCH", f"{path}/queue/{waiting.json()['turnId']}", json_body={"content": content})
            assert edited.status in (200, 204), edited.body
            resource = {"type": "resource", "resource": {"uri": "file:///a", "text": "x", "mediaType": "text/plain"}}
            again = await hub.ask("PATCH", f"{path}/queue/{waiting.json()['turnId']}", json_body={"content": [resource]})
            assert again.status in (200, 204), again.body
            kept = (await hub.ask("GET", f"{path}/queue/{waiting.json()['turnId']}")).json()["content"]
            assert kept[0]["resource"]["mimeType"] == "text/plain"

    run(check())


@pytest.mark.parametrize("cut", [0, 1, 3, 6])
def test_a_repeated_post_with_last_event_id_gets_the_rest_of_its_turn(tmp_path: Path, cut: int) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            headers = {"idempotency-key": "once", **STREAM}
            path, body = f"/sessions/{session.id}/send-message", {"content": "/burst 5 10"}
            whole = frames((await hub.ask("POST", path, json_body=body, headers=headers)).body)
            assert len(whole) == 7
            seen = str(whole[cut][0])
            rest = frames((await hub.ask("POST", path, json_body=body, headers={**headers, "last-event-id": seen})).body)
            assert rest == whole[cut + 1:]

    run(check())


def test_an_idempotency_key_has_a_bounded_length(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            answer = await hub.ask("POST", f"/sessions/{session.id}/send-message", json_body={"content": "x"},
                                   headers={"idempotency-key": "k" * 256})
            assert answer.status == 400
            assert "Idempotency-Key" in answer.json()["message"]

    run(check())


def test_readers_cut_after_every_packet_all_end_with_the_same_list(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            await hub.turn(session, "/fail")
            await hub.turn(session, "/burst 20 30")
            whole = await stored(hub, session)
            ids = [seq for seq, _ in whole]
            assert ids == sorted(set(ids))
            for position in range(len(whole) + 1):
                after = whole[position - 1][0] if position else 0
                rest = [each async for each in reading(hub, session, after, session.feed.last_seq)]
                assert rest == whole[position:]

    run(check(), 30)


def test_a_cursor_between_packets_is_as_good_as_one_on_a_packet(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            await hub.turn(session, "/burst 5 10")
            whole = await stored(hub, session)
            for after in range(session.feed.last_seq + 1):
                rest = [each async for each in reading(hub, session, after, session.feed.last_seq)]
                assert rest == [each for each in whole if each[0] > after]

    run(check(), 30)


def test_a_reader_that_lost_its_tail_in_memory_reads_the_same_from_the_journal(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            whole = await hub.turn(session, "/burst 3000 40")
            session.feed.forget_tail()
            assert [each for each in await stored(hub, session) if each[0] >= whole[0][0]] == whole

    run(check(), 30)


def test_live_readers_cut_at_random_miss_nothing_and_see_nothing_twice(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            sent = await hub.ask("POST", f"/sessions/{session.id}/send-message", json_body={"content": "/burst 2000 25 8000"})
            assert sent.status == 202
            found = await asyncio.gather(*(_restless(hub, session, random.Random(seed)) for seed in range(5)))
            assert all(each == found[0] for each in found)
            assert len(texts(found[0])) == 2000

    run(check(), 40)


async def _restless(hub: Site, session: Session, chance: random.Random) -> list[Numbered]:
    """Reads the turn, hanging up and coming back with Last-Event-ID all the time."""
    seen: list[Numbered] = []
    while not seen or seen[-1][1]["type"] != "prompt_response":
        headers = {"last-event-id": str(seen[-1][0])} if seen else {}
        reader = hub.open("GET", f"/sessions/{session.id}/packets", headers=headers)
        await reader.start()
        for _ in range(chance.randrange(1, 6)):
            seen += frames(await reader.piece() or b"")
            if seen[-1][1]["type"] == "prompt_response":
                break
        await reader.leave()
    return seen


@pytest.mark.parametrize(("headers", "query", "first"), [
    ({}, "", 0), ({}, "?after=0", 0), ({}, "?after=3", 3), ({}, "?after=", 0), ({"last-event-id": "5"}, "?after=1", 5),
    ({"last-event-id": "1"}, "?after=5", 1), ({"last-event-id": ""}, "?after=2", 2),
])
def test_last_event_id_wins_over_after_and_no_cursor_is_the_beginning(
    tmp_path: Path, headers: dict[str, str], query: str, first: int,
) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            await hub.turn(session, "/echo hello")
            whole = await stored(hub, session)
            reader = hub.open("GET", f"/sessions/{session.id}/packets{query}", headers=headers)
            await reader.start()
            assert frames(await reader.piece() or b"")[0] == next(each for each in whole if each[0] > first)
            await reader.leave()

    run(check())


@pytest.mark.parametrize(("headers", "query", "named"), [
    ({}, "?after=x", "after"), ({}, "?after=-1", "after"), ({}, "?after=1.5", "after"), ({}, "?after=999999", "after"),
    ({"last-event-id": "abc"}, "", "Last-Event-ID"), ({"last-event-id": "12 "}, "?after=0", "Last-Event-ID"),
    ({"last-event-id": "999999"}, "", "Last-Event-ID"), ({"last-event-id": "9" * 30}, "", "Last-Event-ID"),
])
def test_a_cursor_that_makes_no_sense_is_refused_by_name(
    tmp_path: Path, headers: dict[str, str], query: str, named: str,
) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            answer = await hub.ask("GET", f"/sessions/{session.id}/packets{query}", headers=headers)
            assert (answer.status, answer.json()["details"]["code"]) == (400, "invalid")
            assert named in answer.json()["message"]

    run(check())


# Stored packets by the page


async def page(hub: Site, session: Session, query: str = "") -> dict[str, Any]:
    """One page of stored packets."""
    answer = await hub.ask("GET", f"/sessions/{session.id}/messages{query}")
    assert answer.status == 200, answer.body
    found: dict[str, Any] = answer.json()
    return found


@asynccontextmanager
async def told(tmp_path: Path) -> AsyncIterator[tuple[Site, Session]]:
    """A session with two turns of text in it, and tools between."""
    async with site(tmp_path) as hub:
        session = await hub.session()
        await hub.turn(session, "/burst 30 10")
        await hub.turn(session, "/fail")
        await hub.turn(session, "/burst 7 10")
        yield hub, session


def joined(numbered: list[Numbered]) -> list[tuple[str, str]]:
    """Packets as (type, text), neighbours of one type joined: what a reader has understood, however it was cut."""
    understood: list[tuple[str, str]] = []
    for _, packet in numbered:
        text = packet["content"]["text"] if packet["type"].endswith("_message_chunk") else json.dumps(packet)
        if understood and packet["type"].endswith("_message_chunk") and understood[-1][0] == packet["type"]:
            text = understood.pop()[1] + text
        understood.append((packet["type"], text))
    return understood


def numbered(found: dict[str, Any]) -> list[Numbered]:
    """A page as (seq, packet)."""
    return [(each["seq"], each["packet"]) for each in found["messages"]]


def test_a_run_of_chunks_is_one_message_with_its_last_seq(tmp_path: Path) -> None:
    async def check() -> None:
        async with told(tmp_path) as (hub, session):
            whole = await stored(hub, session)
            found = numbered(await page(hub, session))
            assert joined(found) == joined(whole)
            runs = [each for each in found if each[1]["type"] == "agent_message_chunk" and len(each[1]["content"]["text"]) == 300]
            assert len(runs) == 1
            assert runs[0][0] == [seq for seq, packet in whole if packet["type"] == "agent_message_chunk"][29]
            assert set(runs[0][1]) == {"_meta", "content", "sessionUpdate", "type", "timestamp"}

    run(check())


def test_after_inside_a_run_returns_the_rest_only(tmp_path: Path) -> None:
    async def check() -> None:
        async with told(tmp_path) as (hub, session):
            whole = await stored(hub, session)
            for after in range(session.feed.last_seq + 1):
                found = numbered(await page(hub, session, f"?after={after}"))
                assert joined(found) == joined([each for each in whole if each[0] > after])

    run(check(), 30)


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_pages_forward_add_up_to_the_whole(tmp_path: Path, limit: int) -> None:
    async def check() -> None:
        async with told(tmp_path) as (hub, session):
            found, after = [], 0
            while True:
                one = await page(hub, session, f"?after={after}&limit={limit}")
                assert len(one["messages"]) <= limit
                found += numbered(one)
                if one["nextAfter"] is None:
                    break
                after = one["nextAfter"]
            assert found == numbered(await page(hub, session, "?limit=1000"))

    run(check(), 30)


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_pages_backward_add_up_to_the_whole(tmp_path: Path, limit: int) -> None:
    async def check() -> None:
        async with told(tmp_path) as (hub, session):
            found: list[Numbered] = []
            before = session.feed.last_seq + 1
            while True:
                one = await page(hub, session, f"?before={before}&limit={limit}")
                assert len(one["messages"]) <= limit
                found = numbered(one) + found
                if one["nextBefore"] is None:
                    break
                before = one["nextBefore"]
            assert found == numbered(await page(hub, session, "?limit=1000"))

    run(check(), 30)


def test_a_page_backward_is_bounded_in_bytes_and_goes_on_in_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "PAGE_BYTES", 400_000)

    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            for _ in range(10):
                await hub.turn(session, "/burst 5 60000")
            found, pages = list[Numbered](), 0
            before: int | None = session.feed.last_seq + 1
            while before is not None:
                one = await page(hub, session, f"?before={before}&limit=1000")
                assert len(json.dumps(one)) < 1_500_000, "some of it, and not all three megabytes"
                found, before, pages = numbered(one) + found, one["nextBefore"], pages + 1
            assert pages > 3
            assert joined(found) == joined(await stored(hub, session))

    run(check(), 30)


def test_after_and_before_bound_a_page_on_both_sides(tmp_path: Path) -> None:
    async def check() -> None:
        async with told(tmp_path) as (hub, session):
            whole = await stored(hub, session)
            found = numbered(await page(hub, session, "?after=8&before=20"))
            assert joined(found) == joined([each for each in whole if 8 < each[0] < 20])
            assert (await page(hub, session, f"?after={session.feed.last_seq}"))["messages"] == []
            assert (await page(hub, session, "?before=1"))["messages"] == []

    run(check())


@pytest.mark.parametrize("query", ["after=x", "before=x", "before=0", "limit=0", "limit=1001", "limit=x"])
def test_a_page_that_cannot_be_is_refused_by_name(tmp_path: Path, query: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            answer = await hub.ask("GET", f"/sessions/{session.id}/messages?{query}")
            assert answer.status == 400
            assert query.partition("=")[0] in answer.json()["message"]

    run(check())


def test_a_very_long_run_is_told_in_several_messages_and_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "RUN_BYTES", 100)
    monkeypatch.setattr(paging, "PAGE_BYTES", 700)

    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            whole = await hub.turn(session, "/burst 50 10")
            found: list[Numbered] = []
            pages, query = 0, f"?after={whole[0][0]}"
            while query:
                one = await page(hub, session, query)
                found += numbered(one)
                query = f"?after={one['nextAfter']}" if one["nextAfter"] is not None else ""
                pages += 1
            assert pages > 1
            assert len(texts(found)) == 5
            assert joined(found) == joined(whole[1:])

    run(check())


def test_two_prompts_blocks_stay_one_message_each_and_a_new_message_begins_a_new_run(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            for text in ("one", "two"):
                chunk = {"sessionUpdate": "agent_message_chunk", "messageId": text, "content": {"type": "text", "text": text}}
                await hub.turn(session, "/raw " + json.dumps(chunk))
            found = numbered(await page(hub, session))
            assert [text for text in texts(found) if text in ("one", "two", "onetwo")] == ["one", "two"]

    run(check())


def test_a_stream_of_an_exchange_ends_when_the_session_is_deleted(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            reader: Exchange = hub.open("GET", f"/sessions/{session.id}/packets")
            await reader.start()
            assert (await hub.ask("DELETE", f"/sessions/{session.id}")).status == 204
            while await reader.piece() is not None:
                pass
            await reader.task

    run(check())
