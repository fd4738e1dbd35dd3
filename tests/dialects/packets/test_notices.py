"""Packets of the hub's own making: exactly these bytes."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from msgspec import Raw

from tests.dialects.packets.calls import AT, STAMP
from tests.dialects.packets.shapes_check import validate_packet
from tests.tooling.rows import every_row
from trunkline.dialects.acp.permission import PermissionOption as AcpPermissionOption
from trunkline.dialects.context.unions import ApprovalPreview, CommandPreview, DescriptionPreview, DiffPreview
from trunkline.dialects.packets.notices import (
    approval_requested_packet,
    approval_resolved_packet,
    artifact_packet,
    error_packet,
    prompt_response_packet,
    question_requested_packet,
    question_resolved_packet,
)
from trunkline.dialects.packets.shapes import ArtifactInfo
from trunkline.dialects.signals import PermissionOption, StopReason

HEAD = f'"timestamp":"{STAMP}"'.encode()


def written(packet: bytes, exactly: bytes) -> None:
    assert packet == exactly
    validate_packet(json.loads(packet))


@every_row("stop", get_args(StopReason))
def test_the_end_of_a_turn_is_exactly_so(stop: StopReason) -> None:
    expected = b'{"_meta":{},"stopReason":"%b","type":"prompt_response",%b}' % (stop.encode(), HEAD)
    written(prompt_response_packet(stop, AT), expected)


def test_an_error_is_exactly_so() -> None:
    written(
        error_packet("Session not found", AT),
        b'{"type":"error",' + HEAD + b',"message":"Session not found","code":null,"details":null}',
    )
    written(
        error_packet("The agent said no", AT, -32000, {"code": "agent_error", "stderr": ["a"]}),
        b'{"type":"error",' + HEAD + b',"message":"The agent said no","code":-32000,'
        b'"details":{"code":"agent_error","stderr":["a"]}}',
    )


def test_an_artifact_is_exactly_so() -> None:
    written(
        artifact_packet(ArtifactInfo(id="a1", type="web_app", name="site", path="out/site", preview_url="/preview/k/"), AT),
        b'{"type":"artifact_created",' + HEAD + b',"artifact":{"id":"a1","type":"web_app","name":"site","path":"out/site",'
        b'"preview_url":"/preview/k/"}}',
    )
    assert b'"preview_url":null' in artifact_packet(ArtifactInfo(id="a", type="file", name="n", path="p"), AT)


@pytest.mark.parametrize(
    ("preview", "shown"),
    [
        (None, b""),
        (CommandPreview(command="rm x", working_dir="/p"), b'"preview":{"type":"command","command":"rm x","workingDir":"/p"},'),
        (DiffPreview(path="/a", diff="-a\n+b"), b'"preview":{"type":"diff","path":"/a","diff":"-a\\n+b"},'),
        (DescriptionPreview(text="t"), b'"preview":{"type":"description","text":"t"},'),
    ],
    ids=["none", "command", "diff", "description"],
)
def test_an_approval_request_is_exactly_so(preview: ApprovalPreview | None, shown: bytes) -> None:
    packet = approval_requested_packet(
        at_us=AT,
        request_id="r1",
        tool_call_id="t1",
        tool_name="bash",
        title="rm x",
        description="Run: rm x",
        risk_level="high",
        options=[
            PermissionOption(option_id="y", name="Yes", kind="allow_once"),
            AcpPermissionOption(option_id="n", name="No", kind="reject_once", meta={"secret": 1}),
        ],
        expires_at="2026-01-22T19:23:30.917Z",
        preview=preview,
    )
    written(
        packet,
        b'{"type":"approval_requested",' + HEAD + b',"requestId":"r1","toolCallId":"t1","toolName":"bash","title":"rm x",'
        b'"description":"Run: rm x","riskLevel":"high","options":[{"optionId":"y","name":"Yes","kind":"allow_once"},'
        b'{"optionId":"n","name":"No","kind":"reject_once"}],' + shown + b'"expiresAt":"2026-01-22T19:23:30.917Z"}',
    )


def test_what_a_preview_has_no_room_for_is_beside_it() -> None:
    packet = approval_requested_packet(
        at_us=AT, request_id="r1", tool_call_id="t1", tool_name="x", title="x", description="x", risk_level="high", options=[],
        expires_at="2026-01-22T19:23:30.917Z", acts=[DescriptionPreview(text="t")], beside={"cwd": "/tmp", "n": 1},
        doubts=["a variable"])
    validate_packet(json.loads(packet))
    assert packet.endswith(b',"_meta":{"acts":[{"type":"description","text":"t"}],"input":{"cwd":"/tmp","n":1},'
                           b'"doubts":["a variable"]}}')


def test_an_approval_decision_is_exactly_so() -> None:
    written(
        approval_resolved_packet(at_us=AT, request_id="r1", tool_call_id="t1", approved=True, resolved_by="user"),
        b'{"type":"approval_resolved",' + HEAD + b',"requestId":"r1","toolCallId":"t1","approved":true,"resolvedBy":"user"}',
    )
    written(
        approval_resolved_packet(
            at_us=AT, request_id="r1", tool_call_id="t1", approved=False, resolved_by="timeout", reason="nobody answered"
        ),
        b'{"type":"approval_resolved",' + HEAD + b',"requestId":"r1","toolCallId":"t1","approved":false,'
        b'"resolvedBy":"timeout","reason":"nobody answered"}',
    )


def test_a_question_is_exactly_so() -> None:
    written(
        question_requested_packet(at_us=AT, question_id="q1", question="Which?"),
        b'{"type":"question_requested",' + HEAD + b',"questionId":"q1","question":"Which?"}',
    )
    written(
        question_requested_packet(
            at_us=AT,
            question_id="q1",
            question="Which?",
            tool_call_id="t1",
            options=["a", "b"],
            schema=b'{"type":"object",\n"properties":{}}',
            url="https://example.com",
            expires_at="2026-01-22T19:23:30.917Z",
        ),
        b'{"type":"question_requested",' + HEAD + b',"questionId":"q1","question":"Which?","toolCallId":"t1","options":["a","b"],'
        b'"schema":{"type":"object","properties":{}},"url":"https://example.com","expiresAt":"2026-01-22T19:23:30.917Z"}',
    )


def test_an_answer_is_exactly_so() -> None:
    written(
        question_resolved_packet(at_us=AT, question_id="q1", action="cancel", resolved_by="timeout", reason="too late"),
        b'{"type":"question_resolved",' + HEAD + b',"questionId":"q1","action":"cancel",'
        b'"resolvedBy":"timeout","reason":"too late"}',
    )
    written(
        question_resolved_packet(at_us=AT, question_id="q1", action="accept", resolved_by="user", answer=Raw(b'{"a":1}')),
        b'{"type":"question_resolved",' + HEAD + b',"questionId":"q1","action":"accept","resolvedBy":"user","answer":{"a":1}}',
    )
