"""The code as a picture, and what is said beside it."""

from __future__ import annotations

import io

import pytest

from trunkline.cli.commands.pair import can_draw, notes, picture
from trunkline.client import Pairing

URL = "https://192.168.1.20:7420/#/pair/ABCD-EFGH-JKMN-PQRS"


def test_the_picture_is_square_and_fits_a_terminal() -> None:
    lines = picture(URL).rstrip("\n").split("\n")
    assert {len(line) for line in lines} == {len(lines[0])}
    assert len(lines[0]) <= 60 and len(lines) <= 30
    assert abs(len(lines) * 2 - len(lines[0])) <= 1
    assert picture(URL) != picture(URL[:-1] + "T")


@pytest.mark.parametrize(("encoding", "can"), [("utf-8", True), ("ascii", False), ("latin-1", False), ("no such", False)])
def test_it_is_drawn_only_where_the_terminal_has_the_letters(encoding: str, can: bool) -> None:
    class Out(io.StringIO):
        @property
        def encoding(self) -> str:  # type: ignore[override]
            """What the terminal speaks."""
            return encoding

    assert can_draw(Out()) is can


def test_an_address_that_only_this_machine_can_open_is_called_that() -> None:
    def said(reach: str, secure: bool) -> list[str]:
        return notes(Pairing(code="c", url=URL, reach=reach, secure=secure))

    alone = said("machine", True)[0]
    assert "Only this machine" in alone
    assert "--tls-cert" in alone and "--tls-key" in alone, "one without the other is refused"
    assert alone.count("--public-url") == 2, "without it the hub refuses the name that the phone asks for"
    assert "Without TLS" in said("network", False)[0]
    assert said("network", True) == said("public", True) == []
