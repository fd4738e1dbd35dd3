"""The routes as a client sees them: sessions, lists, errors, operations. Turns, permissions and files have tests of their own."""

from __future__ import annotations

import http.client
import json
import random
import re
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.dialects.packets.shapes_check import validate_packet
from tests.tooling.examples import examples
from tests.tooling.hub_process import HubProcess, Session, text_of
from tests.tooling.wire import SSE, Wire

NewHub = Callable[..., HubProcess]
ERROR_FIELDS = {"code", "message", "recoverable", "details", "agentCode"}

ROUTES = """
GET /agents · POST /sessions · GET /sessions · GET /sessions/{id} · PATCH /sessions/{id} · DELETE /sessions/{id}
POST /sessions/{id}/send-message · GET /sessions/{id}/packets · GET /sessions/{id}/messages · POST /sessions/{id}/cancel
POST /sessions/{id}/mode · POST /sessions/{id}/config · GET /sessions/{id}/queue · PATCH /sessions/{id}/queue/{turnId}
DELETE /sessions/{id}/queue/{turnId} · POST /sessions/{id}/permissions/{requestId} · GET /sessions/{id}/files
GET /sessions/{id}/files/content · GET /sessions/{id}/files/find · GET /sessions/{id}/diff · POST /sessions/{id}/files
GET /sessions/{id}/artifacts · GET /sessions/{id}/artifacts/{artifactId} · GET /healthz · GET /readyz · GET /metrics
GET /openapi.json · GET /docs · POST /auth/login
"""
"""What the server must have (``/preview/{key}/…`` apart, whose path is spelled in another way)."""


def required_routes() -> list[tuple[str, str]]:
    return [(method, path) for method, path in (each.split() for each in re.split(r"·|\n", ROUTES) if each.strip())]


def test_a_started_session_says_what_it_is(hub: HubProcess) -> None:
    folder = hub.new_folder()
    answer = hub.wire.ask("POST", "/sessions", {"agent": "fast", "cwd": str(folder), "title": "A title"})
    view = answer.expect(201)
    assert answer.headers["location"] == f"/sessions/{view['id']}"
    assert (view["status"], view["agent"], view["cwd"], view["title"]) == ("idle", "fast", str(folder), "A title")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", view["createdAt"])
    assert view["lastSeq"] >= 1
    hub.wire.ask("DELETE", f"/sessions/{view['id']}").expect(204)


@pytest.mark.parametrize(("change", "status"), [
    ({"agent": "nobody"}, 404), ({"cwd": "relative/path"}, 400), ({"cwd": "/no/such/folder"}, 400), ({"cwd": None}, 400),
    ({"extra": True}, 400), ({"agent": 5}, 400), ({"mcpServers": 5}, 400), ({"prompt": 5}, 400), ({"env": {"A": 5}}, 400),
])
def test_a_session_that_cannot_be_started_is_refused_with_a_reason(hub: HubProcess, change: dict[str, Any], status: int) -> None:
    body = {"agent": "fast", "cwd": str(hub.new_folder()), **change}
    error = hub.wire.ask("POST", "/sessions", body).expect(status)
    assert set(error) <= ERROR_FIELDS and {"code", "message", "recoverable"} <= set(error)
    assert error["message"]


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"agent": "fast"}'])
def test_a_body_that_is_not_what_it_should_be_is_refused(hub: HubProcess, body: bytes) -> None:
    error = hub.wire.ask("POST", "/sessions", body, {"Content-Type": "application/json"}).expect(400)
    assert error["code"] == "invalid"


def test_an_unknown_session_is_not_found(hub: HubProcess) -> None:
    for method, path in (("GET", ""), ("PATCH", ""), ("DELETE", ""), ("GET", "/messages"), ("POST", "/cancel"), ("GET", "/files"),
                         ("GET", "/queue"), ("GET", "/artifacts"), ("GET", "/diff"), ("POST", "/send-message")):
        body = {"title": "x"} if method == "PATCH" else {"content": "x"} if method == "POST" else None
        error = hub.wire.ask(method, f"/sessions/ses_nothing{path}", body).expect(404)
        assert (error["code"], error["recoverable"]) == ("session_not_found", True), (method, path)
        assert set(error) <= ERROR_FIELDS


