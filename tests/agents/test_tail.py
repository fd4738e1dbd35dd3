"""The last bytes of a stream."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.tooling.rows import every_row
from trunkline.agents.tail import Tail


@given(st.lists(st.binary(max_size=20)), st.integers(0, 40))
def test_the_tail_is_the_end_of_the_stream_within_the_limit(chunks: list[bytes], limit: int) -> None:
    tail = Tail(limit)
    for chunk in chunks:
        tail.append(chunk)
        assert len(tail) <= limit
    whole = b"".join(chunks)
    assert bytes(tail) == whole[max(0, len(whole) - limit) :]
    assert tail.truncated == (len(whole) > limit)


@every_row("limit", range(9))
def test_text_starts_at_a_character_boundary(limit: int) -> None:
    tail = Tail(limit)
    tail.append("aé€𝄞".encode()[:5])
    tail.append("aé€𝄞".encode()[5:])
    assert "aé€𝄞".endswith(tail.text())
    assert len(tail.text().encode()) <= limit


def test_bad_bytes_that_were_not_cut_stay_visible() -> None:
    tail = Tail(100)
    tail.append(b"\x80ok\xff")
    assert tail.text() == "\ufffdok\ufffd"
