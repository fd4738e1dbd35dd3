"""Rule 7: bytes from outside never raise past their boundary. On a real hub: what is sent is answered, and nothing is logged."""

from __future__ import annotations

import base64
import json
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import pytest

from tests.faults.conftest import Report
from tests.tooling.hub_process import HubProcess, Session, text_of
from tests.tooling.websocket import CLOSE, TEXT, Closed, WebSocket
from tests.tooling.wire import Answer, Reply

NewHub = Callable[..., HubProcess]

DIGITS = "9" * 5000
DEEP = b"[" * 20_000
PICTURE = base64.b64encode(b"\x89PNG" + bytes(range(256)) * 400).decode()
TYPES = ("image/png\r\nX-Injected: 1", "image/png\nSet-Cookie: a=b", "image/\0png", "image/пнг", "image/", "image/" + "x" * 5000,
         "image/png; x=\u2028", "IMAGE/PNG", "image/png\ud83d")
"""What an agent may call a picture's type; the last is no JSON, and a line that cannot be read."""

HOSTS = ("::1]", "[::1", "[::1]]:80", "[]", "]", "127.0.0.1]", "[127.0.0.1]x", "localhost:99999999",
         f"localhost:{DIGITS}", "localhost:²", "local host", "localhost/..", "localhost#", "user@localhost", "", ":", "[::1%]",
         "localhost\\@evil", "\xff")
BODIES = (b"", b"null", b"[]", b"\xff", b'{"agent":"\xff"}', b'{"agent":"\\ud800","cwd":"/"}', b'{"agent":1e400}',
          b'{"agent":"fast","cwd":"/tmp\\u0000x"}', b"NaN", b'{"a":%b' % DEEP, b'{"content":' + DIGITS.encode() + b"}",
          b'{"id":"1","id":"2"}', b'{"agent":"fast","cwd":"\\ud83d\\ude00"}', b"\xef\xbb\xbf{}", b'{"id":"1","command":"\xfe"}',
          b'{"caps":{"tokens":%b,"turns":1}}' % (b"9" * 400), b'{"waits":{"approvalS":1e308}}', b'{"limits":{"tokens":-0.0}}')


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    """One hub for all tests here, whose log they look at."""
    with HubProcess(tmp_path_factory.mktemp("hub")) as hub:
        yield hub


@pytest.fixture
def puppet(hub: HubProcess) -> Iterator[Session]:
    session = hub.new_session("puppet")
    yield session
    session.delete()


def ask_raw(hub: HubProcess, head: bytes, body: bytes = b"") -> Reply:
    """A request byte by byte as given, and its answer; the connection must not just end."""
    wire = hub.wire
    connection = socket.create_connection((wire.host, wire.port), timeout=60)
    connection.sendall(head.replace(b"TOKEN", hub.token.encode()) + body)
    with Answer(connection, 20) as answer:
        return Reply(answer.status, answer.headers, answer.read_all())


def get(path: str, *headers: str, host: str = "localhost") -> bytes:
    lines = [f"GET {path} HTTP/1.1", f"Host: {host}", "Authorization: Bearer TOKEN", "Connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1")


def is_refusal(answer: Reply) -> bool:
    """Whether an answer is an error of the tree that says whose mistake it was; who streams packets gets it as one."""
    said = json.loads(answer.body)
    is_packet = said.get("type") == "error" and "message" in said and "code" in said["details"]
    return 400 <= answer.status < 500 and (is_packet or set(said) >= {"code", "message", "recoverable"})


def refuses(hub: HubProcess, head: bytes) -> bool:
    return is_refusal(ask_raw(hub, head))


def answers(hub: HubProcess, head: bytes) -> bool:
    return ask_raw(hub, head).status == 200


def assert_quiet(hub: HubProcess) -> None:
    log = hub.log_path.read_text(errors="replace")
    assert "Traceback" not in log and "failed" not in log, log[-3000:]


def timed(tries: Sequence[Callable[[], bool]]) -> tuple[int, float]:
    """How many held, and the longest that one took."""
    held, worst = 0, 0.0
    for each in tries:
        began = time.monotonic()
        held += each()
        worst = max(worst, time.monotonic() - began)
    return held, worst * 1000


