"""Where in the stream a session's seqs are: a few marks of each, learned by reading.

Rule: a mark is a hint. Whoever reads from it sees whether it was right; a stream that was put together again makes it wrong.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import OrderedDict
from typing import Final

SESSIONS: Final = 2000
MARKS: Final = 64
"""Of one session: the seek between two of them is a few reads."""


class SeqIndex:
    """(seq of a message's last entry, number of the message) for the sessions that were read last."""

    def __init__(self) -> None:
        self._marks: OrderedDict[str, list[tuple[int, int]]] = OrderedDict()

    def learn(self, session_id: str, last_seq: int, stream_seq: int) -> None:
        """A message ends with this entry."""
        marks = self._marks.setdefault(session_id, [])
        self._marks.move_to_end(session_id)
        mark = (last_seq, stream_seq)
        at = bisect_left(marks, mark)
        if at < len(marks) and marks[at] == mark:
            return
        insort(marks, mark)
        if len(marks) > MARKS:
            del marks[1:-1:2]
        if len(self._marks) > SESSIONS:
            self._marks.popitem(last=False)

    def around(self, session_id: str, seq: int) -> tuple[tuple[int, int], tuple[int, int] | None]:
        """The nearest marks before ``seq`` (or the beginning) and at or behind it (or None)."""
        marks = self._marks.get(session_id, [])
        at = bisect_left(marks, (seq, 0))
        return marks[at - 1] if at else (0, 0), marks[at] if at < len(marks) else None

    def forget(self, session_id: str) -> None:
        """Its marks were wrong."""
        self._marks.pop(session_id, None)
