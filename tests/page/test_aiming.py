"""Nobody decides what they did not aim at: not by going on to type, nor by pressing where something else was a moment ago."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import MakePerson
from tests.page.journal import tell
from tests.page.stage import permission
from tests.page.test_approvals import approve_button, ask, look_away, resolutions
from tests.tooling.hub_process import HubProcess, Session
from tests.tooling.processes import eventually


def both_asks(session: Session) -> tuple[str, str]:
    """The two that wait, in their order."""
    eventually(lambda: len(session.view()["pendingApprovals"]) == 2, "both are asked")
    first, second = session.view()["pendingApprovals"]
    return first["requestId"], second["requestId"]


def begin_to_deny(page: Page) -> None:
    """By key, as soon as keys no longer rest; never again while the page still says that it was refused."""
    def has_begun() -> bool:
        expect(page.locator("[data-refused]")).to_have_count(0)
        page.keyboard.press("d")
        return page.get_by_label(re.compile("Reason")).count() > 0

    eventually(has_begun, "a reason is asked for")


@pytest.mark.parametrize("place", ["queue", "conversation"])
def test_a_reason_that_is_typed_stays_when_the_ask_is_decided_elsewhere(clear_hub: HubProcess, make_person: MakePerson, place: str
                                                                        ) -> None:
    session = ask(clear_hub, "Typed", "/ask 2")
    first, second = both_asks(session)
    page = make_person(clear_hub.url).log_in(clear_hub, "#/approvals" if place == "queue" else f"#/s/{session.id}")
    expect(approve_button(page, second)).to_be_enabled()
    card = page.locator(f"[data-ask='{first}']")
    card.get_by_role("button", name="Deny", exact=True).click()
    page.mouse.move(0, 0)
    page.keyboard.type("this would")
    session.post(f"permissions/{first}", {"decision": "allow"})
    expect(card).to_contain_text("Approved by")
    page.keyboard.type(" break a staging area", delay=80)
    page.keyboard.press("Enter")
    field = card.get_by_label(re.compile("Reason"))
    expect(field).to_be_focused()
    expect(field).to_have_value("this would")
    expect(card.get_by_role("timer")).to_have_count(0)
    assert [event["requestId"] for event in resolutions(session)] == [first], "the rest of the sentence decided nothing"
    look_away(page)
    expect(card).to_have_count(0)
    expect(approve_button(page, second)).to_be_enabled()


def test_the_conversation_holds_still_while_somebody_points_at_an_ask(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = clear_hub.new_session("puppet", title="Goes on")
    go_on = clear_hub.root / "go-on"
    go_on.unlink(missing_ok=True)
    asks = [permission(number, f"make {number}", "execute", {"command": f"make {number}"}) for number in (1, 2)]
    said = [["say", f"line {number}\n\n"] for number in range(30)]
    tell(session, json.dumps([*said, *asks, ["await", str(go_on)], *said, ["say", "the end of it"], ["wait"]]))
    aimed, other = both_asks(session)
    page = make_person(clear_hub.url).log_in(clear_hub, f"#/s/{session.id}")
    button = approve_button(page, aimed)
    expect(button).to_be_enabled()
    button.hover()
    before = button.bounding_box()
    go_on.touch()
    expect(page.get_by_role("button", name=re.compile("newest", re.IGNORECASE))).to_be_visible()
    assert button.bounding_box() == before, "what is said below moves nothing under the pointer"
    page.mouse.down()
    page.mouse.up()
    eventually(lambda: resolutions(session), "the press counts for what it was meant for")
    assert [event["requestId"] for event in resolutions(session)] == [aimed]
    page.mouse.move(0, 0)
    expect(page.get_by_text("the end of it")).to_be_in_viewport()
    assert [view["requestId"] for view in session.view()["pendingApprovals"]] == [other]


def test_on_a_phone_an_ask_that_is_seen_keeps_its_place_for_as_long_as_it_waits(clear_hub: HubProcess, make_person: MakePerson
                                                                                ) -> None:
    session = clear_hub.new_session("puppet", title="Goes on by touch")
    go_on = clear_hub.root / "go-on-by-touch"
    go_on.unlink(missing_ok=True)
    said = [["say", f"line {number}\n\n"] for number in range(30)]
    asked = permission(1, "make 1", "execute", {"command": "make 1"})
    tell(session, json.dumps([*said, asked, ["await", str(go_on)], *said, ["say", "the end of it"], ["wait"]]))
    eventually(lambda: session.view()["pendingApprovals"], "it is asked")
    page = make_person(clear_hub.url, "phone").log_in(clear_hub, f"#/s/{session.id}")
    button = approve_button(page, session.view()["pendingApprovals"][0]["requestId"])
    expect(button).to_be_enabled()
    before = button.bounding_box()
    go_on.touch()
    expect(page.get_by_role("button", name=re.compile("newest", re.IGNORECASE))).to_be_visible()
    assert button.bounding_box() == before, "what is said below moves nothing under a finger on its way"
    button.tap()
    eventually(lambda: resolutions(session), "the press counts")
    expect(page.get_by_text("the end of it")).to_be_in_viewport()


def test_a_reason_goes_along_when_the_denial_is_for_longer(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = ask(clear_hub, "For longer")
    page = make_person(clear_hub.url).log_in(clear_hub, "#/approvals")
    eventually(lambda: session.view()["pendingApprovals"], "it is asked")
    asked = session.view()["pendingApprovals"][0]["requestId"]
    expect(approve_button(page, asked)).to_be_enabled()
    card = page.locator(f"[data-ask='{asked}']")
    card.get_by_role("button", name="Deny", exact=True).click()
    card.get_by_label(re.compile("Reason")).fill("not in this folder")
    card.get_by_role("button", name="Deny for longer").click()
    sheet = page.get_by_role("dialog")
    expect(sheet).to_contain_text("The agent is told: not in this folder")
    page.keyboard.press("Escape")
    expect(card.get_by_label(re.compile("Reason"))).to_have_value("not in this folder")
    card.get_by_role("button", name="Deny for longer").click()
    sheet.get_by_role("radio", name=re.compile("^This session")).check()
    sheet.get_by_role("button", name=re.compile("^Deny")).click()
    eventually(lambda: resolutions(session), "it is denied")
    assert [(event["approved"], event["reason"]) for event in resolutions(session)] == [(False, "not in this folder")]


def test_who_denies_by_keys_is_on_the_next_card(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = ask(clear_hub, "On and on", "/ask 2")
    first, second = both_asks(session)
    page = make_person(clear_hub.url).log_in(clear_hub, "#/approvals")
    for pressed in (first, second):
        expect(approve_button(page, pressed)).to_be_enabled()
        expect(page.locator("li[aria-current=true] article")).to_have_attribute("data-ask", pressed)
        begin_to_deny(page)
        page.keyboard.type("no")
        page.keyboard.press("Enter")
        if pressed == first:
            expect(page.locator(f"[data-ask='{second}']")).to_be_focused()
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    assert [event["approved"] for event in resolutions(session)] == [False, False]
