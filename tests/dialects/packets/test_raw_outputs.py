"""Outputs of packets in the documents' shapes, whatever their agent calls things."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.dialects.packets.calls import AT, call_of
from tests.dialects.packets.raw_packets import DONE, packet_of, text
from tests.dialects.packets.test_raw_inputs import TODO
from tests.tooling.rows import every_row
from trunkline.dialects.packets.derive import progress_packet
from trunkline.dialects.packets.raw_inputs import Beside
from trunkline.dialects.packets.raw_outputs import READ_BYTES, REPEATED_BYTES

OUTPUTS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"name": "Bash", "rawInput": {"command": "ls"}, "rawOutput": "a\n"},
     {"output": "a\n", "metadata": {"output": "a\n", "exit": None, "description": "ls", "truncated": False}}),
    ({"name": "Bash", "rawInput": {"command": "ls", "description": "List"}, "content": text("a")},
     {"output": "a", "metadata": {"output": "a", "exit": None, "description": "List", "truncated": False}}),
    ({"name": "Read", "rawInput": {"file_path": "/a"}, "rawOutput": "     7\tx\n     8\ty"},
     {"output": "<file>\n00007| x\n00008| y\n</file>", "metadata": {"preview": "x\ny", "truncated": False}}),
    ({"name": "Read", "rawInput": {"file_path": "/a"}, "rawOutput": "", "content": text("```py\nx\n```")},
     {"output": "<file>\n00001| x\n</file>", "metadata": {"preview": "x", "truncated": False}}),
    ({"name": "Glob", "rawInput": {"pattern": "*"}, "rawOutput": "a\nb"},
     {"output": "a\nb", "metadata": {"count": 2, "truncated": False}}),
    ({"name": "Glob", "rawInput": {"pattern": "*"}, "rawOutput": {"output": "No files found", "truncated": True}},
     {"output": "No files found", "metadata": {"count": 0, "truncated": True}}),
    ({"name": "Write", "rawInput": {"file_path": "/a", "content": "x"}},
     {"output": "Wrote file successfully.", "metadata": {"diagnostics": {}, "filepath": "/a", "truncated": False}}),
    ({"name": "Write", "rawInput": {"file_path": "/a", "content": "x"}, "rawOutput": "ok",
      "content": [{"type": "diff", "path": "/a", "oldText": "o", "newText": "x"}]},
     {"output": "ok", "metadata": {"diagnostics": {}, "filepath": "/a", "exists": True, "truncated": False}}),
    ({"name": "TodoWrite", "rawInput": {"todos": [TODO]}, "rawOutput": "done"},
     {"output": '[{"content":"Do it","status":"pending","activeForm":"Do it"}]',
      "metadata": {"todos": [{**TODO, "activeForm": "Do it"}], "truncated": False}}),
    ({"name": "WebFetch", "rawInput": {"url": "https://x"}, "rawOutput": "page"}, {"output": "page", "metadata": {}}),
    ({"name": "mcp__x__y", "rawInput": {}, "rawOutput": "as it is"}, "as it is"),  # type: ignore[list-item]  # no shape is known
]


@every_row(("update", "shown"), OUTPUTS)
def test_an_output_has_the_documents_shape(update: dict[str, Any], shown: Any) -> None:
    assert packet_of(update, DONE)["rawOutput"] == shown
    assert packet_of(update, DONE, as_sent=True)["rawOutput"] == update.get("rawOutput")


def test_how_a_command_ended_comes_from_whoever_knows() -> None:
    told = {"name": "Bash", "rawInput": {"command": "ls"}, "rawOutput": "Exit code: 3\nOutput:\na", **DONE}
    shown = packet_of(told, beside=Beside(exit_code=3, printed="a"))["rawOutput"]
    assert (shown["output"], shown["metadata"]["output"], shown["metadata"]["exit"]) == ("a", "a", 3)


@pytest.mark.parametrize("output", ["no", {"error": "no"}, {"message": "no"}, {"error": "no", "stack": "…"}])
def test_a_failed_call_says_why(output: Any) -> None:
    assert packet_of({"name": "anything", "rawOutput": output, "status": "failed"})["rawOutput"] == {"error": "no"}


def test_words_for_whoever_decides_are_no_output() -> None:
    told = {"name": "Bash", "rawInput": {"command": "ls"}, "content": text("May I?"), **DONE}
    assert packet_of(told, beside=Beside(shows_ask=True))["rawOutput"]["output"] == ""


def test_an_output_in_the_documents_shape_passes_byte_for_byte() -> None:
    said = rb'{"output":"caf\u00e9","metadata":{"output":"x","exit":0,"more":[1.0]}}'
    call = call_of({"name": "Bash", "rawInput": {"command": "ls"}, **DONE})
    call.raw_output = said
    assert b'"rawOutput":' + said in progress_packet(call, AT)


def test_a_running_call_has_no_output_of_our_making() -> None:
    running = {"name": "Bash", "rawInput": {"command": "ls"}, "content": text("a"), "status": "in_progress"}
    assert packet_of(running)["rawOutput"] is None


@pytest.mark.parametrize("name", ["Bash", "Read", "Grep"])
def test_a_long_output_is_put_in_as_it_stands(name: str) -> None:
    """An escape that no encoder would write shows that the text was not decoded."""
    token = b'"' + rb"\u0061bc\n" * READ_BYTES + b'"'
    call = call_of({"name": name, "rawInput": {"command": "ls", "file_path": "/a", "pattern": "x"}, **DONE})
    call.raw_output = token
    packet = progress_packet(call, AT)
    assert token[1:-1] in packet and len(packet) < len(token) + 2 * REPEATED_BYTES
    shown = json.loads(packet)["rawOutput"]
    assert shown["output"].strip("<>/file\n").startswith("abc\nabc\n") and set(shown) == {"output", "metadata"}


def test_a_files_content_is_not_decoded_for_its_name() -> None:
    call = call_of({"name": "Write"})
    call.raw_input = rb'{"path":"/a","content":"\u0061"}'
    assert rb'"rawInput":{"filePath":"/a","content":"\u0061"}' in progress_packet(call, AT)


def test_metadata_repeats_only_the_beginning_of_a_long_output() -> None:
    ran = packet_of({"name": "Bash", "rawInput": {"command": "x"}, "rawOutput": "y" * (4 * REPEATED_BYTES), **DONE})
    assert len(ran["rawOutput"]["metadata"]["output"]) <= REPEATED_BYTES < len(ran["rawOutput"]["output"])
