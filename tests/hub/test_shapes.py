"""What a hub takes: where its files are, and that one in memory has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from trunkline.errors import Invalid
from trunkline.hub import HubOptions, guarded_folders


def test_files_are_in_the_data_folder_and_the_rules_where_they_were_said_to_be(tmp_path: Path) -> None:
    options = HubOptions(data=tmp_path)
    assert (options.file("search.db"), options.rules_file) == (tmp_path / "search.db", tmp_path / "policy.toml")
    assert HubOptions(data=tmp_path, policy_file=tmp_path / "mine.toml").rules_file == tmp_path / "mine.toml"


def test_a_hub_in_memory_has_no_files_at_all(tmp_path: Path) -> None:
    options = HubOptions(data=tmp_path, store="memory:", policy_file=tmp_path / "mine.toml")
    assert (options.keeps_files, options.file("agents"), options.rules_file, guarded_folders(options)) == (False, None, None, ())


def test_a_store_elsewhere_is_guarded_like_the_data_folder(tmp_path: Path) -> None:
    options = HubOptions(data=tmp_path / "data", store=f"sqlite:{tmp_path}/journal")
    assert guarded_folders(options) == (str(tmp_path / "data"), str(tmp_path / "journal"))


def test_a_data_folder_behind_a_link_is_guarded_by_both_of_its_names(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    options = HubOptions(data=tmp_path / "link")
    assert guarded_folders(options)[0] == str(tmp_path / "link") and str(tmp_path / "real") in guarded_folders(options)


def test_an_unknown_store_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="none called 'nats:'"):
        HubOptions(data=tmp_path, store="nats:").file("agents")
