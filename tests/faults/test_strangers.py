"""Rule 3: strangers cannot use up what friends need. Real sockets, many of them, all from this machine as behind a proxy.

Nothing here knows which server serves: whatever serves later has to keep it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tests.faults.conftest import Report
from tests.tooling.hub_process import HubProcess, end_of, with_open_files
from tests.tooling.processes import eventually
from tests.tooling.strangers import Pest, Strangers, talk
from tests.tooling.wire import Wire

NewHub = Callable[..., HubProcess]
COUNT = 2_100
ASKS = 40
HOST = "Host: localhost\r\n"
FLOODS = {
    "bodies of one byte": f"POST /auth/login HTTP/1.1\r\n{HOST}Content-Length: 100\r\n\r\n{{".encode(),
    "chunked bodies without end": f"POST /pair/claim HTTP/1.1\r\n{HOST}Transfer-Encoding: chunked\r\n\r\n1\r\n{{\r\n".encode(),
    "heads without end": f"GET /healthz HTTP/1.1\r\n{HOST}X-Slow: ".encode(),
    "connections that say nothing": b"",
    "answered and idle": f"GET /healthz HTTP/1.1\r\n{HOST}\r\n".encode(),
}
UPGRADE = (f"GET /ws HTTP/1.1\r\n{HOST}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
           "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n").encode()
PUBLIC = ("/", "/healthz", "/manifest.webmanifest")


def ask_as_friend(wire: Wire) -> None:
    """What a program with a token does."""
    assert wire.ask("GET", "/sessions").status == 200


def ask_as_person(wire: Wire) -> None:
    """What somebody does who is about to log in on the same machine."""
    nobody = wire.as_nobody()
    for path in PUBLIC:
        assert nobody.ask("GET", path).status == 200, path
    assert nobody.ask("POST", "/auth/login", {"token": wire.token}).status == 200


def timed(ask: Callable[[Wire], None], wire: Wire, times: int) -> tuple[int, float]:
    """How often it held, and the longest that it took, in milliseconds."""
    held, worst = 0, 0.0
    for _ in range(times):
        began = time.monotonic()
        try:
            ask(wire)
            held += 1
        except (AssertionError, OSError):
            continue
        finally:
            worst = max(worst, time.monotonic() - began)
    return held, worst * 1000


def flood(hub: HubProcess, said: bytes, count: int = COUNT) -> Strangers:
    """Strangers to a hub."""
    return Strangers(hub.wire.host, hub.wire.port, said, count)


@pytest.mark.parametrize("what", ["bodies of one byte", "heads without end"])
def test_strangers_who_hold_their_connections_shut_nobody_out(new_hub: NewHub, report: Report, what: str) -> None:
    hub = new_hub()
    session = hub.new_session()
    with session.attach() as stream, flood(hub, FLOODS[what]) as strangers:
        friends, worst = timed(ask_as_friend, hub.wire, ASKS)
        people, longest = timed(ask_as_person, hub.wire, ASKS // 4)
        assert strangers.held() <= 1_000, "half of all connections are kept for friends"
        session.say("/echo through the crowd")
        assert any("through the crowd" in packet.data.decode() for packet in stream if packet.type == "agent_message_chunk")
    report(3, f"{COUNT:,} strangers hold {what}: friends ask, people log in", tried=ASKS + ASKS // 4, held=friends + people,
           worst_ms=max(worst, longest))


@pytest.mark.slow
@pytest.mark.parametrize("what", [*FLOODS, "upgrades without a hello"])
def test_strangers_who_come_again_and_again_shut_nobody_out(new_hub: NewHub, report: Report, what: str) -> None:
    hub = new_hub()
    with flood(hub, FLOODS.get(what, UPGRADE)) as strangers, Pest(strangers) as pest:
        friends, worst = timed(ask_as_friend, hub.wire, ASKS * 2)
        people, longest = timed(ask_as_person, hub.wire, ASKS // 2)
    assert pest.came_again > 0, "nobody was ever dropped"
    report(3, f"{COUNT:,} strangers hold {what}, and come again when dropped", tried=ASKS * 2 + ASKS // 2, held=friends + people,
           worst_ms=max(worst, longest))


@pytest.mark.slow
def test_what_strangers_do_not_finish_is_ended_in_time(new_hub: NewHub, report: Report) -> None:
    hub = new_hub()
    crowds = {what: flood(hub, said, 20) for what, said in {**FLOODS, "upgrades without a hello": UPGRADE}.items()}
    began = time.monotonic()
    for crowd in crowds.values():
        crowd.__enter__()
    try:
        eventually(lambda: not any(crowd.held() for crowd in crowds.values()), "every stranger is sent away", 40)
        took = time.monotonic() - began
        tried = sum(len(crowd) for crowd in crowds.values())
        report(3, "requests that strangers do not finish", tried=tried, held=tried, worst_ms=took * 1000)
    finally:
        for crowd in crowds.values():
            crowd.__exit__(None, None, None)


@pytest.mark.slow
def test_a_stranger_that_sends_a_body_drop_by_drop_is_told_that_it_is_too_slow(new_hub: NewHub) -> None:
    hub = new_hub()
    answered = talk(hub.wire.host, hub.wire.port, FLOODS["bodies of one byte"], within_s=40)
    assert answered.startswith(b"HTTP/1.1 408") and b'"code":"too_slow"' in answered


def test_a_hub_with_few_descriptors_keeps_enough_for_its_agents(new_hub: NewHub, report: Report) -> None:
    hub = new_hub(before=with_open_files(256))
    with flood(hub, FLOODS["bodies of one byte"], 600):
        friends, worst = timed(ask_as_friend, hub.wire, ASKS)
        session = hub.new_session()
        assert end_of(session.say("/echo hello"))["type"] == "prompt_response"
    report(3, "600 strangers at a hub with 256 descriptors: friends ask, an agent is started", tried=ASKS + 1, held=friends + 1,
           worst_ms=worst)


def test_of_a_hundred_wrong_tokens_at_once_ten_are_tried(new_hub: NewHub, report: Report) -> None:
    hub = new_hub()
    body = b'{"token":"a guess"}'
    head = f"POST /auth/login HTTP/1.1\r\n{HOST}Connection: close\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with flood(hub, head + body[:-1], 100) as guesses:
        assert hub.wire.ask("GET", "/sessions").status == 200, "every head has been read"
        answers = guesses.answers(body[-1:])
    tried = sum(answer.startswith(b"HTTP/1.1 401") for answer in answers)
    assert sum(answer.startswith(b"HTTP/1.1 429") for answer in answers) == 100 - tried
    assert hub.wire.as_nobody().ask("POST", "/auth/login", {"token": hub.token}).status == 200, "the owner is not locked out"
    report(3, "100 wrong tokens at once: beyond the tenth not tried", tried=90, held=min(90, 100 - tried))
