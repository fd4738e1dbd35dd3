"""Seed 000, the reference of packet types, held against ``trunkline.dialects.packets``, item by item."""

from __future__ import annotations

import json
from typing import Any, get_args

import msgspec
import pytest

from tests.spec import seeds, shapes
from tests.spec.shapes import AT, STAMP, packet, told, unstamped
from trunkline.dialects.acp.calls import merge_call
from trunkline.dialects.acp.reading.decode import decode_update
from trunkline.dialects.acp.updates import PlanEntry, ToolCallUpdate
from trunkline.dialects.packets.derive import plan_of_todos, plan_packet, progress_packet, start_packet, text_chunk_packet
from trunkline.dialects.packets.detect import (
    display_title,
    file_path,
    is_new_file,
    is_task,
    is_todo_write,
    packet_type,
    tool_kind,
)
from trunkline.dialects.packets.notices import artifact_packet, error_packet, prompt_response_packet
from trunkline.dialects.packets.shapes import ArtifactInfo, PacketType
from trunkline.dialects.packets.tools import tool_input, tool_output
from trunkline.dialects.signals import StopReason

TITLES = "000/known-quirks-detection-strategies/title-field-changes-on-completion"
DETECTION = "000/known-quirks-detection-strategies/tool-detection-functions"
PATHS = "000/known-quirks-detection-strategies/field-path-extraction-for-edit-packets"



def announced(title: str, kind: str, id: str = "e1") -> dict[str, Any]:
    return {"sessionUpdate": "tool_call", "toolCallId": id, "title": title, "kind": kind, "status": "pending"}


GLOB = announced("glob", "search", "toolu_01JQPzZLN1GkctYVgpaaxD8X")
TODOS = announced("todowrite", "other", "toolu_01RcpWgYMMtMch3XPebkLwcp")
EDIT = announced("edit", "edit")


def update(**fields: Any) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call_update", "toolCallId": "e1", **fields}


def diff(old: str | None, new: str = "const y = 3;", path: str = "/path/to/file.ts") -> dict[str, Any]:
    return {"type": "diff", "path": path, "oldText": old, "newText": new}


def said(text: str) -> dict[str, Any]:
    return {"type": "content", "content": {"type": "text", "text": text}}


def chunk(text: str) -> bytes:
    return text_chunk_packet("agent_message_chunk", json.dumps(text).encode(), AT)


# --- the document ----------------------------------------------------------------------------------------


def test_every_packet_type_of_the_reference_is_known() -> None:
    headings = [seeds.item(f"000/{number}").text for number in range(1, 8)]
    named = [text.partition(" ")[2] for text in headings]
    assert [PacketType(name).value for name in named] == named


# --- 1. agent_message_chunk ------------------------------------------------------------------------------


def test_message_chunks_concatenate_to_what_the_agent_said() -> None:
    pieces = ["I'll help ", "you \"create\"", "\n- a ", "list ✓"]
    assert "".join(packet(chunk(piece))["content"]["text"] for piece in pieces) == "".join(pieces)


def test_a_message_chunk_fits_its_interface() -> None:
    shapes.fits(packet(chunk("Hi")), *shapes.interface("000/1/code:1", "AgentMessageChunkPacket"))


def test_a_message_chunk_is_its_example() -> None:
    example = seeds.example("000/1/code:2")
    assert unstamped(chunk("I'll help you create")) == example


# --- 2. tool_call_start ----------------------------------------------------------------------------------


def test_a_start_packet_shows_no_input_and_no_result_however_much_is_known() -> None:
    known = {"status": "completed", "rawInput": {"pattern": "*"}, "rawOutput": {"output": "a"}, "content": [said("a")]}
    start = packet(start_packet(told(GLOB | known | {"locations": [{"path": "/a"}]}), AT))
    empty: dict[str, Any] = {"status": "pending", "rawInput": {}, "rawOutput": None, "content": None, "locations": []}
    assert {name: start[name] for name in empty} == empty


def test_a_start_packet_fits_its_interface() -> None:
    shapes.fits(packet(start_packet(told(GLOB), AT)), *shapes.interface("000/2/code:1", "ToolCallStartPacket"))


def test_the_start_of_a_glob_is_its_example() -> None:
    started = unstamped(start_packet(told(GLOB), AT))
    assert started.pop("type") == "tool_call_start"
    assert started == seeds.example("000/2/code:2")


