"""Who is let in: tokens and their scopes, Host, Origin, the browser's cookie, one-time codes."""

from __future__ import annotations

import stat
from collections.abc import Callable
from typing import NamedTuple

import pytest

from tests.tooling.hub_process import HubProcess, Session
from tests.tooling.websocket import WebSocket
from tests.tooling.wire import Reply, Wire

NewHub = Callable[..., HubProcess]

OPEN = [("GET", "/"), ("GET", "/healthz")]
GUARDED = [
    ("GET", "/agents"), ("GET", "/sessions"), ("POST", "/sessions"), ("GET", "/sessions/x"), ("DELETE", "/sessions/x"),
    ("POST", "/sessions/x/send-message"), ("GET", "/sessions/x/packets"), ("GET", "/sessions/x/messages"),
    ("POST", "/sessions/x/cancel"), ("POST", "/sessions/x/permissions/y"), ("GET", "/sessions/x/files"),
    ("POST", "/sessions/x/files"), ("GET", "/sessions/x/diff"), ("GET", "/sessions/x/artifacts"), ("GET", "/readyz"),
    ("GET", "/metrics"), ("GET", "/openapi.json"), ("GET", "/docs"), ("POST", "/auth/tokens"), ("GET", "/auth/tokens"),
]


def scoped(hub: HubProcess, scope: str) -> Wire:
    """A client with a token of this scope."""
    made = hub.wire.post("/auth/tokens", {"name": f"a {scope}er", "scope": scope}, 201)
    return hub.wire.with_token(made["secret"])


@pytest.mark.parametrize("name", ["token", "tokens.json", "policy.toml", "journal.db", "audit.key"])
def test_no_session_reaches_the_hubs_own_files(hub: HubProcess, name: str) -> None:
    scoped(hub, "view")  # so that there is a tokens.json
    session = hub.new_session(cwd=hub.root)
    assert (hub.data / name).exists()
    for path in (f"data/{name}", str(hub.data / name)):
        refused = hub.wire.ask("GET", f"{session.path}/files/content?path={path}").expect(403)
        assert "the hub's own" in refused["message"]
        before = (hub.data / name).read_bytes()
        hub.wire.ask("POST", f"{session.path}/files?path={path}", b"mine now").expect(403)
        if not name.startswith("journal"):
            assert (hub.data / name).read_bytes() == before
    assert "data" not in [entry["name"] for entry in hub.wire.get(f"{session.path}/files")["entries"]]
    assert hub.wire.get(f"{session.path}/files/find?q={name}")["files"] == []
    (hub.root / "work").mkdir(exist_ok=True)
    link = hub.root / "work" / "link"
    link.symlink_to(hub.data)
    try:
        hub.wire.ask("GET", f"{session.path}/files/content?path=work/link/{name}").expect(403)
    finally:
        link.unlink()
        session.delete()


def test_no_session_begins_in_the_hubs_own_folder_but_in_the_playground(hub: HubProcess) -> None:
    refused = hub.wire.ask("POST", "/sessions", {"agent": "fast", "cwd": str(hub.data)}).expect(403)
    assert "the hub's own" in refused["message"]
    session = hub.new_session(cwd=hub.data / "playground")
    hub.wire.ask("POST", f"{session.path}/files?path=made.txt", b"mine").expect(201)
    assert hub.wire.ask("GET", f"{session.path}/files/content?path=made.txt").body == b"mine"
    (hub.data / "playground" / "made.txt").unlink()  # the hub is shared, and others look at its folder
    session.delete()


@pytest.mark.parametrize(("method", "path"), OPEN)
def test_a_few_routes_need_no_token(hub: HubProcess, method: str, path: str) -> None:
    assert hub.wire.as_nobody().ask(method, path).status == 200


@pytest.mark.parametrize(("method", "path"), GUARDED)
def test_everything_else_needs_a_token(hub: HubProcess, method: str, path: str) -> None:
    for wire in (hub.wire.as_nobody(), hub.wire.with_token("wrong"), hub.wire.with_token(hub.token[:-1])):
        answer = wire.ask(method, path, {} if method == "POST" else None)
        said = answer.expect(401)
        assert (said["details"] if said.get("type") == "error" else said)["code"] == "unauthorized"
        assert "bearer" in answer.headers["www-authenticate"].lower()


