"""Text that a line tells ahead of the file; most of it is in tests/reach/lines/test_live.py, with the line."""

from __future__ import annotations

from tests.reach.lines.lined import Lined, check
from trunkline.dialects.elsewhere.lines import Said, Says
from trunkline.session.driver.live_text import SAID_MOST, Begun
from trunkline.session.fold import KEPT_TOLD


def test_what_is_remembered_of_a_line_is_bounded() -> None:
    async def scenario(there: Lined) -> None:
        for number in range(KEPT_TOLD + 10):
            there.line.take(Says(f"m{number}", f"text {number}"))
            there.line.take(Said())
        await there.has_read()
        assert len(there.session.fold.ahead.told) == KEPT_TOLD
        live = there.session.agent._live
        assert live._said.maxlen == SAID_MOST

    check(scenario)


def test_a_thought_and_a_message_of_the_same_words_are_two() -> None:
    async def scenario(there: Lined) -> None:
        there.line.take(Says("m1", "Same.", thinking=True))
        there.line.take(Said())
        there.line.take(Says("m1", "Same."))
        await there.has_read()
        assert not there.session.agent.was_said(Begun("m9", "Same.", False, 0))
        assert (await there.deltas()) == "Same."

    check(scenario)
