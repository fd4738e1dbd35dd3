"""Codes, cookies, and tokens over HTTP."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.aio import run
from tests.server.site import HOST, TOKEN, Site, browser, site
from trunkline.errors import TooManyRequests, Unauthorized
from trunkline.server.auth.login import OPEN_CODES, Codes
from trunkline.server.auth.tries import ADDRESSES, TRIES, TRIES_OF_ALL, TRIES_WITHIN_S, FailedTries
from trunkline.server.call import STRANGER_BODY_BYTES

OWN = {"origin": f"http://{HOST}"}


class Clock:
    """Time that moves when told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_code_works_once() -> None:
    codes = Codes(60)
    code = codes.issue("main", "control")
    assert codes.redeem(code).scope == "control"
    with pytest.raises(Unauthorized):
        codes.redeem(code)


def test_a_code_is_good_for_a_minute() -> None:
    clock = Clock()
    codes = Codes(60, clock)
    early, late = codes.issue("main"), codes.issue("main")
    clock.now = 59.9
    assert codes.redeem(early)
    clock.now = 60
    with pytest.raises(Unauthorized):
        codes.redeem(late)


def test_codes_are_random_and_the_number_of_open_ones_is_bounded() -> None:
    codes = Codes(60)
    made = [codes.issue("main") for _ in range(OPEN_CODES + 1)]
    assert len(set(made)) == len(made)
    with pytest.raises(Unauthorized):
        codes.redeem(made[0])
    assert codes.redeem(made[-1])


def fail(tries: FailedTries, address: str) -> None:
    """Be wrong once."""
    with pytest.raises(Unauthorized), tries.counted(address):
        raise Unauthorized("no")


def test_failed_tries_are_counted_per_address_and_forgotten_after_a_minute() -> None:
    clock = Clock()
    tries = FailedTries(clock)
    for _ in range(TRIES):
        fail(tries, "10.0.0.1")
    with pytest.raises(TooManyRequests) as refused, tries.counted("10.0.0.1"):
        raise AssertionError("not tried")
    assert refused.value.details == {"retryAfterS": TRIES_WITHIN_S + 1}
    fail(tries, "10.0.0.2")
    clock.now = TRIES_WITHIN_S
    fail(tries, "10.0.0.1")


def test_a_try_counts_while_it_is_checked_and_is_given_back_when_it_was_right() -> None:
    tries = FailedTries(Clock())
    with ExitStack() as at_once:
        for _ in range(TRIES):
            at_once.enter_context(tries.counted("10.0.0.1"))
        with pytest.raises(TooManyRequests), tries.counted("10.0.0.1"):
            raise AssertionError("not tried")
    for _ in range(2 * TRIES):
        with tries.counted("10.0.0.1"):
            pass


def test_failed_tries_are_counted_over_all_addresses_too() -> None:
    tries = FailedTries(Clock())
    for number in range(TRIES_OF_ALL):
        fail(tries, f"10.0.0.{number}")
    with pytest.raises(TooManyRequests), tries.counted("10.0.1.1"):
        raise AssertionError("not tried")


def test_the_counter_of_failed_tries_does_not_grow_with_the_number_of_addresses() -> None:
    tries = FailedTries(of_all=10 * ADDRESSES)
    for _ in range(TRIES):
        fail(tries, "first")
    for number in range(ADDRESSES):
        fail(tries, f"address {number}")
    fail(tries, "first")


