"""What is named on the command line, and what may have been meant."""

from __future__ import annotations

from tests.cli.commands.elsewhere import begun
from tests.cli.conftest import Place
from trunkline.cli.naming import meant


def test_what_is_mistyped_is_answered_with_what_may_have_been_meant(shared: Place) -> None:
    assert b"Did you mean sessions" in shared.call_here("sesions").stderr
    assert b"Did you mean delete?" in shared.call_here("sessions", "delte", "x").stderr
    session = begun(shared)
    wrong = session[:-1] + ("0" if session[-1] != "0" else "1")
    told = shared.call_here("tail", wrong)
    assert told.returncode == 1 and session.encode() in told.stderr
    for words in (("send", "", "/echo x"), ("sessions", "delete", "")):
        assert b"the session's id is empty" in shared.call_here(*words).stderr
    assert meant("zzz", ["demo"]) == ""
