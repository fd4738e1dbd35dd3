"""Every press is a decision or is seen to be refused, by key, click or tap, at any pace; never the wrong card."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.page.conftest import MakePerson
from tests.page.journal import tell
from tests.page.stage import permission
from tests.page.test_approvals import approve_button, press_at, resolutions, selected
from tests.tooling.hub_process import HubProcess, Session
from tests.tooling.processes import eventually

ASKS = 14
FRAME_MS = 17
PACES = (30, 1500, 90, 250, 400, 700, 1100)
"""Milliseconds between two presses, again and again: faster and slower than a card rests."""


def asking(hub: HubProcess, count: int, title: str = "Many") -> Session:
    """A session in which several things wait."""
    session = hub.new_session("puppet", title=title)
    asks = [permission(number, f"make {number}", "execute", {"command": f"make {number}"}) for number in range(count)]
    tell(session, json.dumps([*asks, ["wait"]]))
    eventually(lambda: len(session.view()["pendingApprovals"]) == count, "all are asked")
    return session


def step_until(page: Page, holds: Callable[[], bool], what: str) -> None:
    """Until it holds, where the page's clock stands still but for a frame at a time."""

    def stepped() -> bool:
        page.clock.run_for(FRAME_MS)
        return holds()

    eventually(stepped, what)


def refusals(page: Page) -> int:
    """How many presses were refused so far, as the card says."""
    return int(page.evaluate("() => document.querySelector('[role=alert][data-refused]')?.dataset.refused ?? 0"))


def refusal(page: Page, ask: str | None = None) -> Locator:
    """What says that a press was not taken."""
    return page.locator(f"[data-ask='{ask}'] [data-refused]" if ask else "[data-refused]")


