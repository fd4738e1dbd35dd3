"""Ctrl-C while nothing was begun ends the process at once; later it is a KeyboardInterrupt again; who ignores it is obeyed."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from trunkline.cli.exits import EXIT_INTERRUPTED, leave_on_interrupt, raise_on_interrupt


@pytest.fixture(autouse=True)
def interrupt() -> Iterator[None]:
    """Python's own answer to Ctrl-C, before and after."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_is_ours_until_there_is_something_to_wind_up() -> None:
    leave_on_interrupt()
    assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    raise_on_interrupt()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_who_started_us_to_ignore_it_is_obeyed() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    leave_on_interrupt()
    raise_on_interrupt()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_the_process_ends_with_the_code_that_shells_expect_and_says_nothing() -> None:
    program = "import os, signal; from trunkline.cli.exits import leave_on_interrupt; leave_on_interrupt(); " \
              "os.kill(os.getpid(), signal.SIGINT); print('still here')"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=30)
    assert (ended.returncode, ended.stdout, ended.stderr) == (EXIT_INTERRUPTED, b"", b"")
