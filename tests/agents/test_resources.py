"""What an agent may take of the machine."""

from __future__ import annotations

import msgspec
import pytest

from trunkline.agents.catalog import spec_from_table
from trunkline.agents.resources import Resources, check_resources
from trunkline.errors import Invalid


def test_a_session_says_more_than_the_catalog_and_leaves_the_rest() -> None:
    catalog = Resources(memory_mb=1000, files=512)
    assert Resources(memory_mb=200, processes=9).over(catalog) == Resources(memory_mb=200, processes=9, files=512)
    assert Resources().over(catalog) == catalog


def test_a_catalog_names_them_in_its_own_spelling() -> None:
    spec = spec_from_table("x", {"command": ["x"], "resources": {"memory_mb": 128, "processes": 5}})
    assert spec.resources == Resources(memory_mb=128, processes=5)
    assert spec.resources.as_wishes() == {"memory": 128 << 20, "processes": 5}


@pytest.mark.parametrize(("table", "named"), [
    ({"memory_mb": 1}, "memoryMb"), ({"processes": 0}, "processes"), ({"files": 3}, "files"), ({"disk": 3}, "disk"),
])
def test_a_catalog_with_a_limit_that_makes_no_sense_is_refused_by_name(table: dict[str, int], named: str) -> None:
    with pytest.raises(Invalid, match=rf"\[agents.x\]: resources.*{named}"):
        spec_from_table("x", {"command": ["x"], "resources": table})


def test_more_files_than_the_hub_itself_may_open_are_refused() -> None:
    with pytest.raises(Invalid, match=r"resources\.files must be at most"):
        check_resources(Resources(files=2**40))


def test_only_what_is_limited_is_written() -> None:
    assert msgspec.json.encode(Resources(memory_mb=100)) == b'{"memoryMb":100}'
    assert "memory limit of 100 MB" in Resources(memory_mb=100).reached("memory", 123 << 20)
    assert "limit of 3 processes" in Resources(processes=3).reached("processes", 4)
