"""What a text with variables may be."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.dialects.shell import OPEN, Values, goes_elsewhere, parse_shell


@every_row(("line", "text", "possible"), [
    ("F=$HOME/x", "$F/y", ["~/x/y"]),
    ("A=~; B=$A/b", "${B}/c", ["~/b/c"]),
    ("for f in a b", "", [""]),
    ("for f in a b; do ls; done", "$f.txt", ["a.txt", "b.txt"]),
    ("F=$(cat x)", "$F", [OPEN]),
    ("F=a; read F", "$F", ["a", OPEN]),
    ("ls", "$X/y", ["$X/y"]),
    ("ls", "${X:-a}/y", [f"{OPEN}/y", "a/y"]),
    ("ls", "/home/$USER/x", ["/home/ann/x"]),
    ("ls", "$XDG_DATA_HOME/x", ["~/.local/share/x", f"{OPEN}/x"]),
    ("HOME=/x", "$HOME/y", ["~/y", "/x/y"]),
    ("T=$(mktemp -d)", "$T/y", ["/tmp/made/y"]),
    ("mktemp() { echo; }; T=$(mktemp)", "$T/y", [f"{OPEN}/y"]),
    ("F=$F/a", "x$F", ["x$F"]),
    ("A=(~/x)", "$A", ["~/x"]),
    ("A=(../y 'b c' $HOME/d)", "$A", ["../y", "b c", "~/d"]),
    ("declare -a A=(../y)", "$A", ["../y"]),
    ("A=([0]=../y)", "${A}", ["../y"]),
    ("A[0]=../y", "$A", ["../y", OPEN]),
    ("A=(a); A+=(../z)", "$A", ["a", "../z"]),
    ("A=(../*)", "$A", ["../*", OPEN]),
    ("A=($(cat x))", "$A", [OPEN]),
    ("A=()", "$A", [OPEN]),
    ("D=$PWD", "$D/y", ["./y"]),
])
def test_each_value_is_put_in_its_place(line: str, text: str, possible: list[str]) -> None:
    assert Values(parse_shell(line).bound, "ann").possible(text) == possible


@every_row("line", [
    "cd ../other; D=$PWD; cd ../app", "cd ../other; D=$(pwd); cd ../app", "pushd ..; D=${PWD}; popd", "command cd ..; D=`pwd`",
    "for D in $PWD; do cd ..; done", "eval 'cd ..'; D=$PWD/a", "D=(\"$PWD\"); cd ..", "D=$OLDPWD; cd ..", "D=~+; cd ..",
    "(cd ..; D=$PWD)",
])
def test_where_a_line_stood_is_not_where_it_stands_once_it_goes_elsewhere(line: str) -> None:
    parsed = parse_shell(line)
    assert goes_elsewhere(parsed.commands)
    assert f"{OPEN}/y" in Values(parsed.bound, moves=True).possible("$D/y")
    assert Values(parsed.bound, moves=True).possible("$PWD/y") == ["./y"], "where it is used, it is where the line stands"


def test_very_many_values_may_be_any() -> None:
    line = f"for f in {' '.join(f'a{number}' for number in range(20))}; do ls; done"
    assert Values(parse_shell(line).bound).possible("$f")[-1] == OPEN
