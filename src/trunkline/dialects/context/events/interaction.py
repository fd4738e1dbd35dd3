"""``interaction:*``: the agent asks a person, or tells them something."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from trunkline.dialects.context.events.base import EventBase


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