def test_the_start_of_a_todo_write_is_its_example() -> None:
    started = unstamped(start_packet(told(TODOS), AT))
    assert started.pop("type") == "tool_call_start"
    assert started == seeds.example("000/2/code:3")


# --- 3. tool_call_progress -------------------------------------------------------------------------------


def test_a_progress_packet_carries_the_whole_call_though_the_update_carried_one_field() -> None:
    running = update(rawInput={"filePath": "/a", "content": "x"}, status="in_progress")
    call = told(EDIT, running, update(content=[said("Wrote")]), update(status="completed"))
    progress = packet(progress_packet(call, AT))
    assert progress["rawInput"] == {"filePath": "/a", "content": "x"}
    assert progress["content"][0]["content"]["text"] == "Wrote"
    assert progress["status"] == "completed"


def test_a_progress_packet_fits_its_interface() -> None:
    call = told(EDIT, update(status="in_progress", rawInput={"filePath": "/a"}, locations=[{"path": "/a", "line": 3}]))
    progress = packet(progress_packet(call, AT))
    shapes.fits(progress, *shapes.interface("000/3/code:1", "ToolCallProgressPacket"))
    assert progress["timestamp"] == STAMP


# --- 3.1 inputs ------------------------------------------------------------------------------------------


def test_a_raw_input_passes_unchanged() -> None:
    odd = '{"filePath":"/a","big":12345678901234567890,"n":1.0,"esc":"\\u00e9","extra":[null,{"deep":true}]}'
    progress = progress_packet(told(EDIT, update(status="in_progress")), AT)
    assert b'"rawInput":{}' in progress
    raw = decode_update(('{"sessionUpdate":"tool_call_update","toolCallId":"e1","rawInput":' + odd + "}").encode())
    assert isinstance(raw, ToolCallUpdate)
    call = told(EDIT)
    merge_call(call, raw)
    assert odd.encode() in progress_packet(call, AT)


INPUTS = {
    "glob": ("000/3.1/code:1", "GlobInput"),
    "grep": ("000/3.1/code:1", "GrepInput"),
    "read": ("000/3.1/code:2", "ReadInput"),
    "write": ("000/3.1/code:3", "WriteInput"),
    "edit": ("000/3.1/code:3", "EditInput"),
    "bash": ("000/3.1/code:4", "BashInput"),
    "task": ("000/3.1/code:5", "TaskInput"),
    "todowrite": ("000/3.1/code:6", "TodoWriteInput"),
}


def reads_its_input(tool: str) -> None:
    """The tool's input, written as the seed's interface says, is read as that type and written back the same."""
    id, name = INPUTS[tool]
    fields, names = shapes.interface(id, name)
    for optional in (True, False):
        given = shapes.sample(fields, names, optional=optional)
        read = tool_input({"title": tool, "kind": "other", "rawInput": given})
        assert type(read).__name__ == name
        assert json.loads(msgspec.json.encode(read)) == given


def test_the_inputs_of_the_search_tools_are_read() -> None:
    reads_its_input("glob")
    reads_its_input("grep")


def test_the_input_of_read_is_read() -> None:
    reads_its_input("read")


def test_the_inputs_of_write_and_edit_are_read() -> None:
    reads_its_input("write")
    reads_its_input("edit")


def test_the_input_of_bash_is_read() -> None:
    reads_its_input("bash")


def test_the_input_of_a_task_is_read() -> None:
    reads_its_input("task")


def test_the_input_of_a_todo_write_is_read() -> None:
    reads_its_input("todowrite")
    fields, _ = shapes.interface("000/3.1/code:6", "TodoItem")
    assert seeds.literals(fields["status"].type) == ["pending", "in_progress", "completed"]


# --- 3.2 outputs -----------------------------------------------------------------------------------------


def test_a_raw_output_passes_unchanged() -> None:
    call = told(EDIT, update(status="completed", rawOutput={"output": "x", "metadata": {"unheard": [1, {"of": None}]}}))
    assert packet(progress_packet(call, AT))["rawOutput"] == {"output": "x", "metadata": {"unheard": [1, {"of": None}]}}


def reads_its_output(tool: str, id: str, name: str) -> None:
    """The tool's output, written as the seed's interface says, is read as that type and written back the same."""
    fields, names = shapes.interface(id, name)
    if "TodoItem" in str(fields):
        names |= seeds.interfaces(seeds.code("000/3.1/code:6"))
    given = shapes.sample(fields, names)
    read = tool_output({"title": tool, "kind": "other", "rawOutput": given})
    assert type(read).__name__ == name
    assert json.loads(msgspec.json.encode(read)) == given


