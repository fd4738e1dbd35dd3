"""What a search of code found, in every layout that agents answer with."""

from __future__ import annotations

from typing import Any

from tests.session.interpret.call_builders import made, only, text
from tests.tooling.rows import every_row
from trunkline.session.interpret.effects.search import RESULTS


def structured(kind: str, **fields: Any) -> dict[str, Any] | None:
    found: dict[str, Any] | None = only(made(kind, **fields), "tool:result").get("structured")
    return found


SEARCH: dict[str, Any] = {"rawInput": {"pattern": "x", "path": "/w"}}


@every_row(("fields", "results"), [
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
