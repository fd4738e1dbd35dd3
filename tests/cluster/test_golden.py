"""What version 1 wrote stays readable: every kind of message, what lies beside them, and the rows of all tables."""

from __future__ import annotations

import base64
import importlib
import json
from pathlib import Path
from typing import Any

import msgspec

from tests.aio import run
from tests.tooling.rows import every_row
from trunkline import decoders
from trunkline.cluster import wire
from trunkline.cluster.nodes import NodeRow
from trunkline.cluster.reading.decoding import entries_in
from trunkline.cluster.shipping.parts import join_parts, parts_of
from trunkline.dialects.context.envelope import decode_event
from trunkline.dialects.context.events import CustomEvent
from trunkline.journal.base import Entry

GOLDEN = Path(__file__).parents[1] / "data" / "cluster"


def golden(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    return found


MESSAGES, BESIDE, ROWS = golden("v1"), golden("beside-v1"), golden("rows-v1")
UNKNOWN = [case for case in MESSAGES if "version" in case["reads"]]


def type_of(row: dict[str, Any]) -> Any:
    module, _, name = row["type"].partition(":")
    return getattr(importlib.import_module(module), name)


def test_every_kind_of_message_has_one_and_so_have_kinds_and_versions_of_later() -> None:
    kinds = {case["headers"][wire.KIND] for case in MESSAGES if case["headers"][wire.V] == str(wire.VERSION)}
    assert {wire.ENTRIES, wire.CLAIM, wire.END} < kinds
    assert {case["headers"][wire.V] for case in UNKNOWN} == {str(wire.VERSION), str(wire.VERSION + 1)}
    assert all(wire.V in case["headers"] for case in [*MESSAGES, *BESIDE]), "a version is in every message"


@every_row("case", UNKNOWN)
def test_what_is_not_known_is_shown_as_custom_with_the_seqs_that_it_names(case: dict[str, Any]) -> None:
    async def no_parts(seq: int) -> Entry:
        raise AssertionError(seq)

    (shown,) = run(entries_in("ses_1", 9, case["headers"], base64.b64decode(case["body"]), no_parts))
    event = decode_event(shown.event)
    assert isinstance(event, CustomEvent) and (event.namespace, event.event_name) == ("trunkline", "unknown_message")
    said = msgspec.json.decode(event.data)
    assert (said["version"], said["kind"]) == (int(case["headers"][wire.V]), case["headers"][wire.KIND])
    assert f"{said['from']}-{said['to']}" == case["headers"][wire.SEQ] and shown.seq == said["to"]


def test_a_part_and_a_checkpoint_stay_as_they_are() -> None:
    part, checkpoint = ((case["headers"], base64.b64decode(case["body"])) for case in BESIDE)
    entry = Entry(2, 10, b'{"type":"message:start"}', b"{}", None, b"raw")
    assert join_parts([part]) == entry
    assert parts_of(3, entry) == [(part[1], part[0])]
    mark = wire.read_mark(checkpoint[0])
    assert (mark.epoch, mark.last) == (3, 44) and wire.unpack(checkpoint[1], 1 << 20) == b"the fold's state " * 200


@every_row("row", ROWS)
def test_a_row_of_version_1_is_read_whole_and_so_is_one_with_more_in_it(row: dict[str, Any]) -> None:
    value, kind = row["value"], type_of(row)
    read = json.loads(msgspec.json.encode(decoders.decode(msgspec.json.encode(value), kind)))
    if isinstance(value, list):
        assert read[:len(value)] == value
        assert decoders.decode(msgspec.json.encode([*value, "later"]), kind)
        return
    assert {key: read.get(key) for key in value} == value
    assert decoders.decode(msgspec.json.encode({**value, "later": 1}), kind) == decoders.decode(msgspec.json.encode(value), kind)


def test_a_node_says_which_version_it_speaks() -> None:
    (row,) = [each["value"] for each in ROWS if type_of(each) is NodeRow]
    assert row["speaks"] == wire.VERSION
