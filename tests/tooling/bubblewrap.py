"""Whether this machine can make a sandbox; tests of one skip with the reason where it cannot."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache

import pytest

TRIAL = ("bwrap", "--unshare-user", "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
         "true")


def need_bubblewrap() -> None:
    """Skip the test where there is no sandbox to be had."""
    if (problem := _problem()) is not None:
        pytest.skip(problem)


@cache
def _problem() -> str | None:
    if shutil.which(TRIAL[0]) is None:
        return "bwrap is not installed (package bubblewrap); `make test` installs it as root where there is apt-get"
    done = subprocess.run(TRIAL, capture_output=True, text=True, timeout=60, check=False)
    return None if done.returncode == 0 else f"bwrap cannot make a sandbox here: {done.stderr.strip()}"
