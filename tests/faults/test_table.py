"""The table itself: rows in order, between the markers, and nothing else of the document touched."""

from __future__ import annotations

from pathlib import Path

from tests.faults.table import END, START, Row, write_table


def test_a_table_replaces_the_one_before_it_and_leaves_the_rest_of_the_document(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text(f"before\n{START}\nold rows\n{END}\nafter\n")
    write_table(document, [Row(2, "later", 1000, 1000, 12.4, 0), Row(1, "sooner", 1, 1, None, 0)])
    text = document.read_text()
    assert text.startswith("before\n") and text.endswith(f"{END}\nafter\n") and "old rows" not in text
    assert text.index("| 1 | sooner | 1 | 1 | – | 0 |") < text.index("| 2 | later | 1,000 | 1,000 | 12 ms | 0 |")
