"""What an answer to a group means, and what the stream's last message means when the fence has moved. Pure: a table.

Rule 1: 10164 and 10158 are no verdict, nor is silence: the same is sent again.
Rule 2: a fence that moved (10071) is not yet a loss. The subject's last message says whether the group is stored, whether another
        node has the session, or whether the stream has lost what it had.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from trunkline.cluster import jetstream, wire
from trunkline.cluster.jetstream import Ack, Refusal
from trunkline.cluster.wire import Mark

_LAST: Final = re.compile(r"wrong last sequence: (\d{1,18})$")


class Stored(msgspec.Struct, frozen=True):
    """All up to ``seq`` is in the stream; its last message is ``stream_seq``."""

    seq: int
    stream_seq: int


class Again(msgspec.Struct, frozen=True):
    """Something is in flight: the same once more, in a moment."""


class Moved(msgspec.Struct, frozen=True):
    """The fence moved: the last message of the subject has this number."""

    stream_seq: int


class Full(msgspec.Struct, frozen=True):
    """There is no room: it stays here."""

    why: str


class Refused(msgspec.Struct, frozen=True):
    """Anything else: it stays here, and somebody should look."""

    why: str


class WentBack(msgspec.Struct, frozen=True):
    """The stream has lost what it had acknowledged: it ends at ``seq`` now, and goes on from there."""

    seq: int
    stream_seq: int
    epoch: int


class Taken(msgspec.Struct, frozen=True):
    """Another node has the session, from behind ``after``."""

    epoch: int
    after: int


class Ended(msgspec.Struct, frozen=True):
    """The session was given up."""


def of_answer(answer: Ack | Refusal, last_seq: int) -> Stored | Again | Moved | Full | Refused:
    """What the answer to a group that ends with ``last_seq`` means."""
    if isinstance(answer, Ack):
        return Stored(last_seq, answer.seq)
    if answer.err_code in (jetstream.IN_FLIGHT, jetstream.DUPLICATE_IN_PROCESS):
        return Again()
    if answer.err_code in (jetstream.STREAM_FULL, jetstream.ACCOUNT_FULL):
        return Full(answer.description)
    found = _LAST.search(answer.description)
    if answer.err_code == jetstream.WRONG_LAST and found:
        return Moved(int(found[1]))
    return Refused(f"{answer.description} ({answer.err_code})")


def of_last(last: tuple[Mark | None, int] | None, *, epoch: int, shipped: int) -> Stored | WentBack | Taken | Ended:
    """What the subject's last message, and its number, mean for an owner of ``epoch`` whose entries up to ``shipped`` were
    acknowledged. A message that names no entries, or is none of ours, is one more; what stands before it is there."""
    if last is None:
        return WentBack(0, 0, 0)
    mark, stream_seq = last
    if mark is None:
        return Stored(shipped, stream_seq)
    if mark.epoch > epoch:
        return Taken(mark.epoch, mark.after or 0)
    if mark.kind == wire.END:
        return Ended()
    if mark.epoch == epoch and mark.kind != wire.CLAIM and not mark.last:
        return Stored(shipped, stream_seq)
    seq = (mark.after or 0) if mark.kind == wire.CLAIM else mark.last
    if mark.epoch < epoch or seq < shipped:
        return WentBack(seq, stream_seq, mark.epoch)
    return Stored(seq, stream_seq)
