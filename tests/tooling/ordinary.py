"""Runs programs as an ordinary user would run them: tests that look for borders prove nothing as superuser.

Where the tests run as superuser the program keeps the user's number, since an interpreter may lie in that user's home, and
loses every capability: to the kernel's checks it is a user like any other, and the same one as the hub.
"""

from __future__ import annotations

import os
import shutil

import pytest

POWERLESS = ("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all", "--")


def ordinary() -> tuple[str, ...]:
    """The words before a command that make it an ordinary user's; none where that is what we are."""
    if os.geteuid() != 0:
        return ()
    if shutil.which(POWERLESS[0]) is None:
        pytest.skip("the tests run as superuser and there is no setpriv (package util-linux) to give that up")
    return POWERLESS
