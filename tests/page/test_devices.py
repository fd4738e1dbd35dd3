"""Devices: a phone is paired by a code, is told by Web Push, and is out at once when it is revoked.

The browser's own ``PushManager`` is the one thing that is stood in for: a headless Chromium has no push service to subscribe at.
The subscription that it gives is a real one, of a push service on loopback; what the hub sends there is decrypted, and handed to
the page's real service worker.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import MakePerson, free_port
from tests.page.journal import history, tell, wait_until_idle
from tests.page.person import Person
from tests.tooling.hub_process import HubProcess
from tests.tooling.processes import eventually
from tests.tooling.push_service import Browser, PushService

CONTROL = "watch, approve and steer"
ALWAYS = "It can choose “Always” on an approval, which adds a rule."

STAND_IN = """
given => {
  const bytes = text => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), each => each.charCodeAt(0));
  const subscription = {
    endpoint: given.endpoint, expirationTime: null, options: {userVisibleOnly: true},
    getKey: name => bytes(given.keys[name]).buffer,
    toJSON: () => given,
    unsubscribe: async () => { localStorage.removeItem('stand-in'); return true; },
  };
  PushManager.prototype.subscribe = async options => {
    localStorage.setItem('stand-in', new Uint8Array(options.applicationServerKey).length);
    return subscription;
  };
  PushManager.prototype.getSubscription = async () => localStorage.getItem('stand-in') ? subscription : null;
}
"""


@pytest.fixture
def pushing(tmp_path: Path) -> Iterator[HubProcess]:
    """A hub that may push to loopback."""
    with HubProcess(tmp_path / "hub", "--push-allow", "127.0.0.0/8", port=free_port()) as started:
        yield started


def pair(desk: Page, scope: str = CONTROL) -> str:
    """Show a code on the desk's page; returns the address that a phone scans."""
    desk.get_by_label("The phone may").select_option(label=scope)
    expect(desk.get_by_text("“Always”")).to_be_visible()
    desk.get_by_role("button", name="Show the code").click()
    expect(desk.get_by_role("img", name="QR code that pairs a phone")).to_be_visible()
    shown = desk.get_by_text(re.compile(r"https?://\S+#/pair/[\w-]+")).first.inner_text()
    found = re.search(r"https?://\S+#/pair/[\w-]+", shown)
    assert found, shown
    return found.group()


def paired_phone(hub: HubProcess, make_person: MakePerson, desk: Page, name: str) -> Person:
    """Somebody with a phone that was paired from the desk."""
    address = pair(desk)
    phone = make_person(hub.url, "phone")
    phone.page.goto(address)
    phone.page.get_by_label("Name of this device").fill(name)
    phone.page.get_by_role("button", name="Pair this device").click()
    expect(phone.page.get_by_role("status").filter(has_text="Connected")).to_be_visible()
    phone.page.get_by_role("button", name="To the sessions").click()
    return phone


def test_a_phone_is_paired_by_a_code_that_is_consumed_at_once(own_hub: HubProcess, make_person: MakePerson) -> None:
    desk = make_person(own_hub.url).log_in(own_hub, "#/devices")
    address = pair(desk)
    phone = make_person(own_hub.url, "phone")
    phone.page.goto(address)
    expect(phone.page.get_by_label("Name of this device")).to_be_visible()
    assert "pair/" not in phone.page.url
    phone.page.get_by_label("Name of this device").fill("Ada's phone")
    phone.page.get_by_role("button", name="Pair this device").click()
    expect(desk.get_by_text("Paired: Ada's phone")).to_be_visible()
    expect(desk.get_by_role("listitem").filter(has_text="Ada's phone")).to_be_visible()
    expect(phone.page.get_by_role("status").filter(has_text="Connected")).to_be_visible()
    expect(phone.page.get_by_role("heading", name="This device is paired")).to_be_visible()
    expect(phone.page.get_by_text(f"It may {CONTROL}. {ALWAYS}")).to_be_visible()
    phone.page.get_by_role("link", name="Approvals").click()
    expect(phone.page.get_by_role("heading", name="Approvals")).to_be_visible()
    assert phone.page.locator(".ui-toast").count() == 0, "nothing lies over the heading"
    assert [view["name"] for view in own_hub.wire.get("/devices")["devices"]] == ["Ada's phone"]
    second = make_person(own_hub.url, "phone")
    with second.losing_the_network(expected="status of 401"):
        second.page.goto(address)
        second.page.get_by_label("Name of this device").fill("Eve")
        second.page.get_by_role("button", name="Pair this device").click()
        expect(second.page.get_by_text("could not be paired")).to_be_visible()


