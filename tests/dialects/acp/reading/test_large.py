"""Updates of many megabytes: cut where characters end, told whole or by their beginning."""

from __future__ import annotations

import json
import random
from typing import Any

import msgspec
import pytest

from trunkline.dialects.acp.reading import large
from trunkline.dialects.acp.reading.large import abridged, split_chunk

PIECES = ["a", "\\", '"', "\n", "\u00e9", "\u4f60", "\U0001f600", "\x01", "\\u0041", "\ud7ff", "/"]


def chunk(token: bytes, **more: Any) -> msgspec.Raw:
    tail = b"".join(b',"%b":%b' % (key.encode(), msgspec.json.encode(value)) for key, value in more.items())
    return msgspec.Raw(b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%b}%b}' % (token, tail))


def texts(update: msgspec.Raw) -> list[str]:
    return [msgspec.json.decode(piece)["content"]["text"] for piece in split_chunk(update)]


@pytest.mark.parametrize("seed", range(30))
def test_the_pieces_of_a_text_are_valid_and_make_up_all_of_it(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    dice = random.Random(seed)
    monkeypatch.setattr(large, "PIECE_BYTES", dice.randint(14, 40))
    text = "".join(dice.choice(PIECES) for _ in range(200))
    escape = "".join(f"\\u{ord(char):04x}" if ord(char) < 0x10000 and dice.random() < 0.4
                     else msgspec.json.encode(char)[1:-1].decode() for char in text)
    pairs = escape.replace("\U0001f600", "\\ud83d\\ude00")
    for token in (msgspec.json.encode(text), f'"{escape}"'.encode(), f'"{pairs}"'.encode()):
        found = texts(chunk(token))
        assert "".join(found) == msgspec.json.decode(token) == text
        assert len(found) > 3


def test_pieces_keep_the_kind_and_the_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "PIECE_BYTES", 20)
    found = [msgspec.json.decode(piece) for piece in split_chunk(chunk(b'"%b"' % (b"x" * 50), messageId="m1"))]
    assert len(found) == 3 and all(piece["messageId"] == "m1" for piece in found)
    assert {piece["sessionUpdate"] for piece in found} == {"agent_message_chunk"}


@pytest.mark.parametrize("update", [
    {"sessionUpdate": "agent_message_chunk", "content": {"type": "image", "data": "aa", "mimeType": "image/png"}},
    {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "a"}, "_meta": {"a": 1}},
    {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t"},
])
def test_what_is_no_plain_text_is_not_cut(update: dict[str, Any]) -> None:
    assert list(split_chunk(msgspec.Raw(msgspec.json.encode(update)))) == []


def test_a_call_is_told_by_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "BEGINNING_BYTES", 100)
    update = {
        "sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed", "title": "Read",
        "content": [{"type": "content", "content": {"type": "text", "text": "x" * 1000}},
                    {"type": "diff", "path": "/a", "oldText": "y" * 1000, "newText": "z"}],
        "rawInput": {"path": "/a"}, "rawOutput": {"text": "o" * 1000, "many": [1] * 1000, "code": 0}, "_meta": {"theirs": True},
    }
    whole = msgspec.json.encode(update)
    short = abridged(whole)
    assert short is not None and not short.input_cut
    told = msgspec.json.decode(short.update)
    assert told["content"][0]["content"] == {"type": "text", "text": "x" * 99}
    assert told["content"][1] == {"type": "diff", "path": "/a", "oldText": "y" * 99, "newText": "z"}
    assert told["rawOutput"] == {"text": "o" * 99, "code": 0}
    assert told["rawInput"] == {"path": "/a"} and told["title"] == "Read"
    assert told["_meta"] == {"theirs": True, "trunkline": {"truncated": {"bytes": len(whole)}}}


def test_an_input_that_was_cut_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "BEGINNING_BYTES", 100)
    short = abridged(msgspec.json.encode(
        {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "rawInput": {"command": "x" * 1000}}))
    assert short is not None and short.input_cut


@pytest.mark.parametrize("raw", [b"{}", b"[]", b'{"sessionUpdate":"plan","entries":{}}', b'{"sessionUpdate":"tool_call"'])
def test_what_is_neither_call_nor_plan_is_not_abridged(raw: bytes) -> None:
    assert abridged(raw) is None


def test_a_plan_is_told_by_the_lines_that_are_whole_at_its_beginning() -> None:
    lines = [{"content": f"ä{number} " + "x" * 1000, "priority": "low", "status": "pending"} for number in range(600)]
    short = abridged(json.dumps({"sessionUpdate": "plan", "entries": lines}, ensure_ascii=False, indent=1).encode())
    assert short is not None
    told = json.loads(short.update)["entries"]
    assert 200 < len(told) < 300 and told == lines[:len(told)]
