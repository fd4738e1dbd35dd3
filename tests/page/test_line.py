"""The line to the hub: whatever happens to it, what the page shows is what the journal says, character by character."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import MakePerson
from tests.page.journal import history, tell, texts, wait_until_idle
from tests.page.person import Person, shows, until
from tests.tooling.hub_process import HubProcess, Session
from tests.tooling.processes import eventually
from tests.tooling.proxy import Proxy

CHUNK = 40
"""Characters of a chunk of the demo's burst: a number and letters, with no space and no markup, so that it is shown as it is."""


def shown(page: Page) -> str:
    """The runs of numbered chunks that the page shows, in their order."""
    text = str(page.get_by_role("main").evaluate("main => main.textContent"))
    return "".join(re.findall(r"(?:\d{8}x{32})+", text))


def wait_for_text(page: Page, wanted: str) -> None:
    """Until the page shows exactly this, and nothing of it twice."""
    shows(page, wanted[-CHUNK:], 60)
    eventually(lambda: shown(page) == wanted, "the page shows what the journal says")


def begin_burst(hub: HubProcess, chunks: int, rate: int) -> Session:
    """A session whose agent is in the middle of a long text."""
    session = hub.new_session("fast")
    tell(session, f"/burst {chunks} {CHUNK} {rate}")
    eventually(lambda: len("".join(texts(session))) > 10 * CHUNK, "the text has begun")
    return session


def test_a_reload_in_the_middle_of_a_turn_loses_nothing_and_doubles_nothing(hub: HubProcess, anybody: Person) -> None:
    session = begin_burst(hub, 6000, 300)
    page = anybody.log_in(hub, f"#/s/{session.id}")
    for _ in range(3):
        before = len(shown(page))
        until(page, "size => document.querySelector('main').textContent.length > size + 400", before)
        page.reload()
        expect(page.get_by_role("main")).to_be_visible()
    assert session.view()["turn"] is not None, "the reloads were in the middle of the turn"
    wait_until_idle(session)
    wait_for_text(page, "".join(texts(session)))


def test_markdown_is_the_same_live_and_after_a_reload(hub: HubProcess, make_person: MakePerson) -> None:
    page = make_person(hub.url).log_in(hub)
    session = hub.new_session("puppet")
    page.evaluate("path => { location.hash = path }", f"#/s/{session.id}")
    text = (Path(__file__).parents[2] / "docs" / "quickstart.md").read_text()[:6000]
    pieces = [text[start:start + 7] for start in range(0, len(text), 7)]
    tell(session, json.dumps([["say", piece] for piece in pieces]))
    wait_until_idle(session)
    assert "".join(texts(session)) == text
    expect(page.locator(".session-head").get_by_text("Ready", exact=True)).to_be_visible()  # the page has heard all of it, too
    message = page.get_by_role("article", name=re.compile("puppet|Agent|said", re.I)).last
    live = message.evaluate("message => message.innerText")
    page.reload()
    expect(message).to_be_visible()
    eventually(lambda: message.evaluate("message => message.innerText") == live, "it reads the same after a reload")


def test_a_hub_that_is_killed_and_started_again_goes_on_where_the_page_was(own_hub: HubProcess, make_person: MakePerson) -> None:
    person = make_person(own_hub.url)
    session = begin_burst(own_hub, 2000, 200)
    page = person.log_in(own_hub, f"#/s/{session.id}")
    shows(page, "00000020x")
    with person.losing_the_network():
        own_hub.kill()
        expect(page.get_by_role("status").filter(has_text=re.compile("Offline|Connecting"))).to_be_visible()
        own_hub.start()
        expect(page.get_by_role("status").filter(has_text="Connected")).to_be_visible(timeout=40_000)
    wait_until_idle(session)
    wait_for_text(page, "".join(texts(session)))
    tell(session, "/echo And on it goes.")
    expect(page.get_by_text("And on it goes.", exact=True)).to_be_visible()


