"""The thread follows: who is at its end stays there, whatever changes its size; what one sends and opens comes into view."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.page.conftest import MakePerson
from tests.page.journal import tell, wait_until_idle
from tests.page.person import until
from tests.page.stage import permission
from tests.page.test_approvals import AT_END
from tests.tooling.hub_process import HubProcess, Session
from tests.tooling.processes import eventually

SAID = [["say", f"line {number}\n\n"] for number in range(40)]

PASTE = """field => {
  const canvas = new OffscreenCanvas(60, 400);
  canvas.getContext('2d').fillRect(0, 0, 60, 400);
  return canvas.convertToBlob().then(blob => {
    const data = new DataTransfer();
    data.items.add(new File([blob], 'tall.png', { type: 'image/png' }));
    field.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  });
}"""


def composer(page: Page) -> Locator:
    """Where messages are written."""
    return page.get_by_role("textbox", name="Message to the agent")


def talked(hub: HubProcess, title: str, *more: object) -> Session:
    """A session that has said more than a screen takes."""
    session = hub.new_session("puppet", title=title)
    tell(session, json.dumps([*SAID, ["say", "the last words"], *more]))
    return session


def stays_at_the_end(page: Page) -> None:
    """After what was done has been drawn, twice: what leaves the end does so a frame later."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    until(page, AT_END, within_s=3)
    expect(page.get_by_role("button", name=re.compile("newest", re.IGNORECASE))).to_have_count(0)


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_the_end_is_followed_whatever_the_composer_and_the_window_do(clear_hub: HubProcess, make_person: MakePerson,
                                                                     size: str) -> None:
    session = talked(clear_hub, "Followed")
    wait_until_idle(session)
    page = make_person(clear_hub.url, size, alone=True).log_in(clear_hub, f"#/s/{session.id}")
    expect(page.get_by_text("the last words")).to_be_in_viewport()
    field = composer(page)
    field.focus()
    for key in ("a", "Shift+Enter", "b", "Shift+Enter", "c", "Shift+Enter", "d", "e", "Backspace", "Backspace", "Backspace", "f"):
        field.press(key)
        stays_at_the_end(page)
    window = page.viewport_size
    assert window is not None
    for width, height in ((window["width"], 420), (window["width"], window["height"]), (320, 640), (700, 500)):
        page.set_viewport_size({"width": width, "height": height})
        stays_at_the_end(page)
    field.press("x")
    stays_at_the_end(page)
    field.fill(json.dumps([*SAID, ["say", "and more words"]]))
    stays_at_the_end(page)
    page.get_by_role("button", name="Send", exact=True).click()
    wait_until_idle(session)
    expect(page.get_by_text("and more words", exact=True)).to_be_in_viewport()
    stays_at_the_end(page)


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_the_end_is_followed_when_a_picture_is_pasted_and_taken_away(
        clear_hub: HubProcess, make_person: MakePerson, size: str) -> None:
    session = clear_hub.new_session("fast", title="With a picture")
    tell(session, "/echo " + "word\n\n" * 60)
    wait_until_idle(session)
    page = make_person(clear_hub.url, size).log_in(clear_hub, f"#/s/{session.id}")
    expect(composer(page)).to_be_visible()
    until(page, AT_END)
    composer(page).evaluate(PASTE)
    expect(page.get_by_role("img", name="tall.png")).to_be_visible()
    stays_at_the_end(page)
    composer(page).press("x")
    stays_at_the_end(page)
    page.get_by_role("button", name=re.compile("^Remove")).click()
    stays_at_the_end(page)


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_who_sends_while_they_read_further_up_comes_to_their_own_message(clear_hub: HubProcess, make_person: MakePerson,
                                                                         size: str) -> None:
    session = talked(clear_hub, "Read further up")
    wait_until_idle(session)
    page = make_person(clear_hub.url, size).log_in(clear_hub, f"#/s/{session.id}")
    expect(page.get_by_text("the last words")).to_be_in_viewport()
    page.get_by_role("feed").evaluate("feed => feed.scrollTo(0, 0)")
    expect(page.get_by_role("button", name=re.compile("newest", re.IGNORECASE))).to_be_visible()
    composer(page).fill(json.dumps([["say", "an answer"]]))
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_text("an answer", exact=True)).to_be_in_viewport()
    stays_at_the_end(page)


INSIDE = """names => {
  const view = document.querySelector('[role=feed]').getBoundingClientRect();
  const foot = document.querySelector('.composer-text').getBoundingClientRect();
  const form = document.activeElement.closest('form').getBoundingClientRect();
  return document.activeElement.tagName === 'INPUT' && form.top >= view.top && form.bottom <= Math.min(view.bottom, foot.top) + 1;
}"""


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_the_reasons_of_a_denial_come_into_view_above_the_composer(
        clear_hub: HubProcess, make_person: MakePerson, size: str) -> None:
    command = "\n".join(f"echo step {number}" for number in range(1, 9))
    session = talked(clear_hub, "To be denied", permission(1, command, "execute", {"command": command}), ["wait"])
    eventually(lambda: session.view()["pendingApprovals"], "it is asked")
    page = make_person(clear_hub.url, size, alone=True).log_in(clear_hub, f"#/s/{session.id}")
    deny = page.locator("[data-ask]").get_by_role("button", name="Deny", exact=True)
    expect(deny).to_be_enabled()
    deny.tap() if size == "phone" else deny.click()
    expect(page.get_by_label(re.compile("Reason"))).to_be_focused()
    until(page, INSIDE, within_s=3)
    window = page.viewport_size
    assert window is not None
    page.set_viewport_size({"width": window["width"], "height": 460})  # a keyboard opens
    until(page, INSIDE, within_s=3)
