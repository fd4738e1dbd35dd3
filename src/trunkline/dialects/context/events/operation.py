"""``git:operation`` and ``web:operation``: what a tool call did to a repository or on the web."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from trunkline.dialects.context.events.base import EventBase
from trunkline.dialects.context.unions import GitOperation, WebOperation


class GitOperationEvent(EventBase, tag="git:operation", kw_only=True, frozen=True):
    """A commit, branch, push, pull request or stash."""

    operation: GitOperation
    tool_call_id: str | UnsetType = UNSET


class WebOperationEvent(EventBase, tag="web:operation", kw_only=True, frozen=True):
    """A web search or fetch."""

    operation: WebOperation
    tool_call_id: str | UnsetType = UNSET