def test_a_token_in_the_query_is_no_token(hub: HubProcess) -> None:
    for name in ("token", "access_token", "authorization"):
        assert hub.wire.as_nobody().ask("GET", f"/sessions?{name}={hub.token}").status == 401


def test_the_token_file_and_folder_are_closed_to_others(hub: HubProcess) -> None:
    assert stat.S_IMODE(hub.data.stat().st_mode) == 0o700
    for path in hub.data.rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert not mode & 0o077, f"{path} is open to others: {mode:o}"


def test_the_token_is_in_no_log_and_no_agents_reach(hub: HubProcess) -> None:
    hub.wire.get("/sessions")
    hub.wire.ask("GET", f"/sessions?token={hub.token}")
    assert hub.token not in hub.log_path.read_text()


def test_the_environment_may_bring_the_token(new_hub: NewHub) -> None:
    hub = new_hub(env={"TRUNKLINE_TOKEN": "chosen-by-me"})
    assert hub.wire.with_token("chosen-by-me").ask("GET", "/sessions").status == 200
    assert not (hub.data / "token").exists() or (hub.data / "token").read_text().strip() != "chosen-by-me"


def test_a_token_does_what_its_scope_says_and_no_more(hub: HubProcess, session: Session) -> None:
    view, approve, control = (scoped(hub, scope) for scope in ("view", "approve", "control"))
    with session.send("/ask") as turn:
        request = turn.until("approval_requested").value["requestId"]
        for wire in (view, approve, control):
            assert wire.ask("GET", session.path).status == 200
        denied = view.ask("POST", f"{session.path}/permissions/{request}", {"decision": "deny"}).expect(403)
        assert denied["code"] == "forbidden" and denied["details"] == {"needed": "approve", "scope": "view"}
        for wire in (view, approve):
            assert wire.ask("POST", f"{session.path}/cancel", {}).status == 403
            assert wire.ask("POST", f"{session.path}/send-message", {"content": "x"}).status == 403
            assert wire.ask("DELETE", session.path).status == 403
            assert wire.ask("POST", f"{session.path}/files?path=x", b"x").status == 403
            assert wire.ask("POST", "/sessions", {"agent": "fast", "cwd": "/"}).status == 403
        assert approve.ask("POST", f"{session.path}/permissions/{request}", {"decision": "allow"}).status == 200
        turn.until("prompt_response")
    assert control.ask("POST", f"{session.path}/cancel", {}).status == 200
    for wire in (view, approve, control):
        assert wire.ask("POST", "/auth/tokens", {"name": "more", "scope": "view"}).status == 403
        assert wire.ask("GET", "/auth/tokens").status == 403


def test_a_revoked_token_is_refused_at_once(hub: HubProcess) -> None:
    made = hub.wire.post("/auth/tokens", {"name": "short", "scope": "view"}, 201)
    wire = hub.wire.with_token(made["secret"])
    assert wire.ask("GET", "/sessions").status == 200
    hub.wire.ask("DELETE", f"/auth/tokens/{made['token']['id']}").expect(204)
    assert wire.ask("GET", "/sessions").status == 401
    assert made["secret"] not in hub.wire.ask("GET", "/auth/tokens").body.decode()


@pytest.mark.parametrize("host", [
    "evil.example", "evil.example:{port}", "127.0.0.1.evil.example:{port}", "localhost.evil.example", "",
])
def test_a_foreign_host_is_refused_whatever_else_is_right(hub: HubProcess, host: str) -> None:
    answer = hub.wire.ask("GET", "/healthz", headers={"Host": host.format(port=hub.wire.port)})
    assert answer.status in (400, 403)
    assert hub.wire.ask("GET", "/sessions", headers={"Host": host.format(port=hub.wire.port)}).status in (400, 403)


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "[::1]:{port}", "127.0.0.1", "LOCALHOST:{port}"])
def test_loopback_is_our_host(hub: HubProcess, host: str) -> None:
    assert hub.wire.ask("GET", "/sessions", headers={"Host": host.format(port=hub.wire.port)}).status == 200


