"""The key of the approval chains: made once, closed to others, never replaced."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from trunkline.errors import NotFound, StorageError
from trunkline.session.audit.key import audit_key, read_audit_key


def test_the_key_is_made_once_and_closed_to_others(tmp_path: Path) -> None:
    path = tmp_path / "data" / "audit.key"
    key = audit_key(path)
    assert len(key) == 32 and audit_key(path) == key and read_audit_key(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [found.name for found in path.parent.iterdir()] == ["audit.key"]


def test_of_many_that_make_the_key_at_once_all_get_the_same(tmp_path: Path) -> None:
    keys: list[bytes] = []
    threads = [threading.Thread(target=lambda: keys.append(audit_key(tmp_path / "audit.key"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys) == 8 and len(set(keys)) == 1


def test_reading_never_makes_a_key(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        read_audit_key(tmp_path / "audit.key")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("content", [b"", b"00", b"zz" * 32, b"00" * 33, b"\xff" * 64])
def test_a_key_that_is_no_key_is_an_error_and_stays_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "audit.key"
    path.write_bytes(content)
    with pytest.raises(StorageError):
        audit_key(path)
    assert path.read_bytes() == content


def test_a_key_that_others_may_write_or_that_is_a_link_is_not_trusted(tmp_path: Path) -> None:
    path = tmp_path / "audit.key"
    audit_key(path)
    path.chmod(0o666)
    with pytest.raises(StorageError, match="trusted"):
        audit_key(path)
    path.chmod(0o644)
    audit_key(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    (tmp_path / "folder.key").mkdir()
    with pytest.raises(StorageError):
        audit_key(tmp_path / "folder.key")
    os.symlink(path, tmp_path / "link.key")
    with pytest.raises(StorageError):
        audit_key(tmp_path / "link.key")
