"""What a search looks for: files by a glob, text by an expression; where it is not clear, nothing goes by unseen."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.dialects.calls.searches import folders_in, is_glob, reading_of, spelled_out, words_of
from trunkline.dialects.glob_tokens import PATTERN_CHARS


@every_row(("tool", "kind", "writes", "reading"), [
    ("Glob", None, False, "glob"), ("mcp__files__list_files", None, False, "glob"), ("Grep", None, False, "expression"),
    ("searchFileContent", "search", False, "expression"), ("replace", "edit", True, "expression"),
    ("replace", "search", True, "unclear"), ("search", "search", False, "unclear"), ("", None, False, "unclear"),
])
def test_a_tools_name_says_what_its_pattern_is(tool: str, kind: str | None, writes: bool, reading: str) -> None:
    assert reading_of(tool, kind, writes=writes) == reading


@every_row(("text", "kind", "folders", "glob"), [
    ("*.py", "search", [], True), ("*.py", "search", ["src"], False), ("def .*", "search", [], False),
    ("*.py", "read", [], False),
    ("../x", "read", ["src"], True), ("/etc/*", "search", ["src"], True), ("{a,~/b}", "search", ["src"], True),
    ("a..b", "search", ["src"], False),
])
def test_what_as_a_glob_would_leave_the_folder_counts_as_one(text: str, kind: str, folders: list[str], glob: bool) -> None:
    assert is_glob(text, kind, folders) is glob


def test_folders_are_found_by_the_last_word_of_their_names() -> None:
    given = {"searchPath": "a", "directories": ["b", 3, ""], "path_filter": "no", "cwd": "c", "pattern": "*.py"}
    assert folders_in(given) == ["a", "b", "c"]
    assert words_of("filePath") == words_of("file_path") == ("file", "path")


def test_a_glob_is_spelled_out_in_each_folder_unless_it_says_where_itself() -> None:
    assert sorted(spelled_out("{a,/b}/*.py", ["src", "lib"])) == ["/b/*.py", "lib/a/*.py", "src/a/*.py"]
    assert list(spelled_out("*.py", [])) == ["*.py"]
    assert list(spelled_out("x" * (PATTERN_CHARS + 1), [])) == [], "too much to look at"
