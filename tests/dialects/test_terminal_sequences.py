"""What programs say to terminals beside the text that people read."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.dialects.terminal_sequences import without_sequences


@every_row(("text", "plain"), [
    ("\x1b[31mred\x1b[0m", "red"), ("\x1b]0;title\x07text", "text"), ("\x1b]8;;https://x.test\x1b\\link\x1b]8;;\x1b\\", "link"),
    ("a\x1b(Bb\x1b=c", "abc"), ("\x1bPq...\x1b\\after", "after"), ("no sequence [31m", "no sequence [31m"), ("", ""),
    ("cut off \x1b[31", "cut off 31"),
])
def test_only_sequences_are_taken_out(text: str, plain: str) -> None:
    assert without_sequences(text) == plain
