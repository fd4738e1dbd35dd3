"""What an awk script runs, writes and reads; a name that it puts together is only known when it runs."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.dialects.risk.inline.awk import AwkScript, given_values, read_awk


@every_row("script", [
    "{print $1}", "NR>1", "$1 > 2 {print}", "/a|b/", "{print (a > b)}", "{print (1+2)/3}", "!/a|b/ && $2 ~ /c|d/",
    "{ if (/a|b/) print }", "{print a/b/c}", "/[^/]|x/", "# print | x\n{print}", "{x = a || b}",
])
def test_what_computes_and_prints_does_nothing_else(script: str) -> None:
    found = read_awk(script)
    assert found == AwkScript(texts=found.texts)


@every_row("script", ["{print | $0}", '"x" | getline', "{system($0)}", '{print |& "x"}', "{@f()}", '@load "x"',
                      "{ if (/\"/) print | $0 ; x = \"\" }", "{a = b / c; print | d / 2}"])
def test_a_pipe_or_a_call_of_what_is_not_seen_runs_something(script: str) -> None:
    assert read_awk(script).runs


@every_row(("script", "values", "writes"), [
    ('{print > "a" "b"}', {}, ("ab",)), ('{print $1, $2 >> "a"}', {}, ("a",)), ('{print("x") > "a"}', {}, ("a",)),
    ('{f = "a"; print > f; close(f)}', {}, ("a",)), ("{print > f}", {"f": ["a"]}, ("a",)), ('{printf "x" > "\\141"}', {}, ("a",)),
])
def test_a_target_is_known_where_it_is_a_text(script: str, values: dict[str, list[str]], writes: tuple[str, ...]) -> None:
    found = read_awk(script, values)
    assert (found.writes, found.opens) == (writes, False)


@every_row("script", ["{print > $1}", '{print > $1 ".txt"}', "{print > f}", '{f = $1; print > f}', '{f = "a" x; print > f}',
                      '{f = "a"; sub(/a/, "b", f); print > f}', '{print > "a" x}', "{print > FILENAME}"])
def test_a_target_that_is_put_together_is_not_known(script: str) -> None:
    assert read_awk(script).opens


@every_row(("script", "reads", "looks"), [
    ('{getline < "a"}', ("a",), False), ('{while ((getline l < "a") > 0) n++}', ("a",), False), ("{getline < $1}", (), True),
    ('BEGIN{ARGV[1]="a"}', ("a",), True), ("{getline}", (), False),
])
def test_what_it_reads_is_told(script: str, reads: tuple[str, ...], looks: bool) -> None:
    found = read_awk(script)
    assert (found.reads, found.looks) == (reads, looks)


@every_row("script", ["/x", '{print "x', "{ x = (/a }"])
def test_what_has_no_end_is_odd(script: str) -> None:
    assert read_awk(script).odd


def test_values_come_from_the_words_of_the_call() -> None:
    assert given_values(["-v", "a=1", "-vb=2", "--assign=c=3", "x.txt", "d=4", "{e==5}", "-F="]) == {
        "a": ["1"], "b": ["2"], "c": ["3"], "d": ["4"]}
    assert read_awk('@include "lib"; {print}').includes == ("lib",)