@pytest.mark.parametrize("view", ["#/", "#/approvals", "#/policy", "session"])
def test_ctrl_c_on_a_hub_with_an_open_page_ends_it_without_a_traceback(
        own_hub: HubProcess, make_person: MakePerson, view: str) -> None:
    person = make_person(own_hub.url)
    session = begin_burst(own_hub, 20_000, 200)
    page = person.log_in(own_hub, f"#/s/{session.id}" if view == "session" else view)
    answers: list[int] = []
    page.on("response", lambda answer: answers.append(answer.status))
    person.rest()
    person.expect_loss()
    assert own_hub.stop(signal.SIGINT) == 0
    expect(page.get_by_role("status").filter(has_text=re.compile("Offline|Connecting"))).to_be_visible()
    assert 500 not in answers
    log = own_hub.log_path.read_text()
    assert not re.search("Traceback|ERROR|WARNING", log), log


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_network_that_goes_wrong_at_random_garbles_nothing(hub: HubProcess, make_person: MakePerson, seed: int) -> None:
    port = int(hub.url.rpartition(":")[2])
    with Proxy(port) as proxy:
        person = make_person(proxy.url)
        session = begin_burst(hub, 3000, 250)
        page = person.log_in(hub, f"#/s/{session.id}")
        expect(page.get_by_role("status").filter(has_text="Connected")).to_be_visible()  # a link that logs in works once
        with person.losing_the_network("worker-src"):  # a policy that is cut off in the middle allows less
            proxy.trouble(seed, between=(3_000, 60_000))
            proxy.cut()
            wait_until_idle(session, 60)
            eventually(lambda: sum(proxy.faults.values()) >= 3, f"things went wrong: {proxy.faults}", 60)
            proxy.calm()
            expect(page.get_by_role("status").filter(has_text="Connected")).to_be_visible(timeout=60_000)
            wait_for_text(page, "".join(texts(session)))


def test_a_connection_that_stalls_is_seen_and_taken_up_again(hub: HubProcess, make_person: MakePerson) -> None:
    with Proxy(int(hub.url.rpartition(":")[2])) as proxy:
        person = make_person(proxy.url)
        session = begin_burst(hub, 1000, 200)
        page = person.log_in(hub, f"#/s/{session.id}")
        shows(page, "00000050x")
        with person.losing_the_network():
            proxy.stall()
            wait_until_idle(session)
            proxy.half_close()
            proxy.flow()
            wait_for_text(page, "".join(texts(session)))
            person.leave()  # it may be on its way to the proxy once more, which ends here


def offline_for_a_while(person: Person, hub: HubProcess, wait: Callable[[Page], None]) -> None:
    """Somebody whose network goes, while the agent goes on; who sends something meanwhile, and comes back after a while."""
    session = hub.new_session("fast")
    page = person.log_in(hub, f"#/s/{session.id}")
    box = page.get_by_role("textbox", name="Message to the agent")
    expect(box).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="Connected")).to_be_visible()
    with person.losing_the_network():
        person.context.set_offline(True)
        expect(page.get_by_role("status").filter(has_text="Offline")).to_be_visible(timeout=40_000)
        tell(session, f"/burst 50 {CHUNK}")
        wait_until_idle(session)
        box.fill("/echo said while offline")
        page.get_by_role("button", name=re.compile("^(Send|Queue)$")).click()
        wait(page)
        expect(page.get_by_text(re.compile("1 unsent|Waits for the connection")).first).to_be_visible()
        expect(page.get_by_role("status").filter(has_text="Offline")).to_be_visible()
        assert texts(session, "user") == [f"/burst 50 {CHUNK}"]
        person.context.set_offline(False)
        wait(page)
        expect(page.get_by_role("status").filter(has_text="Connected")).to_be_visible(timeout=40_000)
    expect(page.get_by_text("said while offline", exact=True)).to_be_visible()
    wait_until_idle(session)
    assert texts(session, "user") == [f"/burst 50 {CHUNK}", "/echo said while offline"]
    assert shown(page) == texts(session)[0]


def test_what_is_sent_offline_is_queued_and_the_page_catches_up(hub: HubProcess, make_person: MakePerson) -> None:
    """The minute is one of the page's own clock: what it waits for, it waits for; the hub hears of seconds."""
    person = make_person(hub.url, alone=True)
    person.page.clock.install()
    offline_for_a_while(person, hub, lambda page: page.clock.run_for(60_000))


@pytest.mark.slow
def test_an_offline_minute_queues_what_is_sent_and_catches_up(hub: HubProcess, make_person: MakePerson) -> None:
    """The minute is a real one, for the hub too: it has given the connection up long before the page comes back."""
    left = iter([61_000, 0])
    offline_for_a_while(make_person(hub.url), hub, lambda page: page.wait_for_timeout(next(left)))


def test_nothing_is_shown_twice_when_many_watch_and_come_back(hub: HubProcess, make_person: MakePerson) -> None:
    with Proxy(int(hub.url.rpartition(":")[2])) as proxy:
        people = [make_person(proxy.url), make_person(proxy.url, "phone")]
        session = begin_burst(hub, 600, 200)
        pages = [person.log_in(hub, f"#/s/{session.id}") for person in people]
        for number in range(4):
            mark = f"{100 * number + 60:08d}x"
            for page in pages:
                shows(page, mark)
            for person in people:
                person.expect_loss()
            proxy.cut()
        wait_until_idle(session)
        told = "".join(texts(session))
        for page in pages:
            wait_for_text(page, told)
    assert [event["seq"] for event in history(session)] == list(range(1, len(history(session)) + 1))
