"""The checker itself: it takes our packets and nothing that differs from them by one field."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.dialects.packets.shapes_check import SHAPES, validate_packet
from tests.dialects.packets.test_wire import OURS
from tests.tooling.rows import every_row
from trunkline.dialects import packets
from trunkline.dialects.packets.shapes import PacketType

OPTIONAL: dict[PacketType, set[str]] = {
    PacketType.APPROVAL_REQUESTED: {"preview"},
    PacketType.APPROVAL_RESOLVED: {"reason"},
    PacketType.QUESTION_REQUESTED: {"schema"},
    PacketType.QUESTION_RESOLVED: {"answer"},
}
"""Fields of the packets here that may be absent."""


def ours(kind: PacketType) -> dict[str, Any]:
    packet = json.loads(OURS[kind])
    assert isinstance(packet, dict)
    return packet


def test_the_checker_knows_every_type() -> None:
    assert set(SHAPES) == {kind.value for kind in PacketType}


@every_row("kind", PacketType)
def test_a_packet_without_one_of_its_fields_is_refused(kind: PacketType) -> None:
    for name in ours(kind).keys() - OPTIONAL.get(kind, set()):
        less = {key: value for key, value in ours(kind).items() if key != name}
        with pytest.raises(AssertionError):
            validate_packet(less)


@pytest.mark.parametrize("kind", OPTIONAL)
def test_a_packet_may_lack_what_is_optional(kind: PacketType) -> None:
    validate_packet({key: value for key, value in ours(kind).items() if key not in OPTIONAL[kind]})


@every_row("kind", PacketType)
def test_a_packet_with_a_field_more_or_in_another_order_is_refused(kind: PacketType) -> None:
    with pytest.raises(AssertionError):
        validate_packet(ours(kind) | {"more": 1})
    with pytest.raises(AssertionError):
        validate_packet(dict(reversed(ours(kind).items())))


@every_row("kind", PacketType)
def test_a_packet_with_a_value_of_another_type_is_refused(kind: PacketType) -> None:
    theirs = {"rawInput", "rawOutput", "answer"} if kind is not PacketType.TOOL_CALL_START else set()
    for name in ours(kind).keys() - theirs:
        with pytest.raises(AssertionError, match=name):
            validate_packet(ours(kind) | {name: 1.5})


@every_row("packet", [None, [], "x", {}, {"type": "of_tomorrow"}, {"type": ["error"]}])
def test_what_is_no_packet_is_refused(packet: Any) -> None:
    with pytest.raises(AssertionError):
        validate_packet(packet)


def test_all_public_names_are_there_once() -> None:
    assert len(packets.__all__) == len(set(packets.__all__))
    assert all(hasattr(packets, name) for name in packets.__all__)