def test_the_output_of_the_search_tools_is_read() -> None:
    reads_its_output("glob", "000/3.2/code:1", "SearchOutput")
    reads_its_output("grep", "000/3.2/code:1", "SearchOutput")


def test_the_output_of_read_is_read() -> None:
    reads_its_output("read", "000/3.2/code:2", "ReadOutput")


def test_the_output_of_bash_is_read() -> None:
    reads_its_output("bash", "000/3.2/code:3", "BashOutput")


def test_the_output_of_write_is_read() -> None:
    reads_its_output("write", "000/3.2/code:4", "WriteOutput")


def test_the_output_of_a_todo_write_is_read() -> None:
    reads_its_output("todowrite", "000/3.2/code:5", "TodoWriteOutput")


# --- 3.3 content -----------------------------------------------------------------------------------------


def shown(*content: dict[str, Any]) -> dict[str, Any]:
    """The ``content`` of the packet of a completed call, as the examples write it."""
    call = told(EDIT, update(status="completed", content=list(content)))
    return {"content": packet(progress_packet(call, AT))["content"]}


def test_content_keeps_its_items_in_order_and_in_full_form() -> None:
    items = shown(said("one"), diff("old"), {"type": "terminal", "terminalId": "t"})["content"]
    assert [item["type"] for item in items] == ["content", "diff", "terminal"]
    assert all(item["_meta"] is None for item in items)


def test_content_items_fit_their_interface() -> None:
    fields, names = shapes.interface("000/3.3/code:1", "ContentItem")
    for item in shown(said("text"), diff("old"))["content"]:
        shapes.fits(item, fields, names, allowed=())


def test_the_content_of_a_read_is_its_example() -> None:
    assert shown(said("<file>\n00001| {content}\n...\n</file>")) == seeds.example("000/3.3/code:2")


def test_the_content_of_a_new_file_is_its_example() -> None:
    assert shown(said("Wrote file successfully."), diff(None, "// new file content...")) == seeds.example("000/3.3/code:3")


def test_the_content_of_an_edit_is_its_example() -> None:
    edited = diff("const x = 1;", "const x = 2;\nconst y = 3;")
    assert shown(said("Wrote file successfully."), edited) == seeds.example("000/3.3/code:4")


# --- 3.4 write or edit -----------------------------------------------------------------------------------


def test_write_and_edit_are_both_of_kind_edit_and_their_completed_title_is_the_path() -> None:
    for name, old in (("write", ""), ("edit", "x")):
        wrote = update(status="completed", rawInput={"filePath": "/path/to/file.ts"}, content=[diff(old)])
        done = packet(progress_packet(told(announced(name, "edit"), wrote), AT))
        assert (done["kind"], done["title"]) == ("edit", "/path/to/file.ts")
        assert is_new_file(done) is (old == "")
    assert is_new_file({"kind": "other", "content": [diff("")]}) is None, "kind and oldText must both be looked at"


@pytest.mark.parametrize(("row", "old"), [("empty", ""), ("non-empty", "const x = 1;")], ids=["empty", "non-empty"])
def test_the_old_text_tells_a_new_file_from_an_edit(row: str, old: str) -> None:
    _, operation, title = seeds.item(f"000/3.4/row:{row}").cells
    call = told(EDIT, update(status="completed", content=[diff(old)]))
    done = packet(progress_packet(call, AT))
    assert is_new_file(done) is (operation == "New file")
    assert display_title(done) == title.strip('"')


def test_a_new_file_is_detected_as_the_seed_detects_it() -> None:
    assert is_new_file({"kind": "read", "content": [diff("")]}) is None
    assert is_new_file({"kind": "edit"}) is None
    assert is_new_file({"kind": "edit", "content": "none"}) is None
    assert is_new_file({"kind": "edit", "content": [said("no diff")]}) is None
    assert is_new_file({"kind": "edit", "content": [said("x"), diff(""), diff("old")]}) is True
    assert is_new_file({"kind": "edit", "content": [diff("old"), diff("")]}) is False


# --- 3.5 locations ---------------------------------------------------------------------------------------


def test_locations_are_an_array_of_files() -> None:
    call = told(EDIT, update(status="completed", locations=[{"path": "/a"}, {"path": "/b", "line": 7}]))
    assert [place["path"] for place in packet(progress_packet(call, AT))["locations"]] == ["/a", "/b"]


