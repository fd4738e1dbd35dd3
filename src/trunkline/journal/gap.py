"""A gap: the entry that stands where entries were lost, so that every reader meets it and every cursor goes on.

Rule 1: a gap from ``first`` to ``last`` has the seq ``last``: whoever has seen it goes on behind it, and nobody asks for what is
not there.
Rule 2: each face shows it in its own language: a ``custom`` event (``trunkline``, ``gap``), a ``gap`` packet, a notice
to editors.
"""

from __future__ import annotations

import msgspec

from trunkline import decoders
from trunkline.dialects.outside import BROKEN
from trunkline.journal.base import Entry

NAMESPACE, NAME = "trunkline", "gap"
TAKEN_OVER = "taken_over"
"""Why, where nothing is damaged: another node of a cluster went on with the session, and left room for what it did not know."""


class _Left(msgspec.Struct, frozen=True):
    first: int = msgspec.field(default=0, name="from")
    why: str = ""


class _Gap(msgspec.Struct, rename="camel"):
    event_name: str = ""
    data: _Left = _Left()


_gap = decoders.of(_Gap)


def stands_beyond(cursor: int, next_event: bytes) -> bool:
    """Whether a reader has seen entries that are no part of the session any more, by the event that is next for it."""
    if TAKEN_OVER.encode() not in next_event:
        return False
    try:
        gap = _gap.decode(next_event)
    except BROKEN:
        return False
    return gap.event_name == NAME and gap.data.why == TAKEN_OVER and 0 < gap.data.first <= cursor


def gap_entry(session_id: str, first: int, last: int, *, at: int, pos: int, what: str = "") -> Entry:
    """The entry for lost entries; ``at`` is when the one before them was written, ``what`` says in words what is lost."""
    from trunkline.dialects.context.envelope import encode_event
    from trunkline.dialects.context.events import CustomEvent  # a journal that is whole needs no language
    from trunkline.dialects.context.types import to_raw
    from trunkline.dialects.packets.notices import gap_packet

    what = what or gap_text(first, last)
    event = CustomEvent(namespace=NAMESPACE, event_name=NAME, data=to_raw({"from": first, "to": last}))
    notice = {"sessionUpdate": "notice", "severity": "warning", "title": "Entries are lost", "description": what}
    return Entry(last, at, encode_event(last, session_id, at, event), bytes(to_raw(notice)),
                 gap_packet(first, last, what, at), None, pos)


def gap_text(first: int, last: int) -> str:
    """What is lost, in words."""
    which = f"entry {first}" if first == last else f"entries {first} to {last}"
    return f"The journal was damaged: {which} of this session cannot be read any more."