@pytest.mark.parametrize(("method", "path"), [("POST", "send-message"), ("GET", "packets")])
def test_an_unknown_session_is_an_error_packet_for_who_asked_for_packets(hub: HubProcess, method: str, path: str) -> None:
    body = {"content": "hello"} if method == "POST" else None
    answer = hub.wire.ask(method, f"/sessions/ses_nothing/{path}", body, SSE)
    packet = answer.expect(404)
    validate_packet(packet)
    assert (packet["type"], packet["message"], packet["code"]) == ("error", "Session not found", None)
    assert packet["details"]["code"] == "session_not_found"


def test_a_session_can_be_renamed(session: Session) -> None:
    assert session.wire.ask("PATCH", session.path, {"title": "  Another  "}).expect(200)["title"] == "Another"
    assert session.view()["title"] == "Another"
    for bad in ({"title": "  "}, {}, {"title": 5}, {"name": "x"}):
        assert session.wire.ask("PATCH", session.path, bad).expect(400)["code"] == "invalid"


def test_a_session_takes_its_title_from_its_first_prompt(session: Session) -> None:
    session.say("/echo the first words\nand more")
    assert session.view()["title"] == "/echo the first words"


def test_a_deleted_session_is_stopped_and_forgotten(hub: HubProcess) -> None:
    session = hub.new_session()
    with session.send("/slow 60") as turn, session.attach() as reader:
        turn.until("agent_message_chunk")
        session.delete()
        for stream in (turn, reader):
            stream.rest()  # both streams end
    assert session.wire.ask("GET", session.path).status == 404
    assert session.id not in {view["id"] for view in hub.wire.get("/sessions?limit=200")["sessions"]}
    assert session.wire.ask("DELETE", session.path).status == 404


def test_the_list_is_paged_without_gap_or_repeat_and_filtered(some_hub: NewHub) -> None:
    hub = some_hub()
    made = [hub.new_session("fast" if number % 2 else "puppet", title=f"Title {number}") for number in range(7)]
    seen: list[str] = []
    page = hub.wire.get("/sessions?limit=3")
    while True:
        seen += [view["id"] for view in page["sessions"]]
        if page["next"] is None:
            break
        page = hub.wire.get(f"/sessions?limit=3&before={page['next']}")
    assert seen == [session.id for session in reversed(made)]
    assert len(hub.wire.get("/sessions?agent=puppet")["sessions"]) == 4
    assert [view["title"] for view in hub.wire.get("/sessions?text=tItLe%205")["sessions"]] == ["Title 5"]
    assert hub.wire.get("/sessions?status=running")["sessions"] == []
    made[1].post("send-message", {"content": "/slow 60"}, 202)
    listed = hub.wire.get("/sessions?status=running,thinking")["sessions"]
    assert [view["id"] for view in listed] == [made[1].id]
    assert hub.wire.get("/sessions")["sessions"][0]["id"] == made[1].id, "newest activity first"
    for bad in ("limit=0", "limit=x", "limit=100000", "before=nonsense"):
        assert hub.wire.ask("GET", f"/sessions?{bad}").expect(400)["code"] == "invalid"


def test_sessions_are_there_again_after_a_restart(new_hub: NewHub) -> None:
    hub = new_hub()
    session = hub.new_session(title="Kept")
    session.say("/echo before")
    history = session.history()
    before = session.view()
    hub.restart()
    after = session.view()
    assert {key: after[key] for key in ("id", "title", "agent", "cwd", "createdAt", "mode")} == {
        key: before[key] for key in ("id", "title", "agent", "cwd", "createdAt", "mode")}
    assert session.history() == history
    assert text_of(session.say("/echo after")) == "after"
    assert session.history()[:len(history)] == history


