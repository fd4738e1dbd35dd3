"""What a text with variables may be."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.dialects.shell import OPEN, Values, parse_shell


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
])
def test_each_value_is_put_in_its_place(line: str, text: str, possible: list[str]) -> None:
    assert Values(parse_shell(line).bound, "ann").possible(text) == possible


def test_very_many_values_may_be_any() -> None:
    line = f"for f in {' '.join(f'a{number}' for number in range(20))}; do ls; done"
    assert Values(parse_shell(line).bound).possible("$f")[-1] == OPEN
