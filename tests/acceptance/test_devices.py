"""A phone is paired, told of an approval by push, answers it, and is locked out: over HTTP, WebSockets and the command line."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.cookies import SimpleCookie
from typing import Any

import pytest

from tests.tooling.hub_process import HubProcess
from tests.tooling.processes import eventually
from tests.tooling.push_service import Browser, PushService
from tests.tooling.websocket import Closed, WebSocket
from tests.tooling.wire import Broken, Wire

NewHub = Callable[..., HubProcess]
LOOPBACK = "--push-allow=127.0.0.0/8"


class Device:
    """A browser that was paired: what it sends goes with its cookie, as from the hub's own page."""

    def __init__(self, hub: HubProcess, code: str, name: str = "phone") -> None:
        self.wire: Wire = hub.wire.as_nobody()
        self.origin = {"Origin": hub.url}
        answer = self.wire.ask("POST", "/pair/claim", {"code": code, "name": name}, self.origin)
        self.id, self.base = answer.expect(201)["deviceId"], answer.json()["base"]
        (jar,) = SimpleCookie(answer.headers["set-cookie"]).values()
        self.headers = {"Cookie": f"{jar.key}={jar.value}", "Sec-Fetch-Site": "same-origin", **self.origin}

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """One request of the page."""
        return self.wire.ask(method, self.base + path, body, self.headers)


def paired(hub: HubProcess, **wanted: Any) -> Device:
    return Device(hub, hub.wire.post("/pair", wanted, 201)["code"])


def test_a_phone_is_told_of_an_approval_answers_it_and_others_are_told_that_it_did(new_hub: NewHub) -> None:
    hub = new_hub(LOOPBACK)
    with PushService() as service:
        phone, tablet = paired(hub, scope="approve"), paired(hub, scope="view")
        browsers = {}
        for device, name in ((phone, "phone"), (tablet, "tablet")):
            key = device.ask("GET", "/push").expect(200)["publicKey"]
            browsers[name] = Browser(service, name)
            body = {**browsers[name].subscription(), "kinds": ["approval"]}
            device.ask("POST", "/push", body).expect(201)
        session = hub.new_session(title="Mend the roof")
        session.post("send-message", {"content": "/ask"}, 202)
        came = {pushed.path: pushed for pushed in (service.next(), service.next())}
        told = browsers["phone"].read(came["/push/phone"], key)
        assert (told["kind"], told["title"], told["sessionId"]) == ("approval", "Mend the roof", session.id)
        assert told["actions"] == ["approve", "deny"]
        assert "actions" not in browsers["tablet"].read(came["/push/tablet"], key)
        path = f"{session.path}/permissions/{told['requestId']}"
        assert tablet.ask("POST", path, {"decision": "allow"}).status == 403
        phone.ask("POST", path, {"decision": "allow"}).expect(200)
        closed = browsers["tablet"].read(service.next(), key)
        assert (closed["kind"], closed["tag"]) == ("resolved", told["tag"])
        resolved = hub.wire.get(f"{session.path}/history?types=approval:resolved")["events"]
        assert [event["_meta"]["by"] for event in resolved] == [f"phone ({phone.id})"]


def test_subscriptions_and_devices_outlast_a_restart(new_hub: NewHub) -> None:
    hub = new_hub(LOOPBACK)
    with PushService() as service:
        device = paired(hub, scope="control")
        key = device.ask("GET", "/push").expect(200)["publicKey"]
        browser = Browser(service)
        device.ask("POST", "/push", {**browser.subscription(), "kinds": ["finished"]}).expect(201)
        hub.restart()
        assert device.ask("GET", "/push").expect(200)["publicKey"] == key
        session = hub.new_session()
        session.say("/echo still here")
        told = browser.read(service.next(), key)
        assert (told["kind"], told["body"]) == ("finished", "still here")


@pytest.mark.parametrize("crash", [False, True])
def test_what_a_stopping_hub_left_unanswered_is_taken_back_by_the_next(new_hub: NewHub, crash: bool) -> None:
    hub = new_hub(LOOPBACK)
    with PushService() as service:
        device = paired(hub, scope="approve")
        key = device.ask("GET", "/push").expect(200)["publicKey"]
        browser = Browser(service)
        device.ask("POST", "/push", {**browser.subscription(), "kinds": ["approval"]}).expect(201)
        hub.new_session().post("send-message", {"content": "/ask"}, 202)
        told = browser.read(service.next(), key)
        if crash:
            hub.kill()
            hub.start()
        else:
            hub.restart()
        taken_back = browser.read(service.next(), key)
        assert (taken_back["kind"], taken_back["tag"]) == ("resolved", told["tag"])


def test_a_revoked_device_is_cut_off_in_the_middle_and_stays_out(new_hub: NewHub) -> None:
    hub = new_hub()
    session = hub.new_session()
    device = paired(hub)
    headers = {**device.headers, "Accept": "text/event-stream"}
    with device.wire.connect("GET", f"{device.base}{session.path}/events", None, headers) as stream:
        with WebSocket(hub.wire.host, hub.wire.port, f"{device.base}/ws", device.headers) as socket:
            socket.say("hello", versions=["1.0.0"])
            assert socket.hear()["type"] == "welcome"
            eventually(lambda: hub.wire.get("/devices")["devices"][0]["connected"], "the device is connected")
            hub.wire.ask("DELETE", f"/devices/{device.id}").expect(204)
            with pytest.raises(Closed) as closed:
                while True:
                    socket.hear()
            assert closed.value.code == 4401
        stream.read_all()
    assert device.ask("GET", "/sessions").status == 401
    with WebSocket(hub.wire.host, hub.wire.port, f"{device.base}/ws", device.headers) as socket:
        socket.say("hello", versions=["1.0.0"])
        with pytest.raises(Closed):
            while True:
                socket.hear()


def test_a_code_that_many_claim_at_the_same_time_lets_one_in(new_hub: NewHub) -> None:
    hub = new_hub()
    code = hub.wire.post("/pair", {}, 201)["code"]
    statuses: list[int] = []

    def claim() -> None:
        try:
            statuses.append(hub.wire.as_nobody().ask("POST", "/pair/claim", {"code": code}).status)
        except Broken:
            statuses.append(0)

    threads = [threading.Thread(target=claim) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [201, 401, 401, 401, 401]
    assert len(hub.wire.get("/devices")["devices"]) == 1


def test_devices_on_the_command_line(new_hub: NewHub) -> None:
    hub = new_hub()
    made = hub.command("pair", "--scope", "view", "--name", "Kitchen", "--json")
    assert made.returncode == 0, made.stderr
    pairing = json.loads(made.stdout)
    assert pairing["url"] == f"{hub.url}/#/pair/{pairing['code']}"
    plain = hub.command("pair")
    assert "/#/pair/" in plain.stdout and "Only this machine" in plain.stderr
    answer = hub.wire.as_nobody().ask("POST", "/pair/claim", {"code": pairing["code"]})
    device = answer.expect(201)["deviceId"]
    listed = hub.command("devices")
    assert device in listed.stdout and "Kitchen" in listed.stdout
    assert hub.command("devices", "revoke", "Cellar").returncode != 0
    assert hub.command("devices", "revoke", "Kitchen").stdout == f"revoked Kitchen ({device})\n"
    assert json.loads(hub.command("devices", "list", "--json").stdout) == []
