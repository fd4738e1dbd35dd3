"""What a call changed in a file, as diffs of the whole file where its text is known."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.dialects.claude.calls import patches
from trunkline.dialects.claude.calls.results import ended


def done(name: str, given: dict[str, Any], answer: Any = "ok", record: Any = None, failed: bool = False) -> dict[str, Any]:
    return ended("c", name, given, answer, record, failed)


def hunk(old: int, *lines: str) -> dict[str, Any]:
    return {"oldStart": old, "newStart": old, "lines": list(lines)}


def test_an_edit_is_a_diff_of_the_whole_file_by_the_clis_own_patch() -> None:
    patch = [hunk(1, " one", "-two", "+TWO", " three")]
    record = {"filePath": "/p/a", "originalFile": "one\ntwo\nthree\n", "structuredPatch": patch}
    update = done("Edit", {"file_path": "/p/a", "old_string": "two", "new_string": "something else"}, record=record)
    assert update["content"] == [{"type": "diff", "path": "/p/a", "oldText": "one\ntwo\nthree\n", "newText": "one\nTWO\nthree\n"}]
    assert update["locations"] == [{"path": "/p/a", "line": 1}]
    assert update["rawOutput"]["output"] == "ok" and "originalFile" not in update["rawOutput"]


def test_a_patch_that_writes_tabs_as_spaces_does_not_count() -> None:
    patch = [hunk(1, "     one", "-    two", "+    TWO")]
    record = {"filePath": "/p/a", "originalFile": "\tone\n\ttwo\n", "structuredPatch": patch}
    (diff,) = done("Edit", {"old_string": "two", "new_string": "TWO"}, record=record)["content"]
    assert diff["newText"] == "\tone\n\tTWO\n"


def test_several_edits_of_one_call_are_one_diff() -> None:
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "b", "new_string": "c", "replace_all": True}]
    (diff,) = done("MultiEdit", {"file_path": "/p/a", "edits": edits}, record={"originalFile": "a b\n"})["content"]
    assert diff["newText"] == "c c\n"


@pytest.mark.parametrize(("record", "old"), [({"type": "create", "originalFile": None}, None), ({"originalFile": "was"}, "was")])
def test_a_written_file_is_new_or_replaces_what_was_there(record: dict[str, Any], old: str | None) -> None:
    (diff,) = done("Write", {"file_path": "/p/a", "content": "is"}, record=record)["content"]
    assert (diff.get("oldText"), diff["newText"]) == (old, "is")


def test_an_edited_notebook_is_a_diff_of_it() -> None:
    record = {"notebook_path": "/p/n", "original_file": "{}", "updated_file": "{1}", "old_source": "x", "new_source": "y"}
    (diff,) = done("NotebookEdit", {"notebook_path": "/p/n"}, record=record)["content"]
    assert (diff["path"], diff["oldText"], diff["newText"]) == ("/p/n", "{}", "{1}")


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abc"), max_size=8))
def test_a_patch_makes_of_one_text_the_other(before: list[str], after: list[str]) -> None:
    old, new = "\n".join(before), "\n".join(after)
    lines = [f"-{line}" for line in old.split("\n")] + [f"+{line}" for line in new.split("\n")]
    assert patches.patched(old, [hunk(1, *lines)]) == new
    assert patches.patched(f"{old}!", [hunk(1, *lines)]) is None, "a patch of another text"
