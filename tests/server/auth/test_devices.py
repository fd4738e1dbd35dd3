"""Devices: paired by a code, let in by a cookie of their own, out at once when revoked."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.server.site import HOST, STREAM, TOKEN, Answer, Site, browser, site
from tests.tooling.rows import every_row
from trunkline.errors import Unauthorized
from trunkline.server.auth import reach
from trunkline.server.auth.pairings import LETTERS, OPEN_MOST, PAIR_S, WRONG_MOST, Pairings
from trunkline.server.auth.reach import reach_of
from trunkline.server.auth.tokens import SEEN_STEP_S, Tokens
from trunkline.server.options import ServerOptions

OWN = {"origin": f"http://{HOST}"}


class Clock:
    """Time that moves when told to."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def wrong(code: str) -> str:
    """Another code that finds the same offer."""
    return code[:-1] + ("2" if code[-1] != "2" else "3")


# Codes


def test_a_code_pairs_once_however_it_is_typed() -> None:
    pairings = Pairings()
    code = run(pairings.offer("main", "control", "phone"))
    assert len(code.replace("-", "")) == 16 and set(code) <= {*LETTERS, "-"}
    assert run(pairings.claim(f" {code.lower().replace('-', ' ')} ")).name == "phone"
    with pytest.raises(Unauthorized):
        run(pairings.claim(code))


def test_a_code_is_good_for_ten_minutes() -> None:
    clock = Clock()
    pairings = Pairings(clock)
    early, late = run(pairings.offer("main", "view", None)), run(pairings.offer("main", "view", None))
    clock.now += PAIR_S - 1
    run(pairings.claim(early))
    clock.now += 1
    with pytest.raises(Unauthorized):
        run(pairings.claim(late))


def test_a_code_dies_of_five_wrong_tries_and_no_other_does() -> None:
    pairings = Pairings()
    one, other = run(pairings.offer("main", "view", None)), run(pairings.offer("main", "view", None))
    for _ in range(WRONG_MOST - 1):
        with pytest.raises(Unauthorized):
            run(pairings.claim(wrong(one)))
    again = run(pairings.offer("main", "view", None))
    for _ in range(WRONG_MOST):
        with pytest.raises(Unauthorized):
            run(pairings.claim(wrong(again)))
    with pytest.raises(Unauthorized):
        run(pairings.claim(again))
    run(pairings.claim(one))
    run(pairings.claim(other))


def test_codes_are_random_and_the_number_of_open_ones_is_bounded() -> None:
    pairings = Pairings()
    made = [run(pairings.offer("main", "view", None)) for _ in range(OPEN_MOST + 1)]
    assert len(set(made)) == len(made)
    with pytest.raises(Unauthorized):
        run(pairings.claim(made[0]))
    run(pairings.claim(made[-1]))


@every_row("code", ["", "x", "----", "\udcff", "0" * 10_000])
def test_what_is_no_code_is_refused(code: str) -> None:
    with pytest.raises(Unauthorized):
        run(Pairings().claim(code))


# Over HTTP


async def pair(hub: Site, **wanted: Any) -> Any:
    answer = await hub.ask("POST", "/pair", json_body=wanted)
    assert answer.status == 201, answer.body
    return answer.json()


async def claim(hub: Site, code: str, **more: Any) -> Answer:
    return await hub.ask("POST", "/pair/claim", json_body={"code": code, **more}, token=None, headers=OWN)


async def paired(hub: Site, **wanted: Any) -> tuple[str, dict[str, str]]:
    """A new device: its id, and the headers that its browser sends."""
    answer = await claim(hub, (await pair(hub, **wanted))["code"])
    assert answer.status == 201, answer.body
    return answer.json()["deviceId"], browser(answer)


