"""What a shell is told when somebody presses tab."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.cli.commands.elsewhere import begun
from tests.cli.conftest import Place


def completed(shared: Place, *words: str) -> list[str]:
    """What bash gets to choose from."""
    env = {**os.environ, "_TRUNKLINE_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(["trunkline", *words]),
           "COMP_CWORD": str(len(words)), "TRUNKLINE_DATA": str(shared.data.path)}
    done = subprocess.run([sys.executable, "-m", "trunkline"], env=env, capture_output=True, text=True, check=True, timeout=30)
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


def test_commands_agents_sessions_and_flags_are_completed(shared: Place) -> None:
    session = begun(shared)
    assert completed(shared, "app") == ["approve"]
    assert "demo" in completed(shared, "run", "de")
    assert session in completed(shared, "tail", "ses_")
    assert session in completed(shared, "chat", session[:10])
    assert "--reason" in completed(shared, "deny", "--re")


def test_completing_never_starts_a_hub(place: Place) -> None:
    assert completed(place, "tail", "ses_") == []
    assert place.data.holder() is None


def test_commands_of_agents_and_what_was_added_are_completed(place: Place) -> None:
    place.call_here("agents", "add", "mine", "--", "x", data_first=True)
    assert completed(place, "doc") == ["doctor"]
    assert completed(place, "agents", "") == ["add", "import", "remove", "schema"]
    assert completed(place, "agents", "remove", "") == ["mine"]
    assert "mine" in completed(place, "run", "mi")
