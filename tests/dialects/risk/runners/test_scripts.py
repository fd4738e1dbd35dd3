"""Which words a runner of scripts hands on, and which of them say what is run."""

from __future__ import annotations

from tests.dialects.shell.lines import only
from tests.tooling.rows import every_row
from trunkline.dialects.risk.runners.scripts import changing_for_scripts, handed_on, values_handed_on


@every_row(("line", "words"), [
    ("npm test -- --a x", ["--a", "x"]), ("npm test x --silent -- y", ["x", "y"]), ("npm run -s lint -- -f z", ["-f", "z"]),
    ("npm install x", []), ("npm -w pkg test -- x", ["x"]), ("yarn test --a x", ["--a", "x"]), ("yarn workspace w test x", ["x"]),
    ("yarn add x", []), ("pnpm run test x", ["x"]), ("tox -e py -- x", ["x"]), ("tox -e py", []), ("make test x", []),
])
def test_what_follows_the_script_is_handed_on(line: str, words: list[str]) -> None:
    command = only(line)
    assert [command.sketch[at] for at in handed_on(command)] == words


def test_names_of_tests_are_no_files() -> None:
    assert values_handed_on(only("npm test -- -t name --grep=x 'a b' src/x --out=y -Rz")) == [
        ("", "src/x"), ("--out", "y"), ("-R", "z")]


@every_row(("line", "options"), [
    ("npm test -- --reporter=dot", []), ("npm test -- --reporter=./x.js", ["--reporter"]),
    ("npm test -- --config x", ["--config"]),
    ("npm test -- -R x.js", ["-R"]), ("npm test -- -R dot", []), ("npm test -- --outputFile=src/x.py", ["--outputFile"]),
    ("npm test -- --outputFile=report.json", []), ("npm test --reporter=./x.js", []),
])
def test_an_option_that_names_code_or_writes_is_told(line: str, options: list[str]) -> None:
    assert changing_for_scripts(only(line)) == options
