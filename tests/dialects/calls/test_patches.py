"""What a patch takes away."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tooling.pace import own_s
from tests.tooling.rows import every_row
from trunkline.dialects.calls import read_call
from trunkline.dialects.calls.patches import FILES, Taken, taken_by
from trunkline.dialects.risk.places import Places
from trunkline.dialects.risk.tools import judge

MOVES = "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@\n-x\n+y\n*** End Patch"


@every_row(("text", "taken"), [
    ("*** Begin Patch\n*** Delete File: src/x.py\n*** End Patch", Taken(("src/x.py",))),
    ("*** Delete File: src/x.py", Taken(("src/x.py",))),
    ("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", Taken(("x",))),
    ("--- x\t2026-01-01\n+++ /dev/null\n", Taken(("x",))),
    ("diff --git a/x y b/x y\ndeleted file mode 100644\nindex 1..0\n", Taken(("x y",))),
    (MOVES, Taken((), (("a.py", "b.py"),))),
    ("rename from src/x\nrename to ../y\n", Taken((), (("src/x", "../y"),))),
    ("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", Taken((), (("x", "y"),))),
    ("*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** Delete File: b\n*** End Patch", Taken(("b",))),
    ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", Taken()),
    ("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n", Taken()),
    ("text\nthat is no patch\n", Taken()),
])
def test_what_a_patch_deletes_and_moves_is_found(text: str, taken: Taken) -> None:
    assert taken_by(text) == taken


@every_row("given", [
    {"patch": "*** Begin Patch\n*** Delete File: src/x.py\n*** End Patch"},
    {"input": "*** Begin Patch\n*** Delete File: src/x.py\n"},
    {"patch": "*** Delete File: src/x.py"}, {"changes": [{"diff": "--- a/src/x.py\n+++ /dev/null\n"}]},
    {"content": "--- a/src/x.py\n+++ /dev/null\n"},
])
def test_a_patch_that_deletes_is_a_deletion(given: dict[str, Any]) -> None:
    reading = read_call("apply_patch", "edit", given)
    assert (reading.deleted, "delete" in reading.acts, "src/x.py" in reading.paths) == (("src/x.py",), True, True)


@pytest.mark.parametrize("changes", [
    {"src/x.py": {"type": "delete", "content": "x"}}, {"src/x.py": {"delete": {"content": "x"}}},
    [{"path": "src/x.py", "kind": {"type": "delete"}, "diff": "x"}], [{"path": "src/x.py", "kind": "delete", "diff": ""}],
])
def test_a_table_of_changes_says_what_is_deleted(changes: Any) -> None:
    reading = read_call("apply_patch", "edit", {"call_id": "1", "changes": changes})
    assert (reading.deleted, "delete" in reading.acts, "src/x.py" in reading.paths) == (("src/x.py",), True, True)
    assert judge(reading, Places.of("/w", ["/w"], "/home/u")).level == "high"


@pytest.mark.parametrize("change", [
    {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a\n+b\n", "move_path": "../y.py"},
    {"update": {"unified_diff": "@@ -1 +1 @@\n-a\n+b\n", "move_path": "../y.py"}},
])
def test_a_table_of_changes_says_what_is_moved(change: dict[str, Any]) -> None:
    reading = read_call("apply_patch", "edit", {"changes": {"src/x.py": change}})
    assert (reading.moved, "move" in reading.acts, "../y.py" in reading.paths) == ((("src/x.py", "../y.py"),), True, True)


@pytest.mark.parametrize("change", [
    {"type": "add", "content": "x\n"}, {"add": {"content": "x\n"}},
    {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a\n+b\n", "move_path": None},
])
def test_a_table_of_changes_that_only_writes_is_a_write(change: dict[str, Any]) -> None:
    reading = read_call("apply_patch", "edit", {"changes": {"/w/x.py": change}})
    assert (sorted(reading.acts), reading.deleted, reading.moved, reading.doubts) == (["write"], (), (), ())


@pytest.mark.parametrize("change", [{"type": "chmod", "mode": "777"}, {"symlink": {"content": "/etc"}}, {"type": "move"}])
def test_what_a_table_does_that_nobody_knows_is_a_doubt(change: dict[str, Any]) -> None:
    assert any("not known" in doubt for doubt in read_call("apply_patch", "edit", {"changes": {"x": change}}).doubts)


def _link(target: str, mode: str = "new file mode 120000") -> str:
    return (f"diff --git a/sub/link b/sub/link\n{mode}\nindex 0000000..1f2e\n--- /dev/null\n+++ b/sub/link\n"
            f"@@ -0,0 +1 @@\n{target}\n\\ No newline at end of file\n")


@every_row(("patch", "level", "is_sure"), [
    (_link("+/etc"), "high", True), (_link("+../../other"), "high", True), (_link("+/tmp/x"), "high", True),
    (_link("+../docs"), "medium", True), (_link("+/etc", "new mode 120000"), "high", True),
    (_link("+a\n+b"), "high", False), (_link(""), "high", False), (_link("+/etc", "new file mode 100644"), "medium", True),
])
def test_a_patch_that_makes_a_link_is_judged_by_where_that_leads(patch: str, level: str, is_sure: bool) -> None:
    reading = read_call("apply_patch", "edit", {"patch": patch})
    assert (judge(reading, Places.of("/w", ["/w"], "/home/u")).level, reading.sure) == (level, is_sure)


HUNK = "@@ -1 +1 @@\n-a\n+b\n"
CONTEXT = "***************\n*** 1 ****\n! a\n--- 1 ----\n! b\n"


@every_row("patch", [
    f"Index: ../../.bashrc\n{HUNK}", f"Index:\t../../.bashrc\n\n{HUNK}", f"Index: ../../.bashrc\n{'=' * 67}\n{HUNK}",
    f"*** ../../.bashrc\n--- src/a.py\n{CONTEXT}", f"*** src/a.py\n--- ../../.bashrc\t2026-01-01\n{CONTEXT}",
    "*** Begin Patch\n*** Update File:\t../../.bashrc\n@@\n-a\n+b\n*** End Patch",
    "*** Begin Patch\n  *** update file:../../.bashrc\n@@\n-a\n+b\n*** End Patch",
    f"Property changes on: ../../.bashrc\n--- src/a.py\n+++ src/a.py\n{HUNK}",
])
def test_the_file_of_every_form_of_header_counts(patch: str) -> None:
    reading = read_call("apply_patch", "edit", {"patch": patch, "path": "src/a.py"})
    assert "../../.bashrc" in reading.paths and judge(reading, Places.of("/w/p", ["/w/p"], "/home/u")).level == "high"
    assert {path for path in reading.paths} <= {"../../.bashrc", "src/a.py"}


@every_row("header", ["*** Delete File:\tsrc/b.py", "*** Delete File:src/b.py", "  *** Delete File: src/b.py",
                      "*** delete file: src/b.py", "***\tDelete File:  src/b.py\r"])
def test_a_deletion_counts_however_its_header_is_spaced(header: str) -> None:
    for patch in (header, f"*** Begin Patch\n*** Update File: src/a.py\n@@\n-a\n+b\n{header}\n*** End Patch"):
        reading = read_call("apply_patch", "edit", {"patch": patch})
        assert reading.deleted == ("src/b.py",) and reading.description == "apply_patch, which deletes: src/b.py"


@every_row("patch", [
    "1,$d\n", "1,$d", "d\n", "1c\nnew\n.\nw\n", f"Index: src/a.py\n{HUNK}Index: src/b.py\n1,$d\n", "1c1\n< a\n---\n> b\n",
    "%s/a/b/\n", "2r !make\n", "!make install\n", "just words", "--- a/src/a.py\n+++ b/src/a.py\n1,2d\n",
    "diff --git a/x b/x\nnew file mode 100644\nGIT binary patch\nliteral 3\n",
])
@every_row(("tool", "member"), [("apply_patch", "patch"), ("apply_patch", "input"), ("Edit", "diff"), ("Edit", "patch_text")])
def test_a_patch_of_no_form_that_is_known_is_a_doubt(patch: str, tool: str, member: str) -> None:
    reading = read_call(tool, "edit", {member: patch, "path": "src/a.py"})
    assert f"a patch of no form that is known: {member}" in reading.doubts


@every_row("patch", [
    HUNK, f"--- a/src/a.py\n+++ b/src/a.py\n{HUNK}", "<<<<<<< SEARCH\na\n=======\nd\n>>>>>>> REPLACE\n",
    f"Index: src/a.py\n{'=' * 67}\n--- src/a.py\n+++ src/a.py\n{HUNK}",
    "*** Begin Patch\n*** Add File: src/a.py\n+d\n*** End Patch",
    "------- SEARCH\na\n=======\nb\n+++++++ REPLACE\n",
    "diff --git a/src/a.py b/src/b.py\nsimilarity index 100%\nrename from src/a.py\nrename to src/b.py\n",
])
def test_the_forms_that_agents_send_are_known(patch: str) -> None:
    assert not [doubt for doubt in read_call("Edit", "edit", {"diff": patch, "path": "src/a.py"}).doubts if "patch" in doubt]


@every_row("before", ["../x\n", "src/b.py\n```python\n", "```\n../x\n"])
def test_blocks_behind_the_name_of_another_file_are_of_no_known_form(before: str) -> None:
    patch = f"{before}<<<<<<< SEARCH\na\n=======\nd\n>>>>>>> REPLACE\n"
    assert "a patch of no form that is known: diff" in read_call("Edit", "edit", {"diff": patch, "path": "src/a.py"}).doubts


def test_blocks_may_stand_in_a_fence() -> None:
    patch = "```python\n<<<<<<< SEARCH\na\n=======\nd\n>>>>>>> REPLACE\n```\n"
    assert not read_call("Edit", "edit", {"diff": patch, "path": "src/a.py"}).doubts


def test_a_text_with_an_index_is_no_patch() -> None:
    assert read_call("Write", "edit", {"path": "a.md", "content": "Index: ../x\nand more\n"}).paths == ("a.md",)


def test_a_patch_that_moves_is_a_move_and_says_where_to() -> None:
    reading = read_call("apply_patch", "edit", {"patch": MOVES})
    assert (reading.moved, "move" in reading.acts, reading.doubts) == ((("a.py", "b.py"),), True, ())


def test_a_text_that_is_written_is_no_patch_even_if_it_reads_like_one() -> None:
    reading = read_call("Write", "edit", {"path": "docs/patches.md", "content": "*** Delete File: x\nis how one deletes\n"})
    assert reading.deleted == () and "delete" not in reading.acts


def test_a_long_patch_takes_no_longer_than_it_is_long() -> None:
    many = "*** Delete File: x\n" * 2 + "".join(f"*** Delete File: {n}\n" for n in range(100_000))

    def take() -> None:
        assert len(taken_by(many).deleted) == FILES
        assert taken_by("--- " + " " * 500_000 + "\n" + "+++" * 200_000) == Taken()

    assert own_s(take) < 2


@pytest.mark.parametrize("header", ["*** Rename to: ../x", "*** Copy to: ../x", "***Link:../x"])
def test_a_header_that_is_not_known_is_a_doubt_and_its_path_counts(header: str) -> None:
    patch = f"*** Begin Patch\n*** Update File: a.py\n{header}\n@@\n-a\n+b\n*** End Patch\n"
    reading = read_call("apply_patch", "edit", {"patch": patch})
    assert not reading.sure and "../x" in reading.paths
    assert read_call("apply_patch", "edit", {"patch": patch.replace(header + "\n", "")}).sure
