"""Leaving: who logs out is out, and nothing of what they wrote is left for the next one. Until then what was refused stays."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import MakePerson
from tests.page.journal import texts
from tests.page.person import Person
from tests.tooling.hub_process import HubProcess, Session
from tests.tooling.processes import eventually


def log_out(page: Page) -> None:
    """By the menu."""
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("menuitem", name="Log out").click()


def state(page: Page, words: str) -> None:
    """Until the page says how it stands with the hub."""
    expect(page.get_by_role("status").filter(has_text=words).first).to_be_visible(timeout=40_000)


def kept(page: Page) -> str:
    """What this browser has kept."""
    return str(page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])"))


def refused_prompt(person: Person, hub: HubProcess, words: str) -> Page:
    """Somebody whose prompt was refused: it waited for the network, and meanwhile its session was deleted."""
    session = hub.new_session("fast")
    page = person.log_in(hub, f"#/s/{session.id}")
    box = page.get_by_role("textbox", name="Message to the agent")
    expect(box).to_be_visible()
    state(page, "Connected")
    person.expect_loss("net::ERR_|WebSocket|status of 40[14]")
    person.context.set_offline(True)
    state(page, "Offline")
    box.fill(words)
    box.press("Enter")
    session.delete()
    person.context.set_offline(False)
    state(page, "Connected")
    expect(page.get_by_role("button", name="1 unsent")).to_be_visible()
    return page


def test_a_refused_prompt_is_there_after_a_reload_and_gone_after_a_logout(clear_hub: HubProcess, make_person: MakePerson) -> None:
    person = make_person(clear_hub.url)
    page = refused_prompt(person, clear_hub, "my long and important prompt")
    page.reload()
    page.get_by_role("button", name="1 unsent").click()
    expect(page.get_by_role("dialog")).to_contain_text("my long and important prompt")
    page.keyboard.press("Escape")
    log_out(page)
    state(page, "Not logged in")
    assert "important" not in kept(page)
    person.log_in(clear_hub)
    state(page, "Connected")
    expect(page.get_by_role("button", name=re.compile("unsent"))).to_have_count(0)


def test_drafts_are_gone_after_logging_out(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = clear_hub.new_session("fast")
    person = make_person(clear_hub.url)
    page = person.log_in(clear_hub, f"#/s/{session.id}")
    box = page.get_by_role("textbox", name="Message to the agent")
    box.fill("a secret of mine")
    box.blur()
    page.reload()
    expect(box).to_have_value("a secret of mine")
    assert "a secret of mine" in kept(page)
    person.expect_loss("status of 401")
    log_out(page)
    state(page, "Not logged in")
    assert "secret" not in kept(page)
    person.log_in(clear_hub, f"#/s/{session.id}")
    expect(box).to_have_value("")
    assert texts(session, "user") == []


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_who_cannot_be_logged_out_is_told_so_and_stays_in(clear_hub: HubProcess, make_person: MakePerson, size: str) -> None:
    session: Session = clear_hub.new_session("fast", title="Mine")
    person = make_person(clear_hub.url, size)
    page = person.log_in(clear_hub)
    state(page, "Connected")
    expect(page.get_by_role("link", name="Mine")).to_be_visible()  # being connected, the page does not have the sessions yet
    person.expect_loss("net::ERR_|WebSocket|status of 401")
    person.context.set_offline(True)
    log_out(page)
    expect(page.get_by_text(re.compile("Could not log out"))).to_be_visible()
    expect(page.get_by_role("link", name="Mine")).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="Not logged in")).to_have_count(0)
    person.context.set_offline(False)
    state(page, "Connected")
    page.reload()
    expect(page.get_by_role("link", name="Mine")).to_be_visible()
    log_out(page)
    state(page, "Not logged in")
    page.reload()
    state(page, "Not logged in")
    assert session.view()["title"] == "Mine"


def test_what_was_written_offline_is_not_sent_under_another_login(own_hub: HubProcess, make_person: MakePerson) -> None:
    session = own_hub.new_session("fast")
    person = make_person(own_hub.url)
    page = person.log_in(own_hub, f"#/s/{session.id}", scope="control")
    box = page.get_by_role("textbox", name="Message to the agent")
    expect(box).to_be_visible()
    state(page, "Connected")
    person.expect_loss("net::ERR_|WebSocket")
    person.context.set_offline(True)
    state(page, "Offline")
    box.fill("words of the first")
    box.press("Enter")
    own_hub.restart()  # what was open under the first login is closed, whatever the browser does with it while it is offline
    code = own_hub.wire.post("/auth/codes", {"scope": "admin"}, 201)["path"].partition("code=")[2]
    person.context.clear_cookies()
    answer = person.context.request.post(f"{own_hub.url}/auth/login", data={"code": code}, headers={"Origin": own_hub.url})
    page.evaluate("base => localStorage.setItem('trunkline.base', base)", answer.json()["base"])
    person.context.set_offline(False)
    state(page, "Connected")
    expect(page.get_by_text("written by another login")).to_be_visible()
    expect(page.get_by_role("button", name="Send again")).to_have_count(0)
    box.fill("words of the second")
    box.press("Enter")
    eventually(lambda: texts(session, "user"), "the second is sent")
    assert texts(session, "user") == ["words of the second"]
    page.get_by_role("button", name="1 unsent").click()
    expect(page.get_by_role("dialog")).to_contain_text("written by another login")
    page.get_by_role("dialog").get_by_role("button", name="Drop").click()
    expect(page.get_by_role("button", name=re.compile("unsent"))).to_have_count(0)
    assert "first" not in kept(page)
