"""Names that a command gets from elsewhere: out of a pipe, a list, or what ``find`` finds."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.dialects.shell import parse_shell
from trunkline.session.policy.commands import ANYTHING
from trunkline.session.policy.names import fed_outlines


@every_row(("line", "outlines"), [
    ("find src -name '*.py' -exec cat {} +", ["/w/src/**/*.py"]),
    ("find -exec cat {} +", ["/w/**/**"]),
    ("find src lib -name x | xargs cat", ["/w/src/**/x", "/w/lib/**/x"]),
    ("find src -name a -o -name b | xargs cat", ["/w/src/**/**"]),
    ("find $X -name a | xargs cat", [ANYTHING]),
    ("echo a.txt ~/b | xargs cat", ["/w/a.txt", "/home/ann/b"]),
    ("printf '%s%s' a b | xargs cat", [ANYTHING]),
    ("tool | xargs cat", [ANYTHING]),
])
def test_what_stands_for_the_names_of_a_pipe_is_no_more_than_is_known(line: str, outlines: list[str]) -> None:
    assert list(fed_outlines(parse_shell(line).commands, "/w", "/home/ann")) == outlines


@every_row("line", [
    "tar -cf x.tar -T list", "tar -cTlist", "rsync --files-from=list a b", "rsync --files-f list a b", "wc --files0-from=list",
    "git add --pathspec-from-file list", "zip x -@", "gcc @options", "cpio -o <list", "sha256sum -c sums",
])
def test_a_command_that_reads_its_names_from_a_list_may_be_about_any_path(line: str) -> None:
    assert ANYTHING in list(fed_outlines(parse_shell(line).commands, "/w", None))


@every_row("line", ["cat a.txt", "tar -cf x.tar src", "gcc a.c", "cpio -o", "git add a.txt", "find src -name '*.py'"])
def test_a_command_that_spells_its_names_out_gets_none_from_elsewhere(line: str) -> None:
    assert list(fed_outlines(parse_shell(line).commands, "/w", None)) == []
