"""Outputs that a program can use: commands, searches, pages."""

from __future__ import annotations

from typing import Any

import pytest

from tests.session.interpret.call_builders import ask, call, listening, made, more, only, text
from tests.session.interpret.told import events
from tests.tooling.rows import every_row
from trunkline.session.interpret.calls.structured import STRUCTURED_CHARS

RUN: dict[str, Any] = {"rawInput": {"command": "make"}}


def structured(kind: str, **fields: Any) -> dict[str, Any] | None:
    found: dict[str, Any] | None = only(made(kind, **fields), "tool:result").get("structured")
    return found


@every_row(("fields", "code", "stdout", "stderr"), [
    ({"rawOutput": {"stdout": "hi\n", "stderr": "oh\n", "exit_code": 0, "aggregated_output": "hi\noh\n"}}, 0, "hi\n", "oh\n"),
    ({"rawOutput": {"output": "hi\n", "metadata": {"output": "hi\n", "exit": 2}}}, 2, "hi\n", ""),
    ({"rawOutput": {"type": "shell_result", "output": "hi", "exitCode": 0}}, 0, "hi", ""),
    ({"rawOutput": {"output": "(no output)", "metadata": {"exit": 0}}}, 0, "", ""),
    ({"content": text("**Output:**\n```\nhi\n```\n\n**Status:** Command succeeded with exit code 0")}, 0, "hi", ""),
    ({"content": text("terminal result\n- **output:** hi\n- **exit_code:** 3")}, 3, "hi", ""),
    ({"content": text("Command: x\nOutput: hi\nError: (none)\nExit Code: 0")}, 0, "hi", ""),
    ({"content": text("Output: (empty)\nError: (none)\nExit Code: 0")}, 0, "", ""),
    ({"rawOutput": "Wall time: 0 s\nProcess exited with code 0\nOutput:\nhi\n"}, 0, "hi\n", ""),
    ({"_meta": {"terminal_output": {"data": "hi\n"}, "terminal_exit": {"exit_code": 7}}}, 7, "hi\n", ""),
])
def test_a_commands_output_has_its_exit_code(fields: dict[str, Any], code: int, stdout: str, stderr: str) -> None:
    found = structured("execute", **RUN, **fields)
    assert found is not None
    assert (found["type"], found["exitCode"], found["stdout"].strip(), found["stderr"]) == (
        "command_output", code, stdout.strip(), stderr)


def test_what_ran_a_command_is_no_search_whatever_it_is_called() -> None:
    lines = "".join(f"src/a.py:{number}: x\n" for number in range(3))
    assert structured("execute", title="List", **RUN, content=text(lines)) is None
    found = structured("execute", title="List", **RUN, rawOutput={"stdout": lines, "exit_code": 0})
    assert found is not None and found["type"] == "command_output"


def test_an_exit_code_that_nobody_told_is_not_made_up() -> None:
    assert structured("execute", **RUN, content=text("all is well")) is None


@pytest.mark.parametrize("printed", [
    "the log says: exit code: 3 yesterday\n", "Exit code: 3\nboo", "exit status 3", "a\nExit Code: 3", "- **exit_code:** 3",
    "build failed with exit code 3", "Process exited with code 3\n", "**Status:** Command succeeded with exit code 0",
])
@pytest.mark.parametrize("answered", [True, False])
def test_what_a_command_prints_of_exit_codes_is_none(printed: str, answered: bool) -> None:
    assert structured("execute", **RUN, **({"rawOutput": printed} if answered else {"content": text(printed)})) is None


def test_what_was_printed_apart_is_no_exit_code() -> None:
    assert structured("execute", **RUN, rawOutput="hi", _meta={"v": {"toolResponse": {"stdout": "hi", "stderr": ""}}}) is None


def test_an_exit_code_in_the_middle_of_what_was_printed_is_not_the_commands() -> None:
    assert structured("execute", **RUN, content=text("a\nb\nc\nsaw exit code 3\nd\ne\nf\ng")) is None


def test_a_failed_command_tells_its_output_with_the_error() -> None:
    found = only(made("execute", status="failed", **RUN, rawOutput={"stdout": "", "stderr": "no", "exit_code": 2}), "tool:error")
    assert (found["error"]["code"], found["error"]["details"]["exitCode"]) == ("tool_failed", 2)


def test_pieces_of_a_terminals_output_add_up() -> None:
    told = listening()
    told.hear(call(kind="execute", status="in_progress", content=[{"type": "terminal", "terminalId": "c"}]))
    told.hear(more(_meta={"terminal_output_delta": {"terminal_id": "c", "data": "one\n"}}),
              more(_meta={"terminal_output_delta": {"terminal_id": "c", "data": "two\n"}}))
    found = only(events(told.hear(more(status="completed", _meta={"terminal_exit": {"exit_code": 0}}))), "tool:result")
    assert found["output"] == found["structured"]["stdout"] == "one\ntwo\n"


@pytest.mark.parametrize("fields", [
    {"rawOutput": {"output": "é\U0001f600\n" * 50_000, "metadata": {"exit": 0}}},
    {"content": text("é\"\\\U0001f600\n" * 20_000), "rawOutput": {"exit_code": 0}},
    {"rawOutput": "Command: x\nOutput: " + "x\t\n" * 30_000 + "Exit Code: 0"},
])
def test_a_long_output_is_whole_beside_its_shortened_copy(fields: dict[str, Any]) -> None:
    told = listening()
    told.hear(call(kind="execute", status="in_progress", **RUN))
    entries = told.hear(more(status="completed", **fields))
    found = only(events(entries), "tool:result")
    whole = fields["content"][0]["content"]["text"] if "content" in fields else fields["rawOutput"]
    whole = whole["output"] if isinstance(whole, dict) else whole
    if len(whole.encode()) <= 256 << 10:
        assert found["output"] == whole
    else:
        assert whole.startswith(found["output"]) and found["_meta"]["truncated"]["bytes"] == len(whole.encode())
    printed = found["structured"]["stdout"]
    assert whole.startswith(printed) and STRUCTURED_CHARS // 4 < len(printed) <= STRUCTURED_CHARS
    assert found["_meta"]["structured"] == {"cut": STRUCTURED_CHARS}


def test_words_for_the_person_who_decides_are_no_output() -> None:
    told = listening()
    told.hear(ask(kind="execute", rawInput={"command": "make"}, content=text("Because it must be made")))
    told.at().asks.resolve("r", approved=True, resolved_by="user", who="ann")
    done = more(status="completed", rawOutput={"stdout": "made", "stderr": "", "exit_code": 0})
    found = only(events(told.hear(done)), "tool:result")
    assert found["output"] == "made"