def test_a_location_fits_its_interface() -> None:
    fields, names = shapes.interface("000/3.5/code:1", "LocationInfo")
    call = told(EDIT, update(status="completed", locations=[{"path": "/a"}, {"path": "/b", "line": 7}]))
    first, second = packet(progress_packet(call, AT))["locations"]
    shapes.fits(first, fields, names, allowed=())
    shapes.fits(second, fields, names, allowed=())
    assert (first["line"], second["line"]) == (None, 7)


# --- 4. agent_plan_update --------------------------------------------------------------------------------

STEPS = [
    PlanEntry(content="Create prepare.sh script", priority="medium", status="completed"),
    PlanEntry(content="Build dashboard page", priority="medium", status="in_progress"),
]


def test_a_todo_write_gives_a_plan_beside_its_tool_call() -> None:
    todos = {"todos": [{"content": "Create prepare.sh script", "status": "completed", "activeForm": "Creating"},
                       {"content": "Build dashboard page", "status": "in_progress", "activeForm": "Building"}]}
    entries = plan_of_todos(json.dumps(todos).encode())
    assert entries is not None
    assert [(entry.content, entry.status) for entry in entries] == [(step.content, step.status) for step in STEPS]


def test_a_plan_fits_its_interface() -> None:
    shapes.fits(packet(plan_packet(STEPS, AT)), *shapes.interface("000/4/code:1", "AgentPlanUpdatePacket"))


def test_a_plan_is_its_example() -> None:
    assert packet(plan_packet(STEPS, AT)) == seeds.example("000/4/code:2")


# --- 5. prompt_response ----------------------------------------------------------------------------------


def test_every_stop_reason_the_protocol_has_ends_a_turn_by_its_true_name() -> None:
    for stop in get_args(StopReason):
        assert packet(prompt_response_packet(stop, AT))["stopReason"] == stop


def test_a_prompt_response_fits_its_interface() -> None:
    shapes.fits(packet(prompt_response_packet("end_turn", AT)), *shapes.interface("000/5/code:1", "PromptResponsePacket"))


def test_a_prompt_response_is_its_example() -> None:
    assert unstamped(prompt_response_packet("end_turn", AT)) == seeds.example("000/5/code:2")


# --- 6. error --------------------------------------------------------------------------------------------


def test_an_error_says_what_failed_and_keeps_its_string_code_in_the_details() -> None:
    failed = packet(error_packet("The agent exited", AT, None, {"code": "agent_exited"}))
    assert (failed["message"], failed["details"]) == ("The agent exited", {"code": "agent_exited"})


def test_an_error_has_the_fields_of_its_interface() -> None:
    fields, _ = shapes.interface("000/6/code:1", "ErrorPacket")
    failed = packet(error_packet("no", AT, None, None))
    assert {name for name, field in fields.items() if not field.optional} <= failed.keys()
    assert packet_type({"type": "error", "message": "no", "code": "a_string"}) is PacketType.ERROR


# --- 7. artifact_created ---------------------------------------------------------------------------------


def artifact(kind: Any) -> dict[str, Any]:
    info = ArtifactInfo(id="art_1", type=kind, name="page.html", path="out/page.html", preview_url=None)
    return packet(artifact_packet(info, AT))


def test_an_artifact_packet_exists_for_every_artifact_type() -> None:
    kinds = seeds.literals(seeds.code("000/7/code:1").partition("type ArtifactType")[2])
    assert [artifact(kind)["artifact"]["type"] for kind in kinds] == ["file", "image", "nextjs_app", "web_app"]


def test_an_artifact_packet_fits_its_interface() -> None:
    fields, names = shapes.interface("000/7/code:1", "ArtifactCreatedPacket")
    shapes.fits(artifact("web_app"), fields, names)


# --- the rules after the packets -------------------------------------------------------------------------


def test_the_packet_type_is_told_by_type_then_by_session_update() -> None:
    assert packet_type({"type": "prompt_response", "sessionUpdate": "plan"}) is PacketType.PROMPT_RESPONSE
    by_update = {
        "agent_message_chunk": PacketType.AGENT_MESSAGE_CHUNK,
        "tool_call": PacketType.TOOL_CALL_START,
        "tool_call_update": PacketType.TOOL_CALL_PROGRESS,
        "plan": PacketType.AGENT_PLAN_UPDATE,
    }
    assert {name: packet_type({"sessionUpdate": name}) for name in by_update} == by_update
    assert packet_type({"sessionUpdate": "unheard_of"}) is None


