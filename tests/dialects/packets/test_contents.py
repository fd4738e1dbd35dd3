"""Content in the packets' full form: every null written out, and somebody's JSON on one line."""

from __future__ import annotations

import msgspec

from tests.tooling.rows import every_row
from trunkline.dialects.acp.content import (
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceContents,
    ResourceLink,
    TextContent,
)
from trunkline.dialects.acp.tools import Content, Diff, Terminal, ToolCallLocation
from trunkline.dialects.packets.contents import ANY_TEXT, block_json, items_json, locations_of, on_one_line, with_text


@every_row(("block", "kind"), [
    (TextContent(text="hi"), "text"), (ImageContent(data="aGk=", mime_type="image/png"), "image"),
    (AudioContent(data="aGk=", mime_type="audio/wav"), "audio"), (ResourceLink(name="a", uri="file:///a"), "resource_link"),
    (EmbeddedResource(resource=ResourceContents(uri="file:///a", text="x")), "resource"),
])
def test_a_block_keeps_its_kind_and_its_nulls_are_written_out(block: ContentBlock, kind: str) -> None:
    shown = msgspec.json.decode(block_json(block))
    assert shown["type"] == kind and None in shown.values()


def test_a_resource_is_a_text_or_bytes() -> None:
    text = msgspec.json.decode(block_json(EmbeddedResource(resource=ResourceContents(uri="file:///a", text=""))))["resource"]
    blob = msgspec.json.decode(block_json(EmbeddedResource(resource=ResourceContents(uri="file:///a", blob="aGk="))))["resource"]
    assert text["text"] == "" and "blob" not in text
    assert blob["blob"] == "aGk=" and "text" not in blob


def test_a_diff_without_old_text_has_the_empty_one_that_means_a_new_file() -> None:
    items = items_json([Diff(path="/w/a", new_text="x"), Terminal(terminal_id="t"), Content(content=TextContent(text="hi"))])
    assert items is not None
    diff, terminal, text = map(msgspec.json.decode, items)
    assert (diff["oldText"], diff["newText"], terminal["terminalId"], text["content"]["text"]) == ("", "x", "t", "hi")
    assert items_json([]) is items_json(None) is None


def test_a_long_text_is_put_in_as_it_stands() -> None:
    packet = with_text(b'{"content":[' + bytes(ANY_TEXT) + b'],"title":"|"}', b'"a \\u00e9"')
    found = msgspec.json.decode(packet)
    assert found["content"][0]["content"]["text"] == "a é" and found["title"] == "|"


def test_places_that_were_never_named_are_null_and_none_are_none() -> None:
    assert locations_of(None) is None and locations_of([]) == []
    (place,) = locations_of([ToolCallLocation(path="/w/a", line=3)]) or []
    assert (place.path, place.line) == ("/w/a", 3)


def test_only_line_ends_between_tokens_are_taken_out() -> None:
    assert bytes(on_one_line(b'{"a":  1}')) == b'{"a":  1}'
    assert msgspec.json.decode(on_one_line(b'{"a":\n 1,\r\n "b": "x\\n"}')) == {"a": 1, "b": "x\n"}
    assert b"\n" not in bytes(on_one_line(b'{"a":\n 1}'))
