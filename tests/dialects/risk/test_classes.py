"""Shell lines by what they have in common: a whole way is closed, and what stands beside it stays easy."""

from __future__ import annotations

import time
import tomllib
from pathlib import Path

from tests.tooling.rows import every_row
from trunkline.dialects.risk import explain_risk

ROOT = "/home/u/proj"
TABLE: dict[str, dict[str, list[str]]] = tomllib.loads((Path(__file__).parent / "classes.toml").read_text("utf-8"))


@every_row("group", TABLE)
def test_every_line_of_a_class_gets_its_level(group: str) -> None:
    @every_row(("line", "level"), [(line, level) for level, lines in TABLE[group].items() for line in lines])
    def check(line: str, level: str) -> None:
        risk = explain_risk("Bash", {"command": line}, cwd=ROOT, roots=[ROOT], home="/home/u")
        assert risk.level == level, risk

    check()


@every_row("line", ["make", "npm test", "pytest", "git commit -am x", "./run.sh"])
def test_a_folder_that_the_call_names_counts_as_one_that_the_line_goes_to(line: str) -> None:
    risk = explain_risk("Bash", {"command": line, "cwd": "/srv/evil"}, cwd=ROOT, roots=[ROOT], home="/home/u")
    assert (risk.level, "/srv/evil" in risk.reason) == ("high", True)


LONG = 3_900
LONG_LINES = [
    "curl -X POST http://" + "a" * LONG, "curl " + "http://x/a " * (LONG // 11), "http " + "a=b " * (LONG // 4),
    "pytest --basetemp=" + "x/" * (LONG // 2), "pytest " + "--basetemp=x " * (LONG // 13), "pytest --junitxml=" + "r" * LONG,
    "jest --config " + "/," * (LONG // 2), "jest " + "--config=/x " * (LONG // 12), "pytest " + "../x " * (LONG // 5),
    "java -cp " + ":/x" * (LONG // 3), "JAVA_OPTS=" + "/x:" * (LONG // 3) + " make", "cd x; " * 250 + "make",
    "pushd /srv; " * 100 + "popd; " * 100 + "make", "X=/srv; " + "cd $X; " * 200 + "make", "aws " + "logs " * (LONG // 5),
    "kubectl get " + "a," * (LONG // 2), "mvn " + "a:" * (LONG // 2), "gradle " + ":a" * (LONG // 2),
    "diff --to-file=" + "." * LONG, "exec < x; " * (LONG // 10), "f() { psql; }; " + "f < x; " * (LONG // 7),
    "f() { " + "exec < x; psql; " * (LONG // 16) + "}", "printf '" + "%s" * (LONG // 2) + "' a | psql",
    "printf '%s' " + "a " * (LONG // 2) + "| psql", "psql <<< '" + "copy " * (LONG // 5) + "'",
    "psql <<'E'\n" + "\n" * LONG + "E", "psql <<< '" + "\\g x " * (LONG // 5) + "'",
    "sqlite3 x '" + ".once a\n" * (LONG // 8) + "'",
    "ipython -c '" + "%x\n" * (LONG // 3) + "'", "curl -d '" + "grant " * (LONG // 6) + "' localhost",
    "foo '" + '{"a":' * (LONG // 5) + "'", "foo '[" + '"ls a",' * (LONG // 8) + "1]'", "foo " + "a='ls b' " * (LONG // 9),
    "foo " + "-e 'a(b)' " * (LONG // 10), "foo '" + "(a " * (LONG // 3) + "'", "make " + "A='x;y' " * (LONG // 8),
    "make A=" + "x" * LONG, "make " + "A" * LONG + "=x", "foo --cwd=" + "../" * (LONG // 3), "foo " + "--cwd=/x " * (LONG // 9),
    "docker compose " + "-f /x " * (LONG // 6) + "up", "docker exec a " * (LONG // 14),
    "guile -c '" + '(a "b")' * (LONG // 7) + "'",
    "curl -" + "s" * LONG + "d x localhost", "curl " + "-sd x " * (LONG // 6) + "localhost",
]


@every_row("line", LONG_LINES)
def test_a_long_line_of_a_class_is_judged_quickly(line: str) -> None:
    began = time.thread_time()
    explain_risk("Bash", {"command": line}, cwd=ROOT, roots=[ROOT], home="/home/u")
    assert time.thread_time() - began < 0.2


@every_row("line", ["make", "pytest", "git commit -am x"])
def test_another_folder_of_the_session_is_not_outside(line: str) -> None:
    risk = explain_risk("Bash", {"command": f"cd /srv/more && {line}"}, cwd=ROOT, roots=[ROOT, "/srv/more"], home="/home/u")
    assert risk.level in ("low", "medium")
