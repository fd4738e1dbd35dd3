"""A browser's own path: found in addresses, taken off for the routes, and nobody's to guess."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.server.auth.cookies import TRIED_MOST, Cookies, base_of, new_base, split_base, without_base
from trunkline.server.http.messages import HTTPConnection, Response

BASE = "/at/" + "k" * 32


@every_row(("path", "parts"), [
    (f"{BASE}/sessions", (BASE, "/sessions")), (f"{BASE}/", (BASE, "/")), (BASE, ("", BASE)), ("/sessions", ("", "/sessions")),
    ("/at/short/x", ("", "/at/short/x"))])
def test_a_path_is_split_from_the_browsers_own(path: str, parts: tuple[str, str]) -> None:
    assert split_base(path) == parts


def test_a_new_base_is_one_that_is_recognised_and_new_each_time() -> None:
    base = new_base()
    assert split_base(f"{base}/x") == (base, "/x") and new_base() != base


def test_the_routes_see_the_path_without_the_base_and_who_asks_still_finds_it() -> None:
    scope = {"type": "http", "path": f"{BASE}/a", "raw_path": f"{BASE}/a".encode(), "headers": []}
    inner = without_base(scope)
    assert (inner["path"], inner["raw_path"], base_of(HTTPConnection(inner))) == ("/a", b"/a", BASE)
    plain = {**scope, "path": "/a"}
    assert without_base(plain) is plain and base_of(HTTPConnection(plain)) == ""


def test_only_cookies_of_this_hub_are_looked_at_and_not_too_many() -> None:
    cookies = Cookies("h")
    header = "; ".join(["trunkline_other=no", *(f"trunkline_h={number}" for number in range(20))])
    connection = HTTPConnection({"type": "http", "headers": [(b"cookie", header.encode())]})
    assert cookies.offered(connection) == [str(number) for number in range(TRIED_MOST)]


def test_a_cookie_is_for_the_base_alone_and_for_no_script() -> None:
    answer = Response()
    Cookies("h").give(answer, "secret", BASE, lifetime_s=60, secure=True)
    [cookie] = [value.decode() for name, value in answer.raw_headers if name == b"set-cookie"]
    assert f"Path={BASE}" in cookie and "HttpOnly" in cookie and "SameSite=strict" in cookie and "Secure" in cookie
