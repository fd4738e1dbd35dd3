"""One turn as a stream: from its start, which may be a queue away, to its end."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.aio import loop_turns, run
from tests.server.packets.readers import reading, texts
from tests.server.site import STREAM, Exchange, frames, site
from tests.server.world import Stream, World
from trunkline.hub import Session
from trunkline.journal.base import Entry
from trunkline.server.packets.turns import relay_turn

ECHOED = ["user_message_chunk", "agent_message_chunk", "prompt_response"]


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


def turn_entry(seq: int, kind: str, event: str) -> Entry:
    """An entry of the turn t: its packet's type, and what else its event says."""
    return Entry(seq, seq, f'{{"seq":{seq},"sessionId":"s","timestamp":"t","type":"x",{event}}}'.encode(),
                 packet=f'{{"type":"{kind}"}}'.encode() if kind else None)


def test_a_turns_packets_are_on_their_way_when_the_commit_returns_and_the_stream_ends_with_the_turn() -> None:
    async def check() -> None:
        feed, stream = World().feeds["a"], Stream()

        def commit(*entries: Entry) -> None:
            feed.committed([*entries], sum(entry.size() for entry in entries))

        relaying = asyncio.create_task(relay_turn(feed, "t", 0, 0, stream.outlet))
        await loop_turns()
        commit(turn_entry(1, "", '"eventName":"turn_started","data":{"turnId":"t"}'))
        await loop_turns()
        commit(turn_entry(2, "agent_message_chunk", '"a":1'), turn_entry(3, "agent_message_chunk", '"a":1'))
        assert stream.ids() == [2, 3] and stream.writes == 1
        stream.flows.clear()
        commit(turn_entry(4, "agent_message_chunk", '"a":1'))
        await loop_turns()
        stream.flows.set()
        commit(turn_entry(5, "error", '"_meta":{"turnId":"another"}'))
        await loop_turns()
        commit(turn_entry(6, "agent_message_chunk", '"a":1'))
        assert stream.ids() == [2, 3, 4, 5, 6] and not relaying.done()
        commit(turn_entry(7, "prompt_response", '"_meta":{"turnId":"t"}'), turn_entry(8, "agent_message_chunk", '"a":1'))
        await relaying
        assert stream.ids() == [2, 3, 4, 5, 6, 7]

    run(check())


def test_a_turns_stream_ends_with_its_feed() -> None:
    async def check() -> None:
        feed, stream = World().feeds["a"], Stream()
        relaying = asyncio.create_task(relay_turn(feed, "t", 0, 0, stream.outlet))
        feed.committed([turn_entry(1, "", '"eventName":"turn_started","data":{"turnId":"t"}')], 10)
        await loop_turns()
        feed.close()
        await relaying

    run(check())


def test_what_is_committed_while_a_turn_is_read_from_the_journal_is_not_waited_for_again() -> None:
    async def check() -> None:
        world, stream = World(), Stream()
        world.begin_turn("a", "t")
        relaying = asyncio.create_task(relay_turn(world.feeds["a"], "t", 0, 0, stream.outlet))
        await loop_turns()
        stream.flows.clear()
        world.commit("a")
        await loop_turns()
        world.begin_turn("a", "another")
        world.feeds["a"].forget_tail()
        world.journal.meanwhile = lambda: world.commit("a")
        stream.flows.set()
        await loop_turns()
        assert stream.ids() == [2, 4]
        world.close()
        await relaying

    run(check())
