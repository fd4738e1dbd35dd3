"""``trunkline completion``: a script for the shell."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_each_shell(shell: str) -> None:
    done = subprocess.run([sys.executable, "-m", "trunkline", "completion", shell], capture_output=True, text=True, check=True)
    assert "_TRUNKLINE_COMPLETE" in done.stdout and "trunkline" in done.stdout
