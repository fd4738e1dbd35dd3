"""What stands beside the members of a call in a permission request."""

from __future__ import annotations

import json

from trunkline.dialects.acp.reading.decode import ADDRESSES, UNREAD, decode_params, stray_members


def test_a_permission_request_keeps_what_stands_beside_its_call_also_where_that_is_not_as_the_schema_has_it() -> None:
    call = {"toolCallId": "c", "kind": "read", "args": {"path": "a"}, "command": "make", "status": "odd"}
    raw = json.dumps({"sessionId": "s", "toolCall": call, "options": []}).encode()
    kept = json.loads(bytes(decode_params("session/request_permission", raw).tool_call))
    assert kept["command"] == "make" and kept["rawInput"] == {"path": "a"} and "args" not in kept
    assert list(stray_members(json.dumps({**call, "rawInput": {}}).encode())) == ["args", "command"]


def test_a_place_beside_the_path_of_a_location_is_kept_also_where_the_call_is_written_anew() -> None:
    places = [{"uri": "file:///a%20b"}, {"path": "c", "uri": "file:///etc/hosts", "label": "the hosts"}]
    raw = json.dumps({"sessionId": "s", "toolCall": {"toolCallId": "c", "locations": places}, "options": []}).encode()
    kept = json.loads(bytes(decode_params("session/request_permission", raw).tool_call))
    assert [place["path"] for place in kept["locations"]] == ["/a b", "c"] and kept[ADDRESSES] == ["/etc/hosts"]


def test_a_location_that_is_only_told_by_its_address_is_no_other_place() -> None:
    assert stray_members(b'{"toolCallId":"c","locations":[{"uri":"file:///a"},{"path":"/b","uri":"file:///b"},"c"]}') == {}


def test_of_very_long_members_beside_a_call_it_is_only_said_that_they_are_there() -> None:
    for beside in ({"command": "make", "padding": "x" * 100}, {"locations": [{"path": "a" * 100, "uri": "file:///b"}]}):
        raw = json.dumps({"toolCallId": "c", "rawInput": {"content": "x" * 1000}, **beside}).encode()
        assert list(stray_members(raw, 100)) == [UNREAD]
        assert UNREAD not in stray_members(raw, 1000) and stray_members(raw, 1000)