TOOLS = [tool for tool, *_ in seeds.rows("000/tool-name-to-kind-mapping")]


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_has_the_kind_of_its_row(tool: str) -> None:
    kind = seeds.item(f"000/tool-name-to-kind-mapping/row:{tool}").cells[1].rstrip("*")
    assert tool_kind(tool) == kind
    assert tool_kind({"title": tool, "kind": "other"}) == kind


def test_a_task_is_told_by_its_name_and_no_packet_has_the_kind_task() -> None:
    call = told(announced("task", "think"))
    for made in (start_packet(call, AT), progress_packet(call, AT)):
        assert packet(made)["kind"] == "other"
        assert tool_kind(packet(made)) == "task"


# --- known quirks ----------------------------------------------------------------------------------------


def test_a_tool_is_known_by_its_input_when_its_title_has_changed() -> None:
    assert tool_kind({"title": "6 todos", "kind": "other", "rawInput": {"todos": []}}) == "other"
    assert is_todo_write({"title": "6 todos", "rawInput": {"todos": []}})
    assert is_task({"title": "Look around", "rawInput": {"subagent_type": "Explore"}})
    assert tool_kind({"title": "path/to/file.tsx", "kind": "edit"}) == "edit"


def titles(name: str, kind: str, raw_input: dict[str, Any]) -> tuple[str, str]:
    """The title of a call's start packet, and of its packet when it is completed."""
    start = start_packet(told(announced(name, kind)), AT)
    done = progress_packet(told(announced(name, kind), update(rawInput=raw_input, status="completed")), AT)
    return packet(start)["title"], packet(done)["title"]


def test_the_title_of_a_todo_write_becomes_a_count() -> None:
    _, start, done = seeds.item(f"{TITLES}/row:todowrite").cells
    todos = [{"content": str(n), "status": "pending", "activeForm": ""} for n in range(6)]
    expected = start.strip('`"'), done.partition("`")[2].partition("`")[0].strip('"')
    assert titles("todowrite", "other", {"todos": todos}) == expected == ("todowrite", "6 todos")


def test_the_title_of_an_edit_becomes_its_path() -> None:
    _, start, done = seeds.item(f"{TITLES}/row:edit-write").cells
    assert ('"edit"' in start, '"write"' in start, '"path/to/file.tsx"' in done) == (True, True, True)
    for name in ("edit", "write"):
        assert titles(name, "edit", {"filePath": "path/to/file.tsx"}) == (name, "path/to/file.tsx")


def test_todo_writes_and_tasks_are_detected_as_the_seed_detects_them() -> None:
    code = seeds.code(f"{DETECTION}/code:1")
    assert "isTodoWriteTool" in code and "isTaskTool" in code
    for title in ("todowrite", "TodoWrite", "todo_write", "TODO_WRITE"):
        assert is_todo_write({"title": title})
    assert is_todo_write({"title": "x", "raw_input": {"todos": [{}]}})
    assert not is_todo_write({"title": "x", "rawInput": {"todos": "not a list"}})
    assert not is_todo_write({"title": "x"})
    assert is_task({"title": "Task"})
    assert is_task({"title": "x", "rawInput": {"subagentType": "Plan"}})
    assert is_task({"title": "x", "raw_input": {"subagent_type": "Plan"}})
    assert not is_task({"title": "multitask", "rawInput": {"prompt": "x"}})


def test_the_path_of_an_edit_is_looked_for_in_the_order_of_the_list() -> None:
    everywhere = {"kind": "edit", "title": "title/c", "rawInput": {"filePath": "input/a"}, "content": [diff("", path="diff/b")]}
    assert file_path(everywhere) == "input/a"
    assert file_path(everywhere | {"rawInput": {}}) == "diff/b"
    assert file_path(everywhere | {"rawInput": {}, "content": None}) == "title/c"


def test_the_path_of_an_edit_is_found_as_the_seed_finds_it() -> None:
    assert "getRelativePath" in seeds.code(f"{PATHS}/code:1")
    for key in ("file_path", "filePath", "path"):
        assert file_path({"raw_input": {key: "/home/me/app/a.ts"}}, root="/home/me/app") == "a.ts"
    assert file_path({"rawInput": {"filePath": "/elsewhere/a.ts"}}, root="/home/me/app") == "/elsewhere/a.ts"
    assert file_path({"content": [said("x"), diff("", path="/home/me/app/b.ts")]}, root="/home/me/app") == "b.ts"
    assert file_path({"title": "no path here"}) == ""
