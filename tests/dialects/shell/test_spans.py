"""Which part of a line is what, for highlighting."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.dialects.shell import spans


def roles(line: str) -> list[tuple[str, str]]:
    return [(line[span.start : span.end], span.role) for span in spans(line)]


@every_row(
    ("line", "expected"),
    [
        ("ls -l", [("ls", "command"), ("-l", "argument")]),
        ("a | b && c", [("a", "command"), ("|", "operator"), ("b", "command"), ("&&", "operator"), ("c", "command")]),
        ("a > x", [("a", "command"), ("> x", "redirect")]),
        ("a 'b c'", [("a", "command"), ("'b c'", "string")]),
        ("é ü > ö", [("é", "command"), ("ü", "argument"), ("> ö", "redirect")]),
        (
            'a "$(b c)"',
            [
                ("a", "command"),
                ('"$(b c)"', "string"),
                ("$(b c)", "substitution"),
                ("b", "command"),
                ("c", "argument"),
                (")", "operator"),
            ],
        ),
    ],
)
def test_the_parts_of_a_line_have_roles(line: str, expected: list[tuple[str, str]]) -> None:
    assert roles(line) == expected


def test_a_line_that_is_not_parsed_has_no_spans() -> None:
    assert spans("a" * 100_000) == []
    assert spans("ls \0") == []
