"""One end's numbers and credits: what may be sent, and whether what came is all there was. Nothing is sent or waited for here.

Rule 1: each end numbers all that it sends, from 0. What comes out of turn was lost on the way, and the tunnel is over.
Rule 2: a piece needs credit. A window is open from the start; whoever takes pieces gives more, a quarter of a window at a time.
Rule 3: who sends pieces without credit is cut off.
Rule 4: an end (END) counts whatever its number: it is why others are missing.
"""

from __future__ import annotations

from collections.abc import Iterator

from trunkline.cluster.tunnel.frames import PIECES, Frame, Kind, decode, decode_count, encode, encode_count
from trunkline.errors import NodeSilent

PIECE_BYTES = 128 << 10
"""Of one piece: 50 MiB went as fast in these as in larger ones."""
WINDOW = 16
"""Pieces under way: 2 MiB were enough to be as fast as with more."""
GRANT = WINDOW // 4


class Flow:
    """The numbers of one end."""

    __slots__ = ("_allowed", "_came", "_granted", "_next", "_pieces_came", "_pieces_sent", "_pieces_taken")

    def __init__(self) -> None:
        self._next = 0
        self._came = 0
        self._pieces_sent, self._allowed = 0, WINDOW
        self._pieces_came, self._pieces_taken, self._granted = 0, 0, WINDOW

    @property
    def may_send(self) -> bool:
        """Whether there is credit for a piece."""
        return self._pieces_sent < self._allowed

    def send(self, kind: Kind, body: bytes = b"") -> bytes:
        """The next message. A piece only while ``may_send``."""
        if kind in PIECES:
            assert self.may_send, "who has no credit waits"
            self._pieces_sent += 1
        number, self._next = self._next, self._next + 1
        return encode(kind, number, body)

    def receive(self, data: bytes) -> Frame:
        """A message that came; NodeSilent where one before it is missing, NodeVersion where it is of another version."""
        frame = decode(data)
        if frame.kind is Kind.END:
            return frame
        if frame.number != self._came:
            raise NodeSilent(f"message {self._came} of a tunnel was lost on the way; {frame.number} came")
        self._came += 1
        if frame.kind in PIECES:
            self._count_piece(frame)
        elif frame.kind is Kind.CREDIT:
            self._allowed = max(self._allowed, min(decode_count(frame.body), self._pieces_sent + WINDOW))
        return frame

    def _count_piece(self, frame: Frame) -> None:
        self._pieces_came += 1
        if self._pieces_came > self._granted or len(frame.body) > PIECE_BYTES:
            raise NodeSilent("the other end of a tunnel sent more than it may")

    def take(self) -> bytes | None:
        """A piece that came was used up: the credit to send for it, where it is time for one."""
        self._pieces_taken += 1
        if self._pieces_taken + WINDOW - self._granted < GRANT:
            return None
        self._granted = self._pieces_taken + WINDOW
        return self.send(Kind.CREDIT, encode_count(self._granted))


def pieces(body: bytes) -> Iterator[bytes]:
    """A body in as many pieces as it needs; an empty one has none."""
    if len(body) <= PIECE_BYTES:
        if body:
            yield body
        return
    for start in range(0, len(body), PIECE_BYTES):
        yield body[start:start + PIECE_BYTES]
