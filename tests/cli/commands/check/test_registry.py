"""The checklist's list: a case is on it with what it is about, and fails where something is not so."""

from __future__ import annotations

import pytest

from trunkline.cli.commands.check.examinee import Examinee, Failed
from trunkline.cli.commands.check.registry import CASES, case, need


def test_what_is_needed_and_not_so_fails_with_its_reason() -> None:
    need([0], "there is something")
    for nothing in (None, False, ""):
        with pytest.raises(Failed, match="no answer came"):
            need(nothing, "no answer came")


def test_a_case_is_put_on_the_list_and_stays_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    before = list(CASES)

    async def run(agent: Examinee) -> None:
        """Nothing is checked."""

    try:
        assert case("TEST-001", "must", "it is a test")(run) is run
        assert CASES[len(before):] == [("TEST-001", "must", "it is a test", run)]
    finally:
        CASES[:] = before
