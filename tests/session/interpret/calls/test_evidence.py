"""Which tool a call is of, where its title may be what it is about."""

from __future__ import annotations

from typing import Any

import pytest

from tests.session.interpret.call_builders import call
from tests.session.interpret.told import Told, events
from tests.tooling.rows import every_row
from trunkline.session.interpret.calls.evidence import NAMED_BYTES, NAMED_PLACES


@every_row(("said", "name"), [
    ({"title": "ls", "kind": "execute", "rawInput": {"command": "ls"}}, "bash"),
    ({"title": "make", "kind": "execute", "rawInput": {"command": "make all"}}, "bash"),
    ({"title": "Makefile", "kind": "read", "locations": [{"path": "/w/Makefile"}]}, "read"),
    ({"title": "Makefile", "kind": "read", "rawInput": {"path": "/w/Makefile"}}, "read"),
    ({"title": "TODO", "kind": "search", "rawInput": {"pattern": "TODO"}}, "grep"),
    ({"title": "purge", "kind": "read", "rawInput": {"path": "a", "description": "purge"}}, "purge"),
])
def test_a_title_that_is_what_the_call_is_about_is_no_tool(said: dict[str, Any], name: str) -> None:
    assert events(Told().turn().hear(call(**said)))[0]["name"] in (name, "glob")


@pytest.mark.parametrize(("before", "name"), [(NAMED_PLACES - 1, "read"), (NAMED_PLACES, "notes")])
def test_a_title_may_be_the_name_of_one_of_the_first_places(before: int, name: str) -> None:
    places = [{"path": f"/w/p/{number}.txt"} for number in range(before)] + [{"path": "/w/p/notes"}]
    assert events(Told().turn().hear(call(kind="read", title="notes", locations=places)))[0]["name"] == name


@pytest.mark.parametrize(("more_bytes", "name"), [(-40, "read"), (40, "notes")])
def test_a_title_is_looked_for_in_a_short_input_only(more_bytes: int, name: str) -> None:
    given = {"path": "/w/p/notes", "description": "x" * (NAMED_BYTES - 40 + more_bytes)}
    assert events(Told().turn().hear(call(kind="read", title="notes", rawInput=given)))[0]["name"] == name
