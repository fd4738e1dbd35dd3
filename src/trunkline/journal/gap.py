"""A gap: the entry that stands where entries were lost, so that every reader meets it and every cursor goes on.

Rule 1: a gap from ``first`` to ``last`` has the seq ``last``: whoever has seen it goes on behind it, and nobody asks for what is
not there.
Rule 2: each face shows it in its own language: a ``custom`` event (``trunkline``, ``gap``), a ``gap`` packet, a notice
to editors.
"""

from __future__ import annotations

from trunkline.journal.base import Entry

NAMESPACE, NAME = "trunkline", "gap"


def gap_entry(session_id: str, first: int, last: int, *, at: int, pos: int) -> Entry:
    """The entry for lost entries; ``at`` is when the one before them was written."""
    from trunkline.dialects.context.envelope import encode_event
    from trunkline.dialects.context.events import CustomEvent  # a journal that is whole needs no language
    from trunkline.dialects.context.types import to_raw
    from trunkline.dialects.packets.notices import gap_packet

    what = gap_text(first, last)
    event = CustomEvent(namespace=NAMESPACE, event_name=NAME, data=to_raw({"from": first, "to": last}))
    notice = {"sessionUpdate": "notice", "severity": "warning", "title": "Entries are lost", "description": what}
    return Entry(last, at, encode_event(last, session_id, at, event), bytes(to_raw(notice)),
                 gap_packet(first, last, what, at), None, pos)


def gap_text(first: int, last: int) -> str:
    """What is lost, in words."""
    which = f"entry {first}" if first == last else f"entries {first} to {last}"
    return f"The journal was damaged: {which} of this session cannot be read any more."
