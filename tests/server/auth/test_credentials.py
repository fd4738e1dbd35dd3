"""The gate: which Host, Origin and credential let a request in, and how far."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.server.site import HOST, TOKEN, Site, browser, site
from trunkline.errors import Forbidden
from trunkline.server.auth.cookies import TRIED_MOST
from trunkline.server.auth.credentials import HOSTS_KNOWN, RequestGate
from trunkline.server.auth.tokens import Tokens, TokenScope
from trunkline.server.http.messages import HTTPConnection
from trunkline.server.options import ServerOptions
from trunkline.server.routes import ROUTES, Route

OWN = f"http://{HOST}"
BEARER = f"Bearer {TOKEN}"

# Host, Origin, Sec-Fetch-Site, has the cookie, Authorization → status of GET /sessions
CASES: list[tuple[str | None, str | None, str | None, bool, str | None, int]] = [
    (HOST, None, None, False, BEARER, 200),
    (HOST, None, None, False, f"bearer {TOKEN}", 200),
    (HOST, None, None, False, None, 401),
    (HOST, None, None, False, "Bearer wrong", 401),
    (HOST, None, None, False, "Bearer", 401),
    (HOST, None, None, False, f"Basic {TOKEN}", 401),
    (HOST, None, None, False, TOKEN, 401),
    # a bearer token does not make a foreign page welcome
    (HOST, OWN, None, False, BEARER, 200),
    (HOST, "http://localhost:3000", None, False, BEARER, 403),
    (HOST, "https://evil.example", "cross-site", False, BEARER, 403),
    (HOST, "null", None, False, BEARER, 403),
    (HOST, "", None, False, BEARER, 403),
    # the cookie needs the browser's word that our own page asks
    (HOST, None, "same-origin", True, None, 200),
    (HOST, OWN, None, True, None, 200),
    (HOST, OWN, "same-origin", True, None, 200),
    (HOST, "https://localhost:7420", None, True, None, 200),
    (HOST, None, None, True, None, 401),
    (HOST, None, "none", True, None, 401),
    (HOST, None, "same-site", True, None, 401),
    (HOST, None, "cross-site", True, None, 401),
    (HOST, OWN, "same-site", True, None, 401),
    (HOST, "null", None, True, None, 403),
    (HOST, "null", "same-origin", True, None, 403),
    (HOST, "http://localhost:3000", None, True, None, 403),
    (HOST, "http://localhost:3000", "same-origin", True, None, 403),
    (HOST, "http://localhost", None, True, None, 403),
    (HOST, "http://localhost:7420.evil.example", None, True, None, 403),
    (HOST, "http://127.0.0.1:7420", None, True, None, 403),
    # a wrong bearer token is not mended by a cookie
    (HOST, None, "same-origin", True, "Bearer wrong", 401),
    # names that can only be this machine
    ("127.0.0.1:7420", None, None, False, BEARER, 200),
    ("[::1]:7420", None, None, False, BEARER, 200),
    ("localhost", None, None, False, BEARER, 200),
    ("LOCALHOST:7420", None, None, False, BEARER, 200),
    ("localhost:8000", None, None, False, BEARER, 200),  # a forwarded port
    # rebound or foreign names
    ("evil.example", None, None, False, BEARER, 403),
    ("evil.example:7420", "http://evil.example:7420", "same-origin", True, None, 403),
    ("localhost.evil.example", None, None, False, BEARER, 403),
    ("localhost:7420@evil.example", None, None, False, BEARER, 403),
    ("localhost:", None, None, False, BEARER, 403),
    ("localhost:7420:7420", None, None, False, BEARER, 403),
    ("[::1", None, None, False, BEARER, 403),
    ("::1", None, None, False, BEARER, 403),
    ("192.168.1.7:7420", None, None, False, BEARER, 403),
    ("0.0.0.0:7420", None, None, False, BEARER, 403),
    ("[::]:7420", None, None, False, BEARER, 403),
    ("", None, None, False, BEARER, 403),
    (None, None, None, False, BEARER, 400),
]


@pytest.mark.parametrize(("host", "origin", "fetch_site", "has_cookie", "authorization", "status"), CASES)
def test_a_request_is_let_in_or_refused_by_what_it_carries(
    tmp_path: Path, host: str | None, origin: str | None, fetch_site: str | None, has_cookie: bool, authorization: str | None,
    status: int,
) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            own = await log_in(hub) if has_cookie else {}
            headers = {**own, "host": host, "origin": origin, "sec-fetch-site": fetch_site, "authorization": authorization}
            answer = await hub.ask("GET", "/sessions", headers=headers)
            assert answer.status == status, answer.body
            if status >= 400:
                assert answer.json()["code"] in {400: ("invalid",), 401: ("unauthorized",), 403: ("forbidden",)}[status]

    run(check())


async def log_in(hub: Site, **headers: Any) -> dict[str, str]:
    """Log a browser in; returns what it sends."""
    answer = await hub.ask("POST", "/auth/login", json_body={"token": TOKEN}, token=None, headers={"origin": OWN, **headers})
    assert answer.status == 200, answer.body
    return browser(answer)


def test_two_host_headers_are_refused(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            exchange = hub.open("GET", "/healthz", headers={"host": HOST, "Host": "evil.example"})
            assert (await exchange.answer()).status == 400

    run(check())


@pytest.mark.parametrize(("allowed", "host", "status"), [
    ((), "hub.example", 403), (("hub.example",), "hub.example", 200), (("hub.example",), "hub.example:8443", 200),
    (("hub.example:443",), "hub.example:443", 200), (("hub.example:443",), "hub.example:80", 403),
    (("Hub.Example",), "hub.example", 200), (("hub.example",), "a.hub.example", 403),
])
def test_more_names_can_be_allowed(tmp_path: Path, allowed: tuple[str, ...], host: str, status: int) -> None:
    async def check() -> None:
        async with site(tmp_path, allow_host=allowed) as hub:
            assert (await hub.ask("GET", "/healthz", headers={"host": host})).status == status

    run(check())


def test_the_name_that_people_are_sent_to_is_allowed(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path, public_url="https://Hub.example/") as hub:
            assert (await hub.ask("GET", "/healthz", headers={"host": "hub.example"})).status == 200
            assert (await hub.ask("GET", "/healthz", headers={"host": "other.example"})).status == 403

    run(check())


def test_beyond_loopback_bare_addresses_are_ours_but_names_still_are_not(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path, host="0.0.0.0", tls_cert=Path("cert.pem")) as hub:
            assert (await hub.ask("GET", "/healthz", headers={"host": "192.168.1.7:7420"})).status == 200
            assert (await hub.ask("GET", "/healthz", headers={"host": "[fe80::1]:7420"})).status == 200
            assert (await hub.ask("GET", "/healthz", headers={"host": "rebound.example:7420"})).status == 403

    run(check())


@pytest.mark.parametrize("name", ["trunkline_7420", "trunkline_7421", "trunkline", "trunkline_00000000"])
def test_a_cookie_of_another_hub_or_of_an_older_one_is_not_ours(tmp_path: Path, name: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            own = await log_in(hub)
            own["cookie"] = f"{name}={own['cookie'].partition('=')[2]}"
            assert (await hub.ask("GET", "/sessions", token=None, headers=own)).status == 401

    run(check())


def test_a_cookie_that_was_stolen_is_nothing_without_the_path_that_it_was_given_for(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            one, other = await log_in(hub), await log_in(hub)
            assert (await hub.ask("GET", "/sessions", token=None, headers=one)).status == 200
            for at in (None, other["at"], f"/at/{'x' * 32}", one["at"][:-1], one["at"] + "x", one["at"].swapcase()):
                answer = await hub.ask("GET", "/sessions", token=None, headers={**one, "at": at, "origin": OWN})
                assert answer.status in (401, 404), at
            assert (await hub.ask("GET", "/sessions", token=None, headers={**one, "cookie": other["cookie"]})).status == 401
            assert (await hub.ask("GET", "/sessions", token=None, headers={**one, "cookie": None})).status == 401

    run(check())


def test_a_cookie_that_a_program_on_another_port_set_does_not_hide_ours(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            own = await log_in(hub)
            name = own["cookie"].partition("=")[0]
            for cookies in (f"{name}=planted; {own['cookie']}", f"{own['cookie']}; {name}=planted", f"a=b;{own['cookie']}"):
                assert (await hub.ask("GET", "/sessions", token=None, headers={**own, "cookie": cookies})).status == 200
            many = "; ".join([f"{name}=planted"] * 100)
            assert (await hub.ask("GET", "/sessions", token=None, headers={**own, "cookie": many})).status == 401

    run(check())


@pytest.mark.parametrize(("planted", "status"), [(TRIED_MOST - 1, 200), (TRIED_MOST, 401)])
def test_only_so_many_cookies_of_one_name_are_tried(tmp_path: Path, planted: int, status: int) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            own = await log_in(hub)
            name = own["cookie"].partition("=")[0]
            cookies = "; ".join([*[f"{name}=planted"] * planted, own["cookie"]])
            assert (await hub.ask("GET", "/sessions", token=None, headers={**own, "cookie": cookies})).status == status

    run(check())


def test_who_logs_in_again_gets_another_cookie_in_place_of_the_first(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            first = await log_in(hub)
            answer = await hub.ask("POST", "/auth/login", json_body={"token": TOKEN}, token=None,
                                   headers={"origin": OWN, "at": first["at"]})
            given = [value for name, value in answer.headers if name == "set-cookie"]
            assert len(given) == 2 and f"Path={first['at']};" in given[0] and "Max-Age=0" in given[0]
            assert f"Path={answer.json()['base']};" in given[1] and answer.json()["base"] != first["at"]

    run(check())


def test_a_bearer_token_works_wherever_it_is_asked_with(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            assert (await hub.ask("GET", "/sessions", headers={"at": f"/at/{'x' * 32}"})).status == 200

    run(check())


PUBLIC = {("GET", "/"), ("GET", "/sw.js"), ("GET", "/icons/{path:path}"), ("GET", "/manifest.webmanifest"),
          ("GET", "/ws"), ("GET", "/assets/{path:path}"), ("GET", "/healthz"), ("GET", "/licenses"),
          ("GET", "/auth/login"), ("POST", "/auth/login"), ("POST", "/pair/claim"),
          ("GET", "/preview/{key}/{path:path}")}


def test_only_the_page_health_login_pairing_and_keyed_previews_need_no_token() -> None:
    assert {(route.method, route.path) for route in ROUTES if route.scope is None} == PUBLIC


def test_without_a_token_every_other_route_answers_401(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            for route in ROUTES:
                answer = await hub.ask(route.method, filled(route), token=None)
                assert (answer.status == 401) == (route.scope is not None), (route.method, route.path, answer.status)

    run(check())


@pytest.mark.parametrize("scope", ["view", "approve", "control", "admin"])
def test_a_token_reaches_exactly_the_routes_of_its_scope(tmp_path: Path, scope: TokenScope) -> None:
    reach = {"view": {"view"}, "approve": {"view", "approve"}, "control": {"view", "approve", "control"},
             "admin": {"view", "approve", "control", "admin"}}[scope]

    async def check() -> None:
        async with site(tmp_path) as hub:
            _, secret = hub.app.parts.tokens.mint("some program", scope)
            for route in ROUTES:
                if route.scope is None:
                    continue
                method = "HEAD" if route.path == "/events" else route.method  # its stream has no end
                answer = await hub.ask(method, filled(route), token=secret)
                assert answer.status != 401
                is_refused = route.scope not in reach or f"{route.method} {route.path}" in OF_NODES
                assert (answer.status == 403) == is_refused, (route.method, route.path, answer.status)

    run(check())


OF_NODES = {"POST /cluster/sessions/{id}/let-go", "POST /cluster/sessions/{id}/take-in"}
"""What only other nodes of a cluster ask for, in a person's name."""

