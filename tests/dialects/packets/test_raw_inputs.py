"""Inputs of packets in the documents' shapes, whatever their agent calls things."""

from __future__ import annotations

from typing import Any

import msgspec

from tests.dialects.packets.calls import AT, call_of
from tests.dialects.packets.raw_packets import DONE, packet_of
from tests.tooling.rows import every_row
from trunkline.dialects.packets.derive import progress_packet
from trunkline.dialects.packets.raw_inputs import SUMMARY_CHARS, Beside
from trunkline.dialects.packets.raw_outputs import PREVIEW_CHARS

TODO = {"content": "Do it", "status": "pending"}
INPUTS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"name": "Read", "rawInput": {"file_path": "/a", "limit": 5}}, {"filePath": "/a", "limit": 5}),
    ({"title": "a.txt", "kind": "read", "rawInput": {"absolute_path": "/a"}}, {"filePath": "/a"}),
    ({"title": "a.txt", "kind": "read", "locations": [{"path": "/a"}]}, {"filePath": "/a"}),
    ({"name": "Write", "rawInput": {"path": "/a", "file_text": "x"}}, {"filePath": "/a", "content": "x"}),
    ({"name": "Write", "rawInput": {"file_path": "/a"}}, {"filePath": "/a"}),
    ({"name": "Edit", "rawInput": {"path": "/a", "oldText": "o", "newText": "n"}},
     {"filePath": "/a", "old_string": "o", "new_string": "n"}),
    ({"title": "Edit /a", "kind": "edit", "rawInput": {"changes": {"/a": {}}},
      "content": [{"type": "diff", "path": "/a", "newText": "n"}]}, {"filePath": "/a", "content": "n"}),
    ({"title": "Edit /a", "kind": "edit", "content": [{"type": "diff", "path": "/a", "oldText": "o", "newText": "n"}]},
     {"filePath": "/a", "old_string": "o", "new_string": "n"}),
    ({"name": "Bash", "rawInput": {"cmd": "ls -l\necho"}}, {"command": "ls -l\necho", "description": "ls -l"}),
    ({"title": "x", "rawInput": {"command": ["/bin/bash", "-lc", "ls -l"]}}, {"command": "ls -l", "description": "ls -l"}),
    ({"title": "x", "rawInput": {"command": ["ls", "a b"]}}, {"command": "ls 'a b'", "description": "ls 'a b'"}),
    ({"name": "bash", "rawInput": {"tool": "x", "arguments": {"cmd": "ls"}}}, {"command": "ls", "description": "ls"}),
    ({"name": "Task", "rawInput": {"prompt": "p", "subagentType": "Plan"}},
     {"prompt": "p", "subagent_type": "Plan", "description": "p"}),
    ({"name": "todo_write", "rawInput": {"todos": [TODO]}}, {"todos": [{**TODO, "activeForm": "Do it"}]}),
    ({"name": "apply_patch", "rawInput": {"patch_text": "p"}}, {"patchText": "p"}),
    ({"name": "grep", "rawInput": {"query": "x"}}, {"pattern": "x"}),
    # Other tools are nobody's business, and nothing that deletes is a search.
    ({"name": "mcp__fs__read", "kind": "read", "rawInput": {"file_path": "/a"}}, {"file_path": "/a"}),
    ({"title": "delete_files", "kind": "delete", "rawInput": {"pattern": "*"}}, {"pattern": "*"}),
    ({"title": "x", "rawInput": {"nothing": 1}}, {"nothing": 1}),
    ({"name": "Bash", "rawInput": {"command": None}}, {"command": None}),
]


@every_row(("update", "shown"), INPUTS)
def test_an_input_has_the_documents_names(update: dict[str, Any], shown: dict[str, Any]) -> None:
    assert packet_of(update)["rawInput"] == shown
    assert packet_of(update, as_sent=True)["rawInput"] == update.get("rawInput", {})


def test_a_command_that_only_the_title_names_is_shown() -> None:
    shown = packet_of({"title": "ls -l", "kind": "execute"}, beside=Beside(command="ls -l"))
    assert shown["rawInput"] == {"command": "ls -l", "description": "ls -l"}


def test_any_input_gives_one_that_can_be_read_again() -> None:
    for raw in (b"[]", b"1", b'"x"', b"{}", b'{"command":{}}', b'{"todos":[1]}', b'{"arguments":1}'):
        call = call_of({"name": "Bash"}, DONE)
        call.raw_input = call.raw_output = raw
        msgspec.json.decode(progress_packet(call, AT))


def test_what_stands_for_a_description_and_a_preview_is_short() -> None:
    ran = packet_of({"name": "Bash", "rawInput": {"command": "x" * 5000}, **DONE})
    assert len(ran["rawInput"]["description"]) in (SUMMARY_CHARS - 1, SUMMARY_CHARS)
    read = packet_of({"name": "Read", "rawInput": {"file_path": "/a"}, "rawOutput": "y" * 5000, **DONE})
    assert len(read["rawOutput"]["metadata"]["preview"]) in (PREVIEW_CHARS - 1, PREVIEW_CHARS)