def test_a_proper_stop_ends_a_running_turn_with_one_error_and_tells_its_readers(new_hub: NewHub) -> None:
    hub = new_hub()
    session = hub.new_session()
    with session.send("/slow 60") as turn:
        turn.until("agent_message_chunk")
        assert hub.stop() == 0
        end = turn.rest()[-1].value
    assert (end["type"], end["details"]["code"]) == ("error", "hub_stopping")
    hub.start()
    ends = [json.loads(data) for _, data in session.history() if json.loads(data)["type"] in ("error", "prompt_response")]
    assert [each["details"]["code"] for each in ends] == ["hub_stopping"]


def test_the_catalog_says_what_is_installed_and_what_each_can_do(hub: HubProcess, session: Session) -> None:
    agents = {agent["name"]: agent for agent in hub.wire.get("/agents")}
    assert agents["demo"]["installed"] is True and agents["demo"]["version"]
    assert agents["missing"]["installed"] is False
    assert agents["fast"]["capabilities"]["loadSession"] is True
    assert {"gemini", "goose", "codex-acp", "opencode", "qwen"} <= set(agents)
    assert all(agent["displayName"] and agent["command"] for agent in agents.values())


def test_stored_packets_come_by_the_page(session: Session) -> None:
    session.say("/burst 10 8")
    session.say("/fail")
    everything = session.wire.get(f"{session.path}/messages?limit=1000")
    assert everything["nextAfter"] is None
    walked: list[Any] = []
    page = session.wire.get(f"{session.path}/messages?limit=2")
    while True:
        walked += page["messages"]
        if page["nextAfter"] is None:
            break
        page = session.wire.get(f"{session.path}/messages?limit=2&after={page['nextAfter']}")
    assert walked == everything["messages"]
    seqs = [message["seq"] for message in walked]
    assert seqs == sorted(set(seqs))
    for message in walked:
        validate_packet(message["packet"])
    before = session.wire.get(f"{session.path}/messages?before={seqs[3]}&limit=2")["messages"]
    assert before == walked[1:3]
    between = session.wire.get(f"{session.path}/messages?after={seqs[0]}&before={seqs[3]}")["messages"]
    assert between == walked[1:3]


def test_a_cursor_that_makes_no_sense_is_refused(session: Session) -> None:
    for query in ("after=x", "after=-1", "before=0", "limit=0", "limit=5000"):
        assert session.wire.ask("GET", f"{session.path}/messages?{query}").expect(400)["code"] == "invalid"
    for header in ("x", "-1", "99999999"):
        answer = session.wire.ask("GET", f"{session.path}/packets", headers={**SSE, "Last-Event-ID": header})
        assert answer.expect(400)["details"]["code"] == "invalid"


def test_last_event_id_wins_over_after(session: Session) -> None:
    session.say("/burst 5 5")
    history = session.history()
    with session.wire.stream(f"{session.path}/packets?after={history[3][0]}", last_event_id=history[1][0]) as stream:
        assert next(stream) == history[2]


def test_paths_and_methods_that_do_not_exist_say_so(hub: HubProcess) -> None:
    assert hub.wire.ask("GET", "/no/such/path").expect(404)["code"] == "not_found"
    answer = hub.wire.ask("DELETE", "/agents")
    assert answer.expect(405)["code"] == "method_not_allowed"
    assert "GET" in answer.headers["allow"]


def test_a_json_body_over_its_limit_is_refused_before_it_is_read(hub: HubProcess) -> None:
    huge = {"Content-Length": str(33 << 20), "Content-Type": "application/json"}
    answer = hub.wire.ask("POST", "/sessions", b"{", huge)
    assert answer.expect(413)["code"] == "too_large"


