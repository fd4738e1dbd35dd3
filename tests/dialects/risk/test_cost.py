"""What judging a line costs, whoever wrote it: a regular expression that takes long keeps every thread of the hub waiting."""

from __future__ import annotations

from tests.tooling.pace import own_s
from tests.tooling.rows import every_row
from trunkline.dialects.risk import explain_risk
from trunkline.dialects.shell import READ_AT_ONCE_CHARS, is_long, known_line, parse_shell

CPU_MOST_S = 0.15
"""On a quiet core: far above what any of these takes (20 ms), far below what they took (0.2 s to minutes)."""


def filled(head: str, unit: str, size: int, tail: str = "") -> str:
    """A line of about that size: many times the same."""
    return head + unit * ((size - len(head) - len(tail)) // len(unit)) + tail


@every_row(("size", "head", "unit", "tail"), [(size, *row) for size in (4_000, 16_000) for row in [
    ("find . -name '", "[", "'"),
    ("git commit -m '", ")[", "'"),
    ('sed -e "-a', "\n", '"'),
    ("sed 's", "sx", "'"),
    ("awk '", "print ", "'"),
    ("awk '", "print>", "'"),
    ('node -e "', "open(", '"'),
    ("perl -e '", "fs", "'"),
    ("php -r '", '0\\"', "'"),
    ("python -c 'system((", '"a"  ', "x'"),
    ("python -c '", "import a , ", "'"),
    ("", "curl ", "("),
    ("echo ", "$(", ""),
    ("", "a;", ""),
    ("cat <<X\n", "a $b `c` $(d)\n", "X\n"),
    ("((", "A=", "1))"),
    ("((", "A[", "))"),
    ("echo $((", "A=", "1))"),
    ("echo ", "${A[", ""),
    ("for A in ", "b ", "; do c; done"),
    ("read ", "A ", ""),
    ("declare -n ", "A=B ", ""),
    ("[[ ", "x -eq ", "1 ]]"),
    ("i=0; echo ", "$((i)) ", ""),
    ("git ", "-c a=b ", "push"),
    ("gh ", "a ", "b"),
    ("", "d=a;", "echo > $d/x"),
    ("aws ", "--a b ", "c"),
    ("docker ", "--a compose ", "c"),
    ("curl http://", "a@", "b"),
    ("curl http://", "0.", "b"),
    ("psql <<< '", "a;", "'"),
    ("", "echo a | ", "psql"),
    ("", "ln -s / a;", "tee a/b"),
    ("env ", "-C a env ", "b"),
    ("ipython -c '", "= !", "'"),
]])
def test_a_line_that_is_made_to_be_slow_is_judged_quickly(size: int, head: str, unit: str, tail: str) -> None:
    explain_risk("Bash", {"command": "echo $(true)"}, cwd="/work", roots=["/work"])  # what is loaded with the first line
    line = filled(head, unit, size, tail)
    assert own_s(lambda: explain_risk("Bash", {"command": line}, cwd="/work", roots=["/work"], home="/home/ada")) < CPU_MOST_S


def test_a_long_line_is_read_by_who_can_wait_and_known_from_then_on() -> None:
    line = "cat > a.txt <<'END'\n" + "text\n" * 1500 + "END"
    assert is_long(line) and known_line(line) is None
    unread = explain_risk("Bash", {"command": line}, cwd="/work", roots=["/work"], at_once=True)
    assert unread.level == "high" and "not read ahead" in unread.reason
    read = explain_risk("Bash", {"command": line}, cwd="/work", roots=["/work"])
    assert read.level == "medium"
    assert explain_risk("Bash", {"command": line}, cwd="/work", roots=["/work"], at_once=True) == read
    assert known_line(line) == parse_shell(line)


def test_a_line_that_nobody_reads_is_high_at_once() -> None:
    line = "a" * 50_000_000
    assert own_s(lambda: explain_risk("Bash", {"command": line}, at_once=True)) < CPU_MOST_S
    judged = explain_risk("Bash", {"command": line}, at_once=True)
    assert judged.level == "high" and "longer than 16384 bytes" in judged.reason


def test_a_short_line_is_read_at_once() -> None:
    line = "echo " + "a" * (READ_AT_ONCE_CHARS - 5)
    assert not is_long(line) and known_line(line) is not None
    assert explain_risk("Bash", {"command": line}, at_once=True).level == "low"


@every_row("command", [
    "0" * 4_000 + "x", "pip" + "1" * 4_000 + "x install a", "ssh -o " + "proxy_" * 600 + " host", "chmod " + "ugoa" * 999 + " a",
    "test " + "a[" * 2_000, "[ " + "a[" * 1_000 + " ]",
])
def test_a_word_that_is_made_to_be_slow_is_judged_quickly(command: str) -> None:
    assert own_s(lambda: explain_risk("Bash", {"command": command}, cwd="/work", roots=["/work"])) < CPU_MOST_S