def test_at_any_pace_each_key_decides_what_is_selected_or_is_seen_to_be_refused(
        clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = asking(clear_hub, ASKS)
    person = make_person(clear_hub.url, alone=True)
    person.page.clock.install()
    page = person.log_in(clear_hub, "#/approvals")
    expect(page.get_by_role("article")).to_have_count(ASKS)
    decided: list[str] = []
    refused = 0
    for pressed in range(10 * ASKS):
        page.clock.run_for(PACES[pressed % len(PACES)])
        before, aimed = refusals(page), selected(page)
        assert aimed is not None
        page.keyboard.press("a")
        if refusals(page) > before:
            refused += 1
            expect(refusal(page, aimed)).to_be_in_viewport()
            continue
        decided.append(aimed)
        eventually(lambda: len(resolutions(session)) >= len(decided), "a press that is not refused decides")
        if len(decided) == ASKS:
            break
        expect(page.locator("li[aria-current=true] article")).not_to_have_attribute("data-ask", aimed)
    assert [event["requestId"] for event in resolutions(session)] == decided, "each decided what was selected, and nothing else"
    assert len(set(decided)) == ASKS
    assert refused >= ASKS, "there were presses that came too soon"


def test_a_reason_that_is_typed_after_a_deny_that_was_refused_decides_nothing(
        clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = asking(clear_hub, 3)
    person = make_person(clear_hub.url, alone=True)
    person.page.clock.install()
    page = person.log_in(clear_hub, "#/approvals")
    first = selected(page)
    expect(approve_button(page, first or "")).to_be_enabled()
    page.clock.pause_at(page.evaluate("Date.now() + 10_000"))  # from here on no second passes that is not meant to
    page.keyboard.press("a")
    step_until(page, lambda: selected(page) not in (None, first), "the next one is selected")
    page.keyboard.press("d")
    step_until(page, lambda: refusals(page) > 0, "it is refused")
    expect(refusal(page)).to_contain_text("Nothing is decided")
    for letter in "this is a bad idea and a dead end":
        page.clock.run_for(120)
        page.keyboard.press(letter)
        expect(refusal(page)).to_be_in_viewport()
    page.clock.run_for(900)
    page.keyboard.press("a")
    assert [event["requestId"] for event in resolutions(session)] == [first], "no letter of the reason decided"
    expect(page.get_by_label(re.compile("Reason"))).to_have_count(0)
    page.clock.run_for(1_100)
    second = selected(page)
    page.keyboard.press("a")
    eventually(lambda: len(resolutions(session)) == 2, "after a pause letters are keys again")
    assert resolutions(session)[1]["requestId"] == second


@pytest.mark.parametrize("size", ["desk", "phone"])
@pytest.mark.parametrize("place", ["queue", "conversation"])
def test_a_click_that_comes_too_soon_is_answered(clear_hub: HubProcess, make_person: MakePerson, size: str, place: str) -> None:
    session = asking(clear_hub, 1)
    [asked] = [view["requestId"] for view in session.view()["pendingApprovals"]]
    person = make_person(clear_hub.url, size, alone=True)
    person.page.clock.install()
    person.log_in(clear_hub)
    page = person.page
    page.clock.pause_at(page.evaluate("Date.now() + 1_000"))
    person.go("#/approvals" if place == "queue" else f"#/s/{session.id}")
    button = approve_button(page, asked)

    def comes() -> bool:
        page.clock.run_for(20)  # far less than it rests
        return button.count() > 0

    eventually(comes, "the card is there")
    page.clock.run_for(100)
    expect(button).to_be_in_viewport()
    expect(button).to_be_disabled()
    box = button.bounding_box()
    assert box is not None
    press_at(page, size, box)
    expect(refusal(page, asked)).to_be_in_viewport()
    expect(refusal(page, asked)).to_contain_text("press again")
    assert button.bounding_box() == box, "the words move nothing"
    assert session.view()["pendingApprovals"]
    page.clock.resume()
    button.click()
    eventually(lambda: resolutions(session), "the second press counts")


def test_a_card_that_was_not_shown_whole_takes_no_key(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = clear_hub.new_session("puppet", title="Half below the screen")
    command = "\n".join(f"echo step {number}" for number in range(1, 10))
    short = permission(1, "make", "execute", {"command": "make"})
    tell(session, json.dumps([short, permission(2, command, "execute", {"command": command}), ["wait"]]))
    eventually(lambda: len(session.view()["pendingApprovals"]) == 2, "both are asked")
    page = make_person(clear_hub.url, viewport={"width": 900, "height": 560}).log_in(clear_hub, "#/approvals")
    below = session.view()["pendingApprovals"][1]["requestId"]
    expect(approve_button(page, session.view()["pendingApprovals"][0]["requestId"])).to_be_enabled()
    expect(page.locator(f"[data-ask='{below}']").get_by_text("echo step 1", exact=False).first).to_be_in_viewport()
    expect(approve_button(page, below)).to_be_disabled()
    page.keyboard.press("j")
    page.keyboard.press("a")
    expect(refusal(page, below)).to_contain_text("not all of this has been on the screen")
    assert len(session.view()["pendingApprovals"]) == 2
    expect(approve_button(page, below)).to_be_enabled()
    page.keyboard.press("a")
    eventually(lambda: resolutions(session), "it was shown")
    assert [event["requestId"] for event in resolutions(session)] == [below]


def test_a_key_that_is_held_down_decides_once(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = asking(clear_hub, 3)
    page = make_person(clear_hub.url).log_in(clear_hub, "#/approvals")
    first, second, third = [view["requestId"] for view in session.view()["pendingApprovals"]]
    expect(approve_button(page, third)).to_be_enabled()
    page.keyboard.down("a")
    eventually(lambda: resolutions(session), "the press counts")
    expect(page.locator("li[aria-current=true] article")).to_have_attribute("data-ask", second)
    expect(approve_button(page, second)).to_be_enabled()
    for _ in range(5):
        page.keyboard.down("a")  # what is down already is repeated
    page.keyboard.up("a")
    assert [event["requestId"] for event in resolutions(session)] == [first]
    approve_button(page, second).focus()
    page.locator(f"[data-ask='{second}']").get_by_role("button", name="Deny", exact=True).focus()
    page.keyboard.down("Enter")
    expect(page.get_by_label(re.compile("Reason"))).to_be_focused()
    for _ in range(5):
        page.keyboard.down("Enter")
    expect(refusal(page, second)).to_contain_text("held down")
    page.keyboard.up("Enter")
    assert [event["requestId"] for event in resolutions(session)] == [first]
