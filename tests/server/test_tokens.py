"""Tokens: made, found, revoked, kept as hashes in private files."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from trunkline.errors import Invalid, NotFound, StorageError, Unauthorized
from trunkline.server.tokens import KEPT_BROWSERS, Scope, Tokens, allows


class Clock:
    """Time that moves when told to."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def test_the_first_run_makes_a_token_in_a_private_file_and_the_next_run_finds_it(tmp_path: Path) -> None:
    first = Tokens.open(tmp_path / "data")
    secret = (tmp_path / "data" / "token").read_text().strip()
    assert stat.S_IMODE((tmp_path / "data" / "token").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
    assert len(secret) >= 40
    assert first.find(secret, "bearer").scope == "admin"
    assert Tokens.open(tmp_path / "data").find(secret, "bearer").id == first.main.id


def test_a_token_file_that_others_could_read_is_made_private_and_an_empty_one_filled(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("\n")
    os.chmod(tmp_path / "token", 0o644)
    Tokens.open(tmp_path)
    assert (tmp_path / "token").read_text().strip()
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600


def test_an_override_takes_the_place_of_the_file(tmp_path: Path) -> None:
    tokens = Tokens.open(tmp_path, "given by the environment")
    assert tokens.find("given by the environment", "bearer").name == "main"
    assert not (tmp_path / "token").exists()


def test_made_tokens_last_and_only_their_hashes_are_stored(tmp_path: Path) -> None:
    token, secret = Tokens.open(tmp_path, "main").mint("phone", "approve")
    stored = (tmp_path / "tokens.json").read_bytes()
    assert secret.encode() not in stored
    assert stat.S_IMODE((tmp_path / "tokens.json").stat().st_mode) == 0o600
    again = Tokens.open(tmp_path, "main")
    assert again.find(secret, "bearer") == token


@pytest.mark.parametrize("wrong", ["", "tl_", "nothing like it", "main "])
def test_an_unknown_secret_is_refused(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(Unauthorized):
        Tokens.open(tmp_path, "main").find(wrong, "bearer")


def test_a_browsers_secret_is_no_bearer_token_and_the_other_way_round(tmp_path: Path) -> None:
    tokens = Tokens.open(tmp_path, "main")
    _, cookie = tokens.mint("browser", "admin", kind="browser")
    _, bearer = tokens.mint("program", "admin")
    for secret, kind in ((cookie, "bearer"), (bearer, "browser"), ("main", "browser")):
        with pytest.raises(Unauthorized):
            tokens.find(secret, kind)  # type: ignore[arg-type]


def test_a_token_ends_at_its_time(tmp_path: Path) -> None:
    clock = Clock()
    tokens = Tokens.open(tmp_path, "main", clock)
    _, secret = tokens.mint("short", "view", lifetime_s=60)
    clock.now += 59
    assert tokens.find(secret, "bearer").name == "short"
    clock.now += 1
    with pytest.raises(Unauthorized):
        tokens.find(secret, "bearer")


def test_a_token_says_how_long_it_still_counts(tmp_path: Path) -> None:
    clock = Clock()
    tokens = Tokens.open(tmp_path, "main", clock)
    parent, _ = tokens.mint("laptop", "control", lifetime_s=60)
    browser, _ = tokens.mint("browser", "control", kind="browser", parent=parent.id, lifetime_s=3600)
    of_main, _ = tokens.mint("browser", "control", kind="browser", parent=tokens.main.id, lifetime_s=30)
    for_ever, _ = tokens.mint("phone", "view")
    clock.now += 10
    assert [tokens.left_s(token.id) for token in (parent, browser, of_main, for_ever, tokens.main)] == [50, 50, 20, None, None]
    clock.now += 100
    assert (tokens.left_s(browser.id), tokens.left_s("unknown")) == (0, 0)


def test_revoking_a_token_also_ends_the_browsers_that_it_let_in(tmp_path: Path) -> None:
    tokens = Tokens.open(tmp_path, "main")
    parent, _ = tokens.mint("laptop", "control")
    _, cookie = tokens.mint("browser", "control", kind="browser", parent=parent.id)
    tokens.revoke(parent.id)
    with pytest.raises(Unauthorized):
        tokens.find(cookie, "browser")
    assert [token.name for token in Tokens.open(tmp_path, "main").listed()] == ["main"]


def test_a_browser_is_out_when_the_token_behind_it_expires(tmp_path: Path) -> None:
    clock = Clock()
    tokens = Tokens.open(tmp_path, "main", clock)
    parent, _ = tokens.mint("guest", "view", lifetime_s=60)
    _, cookie = tokens.mint("browser", "view", kind="browser", parent=parent.id, lifetime_s=3600)
    clock.now += 61
    with pytest.raises(Unauthorized):
        tokens.find(cookie, "browser")


def test_another_main_token_ends_the_browsers_of_the_old_one(tmp_path: Path) -> None:
    old = Tokens.open(tmp_path, "old")
    _, cookie = old.mint("browser", "admin", kind="browser", parent=old.main.id)
    assert Tokens.open(tmp_path, "old").find(cookie, "browser")
    with pytest.raises(Unauthorized):
        Tokens.open(tmp_path, "new").find(cookie, "browser")


def test_only_the_newest_browsers_are_remembered(tmp_path: Path) -> None:
    tokens = Tokens.open(tmp_path, "main")
    secrets = [tokens.mint("browser", "view", kind="browser")[1] for _ in range(KEPT_BROWSERS + 1)]
    with pytest.raises(Unauthorized):
        tokens.find(secrets[0], "browser")
    assert tokens.find(secrets[1], "browser")


def test_the_main_token_and_unknown_ones_cannot_be_revoked(tmp_path: Path) -> None:
    tokens = Tokens.open(tmp_path, "main")
    with pytest.raises(Invalid):
        tokens.revoke(tokens.main.id)
    with pytest.raises(NotFound):
        tokens.revoke("nobody")


def test_a_damaged_token_list_is_a_clear_error_and_not_an_open_door(tmp_path: Path) -> None:
    (tmp_path / "tokens.json").write_text('{"tokens": [{"id": 3')
    with pytest.raises(StorageError, match=r"tokens\.json"):
        Tokens.open(tmp_path, "main")


@pytest.mark.parametrize(("scope", "reach"), [
    ("view", ["view"]), ("approve", ["view", "approve"]), ("control", ["view", "approve", "control"]),
    ("admin", ["view", "approve", "control", "admin"]),
])
def test_each_scope_includes_those_below_it(scope: Scope, reach: list[Scope]) -> None:
    every: tuple[Scope, ...] = ("view", "approve", "control", "admin")
    assert [needed for needed in every if allows(scope, needed)] == reach
