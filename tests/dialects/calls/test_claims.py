"""What else was said of a call is kept, up to a bound."""

from __future__ import annotations

from trunkline.dialects.calls import Claims, ToolNames, read_call
from trunkline.dialects.calls.claims import CHARS, KEPT, claimed_doubts, with_name, with_reading


def test_what_else_was_said_of_a_call_is_kept_up_to_a_bound() -> None:
    claims = Claims()
    for number in range(3 * KEPT):
        claims = with_name(claims, f"purge_{number}", "read", ToolNames(), is_title=False)
        claims = with_reading(claims, read_call("write", "edit", {"path": f"{number}.py", "content": "x"}))
        claims = with_reading(claims, read_call("bash", "execute", {"command": f"echo {number}" + "x" * CHARS}))
    assert [len(kept) for kept in (claims.names, claims.commands, claims.paths)] == [KEPT] * 3
    assert max(map(len, claims.commands)) == CHARS
    assert any("another path" in doubt for doubt in claimed_doubts(claims, None, (), frozenset({"write"})))
