"""What we write to the CLI: every line whole, and as it reads it."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given

from tests.dialects.acp.strategies import instances
from tests.tooling.claude_runs import runs
from tests.tooling.rows import every_row
from trunkline.dialects.acp.content import (
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceContents,
    ResourceLink,
    TextContent,
)
from trunkline.dialects.acp.shape import encode_acp
from trunkline.dialects.claude.control import outgoing


def written(line: bytes) -> dict[str, Any]:
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    frame: dict[str, Any] = json.loads(line)
    return frame


def content(*blocks: ContentBlock) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = written(outgoing.user_message([encode_acp(block) for block in blocks]))["message"]["content"]
    return found


def test_a_prompt_names_the_conversation_and_itself() -> None:
    frame = written(outgoing.user_message([b'{"type":"text","text":"Hi\\nyou"}'], "s", "u"))
    assert frame == {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "Hi\nyou"}]},
                     "parent_tool_use_id": None, "session_id": "s", "uuid": "u"}
    assert written(outgoing.user_message([]))["session_id"] == "" and "uuid" not in written(outgoing.user_message([]))


def plain(*blocks: ContentBlock) -> Any:
    return written(outgoing.user_message([encode_acp(block) for block in blocks], plain=True))["message"]["content"]


def test_a_plain_prompt_is_its_text_where_it_is_nothing_else() -> None:
    picture = ImageContent(data="aGk=", mime_type="image/png")
    assert plain(TextContent(text="one"), TextContent(text="two")) == "one\n\ntwo"
    assert [block["type"] for block in plain(TextContent(text="see"), picture)] == ["text", "image"]


def test_images_go_as_images() -> None:
    (image,) = content(ImageContent(data="AAAA", mime_type="image/png"))
    assert image == {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    (linked,) = content(ImageContent(data="", mime_type="image/png", uri="https://e.org/x.png"))
    assert linked["source"] == {"type": "url", "url": "https://e.org/x.png"}


def test_files_go_as_mentions_and_embedded_ones_with_their_text() -> None:
    (link,) = content(ResourceLink(uri="file:///p/a.py", name="a.py"))
    assert link["text"] == "[@a.py](file:///p/a.py)"
    (inside,) = content(EmbeddedResource(resource=ResourceContents(uri="file:///p/a.py", text="x = 1")))
    assert '<context ref="file:///p/a.py">\nx = 1\n</context>' in inside["text"]
    (document,) = content(EmbeddedResource(resource=ResourceContents(
        uri="file:///p/a.pdf", blob="AAAA", mime_type="application/pdf")))
    assert document["type"] == "document"


@every_row(("line", "request_is"), [
    (outgoing.interrupt("r"), {"subtype": "interrupt", "cancel_queued": True}),
    (outgoing.interrupt("r", cancel_queued=False), {"subtype": "interrupt"}),
    (outgoing.set_mode("r", "plan"), {"subtype": "set_permission_mode", "mode": "plan"}),
    (outgoing.set_model("r", "opus"), {"subtype": "set_model", "model": "opus"}),
    (outgoing.set_model("r", None), {"subtype": "set_model"}),
    (outgoing.set_thinking("r", 0), {"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 0}),
    (outgoing.initialize("r", sdkMcpServers=["x"]), {"subtype": "initialize", "sdkMcpServers": ["x"]}),
])
def test_a_control_request_has_its_subtype(line: bytes, request_is: dict[str, Any]) -> None:
    assert written(line) == {"type": "control_request", "request_id": "r", "request": request_is}


def test_the_rest_of_what_the_cli_reads() -> None:
    assert written(outgoing.keep_alive()) == {"type": "keep_alive"}
    assert written(outgoing.take_back("r")) == {"type": "control_cancel_request", "request_id": "r"}
    assert written(outgoing.failed("r", "no"))["response"] == {"subtype": "error", "request_id": "r", "error": "no"}


def test_every_type_that_was_written_to_the_real_cli_is_one_that_we_can_write() -> None:
    ours = {kind.__struct_config__.tag for kind in outgoing.Input.__subclasses__()}
    theirs = {line.message["type"] for lines in runs().values() for line in lines if line.dir == "in"}
    assert theirs <= ours


@given(instances(ContentBlock))
def test_every_block_of_a_prompt_becomes_something_that_the_cli_takes(block: ContentBlock) -> None:
    for made in content(block):
        assert made["type"] in ("text", "image", "document")
