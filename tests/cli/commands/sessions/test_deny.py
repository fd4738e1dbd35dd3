"""``trunkline deny``: what waits is denied from elsewhere; ``test_approve.py`` has it beside the approval."""

from __future__ import annotations

from tests.cli.conftest import Place


def test_without_a_hub_nothing_waits_and_none_is_started(place: Place) -> None:
    done = place.call_here("deny")
    assert done.returncode == 1 and b"no hub is running" in done.stderr
    assert place.data.holder() is None
