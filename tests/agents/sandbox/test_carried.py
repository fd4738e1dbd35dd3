"""How a command in a sandbox gets its variables."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from trunkline.agents.sandbox import as_is, carried


async def confine(command: Sequence[str], *, cwd: str, reads: Sequence[str] = ()) -> Sequence[str]:
    return command


def test_variables_get_their_names_in_the_sandbox_and_no_others(tmp_path: Path) -> None:
    given = {"LD_PRELOAD_OF_A_TEST": "/x.so", "OWN": "two words, 'quotes' and $HOME\nand a line", "with.dot": "1", "EMPTY": ""}
    odd = tmp_path / "a=b"
    odd.write_text("#!/bin/sh\nprintenv OWN\n")
    odd.chmod(0o755)
    for command, expected in ((["printenv", *given], "".join(f"{value}\n" for value in given.values())),
                              ([str(odd)], given["OWN"] + "\n")):
        words, env = carried(confine, command, given)
        assert not set(env) & set(given)
        assert not any(given[name] in word for name in ("LD_PRELOAD_OF_A_TEST", "OWN") for word in words)
        ran = subprocess.run(words, env={**env, "PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=True)
        assert ran.stdout == expected
    words, env = carried(confine, ["env"], given)
    ran = subprocess.run(words, env={**env, "PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=True)
    assert "CARRIED" not in ran.stdout


def test_without_a_sandbox_or_variables_nothing_is_changed() -> None:
    assert carried(as_is, ["ls"], {"A": "b"}) == (["ls"], {"A": "b"})
    assert carried(confine, ["ls"], {}) == (["ls"], {})
