"""What the page weighs at its first load: as much as the build allows, and the benchmark says."""

from __future__ import annotations

import json

from benchmarks.page import BUNDLE_KB
from trunkline.server.page import BUILT, STAMP


def test_the_first_load_is_within_the_bound_that_build_and_benchmark_share() -> None:
    weight = json.loads((BUILT / STAMP).read_text())
    assert weight["limit"] == BUNDLE_KB * 1024
    assert sum(weight["files"].values()) == weight["total"] <= weight["limit"]
