"""Agents that a person added: files of the data folder that count at once, and cost only themselves where they are bad."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tooling.examples import examples
from trunkline.agents.catalog import Catalog, adhoc
from trunkline.agents.catalog import own as own_module
from trunkline.agents.catalog.own import OwnFolder, entry_text
from trunkline.errors import Invalid, NotFound, StorageError


@pytest.fixture
def own(tmp_path: Path) -> OwnFolder:
    return OwnFolder(tmp_path / "catalog")


def test_what_was_added_counts_at_once_and_what_was_removed_no_more(own: OwnFolder) -> None:
    agents = Catalog({}, own)
    assert "mine" not in agents
    own.add("mine", {"command": ["my-agent", "--acp"], "display_name": "Mine"})
    assert agents["mine"].command == ("my-agent", "--acp") and "mine" in [spec.name for spec in agents.values()]
    own.remove("mine")
    assert "mine" not in agents and "mine" not in [*agents]
    with pytest.raises(NotFound):
        own.remove("mine")


def test_an_entry_that_is_edited_is_read_again(own: OwnFolder) -> None:
    own.add("mine", {"command": ["one"]})
    assert own.specs()["mine"].command == ("one",)
    own.file("mine").write_text('command = ["two"]\n')
    assert own.specs()["mine"].command == ("two",)


def test_the_settings_come_before_it_and_it_before_the_catalog(own: OwnFolder) -> None:
    own.add("demo", {"command": ["mine"]})
    assert Catalog({}, own)["demo"].command == ("mine",)
    assert Catalog({"demo": adhoc("demo", "theirs")}, own)["demo"].command == ("theirs",)
    assert len(Catalog({}, own)) == len([*Catalog({}, own)]) == len(Catalog({}, own).values()) == len(Catalog({}))


def test_a_bad_file_costs_only_its_own_agent(own: OwnFolder) -> None:
    own.add("good", {"command": ["good"]})
    own.file("bad").write_text("command = [")
    own.file("odd").write_text('command = ["x"]\nwings = 2\n')
    for file in (own.file("bad"), own.file("odd")):
        file.chmod(0o600)
    assert [*own.specs()] == ["good"]
    assert "not TOML" in own.problems()["bad"] and "wings" in own.problems()["odd"]


def test_a_file_that_others_may_write_is_not_read(own: OwnFolder) -> None:
    own.add("mine", {"command": ["mine"]})
    own.file("mine").chmod(0o666)
    assert not own.specs() and "chmod 600" in own.problems()["mine"]


def test_a_pipe_or_a_folder_in_its_place_makes_nobody_wait(own: OwnFolder) -> None:
    own.add("mine", {"command": ["mine"]})
    os.mkfifo(own.file("pipe"), 0o600)
    own.file("folder").mkdir()
    assert [*own.specs()] == ["mine"] and sorted(own.problems()) == ["folder", "pipe"]


def test_what_is_too_long_and_what_is_too_many_does_not_count(own: OwnFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    long: dict[str, Any] = {"command": ["x", "y" * 300_000]}
    with pytest.raises(Invalid, match="is longer than 262144 bytes"):
        own.add("long", long)
    own.add("long", {"command": ["x"]})
    own.file("long").write_text(entry_text(long))
    assert not own.specs() and "is longer than 262144 bytes" in own.problems()["long"]
    own.add("a", {"command": ["x"]})
    monkeypatch.setattr(own_module, "OWN_MOST", 1)
    own.add("b", {"command": ["x"]})
    assert [*own.specs()] == ["a"]


def test_it_is_closed_to_others(own: OwnFolder) -> None:
    own.add("mine", {"command": ["mine"]})
    assert own.folder is not None
    assert (own.folder.stat().st_mode & 0o777, own.file("mine").stat().st_mode & 0o777) == (0o700, 0o600)


def test_what_could_not_be_used_is_not_written(own: OwnFolder) -> None:
    for name, table in (("mine", {"command": []}), ("../mine", {"command": ["x"]}), ("mine", {"command": ["x"], "wings": 2})):
        with pytest.raises(Invalid):
            own.add(name, table)
    assert own.folder is not None and not own.folder.exists()


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "catalog").write_text("")
    with pytest.raises(StorageError, match="cannot make"):
        OwnFolder(tmp_path / "catalog").add("mine", {"command": ["x"]})
    with pytest.raises(StorageError, match="cannot read"):
        OwnFolder(tmp_path / "catalog").problems()


def test_a_hub_without_files_has_none() -> None:
    assert OwnFolder(None).specs() == {} and OwnFolder(None).problems() == {}
    with pytest.raises(Invalid, match="keeps no files"):
        OwnFolder(None).add("mine", {"command": ["x"]})


TEXT = st.text(st.characters(blacklist_categories=["Cs"]), max_size=20)


@settings(max_examples=examples(50))
@given(st.dictionaries(TEXT, TEXT | st.lists(TEXT, max_size=3) | st.booleans() | st.integers(0, 9)
                       | st.dictionaries(TEXT, TEXT | st.lists(TEXT), min_size=1, max_size=3), max_size=4))
def test_an_entry_is_read_as_it_was_written(table: dict[str, Any]) -> None:
    assert tomllib.loads(entry_text(table)) == table
