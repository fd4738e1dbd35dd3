"""Prompts that a client of the hub sends: blocks may say their media type in another word; every other body is as it was."""

from __future__ import annotations

import json

import pytest

from tests.tooling.rows import every_row
from trunkline.dialects.acp.reading.aliases.media import with_mime_types


@pytest.mark.parametrize("name", ["content", "prompt"])
def test_a_block_and_the_resource_in_it_say_their_type_as_the_schema_does(name: str) -> None:
    resource = {"type": "resource", "resource": {"uri": "file:///a", "mediaType": "text/plain"}}
    body = json.dumps({name: [{"type": "image", "mediaType": "image/png"}, resource, "words"], "x": {"mediaType": "y"}}).encode()
    found = json.loads(with_mime_types(body))
    assert found[name] == [{"type": "image", "mimeType": "image/png"},
                           {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain"}}, "words"]
    assert found["x"] == {"mediaType": "y"}, "what is no block is nobody's to change"


@every_row("body", [
    b'{"content": [{"type":"text"}]}', b'{"other": [{"mediaType": "x"}]}', b'["mediaType"]',
    b'{"mediaType"', b"",
])
def test_every_other_body_is_as_it_was(body: bytes) -> None:
    assert with_mime_types(body) == body
