"""The tables and reshapes, applied to what came: what an update means is found wherever it says so."""

from __future__ import annotations

import json
from typing import Any

from msgspec import Raw

from tests.tooling.rows import every_row
from trunkline.dialects.acp.reading.aliases.applied import strip_envelope, update_kind
from trunkline.dialects.acp.reading.aliases.tables import ENVELOPE_FIELDS


def members(**values: Any) -> dict[str, Raw]:
    return {name: Raw(json.dumps(value).encode()) for name, value in values.items()}


@every_row("tag", ["sessionUpdate", "session_update", "type", "kind"])
def test_an_update_says_what_it_is_under_any_of_its_tags(tag: str) -> None:
    assert update_kind(members(**{tag: "agent_message_chunk"})) == "agent_message_chunk"


@every_row(("wrong", "right"), [
    ("tool_call_start", "tool_call"), ("tool_call_progress", "tool_call_update"), ("agent_plan_update", "plan")])
def test_another_word_for_an_update_is_the_update(wrong: str, right: str) -> None:
    assert update_kind(members(sessionUpdate=wrong)) == right


def test_what_is_unknown_under_the_schemas_own_tag_stays_what_it_says() -> None:
    assert update_kind(members(sessionUpdate="of_tomorrow")) == "of_tomorrow"
    assert update_kind(members(kind="execute")) is update_kind(members(sessionUpdate=3)) is update_kind({}) is None


def test_what_only_says_what_an_update_is_is_no_part_of_it() -> None:
    found = strip_envelope(members(sessionUpdate="tool_call", kind="execute", title="x", **dict.fromkeys(ENVELOPE_FIELDS, "y")),
                           "tool_call")
    assert set(found) == {"kind", "title"}, "the kind is the call's"
    assert set(strip_envelope(members(kind="tool_call", title="x"), "tool_call")) == {"title"}
