"""Coming in: by a one-time code, by a token, and being shut out."""

from __future__ import annotations

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest
from playwright.sync_api import expect

from tests.page.conftest import MakePerson
from tests.page.person import Person, until
from tests.tooling.hub_process import HubProcess
from trunkline.cli.hosting.way_in import session_page


def test_a_code_in_the_address_lets_in_once_and_is_gone_from_address_and_history(hub: HubProcess, anybody: Person) -> None:
    path = hub.wire.post("/auth/codes", {}, 201)["path"]
    page = anybody.page
    page.goto(hub.url + path)
    expect(page.get_by_role("status").filter(has_text="Connected")).to_be_visible()
    assert "code=" not in page.url
    assert page.evaluate("history.length") <= 2
    page.reload()
    expect(page.get_by_role("status").filter(has_text="Connected")).to_be_visible()


def test_a_code_leads_to_the_session_that_it_names_in_one_step(hub: HubProcess, anybody: Person) -> None:
    session = hub.new_session("fast", title="Straight here")
    path = hub.wire.post("/auth/codes", {}, 201)["path"]
    page = anybody.page
    page.goto(session_page(hub.url, session.id, path))
    expect(page.get_by_role("heading", name="Straight here")).to_be_visible()
    assert page.url == session_page(hub.url, session.id)
    page.reload()
    expect(page.get_by_role("heading", name="Straight here")).to_be_visible()


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_the_login_names_the_command_that_the_hub_knows(hub: HubProcess, make_person: MakePerson, size: str) -> None:
    command = hub.wire.get("/auth/login")["command"]
    assert command.endswith(f"open --print --data {hub.data}")
    person = make_person(hub.url, size)
    with person.losing_the_network(expected=r"status of 401"):
        person.page.goto(hub.url)
        expect(person.page.get_by_text(command, exact=True)).to_be_visible()
        assert person.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), "however long it is"
        flag = person.page.locator(".login-command").get_by_text("--print", exact=True)
        assert flag.evaluate("flag => flag.getBoundingClientRect().height < 1.5 * parseFloat(getComputedStyle(flag).lineHeight)")


def test_a_used_code_leads_to_the_login(hub: HubProcess, make_person: MakePerson) -> None:
    path = hub.wire.post("/auth/codes", {}, 201)["path"]
    first, second = make_person(hub.url), make_person(hub.url)
    first.page.goto(hub.url + path)
    expect(first.page.get_by_role("status").filter(has_text="Connected")).to_be_visible()
    with second.losing_the_network(expected=r"status of 401"):
        second.page.goto(hub.url + path)
        expect(second.page.get_by_role("status").filter(has_text="Not logged in")).to_be_visible()
        expect(second.page.get_by_text(re.compile("used|expired"))).to_be_visible()
    assert "code=" not in second.page.url


def test_a_token_lets_in_and_logging_out_shuts_out(hub: HubProcess, anybody: Person) -> None:
    page = anybody.page
    with anybody.losing_the_network(expected=r"status of 401"):
        page.goto(hub.url)
        expect(page.get_by_role("status").filter(has_text="Not logged in")).to_be_visible()
        page.get_by_label(re.compile("token", re.I)).fill("not-the-token-at-all")
        page.get_by_role("button", name=re.compile("log in|enter", re.I)).click()
        expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label(re.compile("token", re.I)).fill(hub.token)
    page.get_by_role("button", name=re.compile("log in|enter", re.I)).click()
    expect(page.get_by_role("status").filter(has_text="Connected")).to_be_visible()
    assert hub.token not in page.content()
    with anybody.losing_the_network(expected=r"status of 401"):
        page.get_by_role("button", name="Menu").click()
        page.get_by_role("menuitem", name="Log out").click()
        expect(page.get_by_role("status").filter(has_text="Not logged in")).to_be_visible()
        page.reload()
        expect(page.get_by_role("status").filter(has_text="Not logged in")).to_be_visible()


def test_the_page_says_nothing_of_the_token_in_its_own_addresses_and_keeps_none_where_scripts_read(hub: HubProcess, person: Person
                                                                                                      ) -> None:
    asked: list[str] = []
    person.context.on("request", lambda request: asked.append(request.url))
    page = person.log_in(hub)
    expect(page.get_by_role("status").filter(has_text="Connected")).to_be_visible()
    assert not [url for url in asked if "token" in url or "code=" in url.partition("#")[0]]
    assert page.evaluate("document.cookie") == ""
    kept = page.evaluate("JSON.stringify({...localStorage, ...sessionStorage})")
    assert "token" not in kept and "code=" not in kept


def test_the_page_comes_with_a_strict_policy_and_compressed(hub: HubProcess) -> None:
    answer = hub.wire.ask("GET", "/", headers={"Accept-Encoding": "br, gzip"})
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "require-trusted-types-for 'script'" in policy
    assert "unsafe" not in policy.replace("'wasm-unsafe-eval'", "")
    assert answer.headers["content-encoding"] in ("br", "gzip")


class Neighbour(BaseHTTPRequestHandler):
    """A server of somebody else's on another port of the same host: what it is sent is kept."""

    cookies: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        """Answer with a page."""
        self.cookies.append(self.headers.get("Cookie") or "")
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"hi")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def test_a_program_on_another_port_is_not_sent_the_cookie_nor_sees_the_path(hub: HubProcess, make_person: MakePerson) -> None:
    person = make_person(hub.url)
    page = person.log_in(hub)
    until(page, "localStorage.getItem('trunkline.base')")  # who is in has the cookie, too
    (cookie,) = [each for each in person.context.cookies() if each.get("name", "").startswith("trunkline")]
    assert cookie.get("path", "").startswith("/at/") and cookie.get("httpOnly")
    assert page.evaluate("localStorage.getItem('trunkline.base')") == cookie.get("path")
    assert page.evaluate("document.cookie") == ""
    host = hub.wire.host
    with ThreadingHTTPServer((host, 0), Neighbour) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        person.expect_requests_to(f"http://{host}:{server.server_port}/")
        other = person.context.new_page()
        for path in ("/", "/sessions", "/at/", "/ws"):
            other.goto(f"http://{host}:{server.server_port}{path}")
        assert other.evaluate("[document.cookie, localStorage.length]") == ["", 0]
        other.close()
        server.shutdown()
    assert len(Neighbour.cookies) >= 4 and not any(Neighbour.cookies)
    page.reload()
    expect(page.get_by_role("status").filter(has_text="Connected")).to_be_visible()