NEEDED = {
    "view": {"GET /agents", "GET /sessions", "GET /sessions/{id}", "GET /sessions/{id}/packets", "GET /sessions/{id}/messages",
             "GET /sessions/{id}/queue", "GET /sessions/{id}/queue/{turnId}", "GET /sessions/{id}/files",
             "GET /sessions/{id}/files/content", "GET /sessions/{id}/files/find", "GET /sessions/{id}/diff",
             "GET /sessions/{id}/artifacts", "GET /sessions/{id}/artifacts/{artifactId}",
        "POST /sessions/{id}/artifacts/{artifactId}/preview", "GET /readyz", "GET /metrics",
             "GET /openapi.json", "GET /docs", "POST /auth/logout", "GET /events", "GET /sessions/{id}/events",
             "GET /sessions/{id}/history", "GET /sessions/{id}/snapshot",
             "POST /acp", "GET /acp", "DELETE /acp", "GET /adapters", "GET /approvals", "GET /search",
             "GET /policy", "GET /journal", "GET /away", "POST /approvals/{requestId}/always-preview",
             "POST /policy/explain", "POST /policy/preview", "GET /sessions/{id}/images/{seq}", "GET /sessions/{id}/handover",
             "GET /sessions/{id}/export", "GET /devices", "DELETE /devices/{deviceId}", "GET /push", "POST /push",
             "DELETE /push", "GET /cluster"},
    "approve": {"POST /sessions/{id}/commands", "POST /sessions/{id}/permissions/{requestId}",
                "POST /sessions/{id}/questions/{questionId}", "PUT /away"},
    "control": {"POST /sessions", "PATCH /sessions/{id}", "DELETE /sessions/{id}", "POST /sessions/{id}/send-message",
                "POST /sessions/{id}/fork",
                "POST /sessions/{id}/cancel", "POST /sessions/{id}/mode", "POST /sessions/{id}/config",
                "PATCH /sessions/{id}/queue/{turnId}", "DELETE /sessions/{id}/queue/{turnId}", "DELETE /sessions/{id}/queue",
                "POST /sessions/{id}/files", "GET /folders", "GET /folders/find", "GET /found", "GET /adapters/{name}/sessions",
                "POST /adapters/{name}/sessions/{id}/attach", "POST /sessions/{id}/limits",
                "POST /sessions/{id}/take-over", "POST /sessions/{id}/give-back", "POST /sessions/{id}/move", *OF_NODES},
    "admin": {"POST /auth/codes", "GET /auth/tokens", "POST /auth/tokens", "DELETE /auth/tokens/{tokenId}", "PUT /policy",
              "POST /pair", "POST /cluster/nodes/{node}/drain", "DELETE /cluster/nodes/{node}"},
}


