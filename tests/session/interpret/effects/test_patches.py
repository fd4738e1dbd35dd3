"""Patches as text, taken apart by file."""

from __future__ import annotations

import pytest

from tests.session.interpret.call_builders import change, made, only


def test_a_patch_is_taken_apart_by_file() -> None:
    patch = ("*** Begin Patch\n*** Add File: n.txt\n+one\n+two\n*** Update File: src/a.py\n@@\n-old\n+new\n kept\n"
             "*** Delete File: gone.txt\n*** Update File: b\n*** Move to: c\n@@\n+x\n*** End Patch")
    batch = only(made("other", rawInput={"patchText": patch}), "file:batch")
    assert [(each["path"], each["changeType"], each["linesAdded"], each["linesRemoved"]) for each in batch["changes"]] == [
        ("/w/n.txt", "created", 2, 0), ("/w/src/a.py", "modified", 1, 1), ("/w/gone.txt", "deleted", 0, 0),
        ("/w/b", "deleted", 0, 0), ("/w/c", "created", 1, 0)]


def test_a_new_files_shortened_body_is_no_diff() -> None:
    patch = "*** Begin Patch\n*** Add File: n.ts\n..."
    files = [{"type": "add", "before": "", "after": "// new file content...", "additions": 230, "deletions": 0}]
    found = made("other", rawInput={"patchText": patch}, rawOutput={"output": "Success", "metadata": {"files": files}})
    changed = only(found, "file:change")
    assert (changed["path"], changed["changeType"], changed["linesAdded"]) == ("/w/n.ts", "created", 230)
    assert "diff" not in changed and changed["_meta"] == {"abridged": True}


@pytest.mark.parametrize(("patch", "added"), [
    ("*** Begin Patch\n*** Add File: n\n+one\n...\n*** End Patch", 1),
    ("--- /dev/null\n+++ b/n\n@@ -0,0 +1,230 @@\n+one\n...\n", 230),
])
def test_a_shortened_patch_alone_is_counted_and_not_shown(patch: str, added: int) -> None:
    found = change(rawInput={"patch": patch})
    assert (found["path"], found["linesAdded"]) == ("/w/n", added)
    assert "diff" not in found


def test_a_unified_diff_is_a_patch_too() -> None:
    patch = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+c\n"
    batch = only(made("edit", rawInput={"patch": patch}), "file:batch")
    assert [(each["path"], each["changeType"]) for each in batch["changes"]] == [("/w/x.py", "modified"), ("/w/y", "created")]