def test_the_licences_of_the_page_are_a_click_away(own_hub: HubProcess, make_person: MakePerson) -> None:
    person = make_person(own_hub.url)
    page = person.log_in(own_hub, "#/devices")
    with person.context.expect_page() as opened:
        page.get_by_role("link", name=re.compile("^Licences")).click()
    expect(opened.value.get_by_text("preact").first).to_be_visible()


def test_a_revoked_device_is_locked_out_at_once(own_hub: HubProcess, make_person: MakePerson) -> None:
    desk = make_person(own_hub.url).log_in(own_hub, "#/devices")
    phone = paired_phone(own_hub, make_person, desk, "Lost phone")
    session = own_hub.new_session("fast", title="Secret plans")
    tell(session, "/echo a secret")
    wait_until_idle(session)
    phone.go("#/")
    expect(phone.page.get_by_text("Secret plans").first).to_be_visible()
    with phone.losing_the_network(expected="status of 401"):
        desk.get_by_role("listitem").filter(has_text="Lost phone").get_by_role("button", name=re.compile("Revoke")).click()
        desk.get_by_role("dialog").get_by_role("button", name="Revoke").click()
        expect(phone.page.get_by_role("status").filter(has_text="Not logged in")).to_be_visible()
        expect(phone.page.get_by_text("Secret plans")).to_have_count(0)
        phone.page.reload()
        expect(phone.page.get_by_role("status").filter(has_text="Not logged in")).to_be_visible()
    expect(desk.get_by_role("listitem").filter(has_text="Lost phone")).to_have_count(0)


def turn_push_on(person: Person, hub: HubProcess, subscribed: Browser) -> Page:
    """Subscribe this browser at the push service."""
    person.context.grant_permissions(["notifications"], origin=hub.url)
    person.page.add_init_script(f"({STAND_IN})({json.dumps(subscribed.subscription())})")
    page = person.log_in(hub, "#/devices")
    page.get_by_role("button", name="Turn on notifications").click()
    expect(page.get_by_text("This device is notified.")).to_be_visible()
    return page


def notifications(page: Page) -> list[dict[str, object]]:
    """What the page's service worker shows now."""
    shown: list[dict[str, object]] = page.evaluate("""async () => {
      const worker = await navigator.serviceWorker.ready;
      const shown = await worker.getNotifications();
      return shown.map(({title, body, tag, actions}) => ({title, body, tag, actions: actions.map(each => each.action)}));
    }""")
    return shown


NOTE_SHOWN = """() => {
  self.shownSoFar = [];
  self.registration.showNotification = (title, options) =>
    ServiceWorkerRegistration.prototype.showNotification.call(self.registration, title, options).then(() => {
      self.shownSoFar.push({title, body: options.body, tag: options.tag, silent: options.silent});
    });
}"""


def deliver(person: Person, page: Page, hub: HubProcess, *messages: Mapping[str, object]) -> list[dict[str, object]]:
    """Hand pushes to the page's service worker, as the browser would, and wait until it has shown each; returns what it showed.

    It is noted in the worker: Chromium forgets what is being shown while somebody asks for the list."""
    tools = person.context.new_cdp_session(page)
    found: list[str] = []
    tools.on("ServiceWorker.workerRegistrationUpdated", lambda told: found.extend(
        each["registrationId"] for each in told["registrations"]
        if not each["isDeleted"] and each["scopeURL"].startswith(hub.url)))
    page.evaluate("navigator.serviceWorker.ready.then(() => null)")
    tools.send("ServiceWorker.enable")
    eventually(lambda: page.evaluate("1") and found, "the browser tells of its service worker")
    worker = next(each for each in person.context.service_workers if each.url.startswith(hub.url))
    worker.evaluate(NOTE_SHOWN)
    for message in messages:
        tools.send("ServiceWorker.deliverPushMessage",
                   {"origin": hub.url, "registrationId": found[0], "data": json.dumps(message)})
    eventually(lambda: worker.evaluate("self.shownSoFar.length") == len(messages), "the worker has shown every push")
    tools.detach()
    return list(worker.evaluate("self.shownSoFar"))


