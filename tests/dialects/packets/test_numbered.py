"""The text of a file out of lines that were numbered."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.dialects.packets.numbered import read_file_text


@every_row(("said", "first", "lines"), [
    ("1\thello", 1, ["hello"]),
    ("     9→a\n    10→b", 9, ["a", "b"]),
    ("<path>/a</path>\n<type>file</type>\n<content>\n3: x\n4: y\n\n(End of file - total 4 lines)\n</content>", 3, ["x", "y"]),
    ("@@ lines 5-6 of 9 @@\nx\ny\n", 5, ["x", "y"]),
    ("1\ta\n3\tb", 1, ["1\ta", "3\tb"]),
    ("2024: a year", 1, ["2024: a year"]),
    ("plain\n\ntext", 1, ["plain", "", "text"]),
])
def test_lines_are_read_whatever_numbers_them(said: str, first: int, lines: list[str]) -> None:
    assert read_file_text(said) == (first, lines)
