"""Parts of a large entry are put together, whatever lies among them, and that costs little."""

from __future__ import annotations

import os

import pytest

from tests.journal.samples import entry
from trunkline.cluster import wire
from trunkline.cluster.shipping import parts
from trunkline.cluster.shipping.parts import DIGEST, PART, WRONG_MOST, join_parts, parts_of
from trunkline.errors import Invalid

FORGED = {DIGEST: "0" * 32}


def test_parts_that_were_sent_twice_and_strays_do_no_harm() -> None:
    large = entry(1)
    large.raw = os.urandom(3 * wire.LARGE_ENTRY)
    sent = [(headers, body) for body, headers in parts_of(1, large)]
    strays = [({}, b"x"), ({PART: "1/1"}, b"x"), ({PART: "1/2"}, b"x"), (FORGED | {PART: "1/1"}, b"x")]
    assert join_parts([*strays, sent[0], *sent, *strays]) == large


def test_parts_that_are_not_what_they_say_cost_a_few_digests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each that comes on top of a whole set would have all of it read again: by whoever shows the session."""
    looked: list[bytes] = []

    def digest(whole: bytes) -> str:
        looked.append(whole)
        return "other"

    monkeypatch.setattr(parts, "_digest", digest)
    junk = [(FORGED | {PART: f"{number}/2"}, b"x") for number in (1, 2)]
    with pytest.raises(Invalid, match="not all there"):
        join_parts([*junk, *junk[1:] * 1000])
    assert len(looked) == WRONG_MOST
