"""What a call is called while it starts, runs and ends."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Raw

from tests.dialects.packets.calls import AT, call_of
from tests.tooling.rows import every_row
from trunkline.dialects.packets.derive import progress_packet, start_packet
from trunkline.dialects.packets.detect import INPUT_KEYS, tool_by_input
from trunkline.dialects.packets.titles import input_view

FILE = "/home/me/p/src/a.tsx"
DIFF = {"type": "diff", "path": FILE, "oldText": "a", "newText": "b"}
PATCHED = "Success. Updated the following files:\nM src/a.tsx"


def started(*updates: dict[str, Any]) -> tuple[str, str]:
    packet = json.loads(start_packet(call_of(*updates), AT))
    return packet["title"], packet["kind"]


def shown(*updates: dict[str, Any]) -> tuple[str, str]:
    packet = json.loads(progress_packet(call_of(*updates), AT))
    return packet["title"], packet["kind"]


@every_row(
    ("announced", "title", "kind"),
    [
        ({"title": "Terminal", "name": "Bash", "kind": "execute"}, "bash", "execute"),
        ({"title": "Look it up", "name": "mcp__docs__find", "rawInput": {"command": "x"}}, "mcp__docs__find", "other"),
        ({"title": "`ls`", "kind": "execute", "rawInput": {"command": "ls"}}, "bash", "execute"),
        ({"title": "`ls`", "rawInput": {"command": "ls"}}, "bash", "execute"),
        ({"title": "Explore", "kind": "think", "rawInput": {"subagent_type": "Explore", "prompt": "p"}}, "task", "other"),
        ({"title": "Update todos", "kind": "think", "rawInput": {"todos": []}}, "todowrite", "other"),
        ({"title": "Patch", "kind": "edit", "rawInput": {"patchText": "*** Begin Patch"}}, "apply_patch", "other"),
        ({"title": "apply_patch", "kind": "other"}, "apply_patch", "other"),
        ({"title": "apply_patch", "kind": "edit"}, "apply_patch", "other"),
        ({"title": "Patch", "name": "ApplyPatch", "kind": "edit"}, "apply_patch", "other"),
        ({"title": "Patch", "name": "vendor_patch", "kind": "edit", "rawInput": {"patchText": "x"}}, "vendor_patch", "other"),
        ({"title": "Fetch it", "kind": "fetch", "rawInput": {"url": "https://x"}}, "webfetch", "other"),
        ({"title": "glob", "kind": "search"}, "glob", "search"),
        ({"title": "glob"}, "glob", "search"),
        ({"title": "Shell", "kind": "execute"}, "Shell", "execute"),
        ({"title": "Switch", "kind": "switch_mode"}, "Switch", "other"),
        ({"title": "rm a", "kind": "delete"}, "rm a", "other"),
    ],
)
def test_a_call_starts_under_its_tools_name(announced: dict[str, Any], title: str, kind: str) -> None:
    assert started(announced) == (title, kind)


def test_a_running_call_keeps_its_tools_name() -> None:
    running = {"status": "in_progress", "rawInput": {"command": "ls"}}
    assert shown({"title": "bash", "kind": "execute"}, running) == ("bash", "execute")
    assert shown({"title": "`ls`", "kind": "execute", **running}) == ("bash", "execute")


def test_a_running_call_takes_the_title_that_the_agent_gives_it() -> None:
    announced = {"title": "Terminal", "name": "Bash", "kind": "execute"}
    assert shown(announced, {"title": "ls -la", "status": "in_progress", "rawInput": {"command": "ls -la"}})[0] == "ls -la"
    assert shown(announced, {"title": "ls -la"}, {"status": "completed"})[0] == "ls -la"


@pytest.mark.parametrize(
    "update",
    [
        {"rawInput": {"filePath": FILE, "content": "x"}},
        {"rawInput": {"file_path": FILE, "old_string": "a", "new_string": "b"}, "title": "Edited a file"},
        {"rawInput": {"path": FILE}, "content": [DIFF | {"path": "/other"}]},
        {"content": [{"type": "content", "content": {"type": "text", "text": "ok"}}, DIFF]},
        {"locations": [{"path": FILE}]},
    ],
    ids=["write", "edit", "path before diff", "diff", "location"],
)
def test_a_completed_edit_is_titled_by_its_file_as_it_was_sent(update: dict[str, Any]) -> None:
    announced = {"title": "edit", "kind": "edit"}
    assert shown(announced, update, {"status": "completed"}) == (FILE, "edit")
    assert shown(announced, update, {"status": "in_progress"})[0] != FILE
    assert shown(announced, update, {"status": "failed"})[0] != FILE


def test_a_completed_edit_of_no_known_file_keeps_its_title() -> None:
    assert shown({"title": "edit", "kind": "edit"}, {"status": "completed"}) == ("edit", "edit")
    assert shown({"title": "edit", "kind": "edit"}, {"status": "completed", "title": "src/a.tsx"}) == ("src/a.tsx", "edit")


@pytest.mark.parametrize("count", [0, 1, 6])
def test_a_completed_todo_write_is_titled_by_its_count(count: int) -> None:
    todos = [{"content": "x", "status": "pending", "activeForm": "y"}] * count
    running = ({"title": "todowrite", "kind": "other"}, {"status": "in_progress", "rawInput": {"todos": todos}})
    assert shown(*running) == ("todowrite", "other")
    assert shown(*running, {"status": "completed"}) == (f"{count} todos", "other")


def test_a_completed_patch_is_titled_by_its_success() -> None:
    running = ({"title": "apply_patch", "kind": "edit"}, {"status": "in_progress", "rawInput": {"patchText": "*** Begin Patch"}})
    assert shown(*running) == ("apply_patch", "other")
    assert shown(*running, {"status": "completed", "rawOutput": {"output": PATCHED}}) == (PATCHED, "other")


@every_row("output", [None, {}, {"output": "3 hunks"}, {"output": 7}, "text", {"error": "no"}])
def test_a_patch_without_a_success_text_keeps_its_name(output: Any) -> None:
    running = {"title": "apply_patch", "kind": "edit", "rawInput": {"patchText": "*** Begin Patch"}}
    assert shown(running, {"status": "completed", "rawOutput": output}) == ("apply_patch", "other")


def test_a_failed_call_keeps_its_tools_name() -> None:
    failed = {"status": "failed", "rawInput": {"command": "npm run build"}, "rawOutput": {"error": "Error: rejected"}}
    assert shown({"title": "bash", "kind": "execute"}, failed) == ("bash", "execute")


def test_an_update_that_came_without_announcement_is_titled_by_what_it_says() -> None:
    assert shown({"title": ""}, {"title": "Read a.txt", "kind": "read", "status": "completed"}) == ("Read a.txt", "read")
    assert shown({"title": ""}, {"kind": "execute", "rawInput": {"command": "ls"}}) == ("bash", "execute")


def test_a_call_that_nobody_named_is_titled_by_its_kind() -> None:
    assert started({"title": "", "kind": "fetch"}) == ("fetch", "other")
    assert shown({"title": ""}, {"status": "completed"}) == ("other", "other")


def test_a_files_content_is_not_decoded_for_a_title() -> None:
    view = input_view(b'{"content":"a long text","filePath":"/a.txt","todos":[1]}')
    assert isinstance(view["content"], Raw)
    assert (view["filePath"], view["todos"]) == ("/a.txt", [1])


@every_row("raw", [None, b"", b"[1]", b'"x"', b"{", b"[" * 100_000])
def test_an_input_that_is_no_object_has_no_members(raw: bytes | None) -> None:
    assert input_view(raw) == {}


@every_row("key", sorted(INPUT_KEYS))
def test_of_an_input_with_very_many_members_those_that_say_its_tool_are_found(key: str) -> None:
    others: dict[str, Any] = {"pattern": "x"} if key.startswith("-") or key in ("include", "glob") else {}
    given = {**others, key: [] if key == "todos" else "a*", **{f"other{number}": {"command": "ls"} for number in range(2000)}}
    view = input_view(json.dumps(given).encode())
    assert view.keys() == {key, *others}
    assert tool_by_input(view, "other") == tool_by_input(given, "other")
