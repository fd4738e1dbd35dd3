"""``validate_packet``: a packet has exactly the fields of its type, every null written out, nothing else.

Written from the documents' interfaces and not from our structs, so that a wrong struct is found. For any test that has packets.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Check = Callable[[Any], None]

STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00")
KINDS = ("search", "read", "execute", "edit", "other")
STATUSES = ("pending", "in_progress", "completed", "failed")
STOP_REASONS = ("end_turn", "max_tokens", "stop_sequence", "max_turn_requests", "refusal", "cancelled")
CHUNKS = ("agent_message_chunk", "agent_thought_chunk", "user_message_chunk")


def validate_packet(packet: Any) -> None:
    """Raise AssertionError, naming the field, unless ``packet`` (decoded JSON) is a packet in exactly its shape."""
    assert isinstance(packet, dict), f"a packet is an object, not {packet!r}"
    kind = packet.get("type")
    assert isinstance(kind, str) and kind in SHAPES, f"no packet has the type {kind!r}"
    SHAPES[kind](packet)


def text(value: Any) -> None:
    assert isinstance(value, str), f"{value!r} is no string"


def number(value: Any) -> None:
    assert isinstance(value, int | float) and not isinstance(value, bool), f"{value!r} is no number"


def integer(value: Any) -> None:
    assert isinstance(value, int) and not isinstance(value, bool), f"{value!r} is no integer"


def boolean(value: Any) -> None:
    assert isinstance(value, bool), f"{value!r} is no boolean"


def any_json(value: Any) -> None:
    """Somebody else's JSON: whatever it is, it is theirs."""


def any_object(value: Any) -> None:
    assert isinstance(value, dict), f"{value!r} is no object"


def stamp(value: Any) -> None:
    assert isinstance(value, str) and STAMP.fullmatch(value), f"{value!r} is no timestamp of a packet"


def exactly(*wanted: Any) -> Check:
    def check(value: Any) -> None:
        assert any(value == one and type(value) is type(one) for one in wanted), f"{value!r} is none of {wanted!r}"

    return check


def nullable(inner: Check) -> Check:
    def check(value: Any) -> None:
        if value is not None:
            inner(value)

    return check


def listed(inner: Check) -> Check:
    def check(value: Any) -> None:
        assert isinstance(value, list), f"{value!r} is no list"
        for item in value:
            inner(item)

    return check


def fields(checks: dict[str, Check]) -> Check:
    """An object with exactly these fields, in this order; ``?`` behind a name means that it may be absent."""

    def check(value: Any) -> None:
        assert isinstance(value, dict), f"{value!r} is no object"
        known = {name.rstrip("?"): one for name, one in checks.items()}
        needed = [name for name in checks if not name.endswith("?")]
        assert not [name for name in needed if name not in value], f"{needed} are needed, {list(value)} are there"
        assert [name for name in known if name in value] == list(value), f"{list(value)} is not {list(checks)}"
        for name, inner in value.items():
            try:
                known[name](inner)
            except AssertionError as wrong:
                raise AssertionError(f"{name}: {wrong}") from wrong

    return check


def tagged(by: str, variants: dict[str, Check]) -> Check:
    def check(value: Any) -> None:
        assert isinstance(value, dict) and value.get(by) in variants, f"{value!r} is none of {list(variants)}"
        variants[value[by]](value)

    return check


null = exactly(None)
BLOCK = tagged(
    "type",
    {
        "text": fields({"_meta": null, "annotations": null, "text": text, "type": text}),
        "image": fields(
            {"_meta": null, "annotations": null, "data": text, "mimeType": text, "uri": nullable(text), "type": text}
        ),
        "audio": fields({"_meta": null, "annotations": null, "data": text, "mimeType": text, "type": text}),
        "resource_link": fields(
            {
                "_meta": null,
                "annotations": null,
                "description": nullable(text),
                "mimeType": nullable(text),
                "name": text,
                "size": nullable(integer),
                "title": nullable(text),
                "uri": text,
                "type": text,
            }
        ),
        "resource": fields({"_meta": null, "annotations": null, "resource": any_object, "type": text}),
    },
)
ITEM = tagged(
    "type",
    {
        "content": fields({"_meta": null, "content": BLOCK, "type": text}),
        "diff": fields({"_meta": null, "newText": text, "oldText": text, "path": text, "type": text}),
        "terminal": fields({"_meta": null, "terminalId": text, "type": text}),
    },
)
LOCATION = fields({"_meta": null, "line": nullable(integer), "path": text})
PLAN_ENTRY = fields(
    {
        "_meta": null,
        "content": text,
        "priority": exactly("high", "medium", "low"),
        "status": exactly("pending", "in_progress", "completed"),
    }
)
OPTION = fields({"optionId": text, "name": text, "kind": text})
PREVIEW = tagged(
    "type",
    {
        "diff": fields({"type": text, "path": text, "diff": text}),
        "command": fields({"type": text, "command": text, "workingDir": text}),
        "description": fields({"type": text, "text": text}),
    },
)


