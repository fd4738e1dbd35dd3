"""Whatever lies in the place of a file of the hub's own: nobody waits for it."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from trunkline.cli.read_settings import _read_config
from trunkline.disk import own_file
from trunkline.disk.own_file import read_own
from trunkline.errors import Invalid, StorageError
from trunkline.hub.away import Away
from trunkline.server.auth.tokens import Tokens
from trunkline.server.delivery.push.keys import push_key
from trunkline.server.delivery.push.subscriptions import Subscriptions
from trunkline.server.delivery.records import StateFile


def test_of_an_own_file_no_pipe_is_waited_for_and_no_giant_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("own")
    os.mkfifo(tmp_path / "pipe")
    assert read_own(tmp_path / "own") == read_own(tmp_path / "link") == b"12345"
    assert read_own(Path(os.devnull)) == b"", "as people name no file"
    monkeypatch.setattr(own_file, "OWN_MOST", 4)
    with pytest.raises(OSError, match="larger"):
        read_own(tmp_path / "own")
    for name in ("pipe", ".", "missing"):
        with pytest.raises(OSError):
            read_own(tmp_path / name)


@pytest.mark.parametrize("name", ["token", "tokens.json", "push.json", "push.key"])
def test_a_pipe_in_the_place_of_a_secret_is_told_and_not_waited_for(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(StorageError, match="not a plain file"):
        if name == "push.json":
            Subscriptions(tmp_path, lambda token_id: True)
        elif name == "push.key":
            push_key(tmp_path)
        else:
            Tokens.open(tmp_path)


def test_a_hub_begins_anew_what_is_no_secret_and_finds_no_record_in_a_pipe(tmp_path: Path) -> None:
    for name in ("away.json", "webhooks.json", "config.toml"):
        os.mkfifo(tmp_path / name)
    away = Away(tmp_path / "away.json")
    away.load()
    assert not away.is_away
    assert StateFile(tmp_path / "webhooks.json", list, lambda: [], logging.getLogger("test")).load() is None
    with pytest.raises(Invalid, match="not a plain file"):
        _read_config(tmp_path / "config.toml", must_exist=True)
