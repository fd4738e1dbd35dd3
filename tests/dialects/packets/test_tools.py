"""Inputs and outputs of the documents' tools, in every spelling, as typed values."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given

from tests.dialects.packets.calls import inputs, outputs
from tests.tooling.rows import every_row
from trunkline.dialects.packets.tools import (
    ApplyPatchInput,
    ApplyPatchOutput,
    BashInput,
    BashMetadata,
    BashOutput,
    EditInput,
    FailedOutput,
    FileChange,
    GlobInput,
    GrepInput,
    OtherInput,
    OtherOutput,
    PatchMetadata,
    ReadInput,
    ReadMetadata,
    ReadOutput,
    SearchMetadata,
    SearchOutput,
    TaskInput,
    TaskOutput,
    TodoItem,
    TodoWriteInput,
    TodoWriteMetadata,
    TodoWriteOutput,
    ToolInput,
    ToolOutput,
    WebFetchInput,
    WebOutput,
    WebSearchInput,
    WriteInput,
    WriteMetadata,
    WriteOutput,
    tool_input,
    tool_output,
)

TODO = {"content": "Create it", "status": "pending", "activeForm": "Creating it"}

INPUTS: list[tuple[str, dict[str, Any], ToolInput]] = [
    ("glob", {"pattern": "files/linear/**/*.json"}, GlobInput(pattern="files/linear/**/*.json")),
    ("grep", {"pattern": "TODO", "path": "src"}, GrepInput(pattern="TODO", path="src")),
    ("grep", {"pattern": "TODO"}, GrepInput(pattern="TODO")),
    ("read", {"filePath": "/a"}, ReadInput(file_path="/a")),
    ("write", {"filePath": "/a", "content": "x"}, WriteInput(file_path="/a", content="x")),
    ("edit", {"filePath": "/a", "old_string": "o", "new_string": "n"}, EditInput(file_path="/a", old_string="o", new_string="n")),
    ("bash", {"command": "ls", "description": "List"}, BashInput(command="ls", description="List")),
    (
        "task",
        {"prompt": "p", "description": "d", "subagent_type": "Explore"},
        TaskInput(prompt="p", description="d", subagent_type="Explore"),
    ),
    (
        "todowrite",
        {"todos": [TODO]},
        TodoWriteInput(todos=[TodoItem(content="Create it", status="pending", active_form="Creating it")]),
    ),
    ("webfetch", {"url": "https://x", "format": "markdown"}, WebFetchInput(url="https://x", format="markdown")),
    ("websearch", {"query": "hooks"}, WebSearchInput(query="hooks")),
    ("apply_patch", {"patchText": "*** Begin Patch"}, ApplyPatchInput(patch_text="*** Begin Patch")),
]

ALIASES: list[tuple[dict[str, Any], ToolInput]] = [
    ({"title": "read", "rawInput": {"file_path": "/a"}}, ReadInput(file_path="/a")),
    ({"title": "read", "rawInput": {"path": "/a", "limit": 5}}, ReadInput(file_path="/a", limit=5)),
    ({"title": "Read", "raw_input": {"filePath": "/a"}}, ReadInput(file_path="/a")),
    ({"title": "/a", "kind": "edit", "rawInput": {"file_path": "/a", "content": ""}}, WriteInput(file_path="/a", content="")),
    ({"title": "write", "rawInput": {"path": "/a", "file_text": "x"}}, WriteInput(file_path="/a", content="x")),
    (
        {"title": "/a", "kind": "edit", "rawInput": {"filePath": "/a", "oldString": "", "newString": "n"}},
        EditInput(file_path="/a", old_string="", new_string="n"),
    ),
    (
        {"title": "edit", "rawInput": {"path": "/a", "old_text": "o", "new_text": "n"}},
        EditInput(file_path="/a", old_string="o", new_string="n"),
    ),
    (
        {"title": "edit", "rawInput": {"path": "/a", "oldText": "o", "newText": "n"}},
        EditInput(file_path="/a", old_string="o", new_string="n"),
    ),
    ({"title": "x", "rawInput": {"cmd": "ls"}}, BashInput(command="ls")),
    ({"title": "x", "rawInput": {"command": ["bash", "-c", "ls -l"]}}, BashInput(command="bash -c 'ls -l'")),
    ({"title": "x", "rawInput": {"prompt": "p", "subagentType": "Plan"}}, TaskInput(prompt="p", subagent_type="Plan")),
    (
        {"title": "1 todos", "rawInput": {"todos": [{"content": "c", "status": "s", "active_form": "a"}]}},
        TodoWriteInput(todos=[TodoItem(content="c", status="s", active_form="a")]),
    ),
    ({"title": "x", "rawInput": {"patch_text": "p"}}, ApplyPatchInput(patch_text="p")),
]

CHANGE = {"type": "add", "before": "", "after": "x", "additions": 230, "deletions": 0}
WHOLE_CHANGE = {
    "filePath": "/full/p.tsx",
    "relativePath": "p.tsx",
    "type": "update",
    "diff": "Index: …",
    "before": "b",
    "after": "a",
    "additions": 16,
    "deletions": 8,
}
OUTPUTS: list[tuple[str, dict[str, Any], ToolOutput]] = [
    (
        "glob",
        {"output": "No files found", "metadata": {"count": 0, "truncated": False}},
        SearchOutput(output="No files found", metadata=SearchMetadata(count=0, truncated=False)),
    ),
    ("grep", {"output": "a:1"}, SearchOutput(output="a:1")),
    (
        "read",
        {"output": "<file>\n00001| x\n</file>", "metadata": {"preview": "x", "truncated": False}},
        ReadOutput(output="<file>\n00001| x\n</file>", metadata=ReadMetadata(preview="x", truncated=False)),
    ),
    (
        "bash",
        {"output": "a", "metadata": {"output": "a", "exit": 0, "description": "d"}},
        BashOutput(output="a", metadata=BashMetadata(output="a", exit=0, description="d")),
    ),
    ("bash", {"output": "", "metadata": {"exit": None}}, BashOutput(output="", metadata=BashMetadata(exit=None))),
    (
        "write",
        {
            "output": "Wrote file successfully.",
            "metadata": {"diagnostics": {"/a": [1]}, "filepath": "/a", "exists": False, "truncated": False},
        },
        WriteOutput(
            output="Wrote file successfully.",
            metadata=WriteMetadata(diagnostics={"/a": [1]}, filepath="/a", exists=False, truncated=False),
        ),
    ),
    ("edit", {"output": "Wrote file successfully."}, WriteOutput(output="Wrote file successfully.")),
    (
        "todowrite",
        {"output": "[]", "metadata": {"todos": [TODO], "truncated": False}},
        TodoWriteOutput(
            output="[]",
            metadata=TodoWriteMetadata(
                todos=[TodoItem(content="Create it", status="pending", active_form="Creating it")], truncated=False
            ),
        ),
    ),
    ("task", {"output": "done", "metadata": {"sessionId": "x"}}, TaskOutput(output="done", metadata={"sessionId": "x"})),
    ("webfetch", {"output": "page", "metadata": {}}, WebOutput(output="page", metadata={})),
    ("websearch", {"output": "hits"}, WebOutput(output="hits")),
    (
        "apply_patch",
        {
            "output": "Success. Updated the following files:\nM p.tsx",
            "metadata": {"diff": "Index: …", "files": [WHOLE_CHANGE, CHANGE], "diagnostics": {}, "truncated": False},
        },
        ApplyPatchOutput(
            output="Success. Updated the following files:\nM p.tsx",
            metadata=PatchMetadata(
                diff="Index: …",
                files=[
                    FileChange(
                        file_path="/full/p.tsx",
                        relative_path="p.tsx",
                        type="update",
                        diff="Index: …",
                        before="b",
                        after="a",
                        additions=16,
                        deletions=8,
                    ),
                    FileChange(type="add", before="", after="x", additions=230, deletions=0),
                ],
                diagnostics={},
                truncated=False,
            ),
        ),
    ),
]


@every_row(("tool", "raw", "typed"), INPUTS)
def test_an_input_as_documented_is_typed_and_written_back_the_same(tool: str, raw: dict[str, Any], typed: ToolInput) -> None:
    packet = {"title": tool, "kind": "other", "rawInput": raw}
    assert tool_input(packet) == typed
    assert tool_input(msgspec.json.encode(packet)) == typed
    assert json.loads(msgspec.json.encode(typed)) == raw


@every_row(("packet", "typed"), ALIASES)
def test_every_spelling_of_an_input_is_read(packet: dict[str, Any], typed: ToolInput) -> None:
    assert tool_input(packet) == typed


@every_row(("tool", "raw", "typed"), OUTPUTS)
def test_an_output_as_documented_is_typed_and_written_back_the_same(tool: str, raw: dict[str, Any], typed: ToolOutput) -> None:
    packet = {"title": tool, "kind": "other", "rawOutput": raw}
    assert tool_output(packet) == typed
    assert tool_output({"title": tool, "raw_output": raw}) == typed
    assert json.loads(msgspec.json.encode(typed)) == raw


def test_the_output_of_a_call_whose_title_changed_is_known_by_its_input() -> None:
    packet = {"title": "/a", "kind": "edit", "rawInput": {"filePath": "/a", "content": "x"}, "rawOutput": {"output": "Wrote"}}
    assert tool_output(packet) == WriteOutput(output="Wrote")


@every_row("tool", [case[0] for case in INPUTS] + ["my_tool"])
def test_any_failed_tool_gives_its_error(tool: str) -> None:
    error = "Error: The user rejected permission to use this specific tool call."
    assert tool_output({"title": tool, "status": "failed", "rawOutput": {"error": error}}) == FailedOutput(error=error)


@pytest.mark.parametrize("packet", [{"title": "bash"}, {"title": "bash", "rawOutput": None}])
def test_there_is_no_output_before_there_is_one(packet: dict[str, Any]) -> None:
    assert tool_output(packet) is None


@every_row(
    ("raw", "kept"),
    [({"x": 1}, b'{"x":1}'), ({"command": 7}, b'{"command":7}'), ("ls", b'"ls"'), ([1], b"[1]"), ({}, b"{}")],
)
def test_an_input_that_fits_no_tool_is_kept_as_it_is(raw: Any, kept: bytes) -> None:
    assert tool_input({"title": "bash", "rawInput": raw}) == OtherInput(kept)


def test_a_packet_without_input_has_an_empty_one() -> None:
    assert tool_input({"title": "bash"}) == tool_input({"title": "bash", "rawInput": None}) == OtherInput(b"{}")


@every_row("raw", ["hi", [1], {"output": 7}, {"result": "x"}, 0, False, ""])
def test_an_output_that_fits_no_tool_is_kept_as_it_is(raw: Any) -> None:
    assert tool_output({"title": "bash", "rawOutput": raw}) == OtherOutput(msgspec.json.encode(raw))
    assert tool_output({"title": "my_tool", "rawOutput": raw}) == OtherOutput(msgspec.json.encode(raw))


def test_the_answer_of_a_task_ends_before_its_trailer() -> None:
    assert TaskOutput(output="The answer.\n\n<task_metadata>\nsession: x\n</task_metadata>").answer == "The answer."
    assert TaskOutput(output="The answer.").answer == "The answer."


@given(inputs, outputs)
def test_no_input_or_output_breaks_its_reading(raw_input: Any, raw_output: Any) -> None:
    for title in ("bash", "todowrite", "apply_patch", "Some words"):
        packet = {"title": title, "kind": "other", "rawInput": raw_input, "rawOutput": raw_output}
        assert isinstance(tool_input(packet), msgspec.Struct)
        assert (tool_output(packet) is None) == (raw_output is None)
