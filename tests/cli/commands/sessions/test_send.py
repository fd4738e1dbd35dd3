"""``trunkline send``: a prompt from elsewhere."""

from __future__ import annotations

from tests.cli.commands.elsewhere import begun
from tests.cli.conftest import Place


def test_send_gives_a_session_a_prompt_and_wait_prints_the_answer(shared: Place) -> None:
    session = begun(shared)
    done = shared.call_here("send", session[:12], "/echo hello", "--wait")
    assert (done.returncode, done.stdout) == (0, b"hello\n"), done.stderr
    assert shared.call_here("send", session, "/refuse", "--wait").returncode == 3
    sent = shared.call_here("send", session.removeprefix("ses_"), "-", stdin=b"/slow 60")
    assert sent.stdout.decode() == f"sent to {session}\n"
    assert shared.call_here("send", session, "/echo later").stdout.decode() == f"queued in {session}\n"