def test_a_further_host_may_be_allowed(new_hub: NewHub) -> None:
    hub = new_hub("--allow-host", "hub.example")
    assert hub.wire.ask("GET", "/sessions", headers={"Host": "hub.example"}).status == 200
    assert hub.wire.ask("GET", "/sessions", headers={"Host": "other.example"}).status == 403


@pytest.mark.parametrize("origin", [
    "null", "http://evil.example", "http://127.0.0.1:1", "http://127.0.0.1", "http://localhost:{port}", "https://evil.example:{port}",
    "http://127.0.0.1:{port}.evil.example", "http://127.0.0.1:{port}0",
])
def test_a_foreign_origin_is_refused_though_the_token_is_right(hub: HubProcess, origin: str) -> None:
    answer = hub.wire.ask("GET", "/sessions", headers={"Origin": origin.format(port=hub.wire.port)})
    assert answer.expect(403)["code"] == "forbidden"


def test_our_own_origin_is_let_in(hub: HubProcess) -> None:
    assert hub.wire.ask("GET", "/sessions", headers={"Origin": hub.url}).status == 200


# The browser


def log_in(hub: HubProcess, body: dict[str, str]) -> Reply:
    return hub.wire.as_nobody().ask("POST", "/auth/login", body, {"Origin": hub.url})


class Cookie(NamedTuple):
    """A browser's cookie, and the path that it counts under."""

    pair: str
    base: str


def cookie_of(answer: Reply) -> Cookie:
    return Cookie(answer.headers["set-cookie"].partition(";")[0], answer.expect(200)["base"])


@pytest.fixture
def cookie(hub: HubProcess) -> Cookie:
    code = hub.wire.post("/auth/codes", {}, 201)["code"]
    return cookie_of(log_in(hub, {"code": code}))


