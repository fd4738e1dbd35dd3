"""``custom``: everything the protocol has no word for, under a namespace of its own."""

from __future__ import annotations

from trunkline.dialects.context.events.base import EventBase
from trunkline.dialects.context.types import RawObject, require_object


class CustomEvent(EventBase, tag="custom", kw_only=True, frozen=True):
    """An extension; consumers skip namespaces they do not know."""

    namespace: str
    event_name: str
    data: RawObject

    def __post_init__(self) -> None:
        require_object(self.data)
