"""How calls ended: texts, images, exit codes, changes of files."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dialects.acp.strategies import json_values
from tests.tooling.rows import every_row
from trunkline.dialects.claude.calls import patches, results
from trunkline.dialects.claude.calls.results import RAW_CHARS, ended


def done(name: str, given: dict[str, Any], answer: Any = "ok", record: Any = None, failed: bool = False) -> dict[str, Any]:
    return ended("c", name, given, answer, record, failed)


def hunk(old: int, *lines: str) -> dict[str, Any]:
    return {"oldStart": old, "newStart": old, "lines": list(lines)}


def test_a_change_of_a_long_file_is_a_diff_for_each_piece() -> None:
    long = "x\n" * patches.WHOLE_FILE
    pieces = [hunk(1, "-a", "+b", " x"), hunk(900, " x", "+c")]
    update = done("Edit", {}, record={"filePath": "/p/a", "originalFile": long, "structuredPatch": pieces})
    assert [(diff["oldText"], diff["newText"]) for diff in update["content"]] == [("a\nx", "b\nx"), ("x", "x\nc")]
    assert [place["line"] for place in update["locations"]] == [1, 900]


def test_of_a_patch_in_very_many_pieces_the_first_are_shown() -> None:
    pieces = [hunk(number, "-a", f"+{number}") for number in range(1, patches.PIECES + 10)]
    update = done("Edit", {}, record={"filePath": "/p/a", "structuredPatch": pieces})
    assert [diff["newText"] for diff in update["content"]] == [str(number) for number in range(1, patches.PIECES + 1)]


def test_a_change_that_failed_shows_why_and_no_diff() -> None:
    update = done("Edit", {"file_path": "/p/a", "old_string": "a", "new_string": "b"},
                  "<tool_use_error>String not found</tool_use_error>", "Error: String not found", failed=True)
    assert update["status"] == "failed"
    assert update["content"] == [{"type": "content", "content": {"type": "text", "text": "String not found"}}]


@every_row(("answer", "record", "failed", "output"), [
    ("hi", {"stdout": "hi", "stderr": ""}, False, {"stdout": "hi", "stderr": ""}),
    ("Exit code 3\nout\nerr", "Error: Exit code 3\nout\nerr", True, {"exitCode": 3, "output": "out\nerr"}),
    ("none", {"stdout": "", "stderr": "", "returnCodeInterpretation": "No matches found"}, False,
     {"exitCode": 1, "stdout": "", "stderr": "", "returnCodeInterpretation": "No matches found"}),
    ("running", {"stdout": "", "stderr": "", "backgroundTaskId": "b1"}, False, {"backgroundTaskId": "b1"}),
    ("plain", None, False, "plain"),
])
def test_a_command_is_told_with_what_is_known_of_its_end(answer: str, record: Any, failed: bool, output: Any) -> None:
    assert done("Bash", {"command": "x"}, answer, record, failed)["rawOutput"] == output


def test_images_are_shown_between_the_texts() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "AAAA"}}
    shown = done("Read", {}, [{"type": "text", "text": "before"}, image, {"type": "text", "text": "after"}])["content"]
    assert [item["content"]["type"] for item in shown] == ["text", "image", "text"]
    assert shown[1]["content"] == {"type": "image", "data": "AAAA", "mimeType": "image/jpeg"}


def test_a_sub_agent_is_told_by_its_report_only() -> None:
    used = "<tools-used-before-summary>Bash</tools-used-before-summary>"
    blocks = [{"type": "text", "text": used}, {"type": "text", "text": "3"}]
    update = done("Task", {}, "[Subagent hand-back] 3 agentId: x", {"content": blocks, "usage": {"input_tokens": 1}})
    assert update["content"][0]["content"]["text"] == "3"
    assert update["rawOutput"]["usage"] == {"input_tokens": 1}


def test_a_sub_agent_in_the_background_says_no_more_than_that() -> None:
    update = done("Agent", {}, "Async agent launched. Internal metadata: never quote it.", {"status": "async_launched"})
    assert update["content"][0]["content"]["text"] == results.IN_BACKGROUND


@pytest.mark.parametrize(("answer", "shown"), [
    ("1\tx\n\n<system-reminder>\nBe careful.\n</system-reminder>\n", "1\tx"),
    ([{"type": "text", "text": "y <system-reminder>z</system-reminder>"}], "y"),
    ("a <system-reminder>b</system-reminder> c", "a <system-reminder>b</system-reminder> c"),
])
def test_what_the_cli_reminds_the_model_of_is_not_shown(answer: Any, shown: str) -> None:
    assert done("Read", {}, answer)["content"][0]["content"]["text"] == shown


def test_a_long_text_goes_over_the_wire_once() -> None:
    long = "x" * (5 << 20)
    assert "rawOutput" not in done("mcp__a__b", {}, long)
    assert done("Bash", {}, long, {"stdout": long, "stderr": ""})["rawOutput"] == {"stderr": ""}
    assert len(done("Read", {}, long)["content"][0]["content"]["text"]) == 5 << 20
    assert done("Read", {}, "x" * RAW_CHARS)["rawOutput"] == "x" * RAW_CHARS


@given(st.sampled_from(["Edit", "Write", "MultiEdit", "NotebookEdit", "Bash", "Task", "Read", "Tomorrow"]), json_values,
       json_values, json_values, st.booleans())
def test_no_result_of_any_shape_breaks_it(name: str, given: Any, answer: Any, record: Any, failed: bool) -> None:
    update = results.ended("c", name, given if isinstance(given, dict) else {}, answer, record, failed)
    assert update["status"] == ("failed" if failed else "completed")