def test_an_approval_is_pushed_encrypted_and_shown_by_the_service_worker(pushing: HubProcess, make_person: MakePerson) -> None:
    with PushService() as service:
        person, subscribed = make_person(pushing.url, alone=True), Browser(service)
        page = turn_push_on(person, pushing, subscribed)
        session = pushing.new_session("fast", title="Needs me")
        tell(session, "/ask")
        pushed = service.next()
        assert int(pushed.headers["ttl"]) > 0 and b"Needs me" not in pushed.body
        said = subscribed.read(pushed, pushing.wire.get("/push")["publicKey"])
        assert said["kind"] == "approval" and said["sessionId"] == session.id
        deliver(person, page, pushing, said)
        shown = notifications(page)[0]
        assert "Needs me" in json.dumps(shown) and shown["actions"] == ["approve", "deny"]


def test_each_push_shows_something_also_the_one_that_tells_that_an_ask_was_answered(pushing: HubProcess,
                                                                                      make_person: MakePerson) -> None:
    with PushService() as service:
        person, subscribed = make_person(pushing.url), Browser(service)
        page = turn_push_on(person, pushing, subscribed)
        key = pushing.wire.get("/push")["publicKey"]
        session = pushing.new_session("fast", title="Needs somebody")
        tell(session, "/ask")
        asked = subscribed.read(service.next(), key)
        session.post(f"permissions/{asked['requestId']}", {"decision": "deny"})
        ended = next(said for said in iter(lambda: subscribed.read(service.next(), key), None) if said["kind"] == "resolved")
        deliver(person, page, pushing, asked)
        assert deliver(person, page, pushing, ended) == [
            {"title": "Needs somebody", "body": "Denied by you (terminal)", "tag": asked["tag"], "silent": True}]
        eventually(lambda: not [each for each in notifications(page) if each["actions"]], "nothing can be answered any more")


def test_turning_notifications_off_and_an_ended_subscription_end_the_pushes(pushing: HubProcess, make_person: MakePerson) -> None:
    with PushService() as service:
        subscribed = Browser(service)
        page = turn_push_on(make_person(pushing.url, alone=True), pushing, subscribed)
        key = pushing.wire.get("/push")["publicKey"]
        session = pushing.new_session("fast")
        tell(session, "/echo done")
        assert subscribed.read(service.next(), key)["kind"] == "finished"
        page.get_by_role("button", name="Turn off").click()
        expect(page.get_by_role("button", name="Turn on notifications")).to_be_visible()
        tell(session, "/echo again")
        wait_until_idle(session)
        page.get_by_role("button", name="Turn on notifications").click()
        expect(page.get_by_text("This device is notified.")).to_be_visible()
        service.answers = [410]
        tell(session, "/echo a third time")
        assert "a third time" in json.dumps(subscribed.read(service.next(), key)), "what was said while it was off was not pushed"
        eventually(lambda: not json.loads((pushing.data / "push.json").read_text())["subscriptions"], "the hub forgets it")
        page.reload()
        expect(page.get_by_role("button", name="Turn on notifications")).to_be_visible()


def test_deciding_from_a_notification_needs_the_devices_own_login(pushing: HubProcess, make_person: MakePerson) -> None:
    with PushService() as service:
        person, subscribed = make_person(pushing.url, alone=True), Browser(service)
        page = turn_push_on(person, pushing, subscribed)
        session = pushing.new_session("fast", title="From afar")
        tell(session, "/ask")
        said = subscribed.read(service.next(), pushing.wire.get("/push")["publicKey"])
        request_id = session.view()["pendingApprovals"][0]["requestId"]
        outside = pushing.wire.as_nobody().ask("POST", f"{session.path}/permissions/{request_id}", {"decision": "allow"})
        assert outside.status == 401
        deliver(person, page, pushing, said)
        person.context.service_workers[0].evaluate("""async () => {
          const [notification] = await self.registration.getNotifications();
          self.dispatchEvent(new NotificationEvent('notificationclick', {notification, action: 'approve'}));
        }""")
        wait_until_idle(session)
        decided = next(event for event in history(session) if event["type"] == "approval:resolved")
        assert decided["approved"] and decided["resolvedBy"] == "user"


def test_without_https_the_page_says_what_is_missing_and_works(clear_hub: HubProcess, make_person: MakePerson) -> None:
    person = make_person(clear_hub.url)
    person.page.add_init_script("Object.defineProperty(window, 'isSecureContext', {value: false});"
                                   "delete Navigator.prototype.serviceWorker; delete Navigator.prototype.clipboard;")
    page = person.log_in(clear_hub, "#/devices")
    expect(page.get_by_text(re.compile("need HTTPS or localhost"))).to_be_visible()
    session = clear_hub.new_session("fast")
    person.go(f"#/s/{session.id}")
    page.get_by_role("textbox", name="Message to the agent").fill("/echo it works")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("it works", exact=True)).to_be_visible()