def test_numbers_of_thousands_of_digits_are_refused_wherever_one_is_taken(
    hub: HubProcess, puppet: Session, report: Report
) -> None:
    (puppet.folder / "a.txt").write_text("some text")
    path = puppet.path
    whole = [get(f"{path}/files/content?path=a.txt", f"Range: bytes={number}") for number in (
        f"{DIGITS}-", f"-{DIGITS}", f"0-{DIGITS}", f"{DIGITS}-{DIGITS}", "²-", "1_0-2_0")]
    refused = [get(f"{path}/{rest}") for rest in (
        f"packets?after={DIGITS}", f"messages?limit={DIGITS}", f"history?before={DIGITS}", f"images/{DIGITS}", "images/%C2%B2",
        "images/%D9%A3", "images/1_0", f"diff?entry={DIGITS}", f"files/find?q=a&limit={DIGITS}", "messages?limit=%C2%B2")]
    refused += [get(f"{path}/packets", f"Last-Event-ID: {DIGITS}"), get("/search?q=a&limit=" + DIGITS),
                get("/sessions?limit=" + DIGITS), get("/events", "Last-Event-ID: ²")]
    held, worst = timed([*(partial(answers, hub, head) for head in whole), *(partial(refuses, hub, head) for head in refused)])
    assert_quiet(hub)
    report(7, "numbers of thousands of digits, or of no digits", tried=len(whole) + len(refused), held=held, worst_ms=worst)


def test_a_host_that_is_none_is_refused(hub: HubProcess, report: Report) -> None:
    paths = ("/healthz", "/nothing", "/sessions/nobody/packets")
    heads = [get(path, host=host) for host in HOSTS for path in paths]
    held, worst = timed([partial(refuses, hub, head) for head in heads])
    assert ask_raw(hub, get("/healthz", host="[::1]:80")).status == 200
    assert_quiet(hub)
    report(7, "malformed Host headers", tried=len(HOSTS) * len(paths), held=held, worst_ms=worst)


def test_no_type_that_an_agent_gives_a_picture_becomes_a_header_of_its_own(puppet: Session, report: Report) -> None:
    steps = [["update", {"sessionUpdate": "agent_message_chunk",
                         "content": {"type": "image", "mimeType": kind, "data": PICTURE}}] for kind in TYPES]
    puppet.say(json.dumps(steps))
    last = puppet.view()["lastSeq"]
    answers = [puppet.wire.ask("GET", f"{puppet.path}/images/{seq}") for seq in range(1, last + 1)]
    held = [answer.status == 404 or (answer.status == 200 and answer.headers["content-type"].lower() == "image/png"
                                     and not {"x-injected", "set-cookie"} & answer.headers.keys()) for answer in answers]
    assert_quiet(puppet.hub)
    report(7, "pictures whose type would be headers, or is none", tried=len(answers), held=sum(held))


def test_bodies_that_are_no_json_or_not_the_right_one_are_refused(hub: HubProcess, puppet: Session, report: Report) -> None:
    routes = [("POST", "/sessions"), ("POST", f"{puppet.path}/send-message"), ("POST", f"{puppet.path}/commands"),
              ("PUT", "/policy"), ("POST", "/policy/explain"), ("POST", f"{puppet.path}/limits"), ("POST", "/acp"),
              ("POST", "/push"), ("PATCH", puppet.path), ("POST", f"{puppet.path}/permissions/x"), ("POST", "/auth/login")]
    kind = {"Content-Type": "application/json"}
    answers = [hub.wire.ask(method, path, body, kind) for method, path in routes for body in BODIES]
    held = sum(answer.status < 500 or json.loads(answer.body)["code"] == "unsupported" for answer in answers)
    assert_quiet(hub)
    report(7, "bodies that are no JSON, or not the right one", tried=len(answers), held=held)