def browse(hub: HubProcess, cookie: Cookie, **headers: str) -> int:
    sent = {"Cookie": cookie.pair, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return hub.wire.as_nobody().ask("GET", f"{cookie.base}/sessions", headers=sent).status


def test_the_cookie_is_closed_to_scripts_and_other_sites_and_lies_under_a_path_of_its_own(hub: HubProcess) -> None:
    first, second = log_in(hub, {"token": hub.token}), log_in(hub, {"token": hub.token})
    attributes = first.headers["set-cookie"].lower()
    assert "httponly" in attributes and "samesite=strict" in attributes
    assert hub.token not in first.headers["set-cookie"]
    assert f"Path={cookie_of(first).base};" in first.headers["set-cookie"]
    assert len(cookie_of(first).base) > 30 and cookie_of(first).base != cookie_of(second).base


def test_a_stolen_cookie_is_nothing_without_the_path_that_only_the_page_knows(hub: HubProcess, cookie: Cookie) -> None:
    perfect = {"Origin": hub.url, "Sec_Fetch_Site": "same-origin", "Sec_Fetch_Mode": "cors", "Sec_Fetch_Dest": "empty",
               "User_Agent": "Mozilla/5.0", "Referer": f"{hub.url}/"}
    assert browse(hub, cookie, **perfect) == 200
    for base in ("", f"/at/{'A' * 32}", cookie_of(log_in(hub, {"token": hub.token})).base):
        assert browse(hub, Cookie(cookie.pair, base), **perfect) == 401, base
    headers = {"Cookie": cookie.pair, "Origin": hub.url, "Sec-Fetch-Site": "same-origin"}
    with WebSocket(hub.wire.host, hub.wire.port, "/ws", headers) as link:
        assert link.hello(None)["error"]["code"] == "unauthorized"
    with WebSocket(hub.wire.host, hub.wire.port, f"{cookie.base}/ws", headers) as link:
        assert link.hello(None)["type"] == "welcome"


def test_two_hubs_on_one_host_leave_each_others_cookies_alone(hub: HubProcess, new_hub: NewHub) -> None:
    names = {cookie_of(log_in(each, {"token": each.token})).pair.partition("=")[0] for each in (hub, new_hub())}
    assert len(names) == 2


def test_the_cookie_counts_only_for_our_own_page(hub: HubProcess, cookie: Cookie) -> None:
    assert browse(hub, cookie, Sec_Fetch_Site="same-origin") == 200
    assert browse(hub, cookie, Origin=hub.url) == 200
    assert browse(hub, cookie) == 401
    for site in ("same-site", "cross-site", "none", ""):
        assert browse(hub, cookie, Sec_Fetch_Site=site) == 401, site
    assert browse(hub, cookie, Origin="null") == 403
    assert browse(hub, cookie, Origin="http://127.0.0.1:1", Sec_Fetch_Site="same-origin") == 403
    assert browse(hub, cookie, Origin=f"http://localhost:{hub.wire.port}") == 403


def test_a_code_works_once(hub: HubProcess) -> None:
    made = hub.wire.post("/auth/codes", {}, 201)
    assert made["path"] == f"/#code={made['code']}"
    assert hub.token not in made["path"]
    assert log_in(hub, {"code": made["code"]}).status == 200
    assert log_in(hub, {"code": made["code"]}).status == 401


def test_the_cookie_is_no_bearer_token_and_the_token_is_no_cookie(hub: HubProcess, cookie: Cookie) -> None:
    name, _, secret = cookie.pair.partition("=")
    assert hub.wire.with_token(secret).ask("GET", "/sessions").status == 401
    assert browse(hub, Cookie(f"{name}={hub.token}", cookie.base), Sec_Fetch_Site="same-origin") == 401


def test_a_wrong_bearer_token_is_not_made_good_by_a_cookie(hub: HubProcess, cookie: Cookie) -> None:
    sent = {"Cookie": cookie.pair, "Sec-Fetch-Site": "same-origin"}
    assert hub.wire.with_token("wrong").ask("GET", f"{cookie.base}/sessions", headers=sent).status == 401


def test_logging_out_ends_the_cookie(hub: HubProcess, cookie: Cookie) -> None:
    sent = {"Cookie": cookie.pair, "Sec-Fetch-Site": "same-origin"}
    assert hub.wire.as_nobody().ask("POST", f"{cookie.base}/auth/logout", b"", sent).status == 204
    assert browse(hub, cookie, Sec_Fetch_Site="same-origin") == 401


def test_a_cookie_of_another_name_does_not_count(hub: HubProcess, cookie: Cookie) -> None:
    secret = cookie.pair.partition("=")[2]
    for name in ("trunkline_1", f"trunkline_{hub.wire.port}"):
        assert browse(hub, Cookie(f"{name}={secret}", cookie.base), Sec_Fetch_Site="same-origin") == 401


def test_guessing_is_slowed_down(new_hub: NewHub) -> None:
    hub = new_hub()
    answers = [log_in(hub, {"token": f"guess {number}"}).status for number in range(15)]
    assert answers[0] == 401 and answers[-1] == 429
    assert hub.wire.ask("GET", "/sessions").status == 200, "who has the token is not locked out"


def test_a_preview_reads_no_cookie_and_no_token(hub: HubProcess, cookie: Cookie) -> None:
    sent = {"Cookie": cookie.pair, "Sec-Fetch-Site": "same-origin"}
    assert hub.wire.ask("GET", "/preview/00000000000000000000000000000000/", headers=sent).status == 404


def test_beyond_loopback_only_with_tls_or_an_explicit_wish(hub: HubProcess) -> None:
    elsewhere = {"TRUNKLINE_DATA": str(hub.root / "other")}
    refused = hub.command("serve", "--host", "0.0.0.0", "--port", "0", "--no-open", env=elsewhere)
    assert refused.returncode != 0
    assert "--tls-cert" in refused.stderr and "--insecure" in refused.stderr
    assert refused.stdout == ""
