"""Which names a line gives a value to, however it does that."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.dialects.calls import variables
from trunkline.dialects.shell import UNKNOWN_VALUE, parse_shell

ANY = UNKNOWN_VALUE


def set_by(line: str) -> list[str]:
    return [one for command in parse_shell(line).commands for one in command.sets]


@every_row(("line", "expected"), [
    ("for A1 in x 'y z' $w; do a; done", ["A1=x", "A1=y z", "A1=$w"]),
    ("for A1; do a; done", [f"A1={ANY}"]),
    ("select A1 in x; do a; done", ["A1=x"]),
    ("for A1 in {1..9} a b c d e f g h i; do a; done", [*(f"A1={one}" for one in ("{1..9}", *"abcdefg")), f"A1={ANY}"]),
    ("for f in x; do a; done", []),
    ("for f in 'x[$(y)]'; do a; done", ["f=x[$(y)]"]),
    ("((A1 = 1, b += 2, C1++, --D1))", [f"A1={ANY}", f"C1={ANY}", f"D1={ANY}"]),
    ("((A1 == 1 && B1 <= 2 && C1 != 3))", []),
    ("echo $((A1 <<= 1)) ${B1:=x} ${C1=y} ${D1:-z}", [f"A1={ANY}", "B1=x", "C1=y"]),
    ("let A1=1 'B1 *= 2'", [f"A1={ANY}", f"B1={ANY}"]),
    ("read -r -d '' A1 B1", [f"A1={ANY}", f"B1={ANY}"]),
    ("read A1 <<< x", ["A1=x"]),
    ("read -rp 'a b' A1 <<< x", ["A1=x"]),
    ("printf -v A1 x", ["A1=x"]),
    ("printf -v A1 %s x", [f"A1={ANY}"]),
    ("printf %s -v A1", []),
    ("mapfile -t -O 3 A1", [f"A1={ANY}"]),
    ("getopts ab: A1 x", [f"A1={ANY}"]),
    ("wait -n -p A1 %1", [f"A1={ANY}"]),
    ("declare -x A1=x 'B1=y' C1", ["A1=x", "B1=y"]),
    ("declare -n a=B1", [f"B1={ANY}"]),
    ("declare -i a=B1=2", [f"B1={ANY}", "a=B1=2"]),
    ("exec {A1}>f", [f"A1={ANY}"]),
    ("A1[0]=x", ["A1[0]=x"]),
])
def test_every_way_to_give_a_name_a_value_is_seen(line: str, expected: list[str]) -> None:
    assert set_by(line) == expected


def test_a_value_that_nobody_knows_has_one_sign() -> None:
    assert variables.UNKNOWN_VALUE == UNKNOWN_VALUE