def test_a_websocket_that_sends_no_text_is_closed_with_1007_and_nothing_is_logged(hub: HubProcess, report: Report) -> None:
    wire, closed = hub.wire, []
    hello = json.dumps({"type": "hello", "versions": ["é" * 200], "token": hub.token}).encode()
    for path, frames in (("/ws", [b"\xff"]), ("/ws", [b'{"type":"hello","versions":["\xc3"]}']), ("/acp", [b"\xff\xfe"]),
                         ("/ws", [hello]), ("/ws", [DEEP])):
        headers = {"Authorization": f"Bearer {hub.token}"}
        with WebSocket(wire.host, wire.port, path, headers) as socket, pytest.raises(Closed) as ended:
            for frame in frames:
                socket.send(TEXT, frame)
            while True:
                socket.hear()
        closed.append(ended.value.code)
    with WebSocket(wire.host, wire.port) as socket:
        socket.hello(hub.token)
        socket.send(TEXT, b'{"type":"ping","id":"\\ud800"}')
        assert socket.until("ack")["ok"] is False
        socket.send(CLOSE, b"\x03\xe8\xff\xff")
    assert closed[:3] == [1007, 1007, 1007] and closed[3:] == [4400, 4400]
    assert_quiet(hub)
    report(7, "WebSocket frames that are no text, no JSON or too deep", tried=7, held=len(closed) + 2)


def update(members: bytes) -> bytes:
    head = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"puppet-session","update":'
    return head + members + b"}}"


HIDDEN = "safe \u202egnihton\u202c \u2066x\u2069 \x1b[2J\x9b2J\x7f\u200b end"
ASKED = {"toolCall": {"toolCallId": "c", "title": HIDDEN, "kind": "execute", "rawInput": {"command": HIDDEN}},
         "options": [{"optionId": "y", "name": HIDDEN, "kind": "allow_once"},
                     {"optionId": "n", "name": "no", "kind": "reject_once"}]}
OBEYED = set(map(chr, (*range(9), 11, 12, *range(14, 32), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))))


def test_no_export_says_anything_to_a_terminal_or_shows_a_command_as_another(puppet: Session, report: Report) -> None:
    with puppet.send(json.dumps([["ask", "session/request_permission", ASKED], ["say", HIDDEN]])) as stream:
        asked = stream.until("approval_requested").value
        puppet.post(f"permissions/{asked['requestId']}", {"decision": "deny", "reason": HIDDEN})
        stream.rest()
    puppet.wire.ask("PATCH", puppet.path, {"title": HIDDEN}).expect(200)
    hub = puppet.hub
    outputs = [hub.command("audit", "export").stdout, hub.command("sessions").stdout,
               hub.command("sessions", "list", "--json").stdout, puppet.wire.ask("GET", f"{puppet.path}/export").body.decode()]
    assert ["nihton" in text for text in outputs] == [True] * 4, outputs
    lines = [json.loads(line) for line in outputs[0].splitlines()]
    assert any(line["event"].get("reason") == HIDDEN for line in lines), "an escape is the same text"
    held = sum(not set(text) & OBEYED for text in outputs)
    report(7, "control and bidi characters in exports and on the command line", tried=len(outputs), held=held)


def test_an_agent_that_sends_no_text_is_told_of_and_the_turn_goes_on(puppet: Session, report: Report) -> None:
    lines = [b'{"jsonrpc":"2.0","method":"session/update","params":{"a":"\xff"}}', b"\xff\xfe", DEEP,
             b'{"id":' + DIGITS.encode() + b"}",
             b'{"jsonrpc":"2.0","method":"x","params":{"n":1e400}}', b'{"jsonrpc":"2.0","id":"\\ud800","method":"x"}', b"\0\0\0",
             b'{"jsonrpc":"2.0","id":1,"id":2,"result":{},"result":null}', b"NaN", b"\xef\xbb\xbf{}", *map(update, (
                 b'{"sessionUpdate":"usage_update","used":%b,"size":2}' % (b"9" * 400),
                 b'{"sessionUpdate":"usage_update","used":1,"size":2,"cost":{"amount":1e308,"currency":"EUR"}}',
                 b'{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","rawInput":{"n":%b}}' % (b"9" * 4000)))]
    packets = puppet.say(json.dumps([*(["bytes", (line + b"\n").hex()] for line in lines), ["say", "still here"]]))
    held = text_of(packets) == "still here" and packets[-1]["type"] == "prompt_response"
    assert_quiet(puppet.hub)
    report(7, "lines of an agent that are no text, no JSON or too deep", tried=len(lines), held=len(lines) * held)
