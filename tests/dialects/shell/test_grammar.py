"""Any text is read without an error, and what is too much for us is said to be incomplete."""

from __future__ import annotations

import subprocess
import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tooling.examples import examples
from tests.tooling.rows import every_row
from trunkline.dialects.shell import parse_shell, spans
from trunkline.dialects.shell.grammar import parse_tree

PIECES = (
    "$( ) ( ` ' \" \\ \n | || && ; & < > << <<< >> <( { } [ ] [[ ]] ! # $ ${ ~ * ? = rm sh -c eval sudo xargs find -exec "
    "a b EOF if then fi for in do done case esac while function \0 é 𝕏"
).split(" ")


@given(st.lists(st.sampled_from([*PIECES, " "]), max_size=40).map("".join) | st.text(max_size=60))
@settings(max_examples=examples(80), deadline=None)
def test_any_text_is_read(line: str) -> None:
    parsed = parse_shell(line)
    assert parsed.complete == (parsed.problem == "")
    for index, command in enumerate(parsed.commands):
        assert -1 <= command.parent < index
        assert command.stdin_from <= index
        assert len(command.words) == len(command.sketch)
    assert all(0 <= span.start <= span.end <= len(line) for span in spans(line))


@every_row(
    "line",
    [
        "ls )",
        'echo "x',
        "if a; then",
        "ls \0",
        "a" * 20_000,
        "ls " * 300_000,
        "$(" * 5_000,
        "(" * 5_000 + "a" + ")" * 5_000,
        "( " * 60 + "a" + " )" * 60,
        "sudo " * 200 + "ls",
        ")(" * 2_000,
        ">" * 2_000,
        "a|" * 2_000,
        "<<E\n" * 1_000,
    ],
)
def test_what_is_broken_long_or_deep_is_not_complete(line: str) -> None:
    parsed = parse_shell(line)
    assert not parsed.complete
    assert parsed.problem
    assert len(parsed.commands) < 1000


def test_a_long_file_written_by_a_here_doc_is_still_read() -> None:
    body = "print('it', f(x)) | & ; $ { } don't\n" * 300
    parsed = parse_shell(f"cat > x.py <<'EOF'\n{body}EOF\nls")
    assert parsed.complete
    assert [command.text for command in parsed.commands] == ["cat", "ls"]
    assert parsed.commands[0].stdin_text == body


def test_the_grammar_is_not_loaded_before_a_line_is_read() -> None:
    code = (
        "import sys, trunkline.dialects.shell as s; print('tree_sitter' in sys.modules);"
        "s.parse_shell('ls'); print('tree_sitter' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert ran.stdout.split() == ["False", "True"], ran.stderr


@every_row("line", ["{\U00031860", "echo \U0010ffff", "${é}", "<<ü\nx\nü", "日本=1"])
def test_the_grammar_never_sees_more_than_ascii(line: str) -> None:
    """Its scanner would look up a rare character far outside of a table, and end the process."""
    assert (parse_tree(line.encode()).text or b"").isascii()
    assert len(parse_tree(line.encode()).text or b"") <= len(line.encode())
