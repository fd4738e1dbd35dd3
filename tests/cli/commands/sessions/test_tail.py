"""``trunkline tail``: a session from elsewhere."""

from __future__ import annotations

from tests.cli.commands.elsewhere import begun, wait_for
from tests.cli.conftest import Place


def test_tail_is_the_short_name_of_sessions_tail(shared: Place) -> None:
    session = begun(shared, "/echo to be seen")
    wait_for(shared, session, "lastText")
    assert b"to be seen" in shared.call_here("tail", session, "--no-follow", "--after", "0").stdout
