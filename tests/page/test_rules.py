"""Rules: who may change them takes one out with two clicks, that one alone, and never over what somebody else wrote meanwhile."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import MakePerson
from tests.page.journal import wait_until_idle
from tests.page.test_approvals import ask, card
from tests.tooling.hub_process import HubProcess

FIRST = '# keep this\n[[rules]]\ncommand = ["herons*"]\naction = "deny"\n'
SECOND = '[[rules]]\npath = ["notes/**"]\naction = "ask"\nreason = "mine"\n'
LAST = '# and this\n[auto_approve]\nreads = true\n'


def remove(page: Page, number: int) -> None:
    """Ask for a rule to be removed; it is not before that was confirmed."""
    page.get_by_role("button", name=f"Remove rule {number} …").click()
    expect(page.get_by_role("dialog", name="Remove this rule?")).to_be_visible()


def test_a_rule_is_removed_and_nothing_else_of_the_file(clear_hub: HubProcess, make_person: MakePerson) -> None:
    clear_hub.wire.ask("PUT", "/policy", {"text": f"{FIRST}\n{SECOND}\n{LAST}"}).expect(200)
    page = make_person(clear_hub.url).log_in(clear_hub, "#/policy")
    remove(page, 2)
    sheet = page.get_by_role("dialog")
    expect(sheet.locator("pre")).to_have_text(SECOND)
    sheet.get_by_role("button", name="Cancel").click()
    assert clear_hub.wire.get("/policy")["text"] == f"{FIRST}\n{SECOND}\n{LAST}"
    remove(page, 2)
    sheet.get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_text("The rule is removed")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="notes/**")).to_have_count(0)
    expect(page.get_by_role("row").filter(has_text="herons*")).to_be_visible()
    assert clear_hub.wire.get("/policy")["text"] == f"{FIRST}\n{LAST}"


def test_a_file_that_changed_meanwhile_is_not_overwritten(clear_hub: HubProcess, make_person: MakePerson) -> None:
    clear_hub.wire.ask("PUT", "/policy", {"text": f"{FIRST}\n{SECOND}"}).expect(200)
    person = make_person(clear_hub.url)
    page = person.log_in(clear_hub, "#/policy")
    remove(page, 1)
    clear_hub.wire.ask("PUT", "/policy", {"text": SECOND}).expect(200)
    with person.losing_the_network(expected="status of 412"):
        page.get_by_role("dialog").get_by_role("button", name="Remove", exact=True).click()
        expect(page.get_by_text(re.compile("^Nothing was removed"))).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="herons*")).to_have_count(0)
    assert clear_hub.wire.get("/policy")["text"] == SECOND


def test_rules_that_others_write_are_there_at_once_and_what_was_said_of_them_stays_behind(clear_hub: HubProcess,
                                                                                        make_person: MakePerson) -> None:
    clear_hub.wire.ask("PUT", "/policy", {"text": f"{FIRST}\n{SECOND}"}).expect(200)
    person = make_person(clear_hub.url)
    page = person.log_in(clear_hub, "#/policy")
    expect(page.get_by_role("row").filter(has_text="herons*")).to_be_visible()
    clear_hub.wire.ask("PUT", "/policy", {"text": SECOND}).expect(200)
    expect(page.get_by_role("row").filter(has_text="herons*")).to_have_count(0)
    remove(page, 1)
    page.get_by_role("dialog").get_by_role("button", name="Remove", exact=True).click()
    said = page.get_by_text("The rule is removed")
    expect(said).to_be_visible()
    person.go("#/devices")
    expect(page.get_by_role("heading", name="Pair a phone")).to_be_visible()
    assert said.count() == 0


@pytest.mark.parametrize(("size", "named"), [("desk", False), ("phone", True)])
def test_a_rules_reason_is_named_where_the_table_has_no_head(
        clear_hub: HubProcess, make_person: MakePerson, size: str, named: bool) -> None:
    rule = '[[rules]]\naction = "deny"\npath = [".env"]\nreason = "secrets"\n'
    clear_hub.wire.ask("PUT", "/policy", {"text": rule}).expect(200)
    page = make_person(clear_hub.url, size).log_in(clear_hub, "#/policy")
    reason = page.get_by_role("table").locator("td").filter(has_text="secrets")
    expect(reason).to_be_visible()
    expect(reason.get_by_text("Reason", exact=True)).to_be_visible(visible=named)


def test_who_may_not_change_rules_is_not_told_to(clear_hub: HubProcess, make_person: MakePerson) -> None:
    clear_hub.wire.ask("PUT", "/policy", {"text": SECOND}).expect(200)
    page = make_person(clear_hub.url).log_in(clear_hub, "#/policy", scope="control")
    expect(page.get_by_role("row").filter(has_text="notes/**")).to_be_visible()
    assert page.get_by_role("button", name=re.compile("^Remove")).count() == 0
    clear_hub.wire.ask("PUT", "/policy", {"text": ""}).expect(200)
    page.reload()
    expect(page.get_by_text("There are no rules yet")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text("“Always”")
    expect(page.get_by_role("main")).not_to_contain_text("add a rule here")


def test_a_rule_that_was_made_from_an_ask_is_a_click_away_and_says_whose_it_is(
        clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = ask(clear_hub, "For good")
    person = make_person(clear_hub.url)
    page = person.log_in(clear_hub, f"#/s/{session.id}")
    card(page, "permission 1").get_by_role("button", name="Always …").click()
    sheet = page.get_by_role("dialog")
    sheet.get_by_role("radio", name=re.compile("^Always")).check()
    sheet.get_by_role("button", name="Always approve").click()
    wait_until_idle(session)
    person.log_in(clear_hub, f"#/s/{session.id}")  # again: by another login of the same browser
    page.get_by_role("link", name="You added a rule").click()
    row = page.get_by_role("row").filter(has_text="echo permission 1 was given")
    expect(row).to_contain_text("decided by you")
    other = make_person(clear_hub.url, "phone").log_in(clear_hub, "#/policy")
    expect(other.get_by_role("row").filter(has_text="echo permission 1 was given")).to_contain_text("decided by another browser")


def test_a_rule_that_was_made_in_the_queue_is_a_click_away(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = ask(clear_hub, "For good")
    page = make_person(clear_hub.url).log_in(clear_hub, "#/approvals")
    card(page, "permission 1").get_by_role("button", name="Always …").click()
    sheet = page.get_by_role("dialog")
    sheet.get_by_role("radio", name=re.compile("^Always")).check()
    sheet.get_by_role("button", name="Always approve").click()
    wait_until_idle(session)
    page.get_by_role("link", name="You added a rule").click()
    expect(page.get_by_role("row").filter(has_text="echo permission 1 was given")).to_contain_text("decided by you")
