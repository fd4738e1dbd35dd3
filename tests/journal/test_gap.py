"""A gap stands where entries were lost, in each language."""

from __future__ import annotations

import msgspec

from trunkline.journal.gap import gap_entry, gap_text


def test_a_gap_has_the_last_lost_seq_so_that_cursors_go_on_behind_it() -> None:
    gap = gap_entry("ses_1", 3, 7, at=1_700_000_000_000_000, pos=9)
    assert (gap.seq, gap.at, gap.pos, gap.raw) == (7, 1_700_000_000_000_000, 9, None)


def test_every_face_shows_it_in_its_own_language() -> None:
    gap = gap_entry("ses_1", 3, 7, at=0, pos=0)
    event, update, packet = (msgspec.json.decode(body or b"null") for body in (gap.event, gap.update, gap.packet))
    assert (event["namespace"], event["eventName"], event["data"]) == ("trunkline", "gap", {"from": 3, "to": 7})
    assert (update["sessionUpdate"], update["description"]) == ("notice", gap_text(3, 7))
    assert packet["type"] == "gap"


def test_one_lost_entry_is_not_called_several() -> None:
    assert "entry 3 of" in gap_text(3, 3) and "entries 3 to 4 of" in gap_text(3, 4)