def test_a_json_body_that_hides_its_size_is_refused_all_the_same(hub: HubProcess) -> None:
    with socket.create_connection((hub.wire.host, hub.wire.port), timeout=60) as connection:
        head = (f"POST /sessions HTTP/1.1\r\nHost: {hub.wire.host}:{hub.wire.port}\r\nAuthorization: Bearer {hub.token}\r\n"
                "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        connection.sendall(head.encode())
        piece = b"100000\r\n" + b" " * (1 << 20) + b"\r\n"
        try:
            for _ in range(40):
                connection.sendall(piece)
        except OSError:
            pass  # the server has answered and closed
        assert connection.recv(4096).startswith(b"HTTP/1.1 413")


def test_healthz_needs_no_token_and_says_nothing_more(hub: HubProcess) -> None:
    assert hub.wire.as_nobody().get("/healthz") == {"status": "ok"}


def test_readyz_says_whether_the_hub_is_busy(session: Session) -> None:
    ready = session.wire.get("/readyz")
    assert ready["status"] == "ready" and ready["version"]
    with session.send("/slow 60") as stream:
        stream.until("agent_message_chunk")
        assert session.wire.get("/readyz")["busy"] is True
        session.post("cancel")
        stream.until("prompt_response")


def test_metrics_are_in_the_text_format_and_count(new_hub: NewHub) -> None:
    hub = new_hub()
    session = hub.new_session()
    session.say("/burst 100 10")
    answer = hub.wire.ask("GET", "/metrics")
    assert answer.status == 200 and answer.headers["content-type"].startswith("text/plain")
    samples = {}
    for line in answer.body.decode().splitlines():
        if line and not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            samples[name] = float(value)
    assert all(re.match(r"[a-zA-Z_:][a-zA-Z0-9_:]*(\{.*\})?$", name) for name in samples)
    assert any(name.startswith("trunkline_") and value >= 100 for name, value in samples.items())
    assert any("end_turn" in name and value == 1 for name, value in samples.items())


def test_openapi_lists_every_route(hub: HubProcess) -> None:
    paths = hub.wire.get("/openapi.json")["paths"]
    assert not [(method, path) for method, path in required_routes() if method.lower() not in paths.get(path, {})]
    assert any(path.startswith("/preview/{key}/") for path in paths)


def test_openapi_has_no_loose_ends(hub: HubProcess) -> None:
    document = hub.wire.get("/openapi.json")
    assert document["openapi"].startswith("3.")
    known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    used = set(re.findall(r'"\$ref":\s*"([^"]+)"', json.dumps(document)))
    assert used and used <= known
    for path, operations in document["paths"].items():
        for operation in operations.values():
            placed = {each["name"] for each in operation["parameters"] if each["in"] == "path"}
            assert placed == set(re.findall(r"\{(\w+)", path)), path


def test_the_docs_page_brings_its_own_assets(hub: HubProcess) -> None:
    page = hub.wire.ask("GET", "/docs")
    assert page.status == 200 and page.headers["content-type"].startswith("text/html")
    links = re.findall(r'(?:src|href)="([^"#][^"]*)"', page.body.decode())
    assert links and all(link.startswith("/") for link in links), links
    for link in links:
        assert hub.wire.ask("GET", link).status == 200, link
    for _, path in required_routes():
        assert path in page.body.decode()


def test_the_page_at_the_root_needs_no_token_and_loads_only_from_the_hub(hub: HubProcess) -> None:
    nobody = hub.wire.as_nobody()
    page = nobody.ask("GET", "/")
    assert page.status == 200 and page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert not re.findall(r'(?:src|href)="(?!/|#)', page.body.decode())
    for link in re.findall(r'(?:src|href)="(/assets/[^"]*)"', page.body.decode()):
        assert nobody.ask("GET", link).status == 200, link


def test_every_answer_is_marked_against_sniffing(hub: HubProcess) -> None:
    for path in ("/", "/healthz", "/agents", "/no/such/path", "/docs"):
        assert hub.wire.ask("GET", path).headers["x-content-type-options"] == "nosniff", path


def test_head_and_options_work_where_get_does(hub: HubProcess) -> None:
    with hub.wire.connect("HEAD", "/healthz", None) as answer:
        assert answer.status == 200
    assert "GET" in hub.wire.ask("OPTIONS", "/healthz").headers["allow"]


@pytest.mark.slow
def test_silence_on_a_stream_is_broken_by_a_comment_without_an_id(session: Session) -> None:
    began = time.monotonic()
    with session.attach(wait_s=25) as stream:
        stream.until("available_commands_update")
        stream.answer.allow(18)
        with pytest.raises(TimeoutError):
            next(stream)
        assert stream.comments, "a keep-alive came"
        assert 14 < time.monotonic() - began < 20


def test_connections_may_be_reused(hub: HubProcess) -> None:
    connection = http.client.HTTPConnection(hub.wire.host, hub.wire.port, timeout=60)
    connection.connect()
    first = connection.sock
    for _ in range(3):
        connection.request("GET", "/healthz")
        reply = connection.getresponse()
        assert (reply.status, reply.read()) == (200, b'{"status":"ok"}')
        assert connection.sock is first, "the hub closed it"
    connection.close()


def test_two_hubs_do_not_know_each_others_sessions_or_tokens(hub: HubProcess, new_hub: NewHub) -> None:
    other = new_hub()
    session = hub.new_session()
    assert other.wire.ask("GET", session.path).status == 404
    stranger = Wire(other.wire.host, other.wire.port, hub.token)
    assert stranger.ask("GET", "/sessions").status == 401
    session.delete()


FIELDS = ("content", "title", "agent", "cwd", "type", "text", "modeId", "configId", "value", "decision", "optionId", "action")


def nonsense(dice: random.Random, depth: int = 0) -> Any:
    """Some JSON."""
    kind = dice.randrange(8 if depth < 3 else 6)
    if kind < 6:
        return dice.choice([None, True, -1, 2**70, 0.5, "", "x" * 300, "\u0000\u2028", "text", "../..", "allow", [], {}])
    if kind == 6:
        return [nonsense(dice, depth + 1) for _ in range(dice.randrange(4))]
    return {dice.choice(FIELDS): nonsense(dice, depth + 1) for _ in range(dice.randrange(4))}


def test_no_request_however_odd_makes_the_hub_fail(new_hub: NewHub) -> None:
    """Every route with odd bodies and odd parameters: refused or done, but never an error of the hub's own."""
    hub = new_hub()
    session = hub.new_session()
    dice = random.Random(5)
    operations = [(method, path, operation) for path, each in hub.wire.get("/openapi.json")["paths"].items()
                  for method, operation in each.items() if (method, path) != ("delete", "/sessions/{id}")]
    for _ in range(examples(4)):
        for method, path, operation in operations:
            known = {"{id}": session.id} if dice.random() < 0.9 else {}
            where = re.sub(r"\{[^}]*\}", lambda found: known.get(found[0], "odd%00%2e%2e"), path)  # noqa: B023
            names = [each["name"] for each in operation["parameters"] if each["in"] == "query"] or ["after"]
            value = dice.choice(["", "-1", "x", "9" * 30, "%2e%2e", "%00", "1e3", "%ff"])
            body = json.dumps(nonsense(dice)).encode() if method in ("post", "patch") else None
            if path.endswith(("/packets", "/events")):
                value = "x"  # anything else may be a stream without end
            asked = f"{where}?{dice.choice(names)}={value}"
            answer = hub.wire.ask(method.upper(), asked, body, {"Content-Type": "application/json"})
            assert answer.status < 500 or answer.json()["code"] in ("unsupported", "agent_error"), (method, asked, body, answer)
    assert hub.wire.get("/healthz") == {"status": "ok"}
    assert "Traceback" not in hub.log_path.read_text()
