"""Permissions as one number."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.dialects.file_modes import bits_set


@every_row(("mode", "bits"), [
    ("777", 0o777), ("0777", 0o777), ("4755", 0o755), ("a+rwx", 0o777), ("+x", 0o111), ("=rwx", 0o777), ("u=rwx,go=u", 0o777),
    ("u+rwx,g+rx", 0o750), ("a=rwx,o-w", 0o775), ("u+s", 0), ("+X", 0o111), ("u+r+w-r", 0o200), ("", None),
    ("src", None), ("-R", None),
    ("9", None), ("a", None),
])
def test_a_mode_is_what_it_surely_sets(mode: str, bits: int | None) -> None:
    assert bits_set(mode) == bits
