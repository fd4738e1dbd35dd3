"""Reading as the schema's policy says: forgiving on optional fields, strict on required ones, and the member is named."""

from __future__ import annotations

import pytest

from tests.tooling.rows import every_row
from trunkline.dialects.acp.content import ContentBlock, ImageContent, TextContent
from trunkline.dialects.acp.initialize import AgentCapabilities, Implementation
from trunkline.dialects.acp.reading.lenient import read_lenient
from trunkline.dialects.acp.tools import ToolCallLocation
from trunkline.errors import Invalid


def test_what_is_well_formed_is_read() -> None:
    assert read_lenient(b'{"path":"/w/a","line":3}', ToolCallLocation) == ToolCallLocation(path="/w/a", line=3)


def test_a_bad_optional_value_counts_as_absent_and_what_is_unknown_is_left_out() -> None:
    assert read_lenient(b'{"path":"/w/a","line":"x","of":"tomorrow"}', ToolCallLocation) == ToolCallLocation(path="/w/a")
    assert not read_lenient(b'{"promptCapabilities":{"image":"perhaps"}}', AgentCapabilities).prompt.image


@pytest.mark.parametrize(("raw", "named"), [(b'{"line":3}', "path"), (b'{"path":7}', "path")])
def test_a_missing_or_bad_required_member_refuses_the_object_by_its_name(raw: bytes, named: str) -> None:
    with pytest.raises(Invalid, match=named):
        read_lenient(raw, ToolCallLocation)


@every_row("raw", [b"", b"[]", b"3", b"{" * 100_000, b"\xff"])
def test_what_is_no_object_is_refused_and_nothing_else_is_raised(raw: bytes) -> None:
    with pytest.raises(Invalid):
        read_lenient(raw, Implementation)


def test_a_union_is_read_by_its_tag_and_names_in_circulation_are_understood() -> None:
    assert read_lenient(b'{"type":"text","text":"hi"}', ContentBlock) == TextContent(text="hi")
    image = read_lenient(b'{"type":"image","data":"aGk=","mediaType":"image/png"}', ContentBlock)
    assert isinstance(image, ImageContent) and image.mime_type == "image/png"
