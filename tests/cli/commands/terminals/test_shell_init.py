"""``trunkline shell-init``: what is printed for which shell. What the functions do is tested where they are made."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Place


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_functions_are_printed_for_programs_that_have_a_pair_of_files(place: Place, shell: str) -> None:
    done = place.call_here("shell-init", shell)
    assert done.returncode == 0 and done.stdout.count(b"function ") == 1
    for words in (b"function qwen", b"--json-file", b"--input-file", str(place.data.path / "terminals" / "qwen").encode()):
        assert words in done.stdout
    assert not (place.data.path / "terminals").exists(), "it only prints"


def test_an_agent_may_be_started_in_the_hub_instead(place: Place) -> None:
    done = place.call_here("shell-init", "bash", "--chat", "claude-code", "--chat", "qwen")
    assert done.stdout.count(b"function ") == 2 and b"--json-file" not in done.stdout
    assert b"trunkline chat" in done.stdout and b"claude-code" in done.stdout
    refused = place.call_here("shell-init", "bash", "--chat", "nobody")
    assert refused.returncode != 0 and b"claude-code" in refused.stderr
    assert place.call_here("shell-init", "tcsh").returncode != 0
