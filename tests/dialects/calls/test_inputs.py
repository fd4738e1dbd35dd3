"""What the input of a call names."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.calls.announced import read
from trunkline.dialects.calls.inputs import command_of


@pytest.mark.parametrize("blank", ["", " ", [""], [[""]]])
def test_a_command_of_nothing_is_none(blank: Any) -> None:
    told = read({"name": "read", "kind": "read", "rawInput": {"command": blank, "path": "a.py"}})
    assert told.command is None and told.category == "file_read"
    assert read({"name": "bash", "kind": "execute", "rawInput": {"commands": blank}}).command is None


@pytest.mark.parametrize("shell", [True, 1])
def test_words_for_a_shell_are_put_together_as_they_are(shell: object) -> None:
    assert command_of({"command": ["npm", "test", ";", "make", "install"], "shell": shell}) == "npm test ; make install"
    assert command_of({"command": ["npm", "test", "; make"], "shell": False}) == "npm test '; make'"
