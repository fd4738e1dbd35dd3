"""What a tool call is read as: named by what its agent says, judged by the worst of all evidence."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dialects.calls.announced import read
from tests.tooling.rows import every_row
from trunkline.dialects.calls import DOUBTS, read_call
from trunkline.dialects.calls.names import usual_name
from trunkline.dialects.context.types import AutoApprove, PermissionPolicy
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


@every_row("case", CASES.values())
def test_a_call_is_what_it_says_and_as_bad_as_the_worst_in_it(case: Case) -> None:
    reading = read(case.call)
    risk = judge(reading, PLACES)
    assert (reading.tool, risk.level) == (case.tool, case.level)
    ask = policy_ask_of(reading, risk.level, risk.reason, Where(agent="a", cwd=ROOT, roots=(ROOT,)))
    verdict = Policy().decide(ask, session_policy=LOOKS, now_us=0)
    assert verdict.action == ("allow" if case.approved else "ask")


def test_the_name_of_a_tool_is_no_command() -> None:
    assert read({"title": "Bash", "kind": "execute"}).command is None


@pytest.mark.parametrize("title", ["touch x", "Run: touch x", "Confirm Agent Actions", "Execute shell command"])
def test_a_title_is_no_command_and_what_it_claims_can_only_raise(title: str) -> None:
    told = read({"title": title, "kind": "execute"})
    assert (told.command, told.sure, told.claimed) == (None, False, title.removeprefix("Run: "))
    assert told.doubts == ("what it runs is told by its title alone",) and title not in told.description


def test_a_title_is_the_command_where_the_catalog_says_that_this_agent_tells_it_so() -> None:
    told = read_call("bash", "execute", None, named_by="catalog", title="touch x")
    assert (told.command, told.claimed, told.sure) == ("touch x", "", True)


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



def test_only_so_many_doubts_are_told() -> None:
    reading = read_call("bash", "execute", {"command": "ls", **{f"unheard_{letter}": 1 for letter in "abcdefghijklmn"}})
    assert len(reading.doubts) == DOUBTS and not reading.sure
