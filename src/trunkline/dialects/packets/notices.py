"""Packets of the hub's own making: how a turn ended, what waits for a person, what was made.

Rule: these begin with ``type, timestamp`` and, except for ``prompt_response`` and ``error``, leave absent fields away.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from trunkline.dialects.context.types import RiskLevel, ToolCategory
from trunkline.dialects.context.unions import ApprovalPreview
from trunkline.dialects.packets.contents import on_one_line
from trunkline.dialects.packets.shapes import (
    AnswerAction,
    ApprovalPacketMeta,
    ApprovalRequestedPacket,
    ApprovalResolvedPacket,
    ArtifactCreatedPacket,
    ArtifactInfo,
    ErrorPacket,
    GapPacket,
    PromptResponsePacket,
    QuestionRequestedPacket,
    QuestionResolvedPacket,
    ResolvedPacketMeta,
)
from trunkline.dialects.packets.stamps import timestamp
from trunkline.dialects.signals import PermissionOption

_encode = msgspec.json.Encoder().encode


def prompt_response_packet(stop: str, at_us: int) -> bytes:
    """The turn ended, with the true stop reason: one of ``StopReason``, or ``stop_sequence``."""
    return _encode(PromptResponsePacket(stop_reason=stop, timestamp=timestamp(at_us)))


def error_packet(message: str, at_us: int, code: int | None = None, details: Mapping[str, Any] | None = None) -> bytes:
    """The turn failed. The hub's own code word goes into ``details["code"]``, an agent's number into ``code``."""
    more = None if details is None else dict(details)
    return _encode(ErrorPacket(timestamp=timestamp(at_us), message=message, code=code, details=more))


def artifact_packet(artifact: ArtifactInfo, at_us: int) -> bytes:
    """The agent made a file or an app."""
    return _encode(ArtifactCreatedPacket(timestamp=timestamp(at_us), artifact=artifact))


def approval_requested_packet(
    *,
    at_us: int,
    request_id: str,
    tool_call_id: str,
    tool_name: str,
    title: str,
    description: str,
    risk_level: RiskLevel,
    options: Iterable[PermissionOption],
    expires_at: str,
    preview: ApprovalPreview | None = None,
    acts: Sequence[ApprovalPreview] = (),
    beside: Mapping[str, Any] | None = None,
    doubts: Sequence[str] = (),
    risk_reason: str | None = None,
    tool_category: ToolCategory | None = None,
) -> bytes:
    """A tool call waits for a decision; ``beside`` are the members of its input that no act shows."""
    return _encode(
        ApprovalRequestedPacket(
            timestamp=timestamp(at_us),
            request_id=request_id,
            tool_call_id=tool_call_id,
            tool_name=tool_name,
            title=title,
            description=description,
            risk_level=risk_level,
            risk_reason=risk_reason or UNSET,
            tool_category=tool_category or UNSET,
            options=[PermissionOption(option_id=offer.option_id, name=offer.name, kind=offer.kind) for offer in options],
            preview=preview or UNSET,
            expires_at=expires_at,
            meta=ApprovalPacketMeta(acts=list(acts), input=dict(beside or {}), doubts=list(doubts))
            if acts or beside or doubts else UNSET,
        )
    )


def approval_resolved_packet(
    *, at_us: int, request_id: str, tool_call_id: str, approved: bool, resolved_by: str, reason: str | None = None,
    by: str | None = None
) -> bytes:
    """A decision was made, or the time for it ran out."""
    return _encode(
        ApprovalResolvedPacket(
            timestamp=timestamp(at_us),
            request_id=request_id,
            tool_call_id=tool_call_id,
            approved=approved,
            resolved_by=resolved_by,
            reason=_or_absent(reason),
            meta=ResolvedPacketMeta(by=by) if by is not None else UNSET,
        )
    )


def question_requested_packet(
    *,
    at_us: int,
    question_id: str,
    question: str,
    tool_call_id: str | None = None,
    options: Sequence[str] | None = None,
    schema: bytes | Raw | None = None,
    url: str | None = None,
    expires_at: str | None = None,
) -> bytes:
    """The agent asks a person."""
    return _encode(
        QuestionRequestedPacket(
            timestamp=timestamp(at_us),
            question_id=question_id,
            question=question,
            tool_call_id=_or_absent(tool_call_id),
            options=UNSET if options is None else list(options),
            schema=UNSET if schema is None else on_one_line(schema),
            url=_or_absent(url),
            expires_at=_or_absent(expires_at),
        )
    )


def question_resolved_packet(
    *,
    at_us: int,
    question_id: str,
    action: AnswerAction,
    resolved_by: str,
    answer: bytes | Raw | None = None,
    reason: str | None = None,
) -> bytes:
    """A question was answered, declined, or fell away."""
    return _encode(
        QuestionResolvedPacket(
            timestamp=timestamp(at_us),
            question_id=question_id,
            action=action,
            resolved_by=resolved_by,
            answer=UNSET if answer is None else on_one_line(answer),
            reason=_or_absent(reason),
        )
    )


def gap_packet(first: int, last: int, message: str, at_us: int) -> bytes:
    """Entries were lost."""
    return _encode(GapPacket(timestamp=timestamp(at_us), first=first, last=last, message=message))


def _or_absent(text: str | None) -> str | msgspec.UnsetType:
    return UNSET if text is None else text
