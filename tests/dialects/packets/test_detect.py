"""What a packet is about: the documents' detection rules, with their tables as data."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dialects.packets.calls import AT, json_values
from tests.tooling.rows import every_row
from trunkline.dialects.packets.detect import (
    display_title,
    file_path,
    is_new_file,
    is_task,
    is_todo_write,
    packet_kind,
    packet_type,
    relative_path,
    tool_kind,
    tool_name,
)
from trunkline.dialects.packets.notices import prompt_response_packet
from trunkline.dialects.packets.shapes import PacketType, ToolCallProgressPacket
from trunkline.errors import Invalid


def edit(**fields: Any) -> dict[str, Any]:
    return {"type": "tool_call_progress", "kind": "edit", "title": "edit", **fields}


def diff(old: str | None, path: str = "/p/a.ts") -> dict[str, Any]:
    return {"type": "diff", "path": path, "oldText": old, "newText": "n"}


# which type


@every_row("kind", PacketType)
def test_the_type_field_decides(kind: PacketType) -> None:
    assert packet_type({"type": kind.value, "sessionUpdate": "plan"}) is kind


@every_row(
    ("update", "kind"),
    [
        ("agent_message_chunk", PacketType.AGENT_MESSAGE_CHUNK),
        ("agent_thought_chunk", PacketType.AGENT_THOUGHT_CHUNK),
        ("user_message_chunk", PacketType.USER_MESSAGE_CHUNK),
        ("tool_call", PacketType.TOOL_CALL_START),
        ("tool_call_update", PacketType.TOOL_CALL_PROGRESS),
        ("plan", PacketType.AGENT_PLAN_UPDATE),
        ("current_mode_update", PacketType.CURRENT_MODE_UPDATE),
        ("available_commands_update", PacketType.AVAILABLE_COMMANDS_UPDATE),
        ("usage_update", PacketType.USAGE_UPDATE),
    ],
)
def test_without_a_type_the_session_update_decides(update: str, kind: PacketType) -> None:
    assert packet_type({"sessionUpdate": update}) is kind
    assert packet_type({"session_update": update}) is kind
    assert packet_type(msgspec.json.encode({"sessionUpdate": update, "content": {"deep": [1]}})) is kind


@every_row("packet", [{}, {"type": "of_tomorrow"}, {"type": 7}, {"sessionUpdate": "x"}, {"sessionUpdate": []}])
def test_a_packet_of_no_known_type_has_none(packet: dict[str, Any]) -> None:
    assert packet_type(packet) is None
    assert packet_type(msgspec.json.encode(packet)) is None


def test_a_packet_may_be_bytes_or_a_mapping_or_a_struct() -> None:
    raw = prompt_response_packet("end_turn", AT)
    struct = ToolCallProgressPacket(kind="edit", status="completed", title="/p/a.ts", tool_call_id="t")
    assert packet_type(raw) is packet_type(msgspec.json.decode(raw)) is PacketType.PROMPT_RESPONSE
    assert packet_type(struct) is PacketType.TOOL_CALL_PROGRESS
    assert file_path(struct) == "/p/a.ts"


@every_row("raw", [b"", b"[]", b'"x"', b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_packet_is_refused(raw: bytes) -> None:
    with pytest.raises(Invalid, match="not a packet"):
        packet_type(raw)
    with pytest.raises(Invalid, match="not a packet"):
        is_task(raw)


# which tool


@every_row(
    ("name", "kind"),
    [
        ("glob", "search"),
        ("grep", "search"),
        ("read", "read"),
        ("write", "edit"),
        ("edit", "edit"),
        ("bash", "execute"),
        ("task", "task"),
        ("todowrite", "other"),
        ("webfetch", "other"),
        ("websearch", "other"),
        ("apply_patch", "other"),
        ("TodoWrite", "other"),
        ("Bash", "execute"),
        ("something_else", "other"),
        ("", "other"),
    ],
)
def test_a_tool_has_its_kind_by_name(name: str, kind: str) -> None:
    assert tool_kind(name) == kind
    assert tool_kind({"title": name}) == kind


@every_row(
    ("packet", "kind"),
    [
        ({"title": "Look around", "kind": "other", "rawInput": {"subagent_type": "Explore", "prompt": "p"}}, "task"),
        ({"title": "6 todos", "kind": "think", "rawInput": {"todos": []}}, "other"),
        ({"title": "src/a.ts", "kind": "edit"}, "edit"),
        ({"title": "custom", "kind": "fetch"}, "other"),
        ({"title": "custom", "kind": "read"}, "read"),
    ],
)
def test_a_packet_has_the_kind_of_its_tool(packet: dict[str, Any], kind: str) -> None:
    assert tool_kind(packet) == kind


@every_row(
    ("kind", "shown"),
    [
        ("search", "search"),
        ("read", "read"),
        ("execute", "execute"),
        ("edit", "edit"),
        ("other", "other"),
        ("fetch", "other"),
        ("think", "other"),
        ("switch_mode", "other"),
        ("delete", "other"),
        ("move", "other"),
        ("task", "other"),
        ("of_tomorrow", "other"),
    ],
)
def test_packets_know_five_kinds(kind: str, shown: str) -> None:
    assert packet_kind(kind) == shown


@every_row(
    ("tool_input", "kind", "name"),
    [
        ({"subagent_type": "Plan", "command": "x"}, "other", "task"),
        ({"subagentType": "Plan"}, "think", "task"),
        ({"todos": []}, "other", "todowrite"),
        ({"patchText": "*** Begin Patch"}, "edit", "apply_patch"),
        ({"command": "ls"}, "execute", "bash"),
        ({"command": ["ls", "-l"], "cwd": "/"}, "execute", "bash"),
        ({"cmd": "ls"}, "other", "bash"),
        ({"filePath": "/a", "old_string": "", "new_string": "x"}, "edit", "edit"),
        ({"path": "/a", "oldText": "a", "newText": "x"}, "edit", "edit"),
        ({"filePath": "/a", "content": ""}, "edit", "write"),
        ({"file_path": "/a", "content": "x"}, "edit", "write"),
        ({"filePath": "/a"}, "read", "read"),
        ({"filePath": "/a"}, "other", "read"),
        ({"path": "/a"}, "read", "read"),
        ({"pattern": "files/linear/**/*.json"}, "search", "glob"),
        ({"pattern": "*.py", "path": "/src"}, "search", "glob"),
        ({"pattern": "TODO"}, "search", "glob"),
        ({"pattern": "TODO", "path": "/src"}, "search", "grep"),
        ({"pattern": "def .*run"}, "search", "grep"),
        ({"pattern": "TODO", "include": "*.py"}, "search", "grep"),
        ({"url": "https://x"}, "fetch", "webfetch"),
        ({"query": "react hooks"}, "fetch", "websearch"),
    ],
)
def test_a_tool_is_known_by_what_its_input_looks_like(tool_input: dict[str, Any], kind: str, name: str) -> None:
    assert tool_name({"title": "Some words", "kind": kind, "rawInput": tool_input}) == name
    assert tool_name({"title": "Some words", "kind": kind, "raw_input": tool_input}) == name


@every_row(
    ("tool_input", "kind"),
    [
        ({}, "read"),
        ({"path": "/a"}, "edit"),
        ({"path": "/a"}, "other"),
        ({"query": "x"}, "execute"),
        ({"todos": "no list"}, "other"),
    ],
)
def test_an_input_like_no_tools_leaves_the_title(tool_input: dict[str, Any], kind: str) -> None:
    assert tool_name({"title": "Some words", "kind": kind, "rawInput": tool_input}) == "Some words"


@every_row(
    ("packet", "name"),
    [
        ({"toolName": "Bash", "title": "write"}, "bash"),
        ({"tool_name": "my_tool", "rawInput": {"command": "x"}}, "my_tool"),
        ({"_meta": {"toolName": "TodoWrite"}, "title": "Updating todos"}, "todowrite"),
        ({"name": "web-fetch"}, "webfetch"),
        ({"title": "Todo_Write"}, "todowrite"),
        ({}, ""),
    ],
)
def test_a_given_name_comes_first(packet: dict[str, Any], name: str) -> None:
    assert tool_name(packet) == name


@every_row(
    ("packet", "yes"),
    [
        ({"title": "todowrite"}, True),
        ({"title": "TodoWrite"}, True),
        ({"title": "todo_write"}, True),
        ({"title": "6 todos", "rawInput": {"todos": [{"content": "x"}]}}, True),
        ({"title": "6 todos", "raw_input": {"todos": []}}, True),
        ({"title": "6 todos", "rawInput": {"todos": "x"}}, False),
        ({"title": "6 todos"}, False),
        ({"title": None, "rawInput": None}, False),
        ({"rawInput": ["todos"]}, False),
        ({}, False),
    ],
)
def test_a_todo_write_is_known_though_its_title_changes(packet: dict[str, Any], yes: bool) -> None:
    assert is_todo_write(packet) is yes


@every_row(
    ("packet", "yes"),
    [
        ({"title": "task"}, True),
        ({"title": "Task"}, True),
        ({"title": "Explore the code", "rawInput": {"subagent_type": "Explore"}}, True),
        ({"title": "Explore the code", "raw_input": {"subagentType": "Explore"}}, True),
        ({"title": "Explore the code", "rawInput": {"subagent_type": ""}}, False),
        ({"title": "tasks"}, False),
        ({}, False),
    ],
)
def test_a_task_is_known_though_its_title_changes(packet: dict[str, Any], yes: bool) -> None:
    assert is_task(packet) is yes


# which file


@every_row(
    ("packet", "new"),
    [
        (edit(content=[diff("")]), True),
        (edit(content=[diff(None)]), True),
        (edit(content=[{"type": "diff", "path": "/a", "newText": "x"}]), True),
        (edit(content=[{"type": "content"}, diff("old"), diff("")]), False),
        (edit(content=[{"type": "content"}]), None),
        (edit(content=None), None),
        (edit(content="text"), None),
        (edit(content=["junk", 3]), None),
        (edit(kind="other", content=[diff("")]), None),
    ],
)
def test_an_empty_old_text_means_a_new_file(packet: dict[str, Any], new: bool | None) -> None:
    assert is_new_file(packet) is new


@every_row(
    ("packet", "title"),
    [
        (edit(content=[diff("")]), "Writing file"),
        (edit(content=[diff("const x = 1;")]), "Editing file"),
        (edit(title="write"), "Writing file"),
        (edit(title="edit"), "Editing file"),
        (edit(title="/a", rawInput={"filePath": "/a", "content": "x"}), "Writing file"),
        ({"kind": "execute", "title": "bash"}, "bash"),
        ({"kind": "other"}, ""),
    ],
)
def test_edits_are_shown_as_writing_or_editing(packet: dict[str, Any], title: str) -> None:
    assert display_title(packet) == title


@every_row(
    ("packet", "path"),
    [
        (edit(rawInput={"file_path": "/p/1", "filePath": "/p/2", "path": "/p/3"}), "/p/1"),
        (edit(rawInput={"filePath": "/p/2", "path": "/p/3"}), "/p/2"),
        (edit(rawInput={"path": "/p/3"}, content=[diff("", "/p/4")]), "/p/3"),
        (edit(raw_input={"path": "/p/3"}), "/p/3"),
        (edit(rawInput={}, content=[{"type": "content"}, diff("", "/p/4"), diff("", "/p/5")], title="/p/6"), "/p/4"),
        (edit(title="path/to/file.tsx"), "path/to/file.tsx"),
        (edit(title="edit"), ""),
        (edit(title=None, rawInput={"path": 7}), ""),
    ],
)
def test_the_file_of_an_edit_is_found_in_order(packet: dict[str, Any], path: str) -> None:
    assert file_path(packet) == path


@every_row(
    ("path", "root", "seen"),
    [
        ("/home/me/p/src/a.ts", "/home/me/p", "src/a.ts"),
        ("/home/me/p/src/a.ts", "/home/me/p/", "src/a.ts"),
        ("/home/me/p", "/home/me/p", "."),
        ("/home/me/project/a", "/home/me/p", "/home/me/project/a"),
        ("/elsewhere/a", "/home/me/p", "/elsewhere/a"),
        ("src/a.ts", "/home/me/p", "src/a.ts"),
        ("/a", "", "/a"),
        ("", "/p", ""),
    ],
)
def test_a_path_is_relative_to_the_root_it_is_in(path: str, root: str, seen: str) -> None:
    assert relative_path(path, root) == seen
    assert file_path(edit(rawInput={"filePath": path}, title=""), root) == seen


@given(st.dictionaries(st.sampled_from("type title kind content rawInput raw_input _meta name".split()), json_values))
def test_no_packet_breaks_a_question_about_it(packet: dict[str, Any]) -> None:
    for ask in (packet_type, tool_name, tool_kind, is_todo_write, is_task, is_new_file, display_title, file_path):
        answer = ask(packet)
        assert answer is None or isinstance(answer, str | bool)
        assert answer == ask(msgspec.json.encode(packet))


@every_row("raw", [
    b'{"type":"\xff"}', b'{"\xff":1,"type":"\xff"}', b"\xff", b'{"type":"\\ud800"}', b"[" * 100_000, b'{"type":1e400}'])
@every_row("look", [packet_type, tool_name, display_title, file_path, is_task, tool_kind])
def test_bytes_that_are_no_packet_are_refused_whatever_is_wrong_with_them(look: Any, raw: bytes) -> None:
    with pytest.raises(Invalid, match="not a packet"):
        look(raw)
