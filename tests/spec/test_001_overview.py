"""Seed 001, the overview of packet types, held against ``trunkline.dialects.packets`` and the packets face, item by item.

What the seed says about rendering is the page's: ``tests/page/test_frontend_rules.py``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.spec import seeds, shapes
from tests.spec.served import served
from tests.spec.shapes import AT, STAMP, contains, packet, told, told_like, unstamped
from trunkline import errors
from trunkline.dialects.packets.derive import progress_packet, start_packet, text_chunk_packet
from trunkline.dialects.packets.detect import packet_type
from trunkline.dialects.packets.notices import error_packet, prompt_response_packet
from trunkline.dialects.packets.shapes import PACKETS, PacketType
from trunkline.dialects.packets.tools import ApplyPatchOutput, OtherOutput, tool_input, tool_output
from trunkline.feeds.session import packet_frame

DETAILS = "001/3/tool-specific-details"
EXAMPLES = "001/3/examples"

BASH = {"sessionUpdate": "tool_call", "toolCallId": "call_2xQlLvWCPjteq7lHJSqBC76p", "title": "bash", "kind": "execute"}


def chunk(text: str) -> bytes:
    return text_chunk_packet("agent_message_chunk", json.dumps(text).encode(), AT)


def update(**fields: Any) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call_update", "toolCallId": BASH["toolCallId"], **fields}


def progress(*updates: dict[str, Any]) -> dict[str, Any]:
    return packet(progress_packet(told(BASH, *updates), AT))


MADE = {
    "agent_message_chunk": chunk("Hi"),
    "tool_call_start": start_packet(told(BASH), AT),
    "tool_call_progress": progress_packet(told(BASH, update(status="in_progress")), AT),
    "prompt_response": prompt_response_packet("end_turn", AT),
    "error": error_packet("Session not found", AT, None, None),
}


# --- the document --------------------------------------------------------------------------------------


def test_a_turn_streams_its_packets_from_send_message(tmp_path: Path) -> None:
    with served(tmp_path) as hub:
        frames = list(hub.turn(hub.session(tmp_path), "/burst 3 5"))
    assert {frame["event"] for frame in frames} == {"message"}
    types = [json.loads(frame["data"])["type"] for frame in frames]
    # The agent lists its commands soon after it starts: before this turn, or into it.
    turns = [name for name in types if name != "available_commands_update"]
    assert turns == ["user_message_chunk", *["agent_message_chunk"] * 3, "prompt_response"]
    ids = [int(frame["id"]) for frame in frames]
    assert ids == sorted(set(ids))


# --- delivery --------------------------------------------------------------------------------------------


def test_every_packet_has_a_type_and_an_iso_8601_timestamp() -> None:
    for name, made in MADE.items():
        assert (packet(made)["type"], packet(made)["timestamp"]) == (name, STAMP)


def test_a_packet_is_framed_as_an_event_named_message_with_its_json_as_data() -> None:
    event, data = seeds.code("001/packet-delivery-format/code:1").splitlines()
    lines = packet_frame(7, chunk("two\nlines")).decode().splitlines()
    assert lines[0] == event == "event: message"
    assert data.startswith("data: {")
    assert json.loads(lines[2].removeprefix("data: "))["content"]["text"] == "two\nlines"
    assert (lines[1], lines[3:]) == ("id: 7", [""])


@pytest.mark.parametrize("name", [name for name, *_ in seeds.rows("001/packet-types-summary")])
def test_a_packet_type_of_the_summary_is_made_and_recognised(name: str) -> None:
    assert packet_type(packet(MADE[name])) is PacketType(name)
    assert msgspec.json.decode(MADE[name], type=PACKETS[PacketType(name)])


# --- 1. agent_message_chunk ------------------------------------------------------------------------------


def test_an_answer_arrives_as_many_chunks_and_none_is_merged() -> None:
    tokens = ["I", "'ll", " help"]
    assert [packet(chunk(token))["content"]["text"] for token in tokens] == tokens


def test_a_message_chunk_fits_its_structure() -> None:
    value = packet(chunk("Hi"))
    value["content"].pop("_meta")  # 000 has it in the content, 001 has not; we write it
    shapes.fits(value, *shapes.interface("001/1/structure/code:1", "AgentMessageChunk"))


def test_a_message_chunk_says_all_of_its_example() -> None:
    assert contains(packet(chunk("I'll help you ")), seeds.example("001/1/example/code:1"))


# --- 2. tool_call_start ----------------------------------------------------------------------------------


def test_a_start_packet_comes_before_the_tool_runs_and_says_pending() -> None:
    early = packet(start_packet(told(BASH), AT))
    late = packet(start_packet(told(BASH, update(status="in_progress", rawInput={"command": "ls"})), AT))
    assert early["status"] == late["status"] == "pending"


def test_a_start_packet_fits_its_structure() -> None:
    shapes.fits(packet(MADE["tool_call_start"]), *shapes.interface("001/2/structure/code:1", "ToolCallStart"))


def test_the_three_tool_kinds_of_the_list_are_told() -> None:
    def kind(title: str, kind: str, raw_input: dict[str, Any]) -> str:
        call = told(BASH | {"title": title, "kind": kind}, update(rawInput=raw_input))
        return str(packet(progress_packet(call, AT))["kind"])

    assert kind("bash", "execute", {"command": "ls"}) == "execute"
    assert kind("read", "read", {"filePath": "/a"}) == "read"
    assert kind("apply_patch", "edit", {"patchText": "*** Begin Patch"}) == "other"


def test_a_start_packet_is_its_example() -> None:
    assert unstamped(MADE["tool_call_start"]) == seeds.example("001/2/example/code:1")


# --- 3. tool_call_progress -------------------------------------------------------------------------------


def test_a_call_may_have_many_progress_packets_each_with_the_state_so_far() -> None:
    call = told(BASH)
    statuses = []
    for status in ("pending", "in_progress", "in_progress", "completed"):
        call = told(BASH, update(status=status, rawInput={"command": "ls"}))
        statuses.append(packet(progress_packet(call, AT))["status"])
    assert statuses == ["pending", "in_progress", "in_progress", "completed"]


def test_a_progress_packet_fits_its_structure() -> None:
    fields, names = shapes.interface("001/3/structure/code:1", "ToolCallProgress")
    value = progress(update(status="failed", rawInput={"command": "ls"}, locations=[{"path": "/a"}]))
    shapes.fits(value, fields, names)
    statuses = re.search(r"type ToolStatus = (.*);", seeds.code("001/3/structure/code:1"))
    assert statuses and seeds.literals(statuses[1]) == ["pending", "in_progress", "completed", "failed"]


def test_a_call_progresses_through_its_statuses_and_never_back() -> None:
    call = told(BASH, update(status="in_progress", rawInput={"command": "ls"}), update(status="pending"))
    assert call.status == "in_progress"
    done = progress(update(status="completed", rawOutput={"output": "a"}), update(status="in_progress"))
    assert (done["status"], done["rawOutput"]["output"]) == ("completed", "a")
    failed = progress(update(status="failed", rawOutput={"error": "no"}))
    assert (failed["status"], failed["rawOutput"]) == ("failed", {"error": "no"})
    assert progress(update(status="in_progress"))["rawOutput"] is None


def reads(id: str, tool: str, input_name: str, output_name: str) -> None:
    """Input and output, written as the seed's interfaces say, are read as those tools' types with every value kept."""
    names = seeds.interfaces(seeds.code(id))
    given, got = shapes.sample(names[input_name], names), shapes.sample(names[output_name], names)
    value = {"title": tool, "kind": "other", "rawInput": given, "rawOutput": got}
    assert json.loads(msgspec.json.encode(tool_input(value))) == given
    output = tool_output(value)
    assert not isinstance(output, OtherOutput)
    assert json.loads(msgspec.json.encode(output)) == got


def test_what_bash_takes_and_gives_is_read() -> None:
    reads(f"{DETAILS}/bash-tool-kind-execute/code:1", "bash", "BashInput", "BashOutput")


def test_a_read_packet_shows_the_file_with_line_numbers_and_its_location() -> None:
    text = "<file>\n00001| import Image\n</file>"
    content = [{"type": "content", "content": {"type": "text", "text": text}}]
    places = [{"path": "/path/to/file.tsx"}]
    value = progress(update(status="completed", kind="read", title="read", content=content, locations=places))
    assert value["content"][0]["content"]["text"] == text
    assert value["locations"] == [{"_meta": None, "path": "/path/to/file.tsx", "line": None}]


def test_what_read_takes_and_gives_is_read() -> None:
    reads(f"{DETAILS}/read-tool-kind-read/code:1", "read", "ReadInput", "ReadOutput")


def test_what_apply_patch_takes_and_gives_is_read() -> None:
    id = f"{DETAILS}/apply-patch-tool-kind-other/code:1"
    reads(id, "apply_patch", "PatchInput", "PatchOutput")
    change = shapes.sample(seeds.interfaces(seeds.code(id))["FileChange"], {})
    output = tool_output({"title": "apply_patch", "rawOutput": {"output": "Success", "metadata": {"files": [change]}}})
    assert isinstance(output, ApplyPatchOutput)
    assert output.metadata is not msgspec.UNSET
    assert output.metadata.files[0].relative_path == "some relativePath"


@pytest.mark.parametrize("name", [
    "bash-in-progress", "bash-completed", "read-file-completed", "apply-patch-completed-file-update",
    "apply-patch-completed-new-file", "tool-failed-user-rejected",
])
def test_a_progress_packet_says_all_of_its_example(name: str) -> None:
    example = seeds.example(f"{EXAMPLES}/{name}/code:1")
    made = packet(progress_packet(told_like(example), AT))
    empty = {key: value for key, value in example.items() if key == "locations" and not value}
    assert contains(made, {key: value for key, value in example.items() if key not in empty})
    assert not made["locations"] or not empty, "null and [] both say that there is no place"
    assert packet_type(example) is PacketType.TOOL_CALL_PROGRESS


# --- 4. prompt_response ----------------------------------------------------------------------------------


def test_a_prompt_response_carries_nothing_but_why_the_turn_ended() -> None:
    assert packet(MADE["prompt_response"]).keys() == {"_meta", "stopReason", "type", "timestamp"}


def test_a_prompt_response_fits_its_structure() -> None:
    shapes.fits(packet(MADE["prompt_response"]), *shapes.interface("001/4/structure/code:1", "PromptResponse"))


def test_a_prompt_response_is_its_example() -> None:
    assert unstamped(MADE["prompt_response"]) == seeds.example("001/4/example/code:1")


# --- 5. error --------------------------------------------------------------------------------------------


def test_an_error_comes_from_the_agent_with_its_number_or_from_the_hub_with_none() -> None:
    agents = packet(error_packet("Internal error", AT, -32603, {"code": "agent_error"}))
    ours = packet(error_packet("The disk is full", AT, None, {"code": "storage_error"}))
    assert (agents["code"], ours["code"]) == (-32603, None)


def test_an_error_fits_its_structure() -> None:
    fields, names = shapes.interface("001/5/structure/code:1", "ErrorPacket")
    shapes.fits(packet(MADE["error"]), fields, names, allowed=())
    shapes.fits(packet(error_packet("x", AT, -32603, {"code": "agent_error", "stderr": "…"})), fields, names, allowed=())


def test_the_common_errors_have_codes() -> None:
    common = {
        "Session not found": errors.SessionNotFound,
        "Sandbox not running": errors.AgentNotRunning,
        "Database errors": errors.StorageError,
        "Agent execution errors": errors.AgentError,
    }
    codes = [kind.code for kind in common.values()]
    assert codes == ["session_not_found", "agent_not_running", "storage_error", "agent_error"]
    text = next(seeds.FOLDER.glob("001_*.md")).read_text(encoding="utf-8")
    listed = text.partition("### Common Error Types\n")[2].partition("\n#")[0]
    assert [line.removeprefix("- ") for line in listed.splitlines() if line] == list(common)


def test_session_not_found_is_its_example() -> None:
    example = seeds.example("001/5/example/code:1")
    made = packet(MADE["error"])
    assert made | {"timestamp": example["timestamp"]} == example
    assert list(made) == list(example)


# --- frontend implementation notes -----------------------------------------------------------------------


def test_a_call_moves_as_the_state_machine_says() -> None:
    first, second = seeds.code("001/frontend-implementation-notes/tool-call-state-machine/code:1").splitlines()
    path = [state.strip() for state in first.split("→")]
    assert path == ["pending", "in_progress", "completed"] and second.split("→")[1].strip() == "failed"
    for end in ("completed", "failed"):
        call = told(BASH)
        seen = [call.status]
        for status in ("in_progress", end, "in_progress", "pending"):
            call = told(BASH, *[update(status=s) for s in (*seen[1:], status)])
            seen.append(call.status)
        assert seen == ["pending", "in_progress", end, end, end]
