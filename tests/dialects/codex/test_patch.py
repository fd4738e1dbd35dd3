"""Patches as Codex writes them, as diffs."""

from __future__ import annotations

from trunkline.dialects.codex.patch import PIECES, diffs_of_patch

PATCH = """*** Begin Patch
*** Add File: new.txt
+one
+two
*** Update File: src/a.py
@@ def f():
 keep
-old
+new
@@
-x
+y
*** Delete File: gone.txt
*** Update File: b.py
*** Move to: c.py
-p
+q
*** End Patch
"""


def test_a_patch_is_a_diff_for_each_of_its_pieces() -> None:
    assert diffs_of_patch(PATCH, "/home/dev") == [
        {"type": "diff", "path": "/home/dev/new.txt", "newText": "one\ntwo\n"},
        {"type": "diff", "path": "/home/dev/src/a.py", "newText": "keep\nnew\n", "oldText": "keep\nold\n"},
        {"type": "diff", "path": "/home/dev/src/a.py", "newText": "y\n", "oldText": "x\n"},
        {"type": "diff", "path": "/home/dev/c.py", "newText": "q\n", "oldText": "p\n"},
    ]


def test_a_text_that_is_no_patch_has_no_diffs_and_a_long_one_has_an_end() -> None:
    assert diffs_of_patch("rubbish\n+x\n", "/") == []
    assert len(diffs_of_patch("*** Update File: a\n" + "@@\n-a\n+b\n" * 1000, "/")) == PIECES
