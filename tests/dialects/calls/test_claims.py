"""What else was said of a call is kept, up to a bound."""

from __future__ import annotations

from collections.abc import Callable

from tests.tooling.rows import every_row
from trunkline.dialects.calls import Claims, ToolNames, read_call
from trunkline.dialects.calls.claims import (
    CHARS,
    KEPT,
    claimed_doubts,
    with_announced,
    with_folder,
    with_kind,
    with_name,
    with_place,
    with_reading,
    with_title,
    with_told,
)


def test_what_else_was_said_of_a_call_is_kept_up_to_a_bound() -> None:
    claims = Claims()
    for number in range(3 * KEPT):
        claims = with_name(claims, f"purge_{number}", "read", ToolNames(), is_title=False)
        claims = with_reading(claims, read_call("write", "edit", {"path": f"{number}.py", "content": "x"}), "/w")
        runs = read_call("bash", "execute", {"command": f"echo {number}" + "x" * CHARS, "cwd": f"/elsewhere/{number}"})
        claims = with_reading(claims, runs, "/w")
    assert [len(kept) for kept in (claims.names, claims.commands, claims.paths, claims.folders)] == [KEPT] * 4
    assert max(map(len, claims.commands)) == CHARS
    assert any("another path" in doubt for doubt in claimed_doubts(claims, None, (), frozenset({"write"})))


def test_the_whole_path_of_a_file_beside_its_input_is_no_other_file() -> None:
    claims = with_place(Claims(), "/home/dev/project/src/a.py")
    assert read_call("read", "read", {"path": "src/a.py"}, claims=claims).doubts == ()
    assert read_call("read", "read", {"path": "src/b.py"}, claims=claims).doubts == (
        "a path stands beside its input: /home/dev/project/src/a.py",)


MORE = "more was said of it than is looked at"


@every_row("said", [
    lambda claims, number: with_told(claims, f"{'CI=1 ' * number}make"),
    lambda claims, number: with_announced(claims, f"make {number}"),
    lambda claims, number: with_kind(claims, f"kind{number}"),
    lambda claims, number: with_place(claims, f"{'/x' * number}/a.py"),
    lambda claims, number: with_folder(claims, f"/w/{number}"),
    lambda claims, number: with_title(claims, f"Delete {number}.py"),
    lambda claims, number: with_reading(claims, read_call("bash", "execute", {"command": f"make {number:02}"}), "/w"),
    lambda claims, number: with_reading(claims, read_call("read", "read", {"path": f"{number:02}.py"}), "/w"),
])
def test_that_more_was_said_of_a_call_than_is_kept_is_a_doubt(said: Callable[[Claims, int], Claims]) -> None:
    claims = Claims()
    for number in range(KEPT):
        claims = said(claims, number)
    assert not claims.more and not said(claims, KEPT - 1).more, "saying it again is no more"
    claims = said(claims, KEPT)
    assert claims.more and MORE in claimed_doubts(claims, None, (), frozenset())


def test_an_input_that_grew_in_many_pieces_is_no_doubt() -> None:
    claims = Claims()
    for end in range(1, 30):
        claims = with_reading(claims, read_call("bash", "execute", {"command": "make all-of-the-many-targets"[:end]}), "/w")
    assert not claims.more and not list(claimed_doubts(claims, "make all-of-the-many-targets", (), frozenset({"run"})))
