"""What stands beside the members of a call in a permission request."""

from __future__ import annotations

import json

from trunkline.dialects.acp.reading.decode import decode_params, stray_members


def test_a_permission_request_keeps_what_stands_beside_its_call_also_where_that_is_not_as_the_schema_has_it() -> None:
    call = {"toolCallId": "c", "kind": "read", "args": {"path": "a"}, "command": "make", "status": "odd"}
    raw = json.dumps({"sessionId": "s", "toolCall": call, "options": []}).encode()
    kept = json.loads(bytes(decode_params("session/request_permission", raw).tool_call))
    assert kept["command"] == "make" and kept["rawInput"] == {"path": "a"} and "args" not in kept
    assert list(stray_members(json.dumps({**call, "rawInput": {}}).encode())) == ["args", "command"]
