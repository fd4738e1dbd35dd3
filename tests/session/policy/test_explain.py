"""What a policy saw in an ask, in words for people."""

from __future__ import annotations

from tests.session.policy.test_subject import asked
from trunkline.session.policy.explain import PIECES, pieces_of


def test_a_line_of_very_many_commands_is_explained_by_its_beginning() -> None:
    pieces = pieces_of(asked("; ".join(f"echo {number}" for number in range(PIECES + 5))))
    assert [pieces[0].text, pieces[-1].text, len(pieces)] == ["echo 0", f"echo {PIECES - 1}", PIECES]
