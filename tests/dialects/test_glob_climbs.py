"""Which globs may stand for the folder above."""

from __future__ import annotations

from tests.tooling.pace import own_s
from tests.tooling.rows import every_row
from trunkline.dialects.glob_climbs import ANYWHERE, PARTS, climbing


@every_row(("path", "above"), [
    (".?/x", "../x"), (".*/x", "../x"), (".[.]/x", "../x"), (".[!a]/x", "../x"), (".[^a-z]/x", "../x"), (".[+-9]/x", "../x"),
    (".[[:punct:]]/x", "../x"), (".[.]*/x", "../x"), ("..*/x", "../x"), ("[.]./x", "../x"), ("[.]?/x", "../x"),
    (".{.,x}/y", "../y"), ("{.,x}./y", "../y"), (".{-..0}/y", "../y"), (".@(.|x)/y", "../y"), (".!(a)/y", "../y"),
    ("@(..)/y", "../y"), ("+(.)/y", "../y"), (".?", ".."), ("/srv/.?/x", "/srv/../x"), (r".\.*/x", "../x"),
])
def test_a_part_that_can_be_the_folder_above_climbs(path: str, above: str) -> None:
    assert climbing(path) == (above,)


@every_row("path", [
    "x", "..", "../x", "*", "?.", "*./x", "*../x", ".env", ".env*", ".*rc", ".??", ".?x/y", "..?", ".[!.]*", ".[a-z]*",
    "[id]/page", "[...slug]/page", "src/**/*.py", "!(a)", "!(*.md)", ".[", "[", r".\?/x", "{a,b}/x", ".github/*", ".[]a]",
])
def test_what_cannot_be_it_does_not(path: str) -> None:
    assert climbing(path) == ()


def test_each_of_several_parts_may_climb_or_not() -> None:
    assert set(climbing("a/.?/.*/b")) == {"a/../../b", "a/../.*/b", "a/.?/../b"}


def test_very_many_such_parts_may_lead_anywhere() -> None:
    assert len(climbing("/".join([".?"] * PARTS))) == 2 ** PARTS - 1
    assert climbing("/".join([".?"] * (PARTS + 1))) == (ANYWHERE,)


def test_a_long_path_takes_no_longer_than_it_is_long() -> None:
    paths = (".[" * 50_000, ".@(" * 50_000, "." + "*" * 100_000, ".[[:" * 30_000, "/.x*" * 30_000)
    assert own_s(lambda: [climbing(path) for path in paths]) < 2
