"""Members of an input that change what a call means, and those that change nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.calls.announced import read
from tests.tooling.rows import every_row
from trunkline.agents import catalog
from trunkline.dialects.calls import read_call
from trunkline.dialects.risk import Places
from trunkline.dialects.risk.tools import judge


@pytest.mark.parametrize("member", ["dangerouslyDisableSandbox", "run_as", "after_command"])
def test_a_member_that_changes_what_a_call_means_is_a_doubt(member: str) -> None:
    reading = read({"name": "Bash", "kind": "execute", "rawInput": {"command": "npm test", member: True}})
    assert not reading.sure and member in reading.doubts[0]
    assert read({"name": "Bash", "kind": "execute", "rawInput": {"command": "npm test", member: False}}).sure
    harmless = {"command": "npm test", "description": "tests", "timeout": 5, "workdir": "src"}
    assert read({"name": "Bash", "kind": "execute", "rawInput": harmless}).sure


@every_row("members", [
    {"sandboxMode": "off"}, {"session_id": "root-shell"}, {"mode": "yolo"}, {"type": "delete"},
    {"description": {"run_as": "root"}},
    {"options": [{"run_as": "root"}]}, {"path": {"then": "x"}}, {"sandbox_permissions": "require_escalated"},
    {"parsed_cmd": ["make"]}, {"call_id": "1"}, {"variant": "x"}, {"content_length": 5},
])
def test_a_member_that_is_not_known_is_a_doubt_at_any_depth(members: dict[str, Any]) -> None:
    assert not read({"name": "Bash", "kind": "execute", "rawInput": {"command": "npm test", **members}}).sure


@every_row("members", [
    {"sandbox_type": "none"}, {"run_as_name": "root"}, {"user_name": "root"}, {"hostname": "prod"}, {"container_name": "prod"},
    {"file_path": "src/a.py", "content": "x"}, {"patch": "*** Delete File: src/a.py\n"}, {"text": "y\n"},
    {"edits": [{"path": "src/a.py", "new_string": "x"}]}, {"from": "src/a.py", "to": "src/b.py"},
])
def test_a_command_that_comes_with_a_text_a_target_or_another_user_is_not_sure(members: dict[str, Any]) -> None:
    assert not read({"name": "Bash", "kind": "execute", "rawInput": {"command": "npm test", **members}}).sure


@every_row("call", [
    {"name": "Read", "kind": "read", "rawInput": {"path": "src/a.py", **members}} for members in (
        {"text": "x"}, {"body": "x"}, {"replace": "x"}, {"edit": "x"}, {"destination": "src/b.py"}, {"output": "src/b.py"},
        {"rename_to": "src/b.py"}, {"new_name": "src/b.py"}, {"outfile": "src/b.py"}, {"sudo_type": "root"},
        {"output_file": "src/b.py"})
] + [
    {"name": "Grep", "kind": "search", "rawInput": {"pattern": "a", "path": "src", **members}} for members in (
        {"replace": "b"}, {"output": "src/b.py"}, {"to": "src/b"}, {"logFile": "src/b"}, {"result_path": "src/b"})
])
def test_a_look_that_brings_a_text_or_a_target_is_no_look(call: dict[str, Any]) -> None:
    assert not read(call).only_looks


@pytest.mark.parametrize("members", [
    {"path": "--pre=touch"}, {"glob": "--pre=touch"}, {"paths": ["src", "-f"]}, {"include": "--files"},
])
def test_an_option_where_a_place_belongs_makes_a_search_none(members: dict[str, Any]) -> None:
    reading = read({"name": "Grep", "kind": "search", "rawInput": {"pattern": "a", **members}})
    assert not reading.only_looks and reading.judged_as == "other" and any("an option" in doubt for doubt in reading.doubts)


def test_a_search_may_look_for_what_begins_with_a_dash() -> None:
    assert read({"name": "Grep", "kind": "search", "rawInput": {"pattern": "--no-verify", "path": "src"}}).only_looks


@every_row("members", [
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


@every_row("given", [{"type": "py"}, {"type": "file"}, {"kind": "directory"}, {"type": "rust"}, {"tool": "grep"},
                                   {"type": ["ts", "tsx"]}])
def test_a_sort_that_is_known_is_no_doubt(given: dict[str, object]) -> None:
    assert not read_call("Grep", "search", {"pattern": "x", **given}).doubts


@every_row(("call", "member"), [
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


@every_row("members", [
    {"args": ["--pre", "touch"]}, {"args": "--pre touch"}, {"arguments": ["--pre=touch"]}, {"Args": ["-f", "x"]},
    {"env": {"RIPGREP_CONFIG_PATH": "x"}}, {"environment": ["A=b"]}, {"env": "A=b"},
    {"options": ["--pre", "touch"]}, {"flags": "--pre=x"},
])
@every_row(("tool", "kind", "given"), [
    ("Grep", "search", {"pattern": "x"}), ("Glob", "search", {"pattern": "*.py"}), ("Read", "read", {"path": "src/a.py"}),
    ("Edit", "edit", {"path": "src/a.py", "old_string": "a", "new_string": "b"}), ("WebFetch", "fetch",
    {"url": "https://x.example"}),
])
def test_words_and_variables_for_a_program_that_a_tool_does_not_show_are_a_doubt(
        tool: str, kind: str, given: dict[str, Any], members: dict[str, Any]) -> None:
    reading = read_call(tool, kind, {**given, **members})
    assert not reading.sure and not reading.only_looks


def test_arguments_that_wrap_the_members_are_no_words_for_a_program() -> None:
    assert read_call("Grep", "search", {"arguments": {"pattern": "x", "path": "src"}}).only_looks
    assert read_call("Grep", "search", {"pattern": "x", "args": []}).only_looks


@every_row("value", [True, 1])
@every_row("name", ["execute", "run", "exec", "eval", "script", "shell", "code", "path", "output", "replace", "edit"])
@every_row(("tool", "kind", "given"), [
    ("Read", "read", {"file_path": "install.sh"}), ("notebookread", "read", {"notebook_path": "a.ipynb"}),
    ("Grep", "search", {"pattern": "x", "include": "*.py"}),
    ("Edit", "edit", {"file_path": "a", "old_string": "a", "new_string": "b"}),
])
def test_a_switch_that_says_run_it_is_a_doubt(tool: str, kind: str, given: dict[str, Any], name: str, value: object) -> None:
    reading = read_call(tool, kind, {**given, name: value})
    assert f"a member of its input that is not known: {name}" in reading.doubts and not reading.only_looks
    assert read_call(tool, kind, {**given, name: False}).sure


def test_that_words_go_through_a_shell_is_no_doubt_of_a_command() -> None:
    assert read_call("Bash", "execute", {"command": "npm", "args": ["test"], "shell": True}).sure
    assert not read_call("Bash", "execute", {"command": "npm test", "eval": True}).sure


@every_row("value", ["rm -rf ~", "delete", "make install", "$(make)", "../../.bashrc", ["make", "install"], "x; y"])
@every_row(("tool", "kind", "given", "member"), [
    *(("Read", "read", {"file_path": "a.py"}, name) for name in (
        "limit", "context", "encoding", "a", "status", "n", "offset", "language", "format", "outputMode", "timeout", "recursive",
        "sort_by", "view_range", "pages", "count")),
    *(("Bash", "execute", {"command": "npm test"}, name) for name in (
        "background", "run_in_background", "timeout", "timeout_ms", "wait", "limit", "output_format", "encoding")),
    *(("Write", "edit", {"path": "a.py", "content": "x"}, name) for name in ("encoding", "line", "replace_all", "bytes", "size")),
])
def test_a_harmless_member_is_harmless_only_with_a_value_of_its_kind(
        tool: str, kind: str, given: dict[str, Any], member: str, value: object) -> None:
    assert f"a member of its input that is not known: {member}" in read_call(tool, kind, {**given, member: value}).doubts


def test_an_id_is_no_text() -> None:
    assert not read_call("Read", "read", {"file_path": "a.py", "id": "make install"}).sure


@every_row(("tool", "kind", "members"), [
    ("Bash", "execute", {"timeout": 120000, "run_in_background": True, "description": "rm -rf ~ is what this does not do"}),
    ("Bash", "execute", {"timeout": "30s", "is_background": "false", "explanation": "why; and how", "output_format": "json"}),
    ("Bash", "execute", {"tool_call_id": "toolu_01DeleteSet|x", "message_id": "msg-1"}),
    ("Read", "read", {"limit": 5, "offset": "10", "pages": "1-5", "encoding": "utf-8", "view_range": [1, -1], "lines": "3,9"}),
    ("Read", "read", {"status": "in_progress", "id": "a-1", "language": "c++"}),
    ("Grep", "search", {"pattern": "x", "-A": 3, "-i": True, "-n": True, "output_mode": "files_with_matches", "context": "2"}),
    ("Grep", "search", {"pattern": "x", "literal_text": True, "sort_by": "modified", "head_limit": 9, "filetype": "ts,tsx"}),
    ("WebFetch", "fetch", {"url": "https://example.org/a?b=c", "allowed_domains": ["example.org"], "recency_days": 3}),
])
def test_the_values_that_harmless_members_usually_have_are_no_doubt(tool: str, kind: str, members: dict[str, Any]) -> None:
    given = {"command": "npm test"} if tool == "Bash" else {"path": "a.py"} if tool == "Read" else {}
    assert read_call(tool, kind, {**given, **members}).doubts == ()


@every_row(("members", "act"), [
    ({"delete": {"path": "src/a.py"}}, "delete"), ({"remove": [{"path": "src/a.py"}]}, "delete"),
    ({"rm": {"file": "src/a.py"}}, "delete"), ({"unlink": {"name": "src/a.py"}}, "delete"),
    ({"deletions": [{"path": "src/a.py"}]}, "delete"), ({"delete_files": ["src/a.py"]}, "delete"),
    ({"files_to_delete": ["src/a.py"]}, "delete"), ({"deleteFile": "src/a.py"}, "delete"), ({"filestodelete": ["x"]}, "delete"),
    ({"removePath": "src/a.py"}, "delete"), ({"overwrite_file": "src/a.py"}, "delete"), ({"truncate_path": "src/a.py"}, "delete"),
    ({"options": {"deletePath": "src/a.py"}}, "delete"), ({"files": [[{"erase": {"path": "a"}}]]}, "delete"),
    ({"path": "a", "rename": "b"}, "move"), ({"path": "a", "move_folder": "b"}, "move"),
    ({"path": "a", "write_path": "b"}, "write"), ({"path": "a", "log_file": "b"}, "write"), ({"path": "a", "report_path": "b"},
    "write"),
])
@every_row(("tool", "kind"), [("Read", "read"), ("Grep", "search"), ("Bash", "execute"), ("Write", "edit")])
def test_a_member_that_is_named_after_a_deed_is_that_deed(
        tool: str, kind: str, members: dict[str, Any], act: str) -> None:
    given = {"command": "npm test"} if tool == "Bash" else {"path": "b.py", "content": "x"} if tool == "Write" else {}
    reading = read_call(tool, kind, {**given, **members})
    assert act in reading.acts and not reading.sure and not reading.only_looks
    assert act != "delete" or judge(reading, Places.of("/w", ["/w"], "/home/u")).level == "high"


@every_row("name", [
    "run_path", "run_file", "plugin_path", "preprocessor_file", "target", "link_name", "download_path", "backup_file",
    "cache_path",
    "html_path", "prompt", "write_file", "p\u0430th", "hooks_dir", "on_match", "delete_type", "remove_language",
])
@every_row(("tool", "kind", "given"), [
    ("Read", "read", {"path": "src/a.py"}), ("Grep", "search", {"pattern": "x", "path": "src"}),
])
def test_a_look_has_no_member_with_a_word_that_looking_has_no_use_for(
        tool: str, kind: str, given: dict[str, Any], name: str) -> None:
    assert not read_call(tool, kind, {**given, name: "src"}).only_looks
    assert not read_call(tool, kind, {**given, name: [{"path": "src"}]}).only_looks


@every_row("members", [
    *({name: "src/evil"} for name in (
        "shell_path", "rcfile", "init_file", "env_file", "stdin_file", "interpreter_path", "runner_path", "node_path",
        "binary_path",
        "profile_path", "delete_path", "output_file", "log_file", "prompt", "instructions", "message", "search", "pattern",
        "query",
        "title", "include", "glob", "path", "file", "name", "summary", "root")),
    {"cleanup_files": ["src"]}, {"on_success": {"description": "make install"}}, {"then": {"description": "x"}},
    {"tool": "write"},
    {"description": ["make install"]}, {"description": {"text": "x"}}, {"options": {"cwd": "/tmp"}},
    {"cwd": "src", "workdir": "/tmp"}, {"directory": ["src"]},
])
def test_beside_a_command_only_its_folder_and_what_is_harmless_is_known(members: dict[str, Any]) -> None:
    assert not read_call("Bash", "execute", {"command": "npm test", **members}).sure


@every_row("members", [
    {"cwd": "src"}, {"workdir": "src"}, {"directory": "src"}, {"arguments": {"command": "npm test", "cwd": "src"}},
    {"description": "runs the tests", "timeout": 5}, {"tool": "bash"},
])
def test_the_folder_of_a_command_is_known(members: dict[str, Any]) -> None:
    reading = read_call("Bash", "execute", {"command": "npm test", **members})
    assert reading.sure and reading.folder == ("src" if "src" in str(members) else None)


@every_row(("tool", "kind", "given"), [
    ("read_file", "read", {"target_file": "a.py", "offset": 1}), ("Read", "read", {"files": [{"path": "a.py", "limit": 3}]}),
    ("read_many_files", "read", {"paths": ["a.py"], "include": ["*.py"], "exclude": ["b"]}),
    ("list_dir", "read", {"relative_workspace_path": "src"}), ("notebookread", "read", {"notebook_path": "a.ipynb"}),
    ("codebase_search", "search", {"query": "x", "target_directories": ["src"]}),
    ("grep_search", "search", {"query": "x", "include_pattern": "*.py", "exclude_pattern": "b", "case_sensitive": True}),
    ("Write", "edit", {"absolutePath": "/w/a.py", "file_text": "x"}),
    ("Edit", "edit", {"target_file": "a.py", "instructions": "shorter", "old_string": "a", "new_string": "b",
    "replace_all": True}),
    ("MultiEdit", "edit", {"file_path": "a.py", "edits": [{"old_string": "a", "new_string": "b"}]}),
    ("apply_patch", "edit", {"changes": {"/w/a.py": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a\n+b\n",
    "move_path": "/w/b.py"}}}),
    ("move_file", "move", {"source": "a.py", "destination": "b.py"}), ("delete_file", "delete", {"target_file": "a.py"}),
    ("WebFetch", "fetch", {"url": "https://example.org", "prompt": "what is it?"}),
    ("WebSearch", "fetch", {"query": "x", "allowed_domains": ["example.org"]}),
])
def test_what_tools_are_usually_given_is_known(tool: str, kind: str, given: dict[str, Any]) -> None:
    assert read_call(tool, kind, given).doubts == ()
