"""What of an entry can be found."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from trunkline.dialects.context.envelope import encode_event
from trunkline.dialects.context.events import (
    Event,
    MessageCompleteEvent,
    MessageDeltaEvent,
    ThinkingCompleteEvent,
    ToolCallExecutingEvent,
    ToolCallResultEvent,
    ToolCallStartEvent,
)
from trunkline.dialects.context.types import to_raw
from trunkline.dialects.context.unions import ImagePart, MessageContent, TextPart
from trunkline.journal.base import Entry
from trunkline.journal.search.texts import CALL_MOST, TEXT_MOST, VALUE_MOST, passage_of, type_of

AT = 1_700_000_000_000_000


def entry(event: Event, seq: int = 7) -> Entry:
    return Entry(seq, AT, encode_event(seq, "ses_1", AT, event))


def executing(call_input: Any) -> Entry:
    return entry(ToolCallExecutingEvent(tool_call_id="c1", name="Bash", input=to_raw(call_input),
                                        risk_level="low", requires_approval=False))


def said(role: Any, *texts: str) -> Entry:
    content: list[MessageContent] = [TextPart(text=text) for text in texts]
    return entry(MessageCompleteEvent(message_id="m", role=role, content=content))


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_what_people_and_agents_said_is_found_whole(role: str) -> None:
    passage = passage_of(said(role, "first", "second"))
    assert passage is not None
    assert (passage.kind, passage.text, passage.seq, passage.at) == (role, "first\nsecond", 7, AT)


def test_images_thoughts_pieces_and_results_are_not_found() -> None:
    image = MessageCompleteEvent(message_id="m", role="user", content=[ImagePart(url="data:,x")])
    others: list[Event] = [
        image, MessageDeltaEvent(message_id="m", role="assistant", delta="x"),
        ThinkingCompleteEvent(message_id="m", content="x"),
        ToolCallResultEvent(tool_call_id="c", name="Bash", output="x", duration=1),
    ]
    assert [passage_of(entry(each)) for each in others] == [None] * 4


def test_a_tool_call_is_found_by_its_name_and_its_title() -> None:
    started = passage_of(entry(ToolCallStartEvent(tool_call_id="c1", name="Bash", category="terminal",
                                                  description="List the files")))
    assert started is not None and (started.text, started.key, started.more) == ("Bash List the files", "c1", False)
    titled = ToolCallStartEvent(tool_call_id="c1", name="bash", category="terminal", description="bash",
                                meta={"title": "List the files"})
    found = passage_of(entry(titled))
    assert found is not None and found.text == "bash List the files"


@pytest.mark.parametrize(("name", "description", "title", "text"), [
    ("bash", "Run: pytest -k login", "pytest -k login", "bash Run: pytest -k login"),
    ("read", "Read: /work/a.py", "Read a.py", "Read: /work/a.py Read a.py"),
    ("Read", "read", "read", "Read"),
    ("edit", "Change credits.txt", "", "edit Change credits.txt"),
    ("edit", "Change edits.txt", "", "edit Change edits.txt"),
])
def test_no_name_of_a_tool_call_is_said_twice(name: str, description: str, title: str, text: str) -> None:
    started = ToolCallStartEvent(tool_call_id="c1", name=name, category="other", description=description, meta={"title": title})
    found = passage_of(entry(started))
    assert found is not None and found.text == text


def test_what_a_tool_was_called_with_is_found() -> None:
    ran = passage_of(executing({"command": "ls -la", "argv": ["ls", {"deep": "/tmp/x"}], "timeout": 5, "again": "ls -la"}))
    assert ran is not None and (ran.text, ran.key, ran.more) == ("ls -la\nls\n/tmp/x", "c1", True)
    assert passage_of(executing({"timeout": 5})) is None


def test_long_texts_are_cut_and_deep_input_is_not_followed() -> None:
    message = passage_of(said("user", "a" * (TEXT_MOST + 1)))
    assert message is not None and len(message.text) == TEXT_MOST
    call = passage_of(executing({"v": [f"{number}" + "b" * 9_000 for number in range(50)]}))
    assert call is not None and len(call.text) == CALL_MOST and call.text.split("\n")[0] == "0" + "b" * (VALUE_MOST - 1)
    nested: Any = "bottom"
    for _ in range(50):
        nested = [nested]
    assert passage_of(executing({"x": nested})) is None


def test_input_that_is_nested_beyond_reason_does_no_harm() -> None:
    depth = 5_000
    raw = msgspec.Raw(b'{"x":' + b"[" * depth + b"]" * depth + b"}")
    event = ToolCallExecutingEvent(tool_call_id="c", name="n", input=raw, risk_level="low", requires_approval=False)
    assert passage_of(entry(event)) is None


@pytest.mark.parametrize(("event", "kind"), [
    (b'{"seq":1,"sessionId":"s","timestamp":"t","type":"tool:start","x":1}', b"tool:start"),
    (b'{"seq":1}', b""), (b"", b""), (b"1:eeee", b""),
])
def test_the_type_is_read_from_the_bytes(event: bytes, kind: bytes) -> None:
    assert type_of(event) == kind
