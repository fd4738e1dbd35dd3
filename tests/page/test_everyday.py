"""Small things of every day: names that are there at once, words that are true, nothing in the way of what one presses."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from tests.page.conftest import MakePerson
from tests.page.journal import puppet_says, tell, wait_until_idle
from tests.page.test_approvals import ask
from tests.page.test_following import composer
from tests.tooling.hub_process import HubProcess
from tests.tooling.processes import eventually


def test_a_session_without_a_title_is_called_after_its_first_message_at_once(
        clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = clear_hub.new_session("fast")
    page = make_person(clear_hub.url).log_in(clear_hub, f"#/s/{session.id}")
    expect(page.get_by_role("heading", name="Untitled session")).to_be_visible()
    composer(page).fill("/echo Count the herons")
    page.get_by_role("button", name="Send", exact=True).click()
    wait_until_idle(session)
    expect(page.get_by_role("heading", name=session.view()["title"], level=1)).to_be_visible()


def test_who_wrote_a_message_here_is_called_you(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = ask(clear_hub, "By whom")
    page = make_person(clear_hub.url).log_in(clear_hub, f"#/s/{session.id}")
    page.get_by_role("button", name="Approve", exact=True).click()
    wait_until_idle(session)
    composer(page).fill("/echo hello")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("article", name="You said")).to_be_visible()
    wait_until_idle(session)
    page.reload()
    page.get_by_role("button", name="bash echo permission 1 was given: Done").click()
    expect(page.get_by_text("Approved by you")).to_be_visible()


def test_the_home_of_a_session_that_talks_never_says_that_nothing_was_said(
        clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = clear_hub.new_session("puppet", title="Talks")
    tell(session, json.dumps([["say", "many words"], ["wait"]]))
    page = make_person(clear_hub.url).log_in(clear_hub)
    expect(page.get_by_role("link", name="Talks")).to_be_visible()
    eventually(lambda: session.view()["turn"], "it talks")
    expect(page.get_by_role("main")).not_to_contain_text("Nothing said yet")


def test_no_search_hides_what_waits_and_each_session_is_found_once(clear_hub: HubProcess, make_person: MakePerson) -> None:
    ask(clear_hub, "Asks something")
    often = clear_hub.new_session("puppet", title="About birds")
    puppet_says(often, [["say", "A zyzzyva is a weevil."]])
    puppet_says(often, [["say", "Another zyzzyva."]])
    page = make_person(clear_hub.url).log_in(clear_hub)
    page.get_by_role("searchbox", name="Search sessions").fill("zyzzyva")
    hits = page.get_by_role("region", name=re.compile("passage|result|found", re.IGNORECASE))
    expect(hits.locator("mark").nth(1)).to_be_visible()
    expect(hits.get_by_role("link", name="About birds", exact=True)).to_have_count(1)
    waiting = page.get_by_role("region", name=re.compile("^Waiting for you"))
    expect(waiting.get_by_role("link", name="Asks something")).to_be_visible()
    hits.get_by_role("link").last.click()
    expect(page).to_have_url(re.compile(f"#/s/{often.id}/e/"))


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_a_pause_says_what_is_held_and_a_notice_covers_no_button(
        clear_hub: HubProcess, make_person: MakePerson, size: str) -> None:
    session = clear_hub.new_session("puppet", title="Held")
    tell(session, json.dumps([["say", "words"], ["wait"]]))
    eventually(lambda: session.view()["turn"], "it works")
    page = make_person(clear_hub.url, size).log_in(clear_hub, f"#/s/{session.id}")
    composer(page).fill("more")
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(page.get_by_text("The running turn goes on until it asks or ends.").last).to_be_visible()
    expect(page.locator(".controls-held")).to_contain_text("your messages and what rules would allow wait")
    assert page.evaluate("""() => [...document.querySelectorAll('.composer button, .controls button')].filter(button => {
      const box = button.getBoundingClientRect();
      const there = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
      return !button.contains(there);
    }).map(button => button.textContent)""") == []
    assert page.get_by_role("button", name=re.compile("^More")).count() == 2, "one menu for the session, one for its turn"


@pytest.mark.parametrize(("width", "zoom"), [(320, 1), (640, 2)])
def test_titles_are_readable_on_a_narrow_screen_and_when_zoomed(clear_hub: HubProcess, make_person: MakePerson, width: int,
                                                                zoom: int) -> None:
    session = ask(clear_hub, "A title of some length that says what it is")
    person = make_person(clear_hub.url, viewport={"width": width // zoom, "height": 640}, device_scale_factor=zoom)
    page = person.log_in(clear_hub, f"#/s/{session.id}")
    title = page.get_by_role("heading", level=1)
    expect(title).to_be_visible()
    assert title.evaluate("title => title.clientWidth") > 120
    person.go("#/")
    link = page.get_by_role("link", name=re.compile("^A title of some"))
    expect(link).to_be_visible()
    assert link.evaluate("link => link.clientWidth") > 120


def test_the_command_line_that_makes_a_hub_reachable_is_one_that_serve_takes(
        clear_hub: HubProcess, make_person: MakePerson) -> None:
    page = make_person(clear_hub.url).log_in(clear_hub, "#/devices")
    page.get_by_role("button", name="Show the code").click()
    line = page.get_by_text(re.compile("trunkline serve --host"))
    expect(line).to_contain_text("--tls-cert")
    expect(line).to_contain_text("--tls-key")
