"""What the input of a call names."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.calls.announced import read


@pytest.mark.parametrize("blank", ["", " ", [""], [[""]]])
def test_a_command_of_nothing_is_none(blank: Any) -> None:
    told = read({"name": "read", "kind": "read", "rawInput": {"command": blank, "path": "a.py"}})
    assert told.command is None and told.category == "file_read"
    assert read({"name": "bash", "kind": "execute", "rawInput": {"commands": blank}}).command is None
