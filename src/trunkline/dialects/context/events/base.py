"""What every event has: the envelope and ``_meta``.

Rule 1: an event is made without its envelope; ``encode_event`` writes it, since only the session's writer knows ``seq``.
A decoded event has the envelope filled in.
Rule 2: ``_meta`` is ours to add to (who did it, what was cut) and absent unless set.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct, UnsetType, field


class EventBase(
    Struct, kw_only=True, frozen=True, gc=False, rename="camel", tag_field="type", tag="", omit_defaults=True
):
    """The envelope, empty until the event is numbered."""

    seq: int = 0
    session_id: str = ""
    timestamp: str = ""
    meta: dict[str, Any] | UnsetType = field(default=UNSET, name="_meta")

    @property
    def type(self) -> str:
        """What kind of event it is, as on the wire (``message:delta``)."""
        return str(type(self).__struct_config__.tag)
