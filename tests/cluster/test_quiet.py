"""What others send fills no log."""

from __future__ import annotations

import logging

import pytest

from trunkline.cluster.quiet import MOST, PER_S, Quiet


def test_of_one_kind_of_line_there_are_so_many_in_a_while_and_the_last_says_so(caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    log = logging.getLogger("tests.quiet")
    quiet = Quiet(lambda: now[0])
    log.addFilter(quiet)
    try:
        for number in range(MOST * 3):
            log.warning("message %d cannot be read", number)
        assert len(caplog.messages) == MOST
        assert caplog.messages[-1].startswith(f"message {MOST - 1} cannot be read (and no more")
        log.warning("another one")
        assert caplog.messages[-1] == "another one"
        now[0] = PER_S
        log.warning("message %d cannot be read", 7)
        assert caplog.messages[-1] == "message 7 cannot be read"
    finally:
        log.removeFilter(quiet)