def test_a_code_logs_a_browser_in_with_a_cookie_that_scripts_cannot_read(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            code = hub.app.login_path().removeprefix("/#code=")
            answer = await hub.ask("POST", "/auth/login", json_body={"code": code}, token=None, headers=OWN)
            assert answer.status == 200
            assert answer.json()["scope"] == "admin"
            cookie = answer.header("set-cookie") or ""
            name, _, rest = cookie.partition("=")
            assert name == f"trunkline_{hub.app.parts.tokens.hub_name}"
            attributes = {each.strip() for each in rest.split(";")[1:]}
            assert {"HttpOnly", "SameSite=strict", f"Path={answer.json()['base']}"} <= attributes
            assert "Secure" not in attributes
            assert TOKEN not in cookie
            again = await hub.ask("POST", "/auth/login", json_body={"code": code}, token=None, headers=OWN)
            assert (again.status, again.json()["code"]) == (401, "unauthorized")

    run(check())


def test_the_cookie_is_secure_over_tls(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path, tls_cert=Path("cert.pem")) as hub:
            answer = await hub.ask("POST", "/auth/login", json_body={"token": TOKEN}, token=None, headers=OWN)
            assert "secure" in (answer.header("set-cookie") or "").lower()

    run(check())


def test_the_cookie_is_secure_behind_a_proxy_that_ends_tls(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            seen_as = {"origin": f"https://{HOST}"}
            answer = await hub.ask("POST", "/auth/login", json_body={"token": TOKEN}, token=None, headers=seen_as)
            assert "secure" in (answer.header("set-cookie") or "").lower()

    run(check())


def test_a_token_logs_a_browser_in_with_that_tokens_scope(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            _, secret = hub.app.parts.tokens.mint("tablet", "approve")
            answer = await hub.ask("POST", "/auth/login", json_body={"token": secret}, token=None, headers=OWN)
            assert answer.json()["scope"] == "approve"

    run(check())


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:3000"])
def test_a_foreign_page_cannot_log_the_browser_in_nor_use_up_a_code_or_a_try(tmp_path: Path, origin: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            code = hub.app.login_path().removeprefix("/#code=")
            for _ in range(TRIES + 1):
                answer = await hub.ask("POST", "/auth/login", json_body={"code": code}, token=None, headers={"origin": origin})
                assert answer.status == 403
            answer = await hub.ask("POST", "/auth/login", json_body={"code": code}, token=None, headers=OWN)
            assert answer.status == 200

    run(check())


def test_tries_whose_bodies_come_at_once_count_like_those_one_after_another(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            asked = [hub.open("POST", "/auth/login", body=[b'{"token":', b'"no"}'], token=None) for _ in range(100)]
            found = [(await each.answer()).status for each in asked]
            assert (found.count(401), found.count(429)) == (TRIES, 100 - TRIES)

    run(check())


def test_after_too_many_failures_what_the_hub_made_still_lets_its_owner_in(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            _, secret = hub.app.parts.tokens.mint("tablet", "approve")
            code = hub.app.login_path().removeprefix("/#code=")
            for wrong in [{"token": "no"}, {"code": "no"}] * TRIES:
                assert (await hub.ask("POST", "/auth/login", json_body=wrong, token=None)).status in (401, 429)
            for right in ({"token": secret}, {"code": code}):
                assert (await hub.ask("POST", "/auth/login", json_body=right, token=None, headers=OWN)).status == 200
            assert (await hub.ask("POST", "/auth/login", json_body={"code": code}, token=None)).status == 429

    run(check())


def test_after_too_many_failures_even_the_right_token_has_to_wait_that_somebody_chose(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            for _ in range(TRIES):
                assert (await hub.ask("POST", "/auth/login", json_body={"token": "no"}, token=None)).status == 401
            answer = await hub.ask("POST", "/auth/login", json_body={"token": TOKEN}, token=None)
            assert (answer.status, answer.json()["code"]) == (429, "too_many_requests")
            assert 0 < int(answer.header("retry-after") or 0) <= 61

    run(check())


@pytest.mark.parametrize("body", [{}, {"code": "a", "token": "b"}, {"code": 3}, {"pass": "x"}, []])
def test_a_login_that_names_neither_or_both_is_invalid_and_not_a_failed_try(tmp_path: Path, body: object) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            for _ in range(TRIES + 1):
                assert (await hub.ask("POST", "/auth/login", json_body=body, token=None)).status == 400

    run(check())


async def _browser(hub: Site) -> dict[str, str]:
    answer = await hub.ask("POST", "/auth/login", json_body={"token": TOKEN}, token=None, headers=OWN)
    return browser(answer)


def test_logging_out_ends_this_browser_only(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            one, other = await _browser(hub), await _browser(hub)
            answer = await hub.ask("POST", "/auth/logout", token=None, headers=one)
            assert answer.status == 204
            taken = answer.header("set-cookie") or ""
            assert taken.startswith(f'{one["cookie"].partition("=")[0]}=""') and f"Path={one['at']};" in taken
            assert (await hub.ask("GET", "/sessions", token=None, headers=one)).status == 401
            assert (await hub.ask("GET", "/sessions", token=None, headers=other)).status == 200

    run(check())


def test_logging_out_with_a_bearer_token_revokes_nothing(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            _, secret = hub.app.parts.tokens.mint("program", "view")
            assert (await hub.ask("POST", "/auth/logout", token=secret)).status == 204
            assert (await hub.ask("GET", "/sessions", token=secret)).status == 200

    run(check())


def test_an_admin_makes_lists_and_revokes_tokens(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            made = await hub.ask("POST", "/auth/tokens", json_body={"name": "phone", "scope": "approve", "expiresInS": 60})
            assert made.status == 201
            secret, token = made.json()["secret"], made.json()["token"]
            listed = (await hub.ask("GET", "/auth/tokens")).json()
            assert [(each["name"], each["scope"]) for each in listed] == [("main", "admin"), ("phone", "approve")]
            assert secret not in str(listed)
            assert (await hub.ask("GET", "/sessions", token=secret)).status == 200
            assert (await hub.ask("DELETE", f"/auth/tokens/{token['id']}")).status == 204
            assert (await hub.ask("GET", "/sessions", token=secret)).status == 401
            assert (await hub.ask("DELETE", f"/auth/tokens/{token['id']}")).status == 404

    run(check())


@pytest.mark.parametrize("path", ["/events", "/sessions/{id}/events", "/sessions/{id}/packets"])
def test_a_revoked_token_reads_no_further(tmp_path: Path, path: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            made = (await hub.ask("POST", "/auth/tokens", json_body={"name": "phone", "scope": "view"})).json()
            where = path.format(id=session.id) + "?after=0"
            theirs, ours = hub.open("GET", where, token=made["secret"]), hub.open("GET", where)
            for reader in (theirs, ours):
                assert (await reader.start())[0] == 200
                assert await reader.piece()
            assert (await hub.ask("DELETE", f"/auth/tokens/{made['token']['id']}")).status == 204
            while await theirs.piece() is not None:
                pass
            await theirs.task
            assert not ours.task.done()
            await ours.leave()

    run(check())


@pytest.mark.parametrize("body", [
    {"name": "", "scope": "view"}, {"name": "main", "scope": "view"}, {"name": "x", "scope": "root"}, {"name": "x"},
    {"name": "x", "scope": "view", "expiresInS": 0},
])
def test_a_token_that_makes_no_sense_is_not_made(tmp_path: Path, body: dict[str, object]) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            assert (await hub.ask("POST", "/auth/tokens", json_body=body)).status == 400

    run(check())


@pytest.mark.parametrize("name", [
    " main", "main\t", "MAIN", "m ain", "ｍａｉｎ", " ", "x" * 65, "two\nlines", "\x1b[31mred", "a\x00b", "a\u202eb", "a\u200bb",
])
def test_a_token_cannot_be_named_like_the_main_one_or_so_that_its_name_misleads(tmp_path: Path, name: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            answer = await hub.ask("POST", "/auth/tokens", json_body={"name": name, "scope": "view"})
            assert (answer.status, answer.json()["code"], answer.json()["details"]) == (400, "invalid", {"field": "name"})
            assert len((await hub.ask("GET", "/auth/tokens")).json()) == 1

    run(check())


@pytest.mark.parametrize(("given", "kept"), [
    ("  Ann's phone ", "Ann's phone"), ("x" * 64, "x" * 64), ("maintenance", "maintenance"),
])
def test_any_other_name_is_kept_without_the_space_around_it(tmp_path: Path, given: str, kept: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            answer = await hub.ask("POST", "/auth/tokens", json_body={"name": given, "scope": "view"})
            assert (answer.status, answer.json()["token"]["name"]) == (201, kept)

    run(check())


def test_an_admin_can_ask_for_a_login_code_with_less_than_all_rights(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            plain = (await hub.ask("POST", "/auth/codes")).json()
            assert plain["path"] == f"/#code={plain['code']}"
            made = (await hub.ask("POST", "/auth/codes", json_body={"scope": "view"})).json()
            answer = await hub.ask("POST", "/auth/login", json_body={"code": made["code"]}, token=None, headers=OWN)
            assert answer.json()["scope"] == "view"

    run(check())


def test_what_a_browser_did_is_written_under_its_own_name(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            own = await _browser(hub)
            await hub.ask("PATCH", f"/sessions/{session.id}", json_body={"title": "By the browser"}, token=None, headers=own)
            events = b"".join(entry.event for entry in await session.feed.read(after=0))
            assert b'"by":"browser (' in events

    run(check())


def test_a_stranger_has_nothing_long_to_say(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            long = {"token": "x" * STRANGER_BODY_BYTES}
            assert (await hub.ask("POST", "/auth/login", json_body=long, token=None, headers=OWN)).status == 413

    run(check())


def test_how_to_get_in_is_told_to_strangers_and_where_the_program_lies_on_this_machine_alone(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path, login_command="/opt/hub/bin/trunkline open --print") as hub:
            near = await hub.ask("GET", "/auth/login", token=None)
            assert (near.status, near.json()) == (200, {"command": "/opt/hub/bin/trunkline open --print"})
            hub.client = "192.0.2.1"
            far = await hub.ask("GET", "/auth/login", token=None)
            assert (far.status, far.json()) == (200, {"command": "trunkline open --print"})

    run(check())


@pytest.mark.parametrize("headers", [
    {"x-forwarded-for": "192.0.2.1"}, {"x-forwarded-proto": "https"}, {"forwarded": "for=192.0.2.1"}, {"via": "1.1 proxy"},
    {"x-real-ip": "127.0.0.1"}, {"host": "hub.example"},
])
def test_whom_a_proxy_on_this_machine_asks_for_does_not_learn_where_the_program_lies(
        tmp_path: Path, headers: dict[str, str]) -> None:
    async def check() -> None:
        async with site(tmp_path, login_command="/opt/hub/bin/trunkline open --print", allow_host=("hub.example",)) as hub:
            asked = await hub.ask("GET", "/auth/login", token=None, headers=headers)
            assert (asked.status, asked.json()) == (200, {"command": "trunkline open --print"})

    run(check())
