"""The newest version that both sides speak, or a refusal that names both."""

from __future__ import annotations

import pytest

from tests.tooling.rows import every_row
from trunkline.dialects.context.versions import ACP_MIN_VERSION, ACP_VERSION, negotiate_version
from trunkline.errors import Invalid


@every_row(
    "offered",
    [["1.0.0"], ["2.0.0", "1.0.0"], ["1.0.0", "0.9.0"], ["1.0"], ["1"], ["1.0.9"], ["nonsense", "1.0.0", ""], ("1.0.0",)],
)
def test_a_version_that_both_speak_is_chosen(offered: list[str]) -> None:
    assert negotiate_version(offered) == "1.0.0"


@every_row("offered", [[], ["2.0.0"], ["0.9"], ["1.1.0"], ["v1.0.0"], ["1.0.0.0"], ["-1"], ["9" * 40]])
def test_without_a_common_version_both_sides_are_named(offered: list[str]) -> None:
    with pytest.raises(Invalid) as refused:
        negotiate_version(offered)
    assert ACP_VERSION in refused.value.message and ACP_MIN_VERSION in refused.value.message
    assert all(repr(version) in refused.value.message for version in offered)
    assert refused.value.details == {"offered": offered, "minVersion": ACP_MIN_VERSION, "version": ACP_VERSION}


def test_what_was_offered_is_named_only_so_far() -> None:
    with pytest.raises(Invalid) as refused:
        negotiate_version(["9" * 5000] * 5000)
    assert len(refused.value.message) < 1000 and len(str(refused.value.details)) < 1000
