"""Permissions that an agent asks for, as entries."""

from __future__ import annotations

import msgspec

from tests.session.interpret.told import Told, events, names, packets
from tests.session.script import OPTIONS
from trunkline.dialects.context.types import Resolver
from trunkline.dialects.signals import PermissionAsk


def test_a_permission_makes_its_call_known_first_and_shows_what_it_is_about() -> None:
    told = Told().turn()
    diff = {"type": "diff", "path": "/w/a.py", "oldText": "a\n", "newText": "b\n"}
    ask = {"toolCallId": "c", "title": "Edit a.py", "kind": "edit", "content": [diff]}
    entries = told.hear(PermissionAsk("req", msgspec.json.encode(ask), OPTIONS))
    assert names(entries) == ["tool:start", "tool:executing", "approval:requested", "session:status_changed"]
    assert events(entries)[1]["requiresApproval"] is True
    start, asked = packets(entries)
    assert (start["type"], asked["type"]) == ("tool_call_start", "approval_requested")
    assert asked["preview"]["type"] == "diff" and "-a\n+b\n" in asked["preview"]["diff"]
    assert [option["optionId"] for option in asked["options"]] == ["yes", "forever", "no"]
    assert asked["expiresAt"] > asked["timestamp"][:19]


def test_an_ask_about_a_very_long_command_is_short_and_says_so() -> None:
    told = Told().turn()
    ask = {"toolCallId": "c", "kind": "execute", "rawInput": {"command": "echo " + "x" * 300_000}}
    entries = told.hear(PermissionAsk("req", msgspec.json.encode(ask), OPTIONS))
    asked = next(entry for entry in entries if b"approval:requested" in entry.event)
    (event,) = events([asked])
    assert len(asked.event) + len(asked.packet or b"") < 160_000
    assert event["toolInput"] == {}
    assert event["_meta"]["truncated"] == {"bytes": len(msgspec.json.encode(ask["rawInput"]))}
    assert event["preview"]["command"].startswith("echo xxx") and event["preview"]["command"].endswith("more characters")
    assert not {"always", "parts"} & set(event["_meta"])
    about = told.fold.approvals["req"].about
    assert about is not None and len(about.command or "") == 300_005, "the rules look at all of it"


def test_two_asks_with_one_call_id_are_two_approvals() -> None:
    told = Told().turn()
    ask = msgspec.json.encode({"toolCallId": "same"})
    told.hear(PermissionAsk("one", ask, OPTIONS), PermissionAsk("two", ask, OPTIONS))
    told.at().asks.resolve("one", approved=True, resolved_by="user", who="ann")
    assert list(told.fold.approvals) == ["two"] and told.fold.status == "waiting_for_approval"
    told.at().asks.resolve("two", approved=False, resolved_by="user", who="ann")
    assert told.fold.status == "running"


def test_the_packet_of_a_decision_says_whose_it_was_and_nobodys_where_none_decided() -> None:
    told = Told().turn()
    resolvers: tuple[tuple[str, Resolver], ...] = (("one", "user"), ("two", "policy"))
    for request, resolver in resolvers:
        told.hear(PermissionAsk(request, b'{"toolCallId":"c"}', OPTIONS))
        told.at().asks.resolve(request, approved=True, resolved_by=resolver, who="phone (bd97ee34b91c)")
        told.take()
    by_person, by_rule = [packet for packet in packets(told.entries) if packet["type"] == "approval_resolved"]
    assert (by_person["resolvedBy"], by_person["_meta"]) == ("user", {"by": "phone (bd97ee34b91c)"})
    assert by_rule["resolvedBy"] == "policy" and "_meta" not in by_rule


def test_an_ask_that_is_no_tool_call_stands_for_itself() -> None:
    told = Told().turn()
    entries = told.hear(PermissionAsk("req", b'{"nothing":1}', OPTIONS))
    assert "approval:requested" in names(entries) and list(told.fold.approvals) == ["req"]