def chunk(kind: str) -> Check:
    return fields({"_meta": null, "content": BLOCK, "sessionUpdate": exactly(kind), "type": exactly(kind), "timestamp": stamp})


def update(session_update: str, packet_type: str, /, **payload: Check) -> Check:
    ends = {"sessionUpdate": exactly(session_update), "type": exactly(packet_type), "timestamp": stamp}
    return fields({"_meta": null, **payload, **ends})


def notice(packet_type: str, /, **payload: Check) -> Check:
    return fields({"type": exactly(packet_type), "timestamp": stamp, **payload})


SHAPES: dict[str, Check] = {
    **{kind: chunk(kind) for kind in CHUNKS},
    "tool_call_start": update(
        "tool_call",
        "tool_call_start",
        content=null,
        kind=exactly(*KINDS),
        locations=exactly([]),
        rawInput=exactly({}),
        rawOutput=null,
        status=exactly("pending"),
        title=text,
        toolCallId=text,
    ),
    "tool_call_progress": update(
        "tool_call_update",
        "tool_call_progress",
        content=nullable(listed(ITEM)),
        kind=exactly(*KINDS),
        locations=nullable(listed(LOCATION)),
        rawInput=any_json,
        rawOutput=any_json,
        status=exactly(*STATUSES),
        title=text,
        toolCallId=text,
    ),
    "agent_plan_update": update("plan", "agent_plan_update", entries=listed(PLAN_ENTRY)),
    "current_mode_update": update("current_mode_update", "current_mode_update", currentModeId=text),
    "available_commands_update": update(
        "available_commands_update",
        "available_commands_update",
        availableCommands=listed(
            fields({"_meta": null, "description": text, "input": nullable(fields({"_meta": null, "hint": text})), "name": text})
        ),
    ),
    "usage_update": update(
        "usage_update",
        "usage_update",
        cost=nullable(fields({"_meta": null, "amount": number, "currency": text})),
        size=integer,
        used=integer,
    ),
    "prompt_response": fields(
        {"_meta": exactly({}), "stopReason": exactly(*STOP_REASONS), "type": exactly("prompt_response"), "timestamp": stamp}
    ),
    "error": notice("error", message=text, code=nullable(integer), details=nullable(any_object)),
    "artifact_created": notice(
        "artifact_created",
        artifact=fields(
            {
                "id": text,
                "type": exactly("file", "image", "nextjs_app", "web_app"),
                "name": text,
                "path": text,
                "preview_url": nullable(text),
            }
        ),
    ),
    "approval_requested": notice(
        "approval_requested",
        requestId=text,
        toolCallId=text,
        toolName=text,
        title=text,
        description=text,
        riskLevel=exactly("low", "medium", "high", "critical"),
        **{"riskReason?": text, "toolCategory?": text},
        options=listed(OPTION),
        **{"preview?": PREVIEW},
        expiresAt=text,
        **{"_meta?": fields({"acts?": listed(PREVIEW), "input?": any_object, "doubts?": listed(text)})},
    ),
    "approval_resolved": notice(
        "approval_resolved", requestId=text, toolCallId=text, approved=boolean, resolvedBy=text,
        **{"reason?": text, "_meta?": fields({"by": text})}
    ),
    "question_requested": notice(
        "question_requested",
        questionId=text,
        question=text,
        **{"toolCallId?": text, "options?": listed(text), "schema?": any_object, "url?": text, "expiresAt?": text},
    ),
    "question_resolved": notice(
        "question_resolved",
        questionId=text,
        action=exactly("accept", "decline", "cancel"),
        resolvedBy=text,
        **{"answer?": any_json, "reason?": text},
    ),
    "gap": notice("gap", **{"from": integer, "to": integer, "message": text}),
}
