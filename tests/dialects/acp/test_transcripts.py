"""Recorded traffic of real agents: every update is known and passed on as it was, every message reads as its type."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.dialects.acp.schema import DATA, faults
from tests.tooling.rows import every_row
from trunkline.dialects.acp.client import RequestPermissionRequest
from trunkline.dialects.acp.content import TextContent
from trunkline.dialects.acp.methods import METHODS, SESSION_UPDATE
from trunkline.dialects.acp.permission import choose_option
from trunkline.dialects.acp.reading.aliases import CLIENT_METHODS
from trunkline.dialects.acp.reading.decode import decode_params, decode_result, decode_update, read_update, text_chunk
from trunkline.dialects.acp.shape import encode_acp
from trunkline.dialects.acp.updates import AgentMessageChunk, AgentThoughtChunk, UnknownUpdate, UserMessageChunk
from trunkline.dialects.jsonrpc import Malformed, Message, Notification, Peer, Request, Response
from trunkline.errors import AgentError

TRANSCRIPTS = sorted((DATA / "transcripts").glob("*.jsonl"))


def lines(path: Path, direction: str) -> Iterator[tuple[str, bytes]]:
    for line in path.read_text().splitlines():
        record = json.loads(line)
        if record["dir"] == direction:
            yield record["run"], record["raw"].encode()


def runs(path: Path) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for line in path.read_text().splitlines():
        record = json.loads(line)
        found.setdefault(record["run"], []).append(record)
    return found


def updates(path: Path) -> list[bytes]:
    peer = Peer()
    for _, raw in lines(path, "a>c"):
        peer.receive_data(raw + b"\n")
    notes = [message for message in peer.messages_received() if isinstance(message, Notification)]
    return [
        bytes(decode_params(note.method, note.params).update)
        for note in notes
        if note.method == SESSION_UPDATE
    ]


def within(part: Any, whole: Any) -> bool:
    """Whether everything in ``part`` is in ``whole``, at every depth: types know fewer members than agents send."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and within(value, whole[key]) for key, value in part.items())
    if isinstance(part, list):
        return isinstance(whole, list) and len(part) == len(whole) and all(map(within, part, whole))
    return bool(part == whole)


def test_all_ten_transcripts_are_here() -> None:
    assert len(TRANSCRIPTS) == 10
    assert sum(len(updates(path)) for path in TRANSCRIPTS) > 3500


@every_row("path", TRANSCRIPTS)
def test_every_update_is_known_and_passed_on_as_it_was(path: Path) -> None:
    for raw in updates(path):
        update, passed_on = read_update(raw)
        assert not isinstance(update, UnknownUpdate), raw[:300]
        assert passed_on is raw, raw[:300]
        assert within(json.loads(encode_acp(update)), json.loads(raw)), "reading invents nothing"


@every_row("path", TRANSCRIPTS)
def test_the_schema_accepts_what_is_passed_on(path: Path) -> None:
    seen: set[tuple[Any, ...]] = set()
    for raw in updates(path):
        value = json.loads(raw)
        shape = (value["sessionUpdate"], *sorted(value), json.dumps(value.get("content"))[:40])
        if shape not in seen:
            seen.add(shape)
            assert faults("SessionUpdate", raw) == []


@every_row("path", TRANSCRIPTS)
def test_the_short_cut_for_text_agrees_with_the_long_way(path: Path) -> None:
    taken = 0
    for raw in updates(path):
        chunk = text_chunk(raw)
        if chunk is None:
            continue
        taken += 1
        update = decode_update(raw)
        assert isinstance(update, AgentMessageChunk | AgentThoughtChunk | UserMessageChunk)
        assert isinstance(update.content, TextContent)
        assert (json.loads(chunk.text), chunk.message_id) == (update.content.text, update.message_id)
        assert chunk.kind == json.loads(raw)["sessionUpdate"]
    assert taken > 0 or path.stem == "acp-echo-py", "the echo agent writes _meta into every block"


class Replay:
    """A client whose sent lines are the recorded ones: our ids stand for its ids."""

    def __init__(self) -> None:
        self.peer = Peer(methods=CLIENT_METHODS)
        self.asked: dict[int, str] = {}
        self.ours: dict[str, int] = {}

    def client_wrote(self, raw: bytes) -> None:
        try:
            message = json.loads(raw)
        except ValueError:
            return
        if "method" in message and "id" in message:
            our_id = self.peer.send_request(message["method"], json.dumps(message.get("params")).encode())
            self.asked[our_id] = message["method"]
            self.ours[json.dumps(message["id"])] = our_id

    def agent_wrote(self, raw: bytes) -> list[Message]:
        message = json.loads(raw)
        if "method" not in message and json.dumps(message.get("id")) in self.ours:
            message["id"] = self.ours.pop(json.dumps(message["id"]))
            raw = json.dumps(message).encode()
        self.peer.receive_data(raw + b"\n")
        return self.peer.messages_received()


@every_row("path", TRANSCRIPTS)
def test_every_request_and_answer_of_an_agent_reads_as_its_type(path: Path) -> None:
    read = 0
    for records in runs(path).values():
        replay = Replay()
        for record in records:
            raw = record["raw"].encode()
            if record["dir"] == "c>a":
                replay.client_wrote(raw)
            elif record["dir"] == "a>c":
                for message in replay.agent_wrote(raw):
                    read += _reads(message, replay)
    assert read > 10


def _reads(message: Message, replay: Replay) -> int:
    match message:
        case Malformed():
            assert b"-32700" in message.line, "only the answer to our broken line has no request"
        case Request():
            params = decode_params(message.method, message.params)
            if isinstance(params, RequestPermissionRequest):
                assert faults("ToolCallUpdate", bytes(params.tool_call)) == []
                assert choose_option(params.options, allow=True) is not None
                assert choose_option(params.options, allow=False) is not None
            return 1
        case Response(result=result) if result is not None:
            method = replay.asked[message.id]
            if method in METHODS:
                _answer(method, bytes(result))
                return 1
    return 0


def _answer(method: str, result: bytes) -> None:
    try:
        decode_result(method, result)
    except AgentError:
        # An agent that answers a broken request with nonsense is the one way that a result may be refused.
        assert b"ext_method" in result or result in (b"null", b"{}"), (method, result[:200])
