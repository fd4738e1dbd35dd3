"""What else was said of a call is kept, up to a bound."""

from __future__ import annotations

from trunkline.dialects.calls import Claims, ToolNames, read_call
from trunkline.dialects.calls.claims import CHARS, KEPT, claimed_doubts, with_name, with_place, with_reading


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
