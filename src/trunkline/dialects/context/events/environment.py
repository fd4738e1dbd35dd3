"""``environment:info``: agent, model, project and machine."""

from __future__ import annotations

from trunkline.dialects.context.events.base import EventBase
from trunkline.dialects.context.types import EnvironmentContext


class EnvironmentInfoEvent(EventBase, tag="environment:info", kw_only=True, frozen=True):
    """Where the session runs and on what."""

    context: EnvironmentContext
