"""Where a shell computes, and when what it computes is sure to be a number."""

from __future__ import annotations

from tests.tooling.pace import own_s
from tests.tooling.rows import every_row
from trunkline.dialects.shell import parse_shell


def computed(line: str) -> list[str]:
    return [command.text for command in parse_shell(line).commands if command.computes]


@every_row(("line", "expected"), [
    ("echo $((1 + 2))", []),
    ("echo $((x))", ["$((x))"]),
    ("echo $((a[x]))", ["$((a[x]))"]),
    ("echo ${a[x]} ${a[0]}", ["a[x]"]),
    ("echo ${a:x} ${a:1:2} ${a:-x}", ["${a:x}"]),
    ("echo ${!x} ${!x*} ${!x[@]}", []),
    ("for x in 'a[1]'; do echo ${!x}; done", ["${!x}"]),
    ("echo ${x@P} ${x@Q}", ["${x@P}"]),
    ("a[x]=1", ["a[x]"]),
    ("a=([x]=1 [2]=3)", ["a=([x]=1 [2]=3)"]),
    ("[[ $x -eq 1 ]]", ["[[ $x -eq 1 ]]"]),
    ("[[ $x == 1 && -n $y ]]", []),
    ("[[ -v x && -v a[1] ]]", []),
    ("[[ -v $x ]]", ["[[ -v $x ]]"]),
    ("i=0; ((i++)); echo $((i + 1))", []),
    ("echo $((i + 1)); i=0", ["$((i + 1))"]),
    ("i=0; i=$((i + 1)); echo ${a[i]}", []),
    ("i=0; read i; echo $((i))", ["$((i))"]),
    ("i=0; . ./f; echo $((i))", ["$((i))"]),
    ("i=0; eval \"$y\"; echo $((i))", ["$((i))"]),
    ("for i in $(seq 3); do echo $((i)); done", []),
    ("for i in $(cat f); do echo $((i)); done", ["$((i))"]),
    ("n=$(ls | wc -l); echo $((n))", []),
    ("n=$(cat f || ls | wc -l); echo $((n))", ["$((n))"]),
    ("n=$(cat f; ls | wc -l); echo $((n))", ["$((n))"]),
    ("for ((i=0;i<3;i++)); do a; done", []),
    ("for ((i=0;i<n;i++)); do a; done", ["for ((i=0;i<n;i++))"]),
    ("for ((i=0;i<undo;)); do a; done", ["for ((i=0;i<undo;))"]),
    ("[[ a == x$((b)) ]]", ["$((b))"]),
    ("cat <<E\n${a[b]} ${a:b} $((b))\nE\n", ["a[b]", "${a:b}", "$((b))"]),
    ("a {b[c]}>/dev/null", ["a {b[c]}"]),
    ("time [[ -v a[b] ]]", ["[[ -v a[b] ]]"]),
    ("[ ${#a} -gt 3 ]", []),
    ("[ $(a) -gt 3 ]", ["[ $(a) -gt 3 ]"]),
    ("case ${?:a} in b) c;; esac", ["${?:a}"]),
])
def test_what_may_be_more_than_a_number_is_a_command_of_its_own(line: str, expected: list[str]) -> None:
    assert computed(line) == expected


def test_what_is_left_out_does_not_move_what_others_point_at() -> None:
    commands = parse_shell("i=0; echo $((i)) $(a | sh -c b)").commands
    assert [(one.text, one.parent) for one in commands] == [
        ("", -1), ("echo $((i)) $(a | sh -c b)", -1), ("a", 1), ("sh -c b", 1), ("b", 3)]
    assert commands[3].stdin_from == 2


@every_row("line", ["[[ " + "x -eq " * 2_000 + "1 ]]", "[ " + '"$x ' * 1_001 + "]", "echo $((" + "1+" * 5_000 + "1))",
                    "test " + "'\\\"" * 3_000, "i=0;" * 100 + "echo " + "$((i))" * 60])
def test_a_long_test_is_read_quickly(line: str) -> None:
    parse_shell("echo $((1))")
    assert own_s(lambda: parse_shell(line)) < 0.15
