"""Slash prompts by their names, and their arguments."""

from __future__ import annotations

import pytest

from trunkline.agents.demo.registry import SCRIPTS, number, script
from trunkline.agents.demo.turn import DemoTurn
from trunkline.agents.demo.wire import Refused


def test_an_argument_is_a_number_in_its_bounds_or_refused_by_its_name() -> None:
    assert number(["3", "-1"], 0, "N") == 3 and number(["3", "-1"], 1, "S", least=-1) == -1
    for words, why in ((["x"], "N must be a number"), ([], "N must be a number"), (["-1"], "N must be 0 or more")):
        with pytest.raises(Refused, match=why) as refused:
            number(words, 0, "N")
        assert refused.value.code == -32602


def test_a_script_is_found_by_its_name_and_stays_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    def play(turn: DemoTurn, rest: str) -> None:
        """Nothing is played."""

    monkeypatch.setitem(SCRIPTS, "for a test", lambda turn, rest: None)
    assert script("for a test")(play) is play
    assert SCRIPTS["for a test"] is play
