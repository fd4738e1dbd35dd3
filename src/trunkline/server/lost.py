"""A reader that has been where the session never was: an owner showed it what was not in the cluster when another took over.

Rule: it is told what it has to forget, and goes on behind the session's last entry. The state is in the snapshot.
"""

from __future__ import annotations

import time

from trunkline.journal.base import Entry
from trunkline.journal.gap import gap_entry
from trunkline.server.call import Place


def lost_entry(session_id: str, place: Place) -> Entry:
    """What stands for the entries that are not the session's; its cursor is the session's last one."""
    first, last = place.after + 1, max(place.after + 1, place.lost or 0)
    gap = gap_entry(session_id, first, last, at=time.time_ns() // 1000, pos=0,
                    what=f"This session has no entry behind {place.after}: forget {first} to {last}, and read its state anew.")
    gap.seq = place.after
    return gap
