"""``custom``: everything the protocol has no word for, under a namespace of its own."""

from __future__ import annotations

from trunkline.dialects.context.events.base import EventBase
from trunkline.dialects.context.types import RawObject


class CustomEvent(EventBase, tag="custom", kw_only=True, frozen=True):
    """An extension; consumers skip namespaces they do not know."""

    namespace: str
    event_name: str
    data: RawObject
