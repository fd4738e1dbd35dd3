"""Options that write a file or empty a folder are told, unless the name says that it is a report."""

from __future__ import annotations

from tests.dialects.shell.lines import only
from tests.tooling.rows import every_row
from trunkline.dialects.risk.output_options import is_expected, unexpected_outputs


@every_row(("line", "options"), [
    ("pytest --junitxml=src/main.py", ["--junitxml"]), ("pytest --junitxml=junit.xml", []),
    ("pytest --junit src/x.py", ["--junit-xml"]),
    ("pytest --cov=src --cov-report=html:src", ["--cov-report"]), ("pytest --cov-report=term", []),
    ("python -m pytest --html=src/x.py", ["--html"]), ("jest --outputFile=src/main.ts", ["--outputFile"]),
    ("sort -o src/main.py x", ["-o"]), ("sort -osrc/main.py x", ["-o"]), ("sort x", []),
    ("find . -fprint src/main.py", ["-fprint"]),
    ("find . -name x", []), ("tsc --outDir lib", []), ("go build -o bin/x", []), ("ls -o x", []),
])
def test_what_a_pattern_has_to_name_is_told(line: str, options: list[str]) -> None:
    assert unexpected_outputs(only(line)) == options


@every_row(("path", "expected"), [
    ("report.xml", True), ("build/x.py", True), ("out.log", True), ("changes.patch", True), ("x.tar.gz", True),
    ("src/main.py", False), ("Makefile", False), ("../build", True), ("../build/x.py", False),
])
def test_a_report_is_known_by_its_name(path: str, expected: bool) -> None:
    assert is_expected(path) is expected
