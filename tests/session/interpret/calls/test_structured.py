"""Outputs that a program can use: commands, searches, pages."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.session.interpret.call_builders import ask, call, listening, made, more, of_type, only, text
from tests.session.interpret.told import events
from trunkline.session.interpret.calls.structured import STRUCTURED_CHARS
from trunkline.session.interpret.effects.search import RESULTS

RUN: dict[str, Any] = {"rawInput": {"command": "make"}}


def structured(kind: str, **fields: Any) -> dict[str, Any] | None:
    found: dict[str, Any] | None = only(made(kind, **fields), "tool:result").get("structured")
    return found


@pytest.mark.parametrize(("fields", "code", "stdout", "stderr"), [
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


def test_what_the_hubs_own_terminal_printed_is_the_calls_output() -> None:
    told = listening()
    told.hear(call(kind="execute", status="in_progress"), more(content=[{"type": "terminal", "terminalId": "term-1"}]))
    told.at().tools.terminals.keep("term-1", "made\n", 0)
    found = only(events(told.hear(more(status="completed"))), "tool:result")
    assert (found["output"], found["structured"]["exitCode"]) == ("made\n", 0)


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


def test_a_long_text_stands_in_the_packet_as_the_agent_wrote_it() -> None:
    told = listening()
    told.hear(call(kind="execute", status="in_progress", **RUN))
    (entry, *_) = told.hear(more(status="completed", content=text('say "|" \\ \u2028 é\n' * 1000)))
    packet = msgspec.json.decode(entry.packet or b"")
    assert packet["content"][0]["content"]["text"] == 'say "|" \\ \u2028 é\n' * 1000
    assert list(packet)[:2] == ["_meta", "content"]


def test_words_for_the_person_who_decides_are_no_output() -> None:
    told = listening()
    told.hear(ask(kind="execute", rawInput={"command": "make"}, content=text("Because it must be made")))
    told.at().asks.resolve("r", approved=True, resolved_by="user", who="ann")
    done = more(status="completed", rawOutput={"stdout": "made", "stderr": "", "exit_code": 0})
    found = only(events(told.hear(done)), "tool:result")
    assert found["output"] == "made"


SEARCH: dict[str, Any] = {"rawInput": {"pattern": "x", "path": "/w"}}


@pytest.mark.parametrize(("fields", "results"), [
    ({"content": text("src/a.py:12:x = 1\nsrc/b.py:3:y")}, [("src/a.py", 12, "x = 1"), ("src/b.py", 3, "y")]),
    ({"content": text("src/a.py:12:5: x = 1")}, [("src/a.py", 12, "x = 1")]),
    ({"content": text("Found 2 matches\n/w/a.ts:\n  Line 4: foo\n  Line 9: bar")},
     [("/w/a.ts", 4, "foo"), ("/w/a.ts", 9, "bar")]),
    ({"content": text("Found 1 match for x:\n---\nFile: src/a.py\nL7: foo\n---")}, [("src/a.py", 7, "foo")]),
    ({"content": text("/w/a.py\n/w/b/c.py\n")}, [("/w/a.py", 0, ""), ("/w/b/c.py", 0, "")]),
    ({"rawOutput": {"matches": [{"path": "a", "line_number": 2, "text": "t"}]}}, [("a", 2, "t")]),
    ({"rawOutput": [{"file": "a", "line": 1, "content": "c"}, {"no": "file"}]}, [("a", 1, "c")]),
    ({"locations": [{"path": "/w/a", "line": 5}]}, [("/w/a", 5, "")]),
])
def test_a_search_gives_files_and_lines(fields: dict[str, Any], results: list[tuple[str, int, str]]) -> None:
    found = structured("search", **SEARCH, **fields)
    assert found is not None and found["type"] == "search_results"
    assert [(each["file"], each["line"], each["content"]) for each in found["results"]] == results


def test_a_search_that_found_nothing_has_no_results() -> None:
    assert structured("search", **SEARCH, content=text("No files found")) is None


def test_a_search_that_found_too_much_says_so() -> None:
    hits = "\n".join(f"a.py:{n}:x" for n in range(RESULTS + 5))
    found = only(made("search", **SEARCH, content=text(hits)), "tool:result")
    assert len(found["structured"]["results"]) == RESULTS and found["_meta"]["structured"] == {"resultsMore": True}


def test_a_page_has_its_address_title_and_beginning() -> None:
    found = made("fetch", rawInput={"url": "https://x.test/a"}, content=text("# The page\n\nWords."),
                 rawOutput={"statusCode": 200})
    assert only(found, "tool:result")["structured"] == {
        "type": "web_content", "url": "https://x.test/a", "title": "The page", "summary": "# The page\n\nWords."}
    assert only(found, "web:operation")["operation"] == {
        "kind": "fetch", "url": "https://x.test/a", "title": "The page", "statusCode": 200}


def test_an_address_may_stand_in_the_words_of_a_prompt() -> None:
    found = made("fetch", title="web", rawInput={"prompt": "Sum up https://x.test/b please"})
    assert only(found, "web:operation")["operation"]["url"] == "https://x.test/b"


@pytest.mark.parametrize("fields", [
    {"rawOutput": {"results": [{"title": "T", "url": "https://t.test", "snippet": "S"}]}},
    {"content": text('Links: [{"title": "T", "url": "https://t.test", "snippet": "S"}]\nMore.')},
    {"content": text("- [T](https://t.test) S")},
])
def test_a_web_search_tells_what_it_found(fields: dict[str, Any]) -> None:
    found = made("fetch", rawInput={"query": "q"}, **fields)
    assert only(found, "web:operation")["operation"] == {
        "kind": "search", "query": "q", "results": [{"title": "T", "url": "https://t.test", "snippet": "S"}]}


def test_a_search_of_code_by_query_is_not_the_web() -> None:
    found = made("search", rawInput={"query": "where is x"}, content=text("a.py:1:x"))
    assert not of_type(found, "web:operation") and only(found, "tool:result")["structured"]["type"] == "search_results"


def test_a_failed_fetch_was_no_operation() -> None:
    assert not of_type(made("fetch", status="failed", rawInput={"url": "https://x.test"}), "web:operation")
