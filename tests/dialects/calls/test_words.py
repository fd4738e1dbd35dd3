"""What an ask says only in words."""

from __future__ import annotations

import pytest

from tests.tooling.rows import every_row
from trunkline.dialects.calls import read_call
from trunkline.dialects.calls.words import WORDS_CHARS, arguments_in, command_in, is_in_command


def test_a_command_that_is_only_in_words_is_found_and_is_not_sure() -> None:
    words = read_call("bash", "execute", None, title="Bash", shown="Requesting approval to Running: touch x")
    assert (words.command, words.sure) == ("touch x", False)
    told = read_call("bash", "execute", None, title="Bash", shown='{"command": "touch x"}')
    assert told.command == "touch x"


@pytest.mark.parametrize("shown", ["Requesting approval to Running: touch x…", "Running: touch x..."])
def test_the_beginning_of_a_command_is_no_command(shown: str) -> None:
    words = read_call("bash", "execute", None, title="Bash", shown=shown)
    assert (words.command, words.sure) == (None, False)


@every_row(("said", "command", "told"), [
    ("touch x", "touch x", True), ("touch x…", "touch xyz", True), ("touch x...", "touch x y", True),
    ("touch x", "touch xyz", False), ("touch x…", "touch y", False), ("…", "touch x", False),
])
def test_words_tell_a_command_or_its_beginning(said: str, command: str, told: bool) -> None:
    assert is_in_command(said, command) is told



def test_only_the_beginning_of_a_text_is_looked_through_for_a_command() -> None:
    assert command_in("x" * WORDS_CHARS + " Running: make") == ""
    assert command_in("Running: make" + " " * WORDS_CHARS) == "make"
    assert arguments_in('{"command": "make"}' + " " * WORDS_CHARS) == {"command": "make"}
    assert arguments_in('{"command": "' + "x" * WORDS_CHARS + '"}') == {}
