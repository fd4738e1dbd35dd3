"""What of an input is told beside the acts of its ask, and how."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.tooling.rows import every_row
from trunkline.dialects.calls.beside import DEPTH, MARK, facts_of, members_beside

RUN = [{"type": "command", "command": "make"}]
CHANGE = [{"type": "diff", "path": "a.txt", "diff": "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three"}]


@every_row(("tool_input", "acts", "description"), [
    ({"command": "make"}, RUN, "Run: make"),
    ({"command": ["bash", "-lc", "make"]}, RUN, "Run: make"),
    ({"arguments": {"command": "make"}}, RUN, "Run: make"),
    ({"file_path": "a.txt"}, [], "Read: a.txt"),
    ({"path": "a.txt"}, [{"type": "description", "text": "Deletes:\n  a.txt"}], "delete"),
    ({"path": "a.txt", "old_string": "two\n", "new_string": "three"}, CHANGE, "Edit: a.txt"),
    ({"path": "a.txt", "edits": [{"old_string": "two", "new_string": "three"}]}, CHANGE, "Edit: a.txt"),
    ({"path": "a.txt", "content": "one\nthree\n"}, CHANGE, "Write: a.txt"),
    ({"path": "a.txt", "edits": [{"old_string": "two", "new_string": "2"}, {"old_string": "2", "new_string": "three"}]}, CHANGE,
     "Edit: a.txt"),
    ({"patch": "*** Begin Patch"}, [{"type": "description", "text": "*** Begin Patch"}], "Patch"),
    ({"command": "make", "timeout": None}, RUN, "Run: make"),
])
def test_what_an_act_shows_word_by_word_is_not_told_again(tool_input: Any, acts: Any, description: str) -> None:
    assert members_beside(tool_input, acts, description) == {}


@every_row(("tool_input", "acts", "description", "told"), [
    ({"command": "make", "cwd": "/tmp"}, RUN, "Run: make", ["cwd"]),
    ({"command": "make", "note": "make"}, RUN, "Run: make", ["note"]),
    ({"command": "mak"}, RUN, "Run: make", ["command"]),
    ({"path": "x", "after_command": "x"}, [], "Read: x", ["after_command"]),
    ({"path": "a.txt", "old_string": "two", "new_string": "three", "hook": "three"}, CHANGE, "Edit: a.txt", ["hook"]),
    ({"path": "a.txt", "old_string": "three", "new_string": "two"}, CHANGE, "Edit: a.txt", ["old_string", "new_string"]),
    ({"path": "a.txt", "old_string": "one", "new_string": "three"}, CHANGE, "Edit: a.txt", ["old_string", "new_string"]),
    ({"path": "a.txt", "content": "one\n"}, CHANGE, "Write: a.txt", ["content"]),
    ({"path": "a.txt", "content": "three\none\n"}, CHANGE, "Write: a.txt", ["content"]),
    ({"path": "a.txt", "content": "one\ntwo\n"}, CHANGE, "Write: a.txt", ["content"]),
    ({"path": "a.txt", "content": "++ b/a.txt\none\nthree"}, CHANGE, "Write: a.txt", ["content"]),
    ({"path": "a.txt", "content": "three\nfour"}, CHANGE, "Write: a.txt", ["content"]),
    ({"path": "a.txt", "edits": [{"new_string": "three", "run": "three"}]}, CHANGE, "Edit: a.txt", ["edits"]),
    ({"content": "three"}, [], "Write", ["content"]),
    ({"command": "make", "arguments": {"command": "other"}}, RUN, "Run: make", ["arguments"]),
    ({"prompt": "do it", "n": 0, "on": False}, [], "Task", ["prompt", "n", "on"]),
])
def test_all_else_is_told(tool_input: Any, acts: Any, description: str, told: list[str]) -> None:
    assert list(members_beside(tool_input, acts, description)) == told


def test_each_fact_is_a_line_by_its_place() -> None:
    members = {"a": {"b": {"c": ["touch x"]}, "n": 7}, "steps": [{"run": "make"}, []], "on": True, "body": "one\ntwo: 2"}
    assert facts_of(members) == ['a.b.c: ["touch x"]', "a.n: 7", "steps[0].run: make", "steps[1]: []", "on: true",
                                 "body: 2 lines", f"{MARK}one", f"{MARK}two: 2"]


def test_a_name_that_reads_like_a_fact_is_quoted() -> None:
    assert facts_of({"path: /etc\ncommand": "ls", "x\u202e": 1}) == [r'"path: /etc\ncommand": ls', '"x\u202e": 1']


def test_what_is_too_deep_is_one_fact() -> None:
    value: Any = "end"
    for _ in range(DEPTH + 5):
        value = {"in": value}
    (fact,) = facts_of({"x": value})
    assert fact.count("in") == DEPTH + 5 and "end" in fact


JSON = st.recursive(st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3))


@given(st.dictionaries(st.text(max_size=4), JSON, max_size=4))
def test_no_fact_has_a_line_end_in_it_and_every_text_is_told(members: dict[str, Any]) -> None:
    facts = facts_of(members)
    assert not any("\n" in fact for fact in facts)
    for value in members.values():
        if isinstance(value, str):
            assert all(any(line in fact for fact in facts) for line in value.split("\n"))