def test_looking_needs_view_answering_approve_steering_control_and_tokens_admin() -> None:
    found: dict[str, set[str]] = {}
    for route in ROUTES:
        if route.scope is not None:
            found.setdefault(route.scope, set()).add(f"{route.method} {route.path}")
    assert found == NEEDED


def filled(route: Route) -> str:
    """The route's path with something in its variable parts."""
    return route.path.replace("{path:path}", "x").replace("{", "").replace("}", "")


def test_a_session_is_expected_of_who_may_start_one(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            expected: list[str] = []
            looking = (await hub.ask("POST", "/auth/tokens", json_body={"name": "looks", "scope": "view"})).json()["secret"]
            hub.app.parts.gate.expect_session = lambda: expected.append("one")
            await hub.ask("GET", "/healthz")
            await hub.ask("GET", "/sessions", token=None)
            await hub.ask("GET", "/sessions", token="wrong")
            await hub.ask("GET", "/sessions", token=looking)
            assert expected == []
            await hub.ask("GET", "/sessions")
            assert expected == ["one"]

    run(check())


def test_hosts_that_were_found_to_be_ours_are_remembered_up_to_a_bound(tmp_path: Path) -> None:
    gate = RequestGate(ServerOptions(data=tmp_path, port=7420), Tokens.open(tmp_path, TOKEN))

    def ask(host: str) -> None:
        gate.check_host(HTTPConnection({"type": "http", "headers": [(b"host", host.encode())]}))

    for _ in range(2):  # those beyond the bound are let in as well, and a foreign one is not, however often it asks
        for port in range(HOSTS_KNOWN + 10):
            ask(f"localhost:{port}")
        with pytest.raises(Forbidden):
            ask("evil.example")
    assert len(gate._known_hosts) == HOSTS_KNOWN
