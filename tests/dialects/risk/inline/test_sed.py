"""What a sed script runs, writes and reads; what does not fit the grammar may run something."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.dialects.risk.inline.sed import SedScript, read_sed


@every_row(("script", "found"), [
    ("s/a/b/g", SedScript()), ("s|a/b|c|;2,5d;$!N", SedScript()), ("/x/,/y/{p;q 3}", SedScript()), ("y/abc/xyz/", SedScript()),
    ("1i\\\nsome; words e make", SedScript()), (":again;s/a/b/;t again", SedScript()), ("# e make\np", SedScript()),
    ("e make all", SedScript(runs=("make all",))), ("s/x/make/e", SedScript(runs=("make",))), ("1e", SedScript(runs=("",))),
    ("w out.txt", SedScript(writes=("out.txt",))), ("s/a/b/gw out.txt", SedScript(writes=("out.txt",))),
    ("r in.txt\n5W two.txt", SedScript(reads=("in.txt",), writes=("two.txt",))),
])
def test_a_script_says_what_it_does_beside_changing_text(script: str, found: SedScript) -> None:
    assert read_sed(script) == found


@every_row("script", ["s/a/b", "k", "/x", "s", "y/a/b", "\\"])
def test_what_does_not_fit_the_grammar_is_odd(script: str) -> None:
    assert read_sed(script).odd
