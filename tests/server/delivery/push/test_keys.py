"""The hub's key pair for Web Push: made once, kept private, never replaced."""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path

import pytest

from tests.aio import run
from trunkline.errors import StorageError
from trunkline.server.delivery.push.keys import KEY_FILE, push_key
from trunkline.server.delivery.push.subscriptions import Subscriptions


def test_the_key_pair_is_made_once_in_a_private_file(tmp_path: Path) -> None:
    first = push_key(tmp_path)
    assert stat.S_IMODE((tmp_path / KEY_FILE).stat().st_mode) == 0o600
    assert push_key(tmp_path).public == first.public
    assert "private" not in repr(first) and len(first.public) == 87


@pytest.mark.parametrize("content", ["", "x", "AAAA", "A" * 43])
def test_a_key_file_that_is_no_key_is_an_error_and_stays_as_it_is(tmp_path: Path, content: str) -> None:
    (tmp_path / KEY_FILE).write_text(content)
    with pytest.raises(StorageError):
        push_key(tmp_path)
    assert (tmp_path / KEY_FILE).read_text() == content


def test_two_who_ask_at_once_get_the_same_key(tmp_path: Path) -> None:
    async def check() -> None:
        subscriptions = Subscriptions(tmp_path, lambda _: True)
        keys = await asyncio.gather(*(subscriptions.key() for _ in range(8)))
        assert {key.public for key in keys} == {push_key(tmp_path).public}

    run(check())
