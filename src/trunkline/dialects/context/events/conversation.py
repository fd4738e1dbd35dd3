"""Events of the conversation: messages, thinking, and what is put to the person."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from trunkline.dialects.context.events.base import EventBase
from trunkline.dialects.context.types import MessageRole
from trunkline.dialects.context.unions import MessageContent


class MessageStartEvent(EventBase, tag="message:start", kw_only=True, frozen=True):
    """A message begins."""

    message_id: str
    role: MessageRole


class MessageDeltaEvent(EventBase, tag="message:delta", kw_only=True, frozen=True):
    """The next piece of a message; pieces concatenate."""

    message_id: str
    role: MessageRole
    delta: str


class MessageCompleteEvent(EventBase, tag="message:complete", kw_only=True, frozen=True):
    """The whole message."""

    message_id: str
    role: MessageRole
    content: list[MessageContent]
    model: str | UnsetType = UNSET
    stop_reason: str | UnsetType = UNSET


class ThinkingStartEvent(EventBase, tag="thinking:start", kw_only=True, frozen=True):
    """The agent begins to think aloud."""

    message_id: str


class ThinkingDeltaEvent(EventBase, tag="thinking:delta", kw_only=True, frozen=True):
    """The next piece of a thought."""

    message_id: str
    delta: str


class ThinkingCompleteEvent(EventBase, tag="thinking:complete", kw_only=True, frozen=True):
    """The whole thought."""

    message_id: str
    content: str
    redacted: bool | UnsetType = UNSET


class UserQuestionEvent(EventBase, tag="interaction:question", kw_only=True, frozen=True):
    """The agent waits for an answer."""

    question_id: str
    question: str
    options: list[str] | UnsetType = UNSET
    default_value: str | UnsetType = UNSET
    expires_at: str | UnsetType = UNSET


class NotificationEvent(EventBase, tag="interaction:notification", kw_only=True, frozen=True):
    """The agent has news; no answer is expected."""

    level: Literal["info", "warning", "error", "success"]
    title: str
    message: str
    action_url: str | UnsetType = UNSET
