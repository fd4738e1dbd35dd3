"""Tokens: made, found, revoked, kept as hashes in private files."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from trunkline.errors import Invalid, NotFound, StorageError, Unauthorized
from trunkline.server.auth.tokens import KEPT_BROWSERS, REVOKED_MOST, TokenKind, Tokens, TokenScope, allows

BASE = "/at/" + "k" * 32
KINDS: tuple[TokenKind, ...] = ("browser", "device")


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
    _, cookie = tokens.mint("browser", "admin", kind="browser", base=BASE)
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


def test_a_browsers_token_is_that_of_whoever_let_it_in(tmp_path: Path) -> None:
    tokens = Tokens.open(tmp_path)
    parent, _ = tokens.mint("phone", "view")
    browser, _ = tokens.mint("browser", "view", kind="browser", parent=parent.id)
    mine, _ = tokens.mint("browser", "admin", kind="browser", parent=tokens.main.id)
    assert [tokens.owner(token.id) for token in (browser, parent, mine)] == [parent.id, parent.id, tokens.main.id]
    assert tokens.owner("gone") == "gone"


def test_revoking_a_token_also_ends_the_browsers_that_it_let_in(tmp_path: Path) -> None:
    tokens = Tokens.open(tmp_path, "main")
    parent, _ = tokens.mint("laptop", "control")
    _, cookie = tokens.mint("browser", "control", kind="browser", parent=parent.id, base=BASE)
    tokens.revoke(parent.id)
    with pytest.raises(Unauthorized):
        tokens.find(cookie, "browser", base=BASE)
    assert [token.name for token in Tokens.open(tmp_path, "main").listed()] == ["main"]


def test_a_browser_is_out_when_the_token_behind_it_expires(tmp_path: Path) -> None:
    clock = Clock()
    tokens = Tokens.open(tmp_path, "main", clock)
    parent, _ = tokens.mint("guest", "view", lifetime_s=60)
    _, cookie = tokens.mint("browser", "view", kind="browser", parent=parent.id, lifetime_s=3600, base=BASE)
    clock.now += 61
    with pytest.raises(Unauthorized):
        tokens.find(cookie, "browser", base=BASE)


def test_another_main_token_ends_the_browsers_of_the_old_one(tmp_path: Path) -> None:
    old = Tokens.open(tmp_path, "old")
    _, cookie = old.mint("browser", "admin", kind="browser", parent=old.main.id, base=BASE)
    assert Tokens.open(tmp_path, "old").find(cookie, "browser", base=BASE)
    with pytest.raises(Unauthorized):
        Tokens.open(tmp_path, "new").find(cookie, "browser", base=BASE)


def test_only_the_newest_browsers_are_remembered(tmp_path: Path) -> None:
    tokens = Tokens.open(tmp_path, "main")
    secrets = [tokens.mint("browser", "view", kind="browser", base=BASE)[1] for _ in range(KEPT_BROWSERS + 1)]
    with pytest.raises(Unauthorized):
        tokens.find(secrets[0], "browser", base=BASE)
    assert tokens.find(secrets[1], "browser", base=BASE)


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


def test_a_token_file_that_is_no_text_is_a_clear_error_and_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "token").write_bytes(b"\xff\xfe tl_")
    with pytest.raises(StorageError, match="token holds no token"):
        Tokens.open(tmp_path)
    assert (tmp_path / "token").read_bytes() == b"\xff\xfe tl_"


@pytest.mark.parametrize(("scope", "reach"), [
    ("view", ["view"]), ("approve", ["view", "approve"]), ("control", ["view", "approve", "control"]),
    ("admin", ["view", "approve", "control", "admin"]),
])
def test_each_scope_includes_those_below_it(scope: TokenScope, reach: list[TokenScope]) -> None:
    every: tuple[TokenScope, ...] = ("view", "approve", "control", "admin")
    assert [needed for needed in every if allows(scope, needed)] == reach


def test_a_browsers_token_counts_below_its_own_path_and_one_without_a_path_nowhere(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path, "main")
    for kind in KINDS:
        _, based = tokens.mint("a", "view", kind=kind, base=BASE)
        _, old = tokens.mint("b", "view", kind=kind)
        assert tokens.find(based, kind, base=BASE)
        for secret, base in ((based, ""), (based, f"{BASE}x"), (old, ""), (old, BASE)):
            with pytest.raises(Unauthorized):
                tokens.find(secret, kind, base=base)
    assert BASE not in (tmp_path / "tokens.json").read_text()


def test_the_hubs_name_in_cookies_stays_and_is_another_for_every_hub(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, other = Tokens(tmp_path / "a", "main"), Tokens(tmp_path / "b", "main")
    first.mint("a", "view", kind="browser", base=BASE)
    assert Tokens(tmp_path / "a", "main").hub_name == first.hub_name != other.hub_name


def test_only_who_has_the_secret_of_a_revoked_browser_learns_that_it_was(tmp_path: Path) -> None:
    clock = Clock()
    tokens = Tokens.open(tmp_path, "main", clock)
    parent, parents = tokens.mint("laptop", "control")
    _, below = tokens.mint("browser", "control", kind="browser", parent=parent.id, base=BASE)
    phone, phones = tokens.mint("phone", "view", kind="device", base=BASE)
    _, mine = tokens.mint("browser", "view", kind="browser", base=BASE)
    _, expires = tokens.mint("browser", "view", kind="browser", base=BASE, lifetime_s=60)
    clock.now += 61
    tokens.revoke(parent.id)
    tokens.revoke(phone.id)
    again = Tokens.open(tmp_path, "main")
    for known in (tokens, again):
        assert [known.was_revoked(secret) for secret in (below, phones)] == [True, True]
        assert not any(known.was_revoked(secret) for secret in (parents, mine, expires, "main", "", phones[:-1]))


def test_so_many_revoked_ones_are_remembered(tmp_path: Path) -> None:
    tokens = Tokens.open(tmp_path, "main")
    secrets = []
    for _ in range(REVOKED_MOST + 1):
        token, secret = tokens.mint("phone", "view", kind="device", base=BASE)
        tokens.revoke(token.id)
        secrets.append(secret)
    assert not tokens.was_revoked(secrets[0]) and all(map(tokens.was_revoked, secrets[1:]))