def test_the_name_that_was_given_with_the_code_counts_before_the_devices_own(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            for given, expected in (({"name": "Ada's phone"}, "Ada's phone"), ({}, "Chrome")):
                answer = await claim(hub, (await pair(hub, **given))["code"], name="Chrome")
                assert answer.json()["name"] == expected

    run(check())


def test_a_device_gets_a_cookie_of_its_own_with_the_scope_that_was_given(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            made = await pair(hub, scope="approve", name="Ada's phone")
            assert made["url"] == f"http://{HOST}/#/pair/{made['code']}"
            assert (made["reach"], made["secure"], made["scope"]) == ("machine", True, "approve")
            answer = await claim(hub, made["code"])
            told = answer.json()
            assert (told["name"], told["scope"]) == ("Ada's phone", "approve")
            name, _, rest = (answer.header("set-cookie") or "").partition("=")
            secret, *attributes = [each.strip() for each in rest.split(";")]
            assert name == f"trunkline_{hub.app.parts.tokens.hub_name}"
            assert {"HttpOnly", "SameSite=strict", f"Path={told['base']}"} <= set(attributes)
            assert secret not in answer.body.decode() and secret not in (tmp_path / "data" / "tokens.json").read_text()
            own = browser(answer)
            assert (await hub.ask("GET", "/sessions", token=None, headers=own)).status == 200
            assert (await hub.ask("POST", "/sessions", json_body={}, token=None, headers=own)).status == 403
            assert (await hub.ask("GET", "/sessions", token=secret)).status == 401  # no bearer
            assert (await hub.ask("GET", "/sessions", token=None, headers={**own, "sec-fetch-site": None})).status == 401
            assert (await hub.ask("GET", "/sessions", token=None, headers={**own, "at": None})).status == 401

    run(check())


def test_a_code_that_is_claimed_twice_at_once_lets_one_device_in(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            code = (await pair(hub))["code"]
            answers = await asyncio.gather(*(claim(hub, code) for _ in range(4)))
            assert sorted(answer.status for answer in answers) == [201, 401, 401, 401]
            assert len((await hub.ask("GET", "/devices")).json()["devices"]) == 1

    run(check())


def test_after_five_wrong_codes_even_the_right_one_has_to_wait(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            code = (await pair(hub))["code"]
            for _ in range(WRONG_MOST):
                assert (await claim(hub, "2222-2222-2222-2222")).status == 401
            answer = await claim(hub, code)
            assert (answer.status, answer.json()["code"]) == (429, "too_many_requests")
            assert 0 < int(answer.header("retry-after") or 0) <= PAIR_S + 1

    run(check())


def test_wrong_codes_at_the_same_time_are_counted_one_by_one(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            answers = await asyncio.gather(*(claim(hub, "2222-2222-2222-2222") for _ in range(20)))
            statuses = [answer.status for answer in answers]
            assert (statuses.count(401), statuses.count(429)) == (WRONG_MOST, 20 - WRONG_MOST)

    run(check())


def test_a_code_dies_with_the_token_that_made_it_and_so_do_its_devices(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            tokens = hub.app.parts.tokens
            token, secret = tokens.mint("laptop", "admin")
            codes = [(await hub.ask("POST", "/pair", json_body={}, token=secret)).json()["code"] for _ in range(2)]
            assert (await claim(hub, codes[0])).status == 201
            tokens.revoke(token.id)
            assert (await claim(hub, codes[1])).status == 401
            assert (await hub.ask("GET", "/devices")).json() == {"devices": []}

    run(check())


def test_a_device_that_a_browser_paired_stays_when_the_browser_logs_out(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            code = hub.app.login_path().removeprefix("/#code=")
            login = await hub.ask("POST", "/auth/login", json_body={"code": code}, token=None, headers=OWN)
            own = browser(login)
            made = (await hub.ask("POST", "/pair", json_body={}, token=None, headers=own)).json()
            assert (await claim(hub, made["code"])).status == 201
            assert (await hub.ask("POST", "/auth/logout", token=None, headers=own)).status == 204
            assert len((await hub.ask("GET", "/devices")).json()["devices"]) == 1

    run(check())


def test_what_a_device_made_ends_with_it(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            device_id, own = await paired(hub, scope="admin")
            wanted = {"name": "script", "scope": "admin"}
            made = (await hub.ask("POST", "/auth/tokens", json_body=wanted, token=None, headers=own)).json()
            further = (await hub.ask("POST", "/auth/tokens", json_body=wanted, token=made["secret"])).json()
            code = (await hub.ask("POST", "/auth/codes", token=None, headers=own)).json()["code"]
            for secret in (made["secret"], further["secret"]):
                assert (await hub.ask("GET", "/sessions", token=secret)).status == 200
            assert (await hub.ask("DELETE", f"/devices/{device_id}")).status == 204
            for secret in (made["secret"], further["secret"]):
                assert (await hub.ask("GET", "/sessions", token=secret)).status == 401
            login = await hub.ask("POST", "/auth/login", json_body={"code": code}, token=None, headers=OWN)
            assert (login.status, login.header("set-cookie")) == (401, None)
            assert [each["name"] for each in (await hub.ask("GET", "/auth/tokens")).json()] == ["main"]

    run(check())


def test_what_a_browser_made_stays_when_it_logs_out_and_goes_with_the_token_that_let_it_in(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            tokens = hub.app.parts.tokens
            laptop, secret = tokens.mint("laptop", "admin")
            made = []
            for given in (secret, TOKEN):
                login = await hub.ask("POST", "/auth/login", json_body={"token": given}, token=None, headers=OWN)
                own = browser(login)
                wanted = {"name": "script", "scope": "view"}
                made.append((await hub.ask("POST", "/auth/tokens", json_body=wanted, token=None, headers=own)).json()["secret"])
                await hub.ask("POST", "/auth/logout", token=None, headers=own)
            assert [(await hub.ask("GET", "/sessions", token=each)).status for each in made] == [200, 200]
            tokens.revoke(laptop.id)
            assert [(await hub.ask("GET", "/sessions", token=each)).status for each in made] == [401, 200]

    run(check())


@pytest.mark.parametrize("scope", ["view", "approve", "control"])
def test_only_an_admin_pairs(tmp_path: Path, scope: Any) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            _, secret = hub.app.parts.tokens.mint("program", scope)
            assert (await hub.ask("POST", "/pair", json_body={"scope": "view"}, token=secret)).status == 403

    run(check())


@pytest.mark.parametrize("body", [{"scope": "root"}, {"name": ""}, {"name": "x" * 65}, {"name": "MAIN"}, {"nmae": "x"}])
def test_a_pairing_that_cannot_be_is_invalid(tmp_path: Path, body: Any) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            assert (await hub.ask("POST", "/pair", json_body=body)).status == 400

    run(check())


def test_a_name_that_cannot_be_uses_up_neither_the_code_nor_a_try(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            code = (await pair(hub))["code"]
            for _ in range(WRONG_MOST + 1):
                assert (await claim(hub, code, name="\u200b")).status == 400
            assert (await claim(hub, code, name="Tablet")).json()["name"] == "Tablet"

    run(check())


def test_devices_are_listed_with_what_is_known_of_them_and_each_sees_only_itself(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            one, own = await paired(hub, name="one", scope="view")
            two, _ = await paired(hub, name="two", scope="approve")
            listed = (await hub.ask("GET", "/devices")).json()["devices"]
            assert [(each["id"], each["name"], each["scope"]) for each in listed] == [
                (one, "one", "view"), (two, "two", "approve")]
            assert all(each["lastSeenAt"] and each["expiresAt"] > each["createdAt"] for each in listed)
            assert not any(each["connected"] or each["push"] or each["current"] for each in listed)
            (itself,) = (await hub.ask("GET", "/devices", token=None, headers=own)).json()["devices"]
            assert (itself["id"], itself["current"]) == (one, True)
            assert (await hub.ask("DELETE", f"/devices/{two}", token=None, headers=own)).status == 404
            assert (await hub.ask("DELETE", f"/devices/{one}", token=None, headers=own)).status == 204
            assert (await hub.ask("GET", "/devices", token=None, headers=own)).status == 401
            assert (await hub.ask("DELETE", f"/devices/{one}")).status == 404
            main = hub.app.parts.tokens.main.id
            assert (await hub.ask("DELETE", f"/devices/{main}")).status == 404

    run(check())


def test_logging_out_on_a_device_unpairs_it(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            _, own = await paired(hub)
            assert (await hub.ask("POST", "/auth/logout", token=None, headers=own)).status == 204
            assert (await hub.ask("GET", "/devices")).json() == {"devices": []}

    run(check())


def test_revoking_a_device_ends_its_streams_at_once_and_nobody_elses(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            device, own = await paired(hub)
            path = f"/sessions/{session.id}/events"
            its, mine = hub.open("GET", path, token=None, headers={**own, **STREAM}), hub.open("GET", path, headers=STREAM)
            await its.start()
            await mine.start()
            await its.piece()
            assert (await hub.ask("GET", "/devices")).json()["devices"][0]["connected"]
            assert (await hub.ask("DELETE", f"/devices/{device}")).status == 204
            while await its.piece() is not None:
                pass
            assert not mine.task.done()
            await mine.leave()

    run(check())


def test_revoking_a_device_ends_its_editors_connections_over_http(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            device, own = await paired(hub)
            greeting = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}
            said = {**own, "content-type": "application/json"}
            answer = await hub.ask("POST", "/acp", json_body=greeting, token=None, headers=said)
            assert answer.status == 200, answer.body
            editors = hub.app.parts.editors
            assert len(editors._open) == 1
            assert (await hub.ask("DELETE", f"/devices/{device}")).status == 204
            assert not editors._open
            await asyncio.gather(*editors._closing)

    run(check())


def test_when_a_device_was_seen_is_kept_now_and_then(tmp_path: Path) -> None:
    clock = Clock()
    tokens = Tokens.open(tmp_path, "main", clock)
    token, secret = tokens.mint("phone", "view", kind="device", base="/at/x")
    assert tokens.find(secret, "browser", "device", base="/at/x").id == token.id
    seen = int(clock.now)
    clock.now += SEEN_STEP_S - 1
    tokens.find(secret, "device", base="/at/x")
    assert [each.seen_at for each in Tokens.open(tmp_path, "main", clock).listed()[1:]] == [seen]
    clock.now += 1
    tokens.find(secret, "device", base="/at/x")
    assert [each.seen_at for each in Tokens.open(tmp_path, "main", clock).listed()[1:]] == [seen + SEEN_STEP_S]


def test_when_a_device_left_is_kept_at_once(tmp_path: Path) -> None:
    clock = Clock()
    tokens = Tokens.open(tmp_path, "main", clock)
    token, secret = tokens.mint("phone", "view", kind="device", base="/at/x")
    tokens.find(secret, "device", base="/at/x")
    clock.now += 60
    tokens.left(token.id)
    tokens.left("nobody")
    assert [each.seen_at for each in tokens.listed()[1:]] == [int(clock.now)]


# Where to


def options(**more: Any) -> ServerOptions:
    return ServerOptions(data=Path("/nowhere"), port=7420, **more)


@pytest.mark.parametrize(("given", "seen_as", "expected"), [
    ({}, "http://localhost:7420", ("http://localhost:7420", "machine", True)),
    ({"host": "0.0.0.0"}, "http://127.0.0.1:7420", ("http://192.168.7.5:7420", "network", False)),
    ({"host": "::", "tls_cert": Path("cert.pem")}, "https://localhost:7420", ("https://192.168.7.5:7420", "network", True)),
    ({"host": "10.0.0.9"}, "http://10.0.0.9:7420", ("http://10.0.0.9:7420", "network", False)),
    ({"host": "10.0.0.9"}, "http://localhost:7420", ("http://10.0.0.9:7420", "network", False)),
    ({"public_url": "http://127.0.0.1:7420"}, "http://[::1]:7420", ("http://[::1]:7420", "machine", True)),
    ({"public_url": "https://hub.example/"}, "http://localhost:7420", ("https://hub.example", "public", True)),
    ({}, "https://hub.example", ("https://hub.example", "public", True)),
    ({}, "http://studio.local:7420", ("http://studio.local:7420", "network", False)),
])
def test_a_device_is_sent_where_the_hub_answers(monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], seen_as: str,
                                                expected: tuple[str, str, bool]) -> None:
    monkeypatch.setattr(reach, "_way_out", lambda: "192.168.7.5")
    found = reach_of(options(**given), seen_as)
    assert (found.url, found.reach, found.secure) == expected


def test_without_a_network_only_this_machine_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "_way_out", lambda: None)
    assert reach_of(options(host="0.0.0.0"), "http://localhost:7420").reach == "machine"


def test_a_device_that_was_revoked_is_told_so_and_a_stranger_is_told_nothing(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            device, own = await paired(hub)
            assert "revoked" not in (await hub.ask("GET", "/auth/login", token=None, headers=own)).json()
            assert (await hub.ask("DELETE", f"/devices/{device}")).status == 204
            assert (await hub.ask("GET", "/auth/login", token=None, headers=own)).json()["revoked"] is True
            assert "revoked" not in (await hub.ask("GET", "/auth/login", token=None)).json()

    run(check())
