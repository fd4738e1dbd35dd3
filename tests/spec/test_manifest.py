"""The manifest holds the tests against the seeds: nothing unmapped, nothing dangling, one test per item.

A value in ``manifest.toml`` is the node of the test that covers the item (from ``tests/`` on), or says openly why there is none:
``prose: WHY`` for what states no behaviour.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from tests.spec import seeds

TESTS = Path(__file__).parent.parent
MANIFEST: dict[str, str] = tomllib.loads((Path(__file__).parent / "manifest.toml").read_text(encoding="utf-8"))
STATE = re.compile(r"prose: (.+)")


def items() -> set[str]:
    """Every id the seeds have."""
    return {id for number in seeds.numbers() for id in seeds.seed(number)}


def nodes() -> list[str]:
    """Every test node the manifest names."""
    return [value for value in MANIFEST.values() if not STATE.fullmatch(value)]


def collected(files: set[str]) -> set[str]:
    """The test nodes pytest finds in these files, as the manifest writes them."""
    paths = sorted(f"tests/{file}" for file in files)
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *paths]
    found = subprocess.run(command, cwd=TESTS.parent, capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stdout + found.stderr
    return {line.removeprefix("tests/") for line in found.stdout.splitlines() if "::" in line}


def test_every_item_of_the_seeds_is_mapped() -> None:
    assert sorted(items() - set(MANIFEST)) == []


def test_every_mapped_item_is_in_the_seeds() -> None:
    assert sorted(set(MANIFEST) - items()) == []


def test_every_named_test_exists() -> None:
    named = set(nodes())
    assert sorted(named - collected({node.partition("::")[0] for node in named})) == []


def test_no_two_items_share_a_test() -> None:
    assert [node for node, count in Counter(nodes()).items() if count > 1] == []


def test_nothing_is_left_for_later() -> None:
    assert [id for id, value in MANIFEST.items() if value.startswith("later")] == []


def test_the_manifest_says_how_much_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    states = Counter(value if STATE.fullmatch(value) else "tested" for value in MANIFEST.values())
    with capsys.disabled():
        print("\nspec:", ", ".join(f"{count} {state}" for state, count in sorted(states.items())))
    assert states["tested"] >= 233, "an item that had a test has lost it"
