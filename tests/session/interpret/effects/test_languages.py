"""Which language a file is written in, by its name."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.session.interpret.effects.languages import language_of


@every_row(("path", "language"), [
    ("/w/src/a.py", "python"), ("A.PY", "python"), ("a.test.tsx", "typescript"), ("/w/Dockerfile", "dockerfile"),
    ("/w/CMakeLists.txt", "cmake"), ("notes.txt", "text"), (".gitignore", ""), ("/w/src.py/a", ""), ("LICENSE", ""), ("", ""),
])
def test_the_name_of_a_file_says_its_language_whatever_its_case_and_folder(path: str, language: str) -> None:
    assert language_of(path) == language
