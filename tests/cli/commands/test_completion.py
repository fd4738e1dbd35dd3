"""``trunkline completion``: a script for the shell."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

REFERENCE = Path(__file__).parents[3] / "docs" / "reference" / "cli.md"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_each_shell(shell: str) -> None:
    done = subprocess.run([sys.executable, "-m", "trunkline", "completion", shell], capture_output=True, text=True, check=True)
    assert "_TRUNKLINE_COMPLETE" in done.stdout and "trunkline" in done.stdout


def test_the_lines_of_the_reference_put_a_script_for_each_shell_where_it_is_looked_for(tmp_path: Path) -> None:
    lines = re.search(r"^## Completion\n.*?```sh\n(.*?)```", REFERENCE.read_text(encoding="utf-8"), re.M | re.S)
    assert lines is not None
    env = {"HOME": str(tmp_path), "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(["sh", "-e", "-c", lines[1]], env=env, check=True, timeout=60)
    made = (".local/share/bash-completion/completions/trunkline", ".zfunc/_trunkline", ".config/fish/completions/trunkline.fish")
    assert all("_TRUNKLINE_COMPLETE" in (tmp_path / name).read_text() for name in made)
