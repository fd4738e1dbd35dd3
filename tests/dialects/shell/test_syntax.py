"""What a shell line is made of: which program it is, and whether a redirection touches a file."""

from __future__ import annotations

from tests.dialects.shell.lines import only
from tests.tooling.rows import every_row
from trunkline.dialects.shell.syntax import is_descriptor


@every_row(("line", "name", "plain"), [
    ("make all", "make", "make all"), ("/usr/bin/make all", "make", "make all"), ("m''ake 'all'", "make", "make all"),
    ("$X all", None, "$X all"), (">log", "", ""), ("./run", "run", "run"),
])
def test_a_program_is_known_without_its_folder_and_its_quotes(line: str, name: str | None, plain: str) -> None:
    command = only(line)
    assert (command.name, command.plain) == (name, plain)


@every_row(("line", "writes", "reads"), [
    ("make >log", True, False), ("make >>log", True, False), ("make 2>&1", False, False), ("make >&log", True, False),
    ("make <in", False, True),
])
def test_a_redirection_touches_a_file_or_only_another_descriptor(line: str, writes: bool, reads: bool) -> None:
    (redirect,) = only(line).redirects
    assert (redirect.writes, redirect.reads) == (writes, reads)


def test_a_text_that_stands_in_the_line_is_the_input() -> None:
    assert only("cat <<A\none\nA\n").stdin_text == "one\n"
    assert only("cat <<<words").stdin_text is not None and only("cat <file").stdin_text is None and only("cat").stdin_text is None


def test_a_descriptor_is_a_number_or_a_dash() -> None:
    assert [is_descriptor(text) for text in ("1", "-", "1-", "log", "", "1x")] == [True, True, True, False, False, False]
