"""What a tool call is read as: named by what its agent says, judged by the worst of all evidence."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tooling.rows import every_row
from trunkline.agents import catalog
from trunkline.dialects.acp.calls import CallState, merge_call
from trunkline.dialects.acp.reading.decode import decode_tool_call_update
from trunkline.dialects.calls import CallReading, ToolNames, name_call, read_call
from trunkline.dialects.calls.names import is_name, usual_name, verb_in
from trunkline.dialects.calls.words import is_in_command
from trunkline.dialects.context.descriptions import describe_tool_call
from trunkline.dialects.context.types import AutoApprove, PermissionPolicy
from trunkline.dialects.packets.detect import tool_by_input
from trunkline.dialects.packets.titles import input_view
from trunkline.dialects.risk import Places, judge, rank
from trunkline.session.policy.asks import Where, policy_ask_of
from trunkline.session.policy.decide import Policy

ROOT = "/w/p"
PLACES = Places.of(ROOT, [ROOT], "/h")
LOOKS = PermissionPolicy(auto_approve=AutoApprove(reads=True, searches=True, writes=False, commands=False))


class Case(NamedTuple):
    """A call as its agent tells it, and what it must be."""

    call: dict[str, Any]
    tool: str
    level: str
    approved: bool = False


CASES = {
    "a delete with the input of a glob": Case(
        {"title": "delete_files", "kind": "delete", "rawInput": {"pattern": "*"}}, "delete_files", "high"),
    "a move with the input of a glob": Case(
        {"title": "move", "kind": "move", "rawInput": {"pattern": "*.log"}}, "move", "medium"),
    "a server's purge": Case({"title": "mcp__fs__purge", "rawInput": {"pattern": "*", "path": "."}}, "mcp__fs__purge", "high"),
    "a shredder with the input of a read": Case({"title": "shred", "rawInput": {"filePath": "x"}}, "shred", "high"),
    "a statement that deletes": Case(
        {"title": "mcp__db__execute", "rawInput": {"query": "DELETE FROM users"}}, "mcp__db__execute", "high"),
    "a statement that deletes, of a tool that only asks": Case(
        {"name": "mcp__db__query", "rawInput": {"query": "DELETE FROM users"}}, "mcp__db__query", "high"),
    "truncating": Case({"name": "Truncate", "kind": "other", "rawInput": {"path": "x"}}, "Truncate", "high"),
    "renaming": Case({"name": "Rename", "kind": "other", "rawInput": {"path": "x"}}, "Rename", "medium"),
    "saving": Case({"name": "Save", "kind": "other", "rawInput": {"path": "x"}}, "Save", "medium"),
    "a grep whose pattern could be a glob": Case(
        {"title": "grep", "kind": "search", "rawInput": {"pattern": "TODO"}}, "grep", "low", True),
    "a glob whose pattern could be an expression": Case(
        {"title": "glob", "kind": "search", "rawInput": {"pattern": "(a|b)/*.py"}}, "glob", "low", True),
    "steps that run": Case({"title": "do_steps", "rawInput": {"steps": [{"run": "rm -rf ~"}]}}, "do_steps", "high"),
    "a read with a command": Case({"name": "Read", "kind": "read", "rawInput": {"command": "rm -rf ~"}}, "read", "high"),
    "a list of lines": Case({"name": "Bash", "kind": "execute", "rawInput": {"commands": ["touch /x"]}}, "bash", "high"),
    "a read that says delete": Case({"title": "read", "kind": "delete", "rawInput": {"path": "x"}}, "read", "high"),
    "a search that brings a text": Case(
        {"title": "search", "kind": "search", "rawInput": {"pattern": "x", "path": "a.py", "content": "n"}}, "search", "medium"),
    "a read of a patch": Case(
        {"title": "view", "kind": "read", "rawInput": {"path": "a", "patch": "--- a/x\n+++ b/x\n-a\n+b\n"}}, "read", "medium"),
    "a plain read": Case({"name": "Read", "kind": "read", "rawInput": {"file_path": "a.py"}}, "read", "low", True),
    "a plain search": Case(
        {"title": "Search", "kind": "search", "rawInput": {"pattern": "x", "path": "src"}}, "Search", "low", True),
    "a read with a member that nobody knows": Case(
        {"name": "Read", "kind": "read", "rawInput": {"file_path": "a.py", "then": {"action": "x"}}}, "read", "low"),
    "a name that cannot be seen whole": Case(
        {"name": "Read", "kind": "read", "rawInput": {"file_path": "notes\u3164.txt"}}, "read", "high"),
}


def read(call: dict[str, Any], names: ToolNames | None = None) -> CallReading:
    """A call as it is read when it is announced."""
    names = names or ToolNames()
    state = CallState(tool_call_id="c")
    merge_call(state, decode_tool_call_update(msgspec.json.encode({"toolCallId": "c", **call})))
    shape = tool_by_input(input_view(state.raw_input), state.kind)
    tool, by = name_call(state.name, state.first_title, state.kind, shape, names)
    return read_call(tool, state.kind, call.get("rawInput"), named_by=by, names=names, title=state.title)


@every_row("case", CASES.values())
def test_a_call_is_what_it_says_and_as_bad_as_the_worst_in_it(case: Case) -> None:
    reading = read(case.call)
    risk = judge(reading, PLACES)
    assert (reading.tool, risk.level) == (case.tool, case.level)
    ask = policy_ask_of(reading, risk.level, risk.reason, Where(agent="a", cwd=ROOT, roots=(ROOT,)))
    verdict = Policy().decide(ask, session_policy=LOOKS, now_us=0)
    assert verdict.action == ("allow" if case.approved else "ask")


@pytest.mark.parametrize(("title", "is_one"), [
    ("Bash", True), ("delete_files", True), ("mcp__fs__purge", True), ("WriteFile", True), ("run-command", True),
    ("a.txt", False), ("echo hi", False), ("Read a.py", False), ("/etc/passwd", False), ("shell · ls", False), ("", False),
    ("Preparing file…", False), ("x" * 65, False),
])
def test_a_title_is_a_name_where_it_reads_as_one(title: str, is_one: bool) -> None:
    assert is_name(title) == is_one


def test_the_name_of_a_tool_is_no_command() -> None:
    assert read({"title": "Bash", "kind": "execute"}).command is None


@pytest.mark.parametrize("blank", ["", " ", [""], [[""]]])
def test_a_command_of_nothing_is_none(blank: Any) -> None:
    told = read({"name": "read", "kind": "read", "rawInput": {"command": blank, "path": "a.py"}})
    assert told.command is None and told.category == "file_read"
    assert read({"name": "bash", "kind": "execute", "rawInput": {"commands": blank}}).command is None


@pytest.mark.parametrize("title", ["touch x", "Run: touch x", "Confirm Agent Actions", "Execute shell command"])
def test_a_title_is_no_command_and_what_it_claims_can_only_raise(title: str) -> None:
    told = read({"title": title, "kind": "execute"})
    assert (told.command, told.sure, told.claimed) == (None, False, title.removeprefix("Run: "))
    assert told.doubts == ("what it runs is told by its title alone",) and title not in told.description


def test_a_title_is_the_command_where_the_catalog_says_that_this_agent_tells_it_so() -> None:
    told = read_call("bash", "execute", None, named_by="catalog", title="touch x")
    assert (told.command, told.claimed, told.sure) == ("touch x", "", True)


def test_a_command_that_is_only_in_words_is_found_and_is_not_sure() -> None:
    words = read_call("bash", "execute", None, title="Bash", shown="Requesting approval to Running: touch x")
    assert (words.command, words.sure) == ("touch x", False)
    told = read_call("bash", "execute", None, title="Bash", shown='{"command": "touch x"}')
    assert told.command == "touch x"


@pytest.mark.parametrize("shown", ["Requesting approval to Running: touch x…", "Running: touch x..."])
def test_the_beginning_of_a_command_is_no_command(shown: str) -> None:
    words = read_call("bash", "execute", None, title="Bash", shown=shown)
    assert (words.command, words.sure) == (None, False)


@pytest.mark.parametrize(("said", "command", "told"), [
    ("touch x", "touch x", True), ("touch x…", "touch xyz", True), ("touch x...", "touch x y", True),
    ("touch x", "touch xyz", False), ("touch x…", "touch y", False), ("…", "touch x", False),
])
def test_words_tell_a_command_or_its_beginning(said: str, command: str, told: bool) -> None:
    assert is_in_command(said, command) is told


@pytest.mark.parametrize("member", ["dangerouslyDisableSandbox", "run_as", "after_command"])
def test_a_member_that_changes_what_a_call_means_is_a_doubt(member: str) -> None:
    reading = read({"name": "Bash", "kind": "execute", "rawInput": {"command": "npm test", member: True}})
    assert not reading.sure and member in reading.doubts[0]
    assert read({"name": "Bash", "kind": "execute", "rawInput": {"command": "npm test", member: False}}).sure
    harmless = {"command": "npm test", "description": "tests", "timeout": 5, "workdir": "src"}
    assert read({"name": "Bash", "kind": "execute", "rawInput": harmless}).sure


@pytest.mark.parametrize("members", [
    {"sandboxMode": "off"}, {"session_id": "root-shell"}, {"mode": "yolo"}, {"type": "delete"},
    {"description": {"run_as": "root"}},
    {"options": [{"run_as": "root"}]}, {"path": {"then": "x"}}, {"sandbox_permissions": "require_escalated"},
    {"parsed_cmd": ["make"]}, {"call_id": "1"}, {"variant": "x"}, {"content_length": 5},
])
def test_a_member_that_is_not_known_is_a_doubt_at_any_depth(members: dict[str, Any]) -> None:
    assert not read({"name": "Bash", "kind": "execute", "rawInput": {"command": "npm test", **members}}).sure


@pytest.mark.parametrize("members", [
    {"sandbox_type": "none"}, {"run_as_name": "root"}, {"user_name": "root"}, {"hostname": "prod"}, {"container_name": "prod"},
    {"file_path": "src/a.py", "content": "x"}, {"patch": "*** Delete File: src/a.py\n"}, {"text": "y\n"},
    {"edits": [{"path": "src/a.py", "new_string": "x"}]}, {"from": "src/a.py", "to": "src/b.py"},
])
def test_a_command_that_comes_with_a_text_a_target_or_another_user_is_not_sure(members: dict[str, Any]) -> None:
    assert not read({"name": "Bash", "kind": "execute", "rawInput": {"command": "npm test", **members}}).sure


@pytest.mark.parametrize("call", [
    {"name": "Read", "kind": "read", "rawInput": {"path": "src/a.py", **members}} for members in (
        {"text": "x"}, {"body": "x"}, {"replace": "x"}, {"edit": "x"}, {"destination": "src/b.py"}, {"output": "src/b.py"},
        {"rename_to": "src/b.py"}, {"new_name": "src/b.py"}, {"outfile": "src/b.py"}, {"sudo_type": "root"})
] + [
    {"name": "Grep", "kind": "search", "rawInput": {"pattern": "a", "path": "src", **members}} for members in (
        {"replace": "b"}, {"output": "src/b.py"}, {"to": "src/b"})
])
def test_a_look_that_brings_a_text_or_a_target_is_no_look(call: dict[str, Any]) -> None:
    assert not read(call).only_looks


@pytest.mark.parametrize(("call", "line"), [
    ({"name": "Delete", "kind": "delete", "rawInput": {"file_path": "src/a.py"}}, "Delete: src/a.py"),
    ({"title": "delete_files", "kind": "delete", "rawInput": {"pattern": "*"}}, "delete_files: *"),
    ({"name": "mcp__fs__purge", "rawInput": {"paths": ["a.py", "b.py", "c.py"]}}, "mcp__fs__purge: a.py and 2 more"),
])
def test_a_tool_that_has_no_line_of_its_own_is_told_with_what_it_is_about(call: dict[str, Any], line: str) -> None:
    assert read(call).description == line


@pytest.mark.parametrize("members", [
    {"env": {"CI": "1"}}, {"type": "py"}, {"output_format": "json"}, {"timeout_ms": 5, "run_in_background": True}, {"run_as": ""},
])
def test_a_member_that_changes_nothing_is_none(members: dict[str, Any]) -> None:
    assert read({"name": "Bash", "kind": "execute", "rawInput": {"command": "npm test", **members}}).sure


def test_the_members_that_the_catalog_lists_change_nothing_for_that_agent_and_no_other() -> None:
    given = {"command": ["/bin/bash", "-lc", "cat a.txt"], "call_id": "c", "source": "unified_exec_startup", "parsed_cmd": [
        {"type": "read", "cmd": "cat a.txt", "name": "a.txt", "path": "/w/a.txt"}], "available_decisions": ["approved", {
            "approved_execpolicy_amendment": {"proposed_execpolicy_amendment": ["cat", "/w/a.txt"]}}]}
    call = {"name": "exec_command", "kind": "execute", "rawInput": given}
    codex = read(call, catalog.load()["codex-acp-zed"].tool_names)
    assert (codex.sure, codex.command, codex.paths) == (True, "cat a.txt", ())
    other = read(call, catalog.load()["goose"].tool_names)
    assert not other.sure and "unified_exec_startup" in other.paths
    hiding = {**given, "parsed_cmd": [{"cmd": "make install"}]}
    assert "make install" in (read({**call, "rawInput": hiding}).command or ""), "another agent may run what stands there"


def test_what_the_catalog_lists_is_still_looked_at_where_there_is_no_command_beside_it() -> None:
    names = catalog.load()["codex-acp-zed"].tool_names
    reading = read({"name": "exec_command", "kind": "execute", "rawInput": {"parsed_cmd": [{"cmd": "make install"}]}}, names)
    assert reading.command == "make install"


@pytest.mark.parametrize(("name", "verb"), [
    ("mcp__fs__purge", "destroys"), ("mcp__delete__list", None), ("executeQuery", "destroys"), ("createIssue", "changes"),
    ("get_weather", None), ("shred", "destroys"),
])
def test_a_verb_in_an_unknown_name_counts(name: str, verb: str | None) -> None:
    assert verb_in(name) == verb


MEMBERS = st.dictionaries(
    st.sampled_from(["path", "file_path", "pattern", "query", "command", "content", "new_string", "steps", "x", "description"]),
    st.recursive(st.sampled_from(["a.py", "*", "rm -rf ~", "/etc/passwd", "DELETE FROM t", ""]), lambda inner: st.lists(
        inner, max_size=2) | st.dictionaries(st.sampled_from(["run", "path", "action"]), inner, max_size=2), max_leaves=4),
    max_size=5)
KINDS = st.sampled_from(["read", "search", "edit", "delete", "move", "execute", "fetch", "think", "other"])
NAMES = st.sampled_from(["read", "grep", "bash", "write", "mcp__x__y", "purge", "think", "whatever"])


@given(NAMES, KINDS, MEMBERS, MEMBERS)
def test_more_evidence_never_makes_a_call_better(name: str, kind: str, one: dict[str, Any], more: dict[str, Any]) -> None:
    tool = usual_name(name, None)
    less, all_of_it = read_call(tool, kind, one), read_call(tool, kind, {**more, **one})
    assert less.acts <= all_of_it.acts
    if one:
        assert not (all_of_it.only_looks and not less.only_looks) or not less.sure or less.command is None
        assert rank(judge(all_of_it, PLACES).level) >= min(rank(judge(less, PLACES).level), rank("high")) or all_of_it.doubts


@given(NAMES, MEMBERS)
def test_a_kind_only_adds(name: str, members: dict[str, Any]) -> None:
    tool = usual_name(name, None)
    without = read_call(tool, "other", members)
    for kind in ("delete", "move", "execute"):
        assert without.acts - {"unknown"} <= read_call(tool, kind, members).acts
        assert not read_call(tool, kind, members).only_looks


@every_row("member", ["type", "kind", "tool", "action"])
@every_row("verb", ["unlink", "Unlink", "obliterate", "mv", "del", "chmod", "write"])
def test_a_sort_that_is_not_known_may_be_something_to_do(member: str, verb: str) -> None:
    reading = read_call("Read", "read", {"file_path": "a.py", member: verb})
    assert any(member in doubt for doubt in reading.doubts), reading.doubts


@every_row("member", ["type", "kind", "tool"])
@every_row("value", [{"is": "file"}, [{"is": "file"}], [["file"]]])
def test_a_sort_that_is_no_word_is_a_doubt_and_breaks_nothing(member: str, value: object) -> None:
    assert read_call("Grep", "search", {"pattern": "x", member: value}).doubts
    assert read_call("Bash", "execute", {"command": "ls", member: value}).doubts


@pytest.mark.parametrize("given", [{"type": "py"}, {"type": "file"}, {"kind": "directory"}, {"type": "rust"}, {"tool": "grep"},
                                   {"type": ["ts", "tsx"]}])
def test_a_sort_that_is_known_is_no_doubt(given: dict[str, object]) -> None:
    assert not read_call("Grep", "search", {"pattern": "x", **given}).doubts


@pytest.mark.parametrize(("name", "given", "line"), [
    ("Delete", {"file_path": "src/a.py"}, "Delete: src/a.py"), ("delete_files", {"pattern": "*"}, "delete_files: *"),
    ("mcp__fs__purge", {"paths": ["a.py", "b.py", "c.py"]}, "mcp__fs__purge: a.py and 2 more"),
    ("mcp__x__run", {"command": "npm test"}, "mcp__x__run, which runs: npm test"),
    ("Read", {"path": "a.py", "command": "npm test"}, "Read, which runs: npm test"),
    ("bash", {"command": "npm test"}, "Run: npm test"), ("edit", {"path": "a.py"}, "Edit: a.py"),
    ("other_tool", {"n": 1}, "other_tool"),
])
def test_a_call_has_the_line_that_describe_tool_call_gives_it(name: str, given: dict[str, Any], line: str) -> None:
    assert describe_tool_call(name, given) == line
    assert read_call(name, None, given).description in (line, line.replace("Read,", "read,"))


@pytest.mark.parametrize(("call", "member"), [
    ({"title": "read", "kind": "read", "rawInput": {"path": "a.txt", "url": "http://x.example/upload"}}, "url"),
    ({"title": "write", "kind": "edit", "rawInput": {"path": "a.txt", "content": "x", "urls": ["http://x.example"]}}, "urls"),
    ({"title": "delete_files", "kind": "delete", "rawInput": {"path": "x.log", "recursive": True}}, "recursive"),
    ({"title": "delete_files", "kind": "delete", "rawInput": {"path": "x.log", "depth": 9}}, "depth"),
    ({"title": "Bash", "kind": "execute", "rawInput": {"command": "ls", "context": "production"}}, "context"),
    ({"title": "Bash", "kind": "execute", "rawInput": {"command": "ls", "status": "x"}}, "status"),
    ({"title": "Bash", "kind": "execute", "rawInput": {"command": "ls", "id": "prod"}}, "id"),
    ({"title": "Bash", "kind": "execute", "rawInput": {"command": "ls", "url": "http://x.example"}}, "url"),
])
def test_a_member_is_harmless_only_where_the_tool_has_a_harmless_use_for_it(call: dict[str, Any], member: str) -> None:
    assert f"a member of its input that is not known: {member}" in read(call).doubts


@pytest.mark.parametrize("call", [
    {"title": "grep", "kind": "search", "rawInput": {"pattern": "x", "context": 3, "recursive": True, "depth": 2}},
    {"title": "list", "kind": "read", "rawInput": {"path": "src", "recursive": True}},
    {"title": "WebFetch", "kind": "fetch", "rawInput": {"url": "https://example.org"}},
])
def test_what_says_how_to_look_is_harmless_where_something_only_looks(call: dict[str, Any]) -> None:
    assert read(call).sure
