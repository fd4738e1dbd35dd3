"""What a shell computes may run anything: a pattern for another program does not cover a line that computes more than numbers."""

from __future__ import annotations

from tests.session.policy.ask_builders import allow, auto, decided, deny, running
from tests.tooling.rows import every_row
from trunkline.dialects.risk import explain_risk

LISTED = allow(command=["ls", "ls *", "[ *", "[[ *", "test *", "[*"])
TWO_PARTS = "for x in 'a[$'; do for y in '(touch made)]'; do @; done; done"


@every_row("inside", [
    "case $(($x$y)) in *) ls;; esac", "case ${z:$x$y} in *) ls;; esac", "case ${z[$x$y]} in *) ls;; esac",
    "case a in ${z[$x$y]}) ;; *) ls;; esac", "for z in $(($x$y)); do ls; done", "for z in ${b:$x$y}; do ls; done",
    "for ((;$x$y;)); do ls; done", "[[ $(($x$y)) ]]; ls", "[[ -n ${b:$x$y} ]]; ls", "[[ -v $x$y ]]; ls",
    '[[ -v "$x$y" ]]; ls', '[[ -v b["$x$y"] ]]; ls', "[[ $x$y -eq 1 ]]; ls", "[[ 1 -lt $x$y ]] || ls",
    "[[ a =~ ${z[$x$y]} ]]; ls",
    "[[ a == $(($x$y)) ]]; ls", "[ -v $x$y ]; ls", "test -v $x$y; ls", "[ $x$y ]; ls", "[[ a||-v $x$y ]]; ls",
    "[[ (-v $x$y) ]]; ls", "case ${!x} in *) ls;; esac", "case ${x@P} in *) ls;; esac", "case $[$x$y] in *) ls;; esac",
    "case ${a/${z[$x$y]}/} in *) ls;; esac", 'case "${@:$x$y}" in *) ls;; esac',
])
def test_a_command_that_two_values_make_together_is_not_covered(inside: str) -> None:
    line = TWO_PARTS.replace("@", inside)
    assert decided(running(line), LISTED).action == "ask", line
    assert decided(running(line), deny(command=["touch*"]), session_policy=auto(commands=True)).action != "allow", line


@every_row("line", [
    "for x in PATH=1; do [[ $((x)) ]]; ls; done", "for x in PATH=1; do [[ -v a[x] ]] || ls; done",
    "for x in PATH=1; do case ${z:x} in *) ls;; esac; done", "for x in PATH=1; do for ((;x<1;)); do ls; done; ls; done",
    "for x in PATH=1; do for ((i=x;i<1;)); do ls; done; ls; done", "for x in PATH=1; do for y in $((x)) a; do ls; done; done",
    "for x in PATH=1; do ls <<< $((x)); done", "[[ -v z[PATH=1] ]] || ls", "[[ -v 'z[PATH=1]' ]] || ls",
    "[[ ! -v z[PATH=1] ]] && ls", "[[ -R z[PATH=1] ]] || ls", "case ${z[PATH=1]} in *) ls;; esac",
    "if [[ ${z:=PATH=1} ]]; then case $((z)) in *) ls;; esac; fi", "[[ PATH=1 =~ .* ]] && case $((BASH_REMATCH)) in *) ls;; esac",
    "[[ 'a[$(touch made)]' =~ .* && -v $BASH_REMATCH ]] || ls", "case $((x)) in *) ls;; esac", "[[ x -eq 1 ]] && ls",
    "for x in 1 a; do case $((x)) in *) ls;; esac; done", "for x in *; do [[ $x -eq 1 ]]; ls; done",
    "for x in 1; do for x in PATH=1; do case $((x)) in *) ls;; esac; done; done",
    "for x in a[{\\$,}'(touch made)]'; do case $((x)) in *) ls;; esac; done",
    "for ls in PATH=1; do [[ a == x$((ls)) ]]; ls; done",
    "for x in '-v a[PATH=1]'; do [ $x ]; ls; done", "for x in -v; do [ \"$x\" \"a[PATH=1]\" ]; ls; done",
    "seq() { ls; }; for x in $(seq 3); do case $((x)) in *) ls;; esac; done",
])
def test_a_name_that_a_value_sets_is_not_covered(line: str) -> None:
    assert decided(running(line), LISTED, allow(command=["seq *"])).action == "ask", line


@every_row("line", [
    "for i in 1 2 3; do [[ $i -eq 2 ]]; ls; done", "for i in {1..5}; do case $((i * 2)) in 4) ls;; esac; done",
    "[[ $# -eq 0 ]] && ls", "if [ $? -eq 0 ]; then ls; fi", "[[ -v CI ]] && ls", "[ -d $HOME/x ] && ls", '[ "$a" = "$b" ] && ls',
    "[[ 1 -eq 1 ]] && ls", "case ${a:0:3} in x) ls;; esac", "case ${a[0]} in x) ls;; esac", "case ${a[@]} in x) ls;; esac",
    "case ${a: -1} in x) ls;; esac", "case ${a:-b} in x) ls;; esac", "case $((1 + 0x10)) in 2) ls;; esac",
    "for f in *.py; do [ -f \"$f\" ] && ls; done", "for i in 1 2; do [ $i -gt 1 ] && ls; done",
])
def test_numbers_and_counters_stay_covered(line: str) -> None:
    assert decided(running(line), allow(command=["ls", "ls *"])).action == "allow", line


@every_row("line", [
    "x=PATH; read $x <<< ./evil; ls", "x=PATH; printf -v $x ./evil; ls", 'x=PATH; printf -v "$x" ./evil; ls',
    'x=PATH; declare "$x=./evil"; ls', "declare -n r; r=PATH; r=./evil; ls", "unset PATH; ls", "PATH=; ls", "PATH=:/bin ls",
    "x=PATH; mapfile $x; ls", "x=PATH=./evil; export $x; ls", "declare -n r=$x; ls",
])
def test_a_name_that_only_the_run_knows_may_be_the_path_of_programs(line: str) -> None:
    assert explain_risk("Bash", {"command": line}, cwd="/srv/app", roots=["/srv/app"]).level == "high"
    listed = ["ls", "read *", "printf *", "declare *", "unset *", "mapfile *", "export *"]
    assert decided(running(line), allow(command=listed)).action == "ask"


@every_row("line", ["declare -i x; for x in PATH=1; do ls; done", "unset 'a[x]'; ls", "read 'a[x]' <<< 1; ls", "let x; ls"])
def test_what_a_builtin_computes_is_not_covered_by_a_wildcard(line: str) -> None:
    assert decided(running(line), allow(command=["ls", "declare *", "unset *", "read *", "let *"])).action == "ask"
