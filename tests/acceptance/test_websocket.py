"""The WebSocket and the streams of events of a hub in its own process."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.tooling.hub_process import HubProcess, Session
from tests.tooling.processes import inside, resident_bytes
from tests.tooling.readers import Background
from tests.tooling.websocket import BINARY, TEXT, Closed, Refused, WebSocket
from tests.tooling.wire import Broken

NewHub = Callable[..., HubProcess]
MEGABYTE = 1 << 20


def dial(hub: HubProcess, path: str = "/ws", headers: dict[str, str] | None = None, **options: Any) -> WebSocket:
    """A WebSocket that nobody has greeted yet."""
    wire = hub.wire
    return WebSocket(wire.host, wire.port, path, headers, **options)


def connected(hub: HubProcess, token: str | None = None, **options: Any) -> WebSocket:
    """A WebSocket that was welcomed."""
    link = dial(hub, **options)
    welcome = link.hello(token or hub.token)
    assert welcome["type"] == "welcome", welcome
    return link


def history(session: Session) -> list[dict[str, Any]]:
    """Every event so far, by the page."""
    found: list[dict[str, Any]] = []
    after: int | None = 0
    while after is not None:
        page = session.wire.get(f"{session.path}/history?after={after}&limit=5000")
        found += page["events"]
        after = page["nextAfter"]
    return found


def follow(link: WebSocket, session: Session, after: int | None = 0) -> None:
    """Subscribe to one session under its own id."""
    link.say("subscribe", id=session.id, sessions=[session.id], **({} if after is None else {"after": after}))
    assert link.until("ack", id=session.id)["ok"]


def test_an_uninterrupted_client_and_one_that_is_killed_at_random_see_the_same(hub: HubProcess) -> None:
    session = hub.new_session()
    dice = random.Random(3)
    seen: list[dict[str, Any]] = []

    def read_in_pieces() -> None:
        while True:
            with connected(hub, wait_s=60) as link:
                follow(link, session, seen[-1]["seq"] if seen else 0)
                for _ in range(dice.choice((1, 2, 5, 40, 400))):
                    frame = link.hear()
                    if frame["type"] == "event":
                        seen.append(frame["event"])
                    if "the last thing" in json.dumps(frame):
                        return

    with Background(read_in_pieces):
        session.say("/burst 3000 30 4000", wait_s=60)
        session.wire.ask("PATCH", session.path, {"title": "the last thing"}).expect(200)
    whole = history(session)
    assert seen == whole
    with connected(hub) as link:
        follow(link, session)
        found: list[dict[str, Any]] = []
        while len(found) < len(whole):
            found.append(link.until("event")["event"])
        assert found == whole
    with session.wire.stream(f"{session.path}/events") as stream:
        assert [packet.value for _, packet in zip(whole, stream.expect(), strict=False)] == whole
    session.delete()


def test_a_restart_of_the_hub_changes_nothing_for_who_comes_back(new_hub: NewHub) -> None:
    hub = new_hub()
    session = hub.new_session()
    session.say("/burst 200 20")
    with connected(hub) as link:
        follow(link, session)
        found = [link.until("event")["event"] for _ in range(50)]
        link.say("subscribe", id="all", sessions="*", after=0)
        frame = link.until("event", subscription="all")
        pos, first = frame["pos"], frame["event"]
        hub.stop()
        with pytest.raises((Closed, Broken)) as caught:
            while True:
                link.hear()
        assert not isinstance(caught.value, Closed) or caught.value.code == 1012
    hub.start()
    with connected(hub) as link:
        follow(link, session, found[-1]["seq"])
        whole = history(session)
        while len(found) < len(whole):
            found.append(link.until("event")["event"])
        assert found == whole
        link.say("subscribe", id="all", sessions="*", after=pos)
        assert link.until("resumed", subscription="all")["seq"] == pos
        assert first == whole[0]
        assert link.until("event", subscription="all")["event"] == whole[1]


def test_a_client_that_stalls_does_not_grow_the_hub_and_gets_everything(new_hub: NewHub) -> None:
    hub = new_hub()
    session = hub.new_session()
    links = [connected(hub, receive_buffer=4096, wait_s=120) for _ in range(20)]
    for link in links:
        follow(link, session)
    before = resident_bytes(hub.pid)
    session.say("/burst 20000 200", wait_s=120)
    # Were it queued for them, it would be twenty times eight megabytes.
    assert resident_bytes(hub.pid) - before < 60 * MEGABYTE
    whole = history(session)
    slow = links[0]
    slow.allow(60)
    found: list[dict[str, Any]] = []
    while len(found) < len(whole):
        found.append(slow.until("event")["event"])
    assert found == whole
    for link in links:
        link.cut()
    session.delete()


def test_approvals_reach_every_client_and_are_answered_once(hub: HubProcess) -> None:
    session = hub.new_session()
    watching, bare = connected(hub), connected(hub)
    follow(watching, session)
    with session.send("/ask") as turn:
        request = watching.event("approval:requested")
        assert bare.event("approval:requested", requestId=request["requestId"])["sessionId"] == session.id
        with dial(hub) as late:
            pending = late.hello(hub.token)["pending"]
            assert [ask["approval"]["requestId"] for ask in pending if ask["sessionId"] == session.id] == [request["requestId"]]
        session.post(f"permissions/{request['requestId']}", {"decision": "deny"})
        turn.rest()
    for link in (watching, bare):
        assert link.event("approval:resolved")["requestId"] == request["requestId"]
        link.cut()
    session.delete()


def test_a_token_in_the_address_opens_nothing_and_tokens_and_frames_are_in_no_log(new_hub: NewHub) -> None:
    hub = new_hub("--log-level", "debug")
    for name in ("token", "access_token"):
        with pytest.raises(Refused) as caught:
            dial(hub, f"/ws?{name}={hub.token}")
        assert (caught.value.status, json.loads(caught.value.body)["code"]) == (400, "invalid")
    with connected(hub) as link:
        link.say("ping", id="a frame of ours")
        link.until("pong")
    log = hub.log_path.read_text()
    assert hub.token not in log
    assert "a frame of ours" not in log


def test_who_is_not_let_in(hub: HubProcess) -> None:
    for headers, status in (({"Origin": "http://evil.example"}, 403), ({"Host": "evil.example"}, 403),
                            ({"Authorization": "Bearer wrong"}, 401)):
        with pytest.raises(Refused) as caught:
            dial(hub, headers=headers)
        assert caught.value.status == status
    with pytest.raises(Refused) as caught:
        dial(hub, "/wsx")
    assert caught.value.status == 404
    with dial(hub) as link:
        assert link.hello("wrong")["error"]["code"] == "unauthorized"
        with pytest.raises(Closed) as closed:
            link.hear()
        assert closed.value.code == 4401


def test_who_says_nothing_for_five_seconds_is_let_go(hub: HubProcess) -> None:
    with dial(hub) as link, pytest.raises(Closed) as closed:
        link.hear()
    assert closed.value.code == 4408


def test_the_page_gets_in_with_its_cookie(hub: HubProcess) -> None:
    answer = hub.wire.as_nobody().ask("POST", "/auth/login", {"token": hub.token})
    path = answer.expect(200)["base"] + "/ws"
    cookie = answer.headers["set-cookie"].partition(";")[0]
    origin = f"http://{hub.wire.host}:{hub.wire.port}"
    with dial(hub, path, headers={"Cookie": cookie, "Origin": origin}) as link:
        assert link.hello(None)["type"] == "welcome"
    with dial(hub, path, headers={"Cookie": cookie}) as link:
        assert link.hello(None)["error"]["code"] == "unauthorized"


def test_messages_that_are_too_large_or_binary_end_the_connection(hub: HubProcess) -> None:
    with connected(hub) as link:
        link.send(BINARY, b"{}")
        with pytest.raises(Closed) as closed:
            link.hear()
        assert closed.value.code == 1003
    with connected(hub) as link:
        with pytest.raises((Closed, Broken, ConnectionError)) as ended:
            link.send(TEXT, b'{"type":"ping","id":"' + b"x" * (MEGABYTE + 1) + b'"}')
            link.hear()
        assert not isinstance(ended.value, Closed) or ended.value.code == 1009


def test_a_wish_for_websocket_elsewhere_is_ignored_and_nothing_is_loaded_for_it(new_hub: NewHub) -> None:
    hub = new_hub()

    def loaded() -> bool:
        maps = inside(hub.pid, "maps").read_text()
        return re.search(r"websockets/.*speedups", maps) is not None

    assert not loaded(), "before anybody asked for it"
    answer = hub.wire.ask("GET", "/healthz", headers={"Upgrade": "websocket", "Connection": "Upgrade"})
    assert answer.status == 200
    assert not loaded()
    with connected(hub):
        assert loaded()


def test_the_events_of_all_sessions_are_one_stream(hub: HubProcess) -> None:
    one = hub.new_session()
    with hub.wire.stream("/events", wait_s=30) as stream:
        two = hub.new_session()
        two.say("/echo here")
        seen = [stream.expect().until("session:started", where=lambda event: event["sessionId"] == two.id)]
        while seen[-1].value["seq"] < two.view()["lastSeq"] or seen[-1].value["sessionId"] != two.id:
            seen.append(next(stream))
    ids = [packet.id for packet in seen]
    assert ids == sorted(ids, key=lambda number: number or 0)
    assert [packet.value for packet in seen if packet.value["sessionId"] == two.id] == history(two)
    for session in (one, two):
        session.delete()
