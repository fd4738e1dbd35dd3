"""Approvals and questions: one queue over all sessions, decided by anybody, seen by everybody, once."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

from tests.page.conftest import MakePerson
from tests.page.journal import Event, happened, history, tell, texts, wait_until_idle
from tests.page.person import Person, until
from tests.page.stage import Stage, permission
from tests.session.driver.stream_json.stage import fake_program
from tests.tooling.examples import THOROUGH
from tests.tooling.hub_process import HubProcess, Session
from tests.tooling.processes import eventually


def card(page: Page, name: str) -> Locator:
    """The card of an approval or question."""
    return page.get_by_role("article").filter(has_text=name)


def ask(hub: HubProcess, title: str, prompt: str = "/ask") -> Session:
    """A session that waits for somebody."""
    session = hub.new_session("fast", title=title)
    tell(session, prompt)
    eventually(lambda: session.view()["pendingApprovals"] or session.view()["pendingQuestions"], "somebody is asked")
    return session


def resolutions(session: Session) -> list[Event]:
    """What was decided in a session."""
    return [event for event in history(session) if event["type"] == "approval:resolved"]


def look_away(page: Page) -> None:
    """Neither point at a card nor have one in focus: until then, what is decided stays where it was."""
    page.mouse.move(0, 0)
    page.evaluate("() => document.activeElement?.blur()")


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_an_approval_shows_its_risk_and_why_its_command_and_its_folder(stage: Stage, make_person: MakePerson, size: str) -> None:
    session = stage.publishing()
    page = make_person(stage.hub.url, size).log_in(stage.hub, "#/approvals")
    dangerous = card(page, "npm publish --force").first
    pending = next(view for view in session.view()["pendingApprovals"] if "npm" in view["title"])
    expect(dangerous).to_contain_text(f"{pending['riskLevel'].capitalize()} risk")
    expect(dangerous).to_contain_text(pending["riskReason"])
    expect(dangerous).to_contain_text(str(stage.project))
    expect(dangerous.get_by_role("timer")).to_be_visible()
    expect(dangerous).to_contain_text("Publish release 2.4")
    assert dangerous.locator("pre").first.inner_text().strip() == "rm -rf dist && npm publish --force"
    edit = card(page, "Edit src/login.py").first
    expect(edit).to_contain_text("Callable")
    expect(page.get_by_role("link", name=re.compile("Approvals"))).to_contain_text("2")


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_a_click_approves_once_and_the_agent_goes_on(clear_hub: HubProcess, make_person: MakePerson, size: str) -> None:
    session = ask(clear_hub, "Let it run")
    page = make_person(clear_hub.url, size).log_in(clear_hub, "#/approvals")
    button = card(page, "permission 1 was given").get_by_role("button", name="Approve", exact=True)
    expect(button).to_be_visible()
    box = button.bounding_box()
    if size == "phone":
        assert box is not None and box["height"] >= 44
    button.click()
    wait_until_idle(session)
    look_away(page)
    expect(page.get_by_text("Nothing waits for you")).to_be_visible()
    assert [event["approved"] for event in resolutions(session)] == [True]


def test_two_browsers_decide_at_once_and_both_see_one_decision(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = ask(clear_hub, "Two of us")
    people = [make_person(clear_hub.url), make_person(clear_hub.url, "phone")]
    pages = [person.log_in(clear_hub, f"#/s/{session.id}") for person in people]
    for page in pages:
        expect(card(page, "permission 1").get_by_role("button", name="Approve", exact=True)).to_be_enabled()
    # Clicked from inside, one right after the other: neither page has heard of the other's decision yet.
    buttons = [card(page, "permission 1").get_by_role("button", name="Approve", exact=True).element_handle() for page in pages]
    for button in buttons:
        button.evaluate("button => button.click()")
    wait_until_idle(session)
    assert len(resolutions(session)) == 1
    for page in pages:
        page.get_by_role("button", name="bash echo permission 1 was given: Done").click()
        expect(page.get_by_text(re.compile("^Approved by")).first).to_be_visible()
        assert page.get_by_role("button", name="Approve", exact=True).count() == 0
        assert page.get_by_text("Approved.", exact=True).count() == 1


def test_what_one_browser_decides_the_other_sees_at_once(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = ask(clear_hub, "One of us", "/ask 2")
    desk = make_person(clear_hub.url).log_in(clear_hub, "#/approvals")
    phone = make_person(clear_hub.url, "phone").log_in(clear_hub, "#/approvals")
    expect(phone.get_by_role("article")).to_have_count(2)
    card(desk, "permission 1").get_by_role("button", name="Approve", exact=True).click()
    expect(phone.get_by_role("article").filter(has=phone.get_by_role("button", name="Approve", exact=True))).to_have_count(1)
    card(phone, "permission 2").get_by_role("button", name="Deny").click()
    phone.get_by_label(re.compile("Reason")).fill("Not today")
    phone.get_by_role("button", name=re.compile("^(Reject|Deny)$")).last.click()
    look_away(desk)
    expect(desk.get_by_text("Nothing waits for you")).to_be_visible()
    wait_until_idle(session)
    told = resolutions(session)
    assert [event["approved"] for event in told] == [True, False]
    assert told[1]["reason"] == "Not today"


def test_always_shows_the_rule_before_it_writes_it(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = ask(clear_hub, "For good")
    page = make_person(clear_hub.url).log_in(clear_hub, f"#/s/{session.id}")
    card(page, "permission 1").get_by_role("button", name="Always …").click()
    sheet = page.get_by_role("dialog")
    sheet.get_by_role("radio", name=re.compile("^Always")).check()
    expect(sheet).to_contain_text("written to the file of rules")
    expect(sheet).to_contain_text("echo permission 1 was given")
    assert "permission 1" not in clear_hub.wire.get("/policy")["text"]
    sheet.get_by_role("button", name="Always approve").click()
    wait_until_idle(session)
    assert "echo permission 1 was given" in clear_hub.wire.get("/policy")["text"]
    tell(session, "/ask")
    wait_until_idle(session)
    assert [event["resolvedBy"] for event in resolutions(session)] == ["user", "policy"]


def test_the_command_of_a_rule_is_shown_with_its_lines(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = clear_hub.new_session("puppet", title="Of two lines")
    command = "echo one\necho two"
    tell(session, json.dumps([permission(1, command, "execute", {"command": command}), ["wait"]]))
    page = make_person(clear_hub.url).log_in(clear_hub, f"#/s/{session.id}")
    page.get_by_role("button", name="Always …").click()
    expect(page.get_by_role("dialog").locator("dd code").first).to_have_text(command)
    assert page.get_by_role("dialog").locator("dd code").first.inner_text() == command


def selected(page: Page) -> str | None:
    """The ask that keys act on."""
    return page.locator("li[aria-current=true] article").get_attribute("data-ask")


def test_the_keys_go_through_the_queue_and_decide(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = ask(clear_hub, "By keys", "/ask 3")
    person = make_person(clear_hub.url, alone=True)
    person.page.clock.install()
    page = person.log_in(clear_hub, "#/approvals")
    expect(page.get_by_role("article")).to_have_count(3)
    first, second, third = [each.get_attribute("data-ask") for each in page.get_by_role("article").all()]
    assert selected(page) == first
    for key, there in (("j", second), ("j", third), ("j", third), ("k", second)):
        page.keyboard.press(key)
        expect(page.locator("li[aria-current=true] article")).to_have_attribute("data-ask", there or "")
    page.clock.fast_forward(2_000)  # a card that came just now takes no press
    page.keyboard.press("a")
    eventually(happened(session, "approval:resolved"), "the second is approved")
    assert [(event["requestId"], event["approved"]) for event in resolutions(session)] == [(second, True)]
    expect(page.locator("li:not(.approvals-over) article")).to_have_count(2)
    expect(page.locator("li[aria-current=true] article")).to_have_attribute("data-ask", third or "")
    page.keyboard.press("a")
    page.clock.fast_forward(2_000)
    assert len(resolutions(session)) == 1, "a key that was meant for what was there before does nothing"
    page.keyboard.press("k")
    expect(approve_button(page, first or "")).to_be_in_viewport()
    page.clock.run_for(2_000)  # its title is seen again
    page.keyboard.press("d")
    expect(page.get_by_label(re.compile("Reason"))).to_be_focused()
    page.keyboard.type("jaded")
    page.keyboard.press("Enter")
    eventually(happened(session, "approval:resolved", 2), "the first is denied")
    denied = resolutions(session)[1]
    assert (denied["requestId"], denied["approved"], denied["reason"]) == (first, False, "jaded")


def approve_button(page: Page, ask: str) -> Locator:
    """What approves one ask."""
    return page.locator(f"[data-ask='{ask}']").get_by_role("button", name="Approve", exact=True)


def press_at(page: Page, size: str, box: FloatRect) -> None:
    """Press where something was a moment ago, whatever is there now."""
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    if size == "phone":
        page.touchscreen.tap(x, y)
    else:
        page.mouse.click(x, y)


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_a_press_that_was_meant_for_a_card_that_went_decides_nothing(clear_hub: HubProcess, make_person: MakePerson, size: str
                                                                     ) -> None:
    first, second = ask(clear_hub, "First"), ask(clear_hub, "Second")
    asks = [session.view()["pendingApprovals"][0]["requestId"] for session in (first, second)]
    page = make_person(clear_hub.url, size).log_in(clear_hub, "#/approvals")
    expect(approve_button(page, asks[1])).to_be_enabled()
    place = approve_button(page, asks[0]).bounding_box()
    assert place is not None
    if size == "desk":
        approve_button(page, asks[0]).hover()
    first.post(f"permissions/{asks[0]}", {"decision": "allow"})
    expect(approve_button(page, asks[0])).to_have_count(0)
    press_at(page, size, place)
    press_at(page, size, place)
    assert second.view()["pendingApprovals"], "what slid under the pointer, or stayed where it was, was not decided"
    approve_button(page, asks[1]).click()
    wait_until_idle(second)
    assert [len(resolutions(session)) for session in (first, second)] == [1, 1]


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_a_press_that_was_meant_for_a_card_that_was_pushed_down_decides_nothing(clear_hub: HubProcess, make_person: MakePerson,
                                                                                size: str) -> None:
    meant, hurried = ask(clear_hub, "Meant"), clear_hub.new_session("fast", title="Hurried")
    page = make_person(clear_hub.url, size).log_in(clear_hub, "#/approvals")
    button = approve_button(page, meant.view()["pendingApprovals"][0]["requestId"])
    expect(button).to_be_enabled()
    place = button.bounding_box()
    assert place is not None
    if size == "desk":
        button.hover()
    hurried.post("limits", {"waits": {"approvalS": 60}})
    tell(hurried, "/ask")
    eventually(lambda: hurried.view()["pendingApprovals"], "somebody is asked")
    newcomer = hurried.view()["pendingApprovals"][0]["requestId"]
    expect(approve_button(page, newcomer)).to_be_visible()
    press_at(page, size, place)
    if size == "desk":
        eventually(lambda: resolutions(meant), "where places hold still, the press counts for what it was meant for")
    assert hurried.view()["pendingApprovals"], "the newcomer was not decided"


PHONES = [(320, 640), (390, 664), (390, 844)]
SHORT = [(844, 390), (667, 375), (390, 420)]
"""Phones on their side, and one with its keyboard open."""
TIGHTEST = SHORT[-1]
LINES_FIRST = 6
STEP = 16 if THOROUGH else 32
"""By how many pixels it is scrolled on; a button is higher than that."""


def short_screens() -> list[Any]:
    """All short screens, of which the fast tests look at that with the least room."""
    return [pytest.param(size, id=f"{size[0]}x{size[1]}", marks=[] if size == TIGHTEST else pytest.mark.slow) for size in SHORT]


COVERED = """async ([lines, step]) => {
  const found = [], pressed = new Set();
  const view = document.querySelector('[role=feed]') ?? document.documentElement;
  for (let top = 0; ; top += step) {
    view.scrollTop = top;
    await new Promise(requestAnimationFrame);
    for (const card of document.querySelectorAll('[data-ask]')) {
      const button = card.querySelector('.approvals-actions button');
      const box = button.getBoundingClientRect();
      if (!card.contains(document.elementFromPoint(box.left + box.width / 2, box.top + 2))) continue;
      pressed.add(card.dataset.ask);
      const rows = [...card.querySelectorAll('.approvals-diff .content-line, .approvals-command pre')].slice(0, lines);
      const first = [card.querySelector('h2'), card.querySelector('.approvals-risk'), ...rows];
      const end = Math.max(...first.map(part => part.getBoundingClientRect().bottom));
      const where = `${card.querySelector('h2').textContent} at ${top}`;
      if (end > box.top) found.push(`${where}: ${Math.round(box.top)} above ${Math.round(end)}`);
    }
    if (top + view.clientHeight >= view.scrollHeight) return [pressed.size, found];
  }
}"""
"""Wherever it is scrolled to: how many cards can be decided, and where buttons stand above the end of the beginning of what they
decide."""


def edit_of(stage: Stage, number: int) -> list[object]:
    """An ask for a change of forty lines."""
    path = str(stage.project / "deploy.py")
    change = [{"type": "diff", "path": path, "oldText": "a\n", "newText": "\n".join(f"line {each}" for each in range(40))}]
    return permission(number, "Edit deploy.py", "edit", {"filePath": path}, change)


def on_phone(make_person: MakePerson, hub: HubProcess, phone: tuple[int, int], path: str) -> Page:
    """Somebody with a phone of this size."""
    return make_person(hub.url, "phone", viewport={"width": phone[0], "height": phone[1]}).log_in(hub, path)


@pytest.mark.parametrize("place", ["queue", "conversation"])
def test_on_a_phone_nothing_is_approved_that_was_not_shown(stage: Stage, make_person: MakePerson, place: str) -> None:
    session = stage.hub.new_session("actor", title="On the way")
    tell(session, json.dumps([permission(1, "npm test", "execute", {"command": "npm test"}), edit_of(stage, 2), ["wait"]]))
    eventually(lambda: len(session.view()["pendingApprovals"]) == 2, "both are asked")
    page = make_person(stage.hub.url, "phone").log_in(stage.hub, "#/approvals" if place == "queue" else f"#/s/{session.id}")
    for width, height in [*PHONES, *SHORT]:
        page.set_viewport_size({"width": width, "height": height})
        until(page, "([width, height]) => innerWidth === width && innerHeight === height", [width, height])
        expect(page.locator("[data-ask]").last.get_by_text("line 12")).to_be_attached()
        assert page.evaluate(COVERED, [LINES_FIRST, STEP]) == [2, []], f"on a phone of {width}x{height}"


def put_to_somebody(stage: Stage, page: Page, *ask: Any) -> Locator:
    """The card of a permission that is asked for."""
    session = stage.hub.new_session("actor", title="Shown")
    tell(session, json.dumps([permission(1, *ask), ["wait"]]))
    eventually(lambda: session.view()["pendingApprovals"], "somebody is asked")
    request_id = session.view()["pendingApprovals"][0]["requestId"]
    return page.locator(f"[data-ask='{request_id}']")


def change(path: str, new: str) -> dict[str, Any]:
    return {"type": "diff", "path": path, "oldText": None, "newText": new}


def test_a_card_shows_every_act_of_its_call(stage: Stage, make_person: MakePerson) -> None:
    page = make_person(stage.hub.url).log_in(stage.hub, "#/approvals")
    both = put_to_somebody(stage, page, "Edit README.md", "edit", {"command": "touch deployed", "path": "README.md"},
                           [change("README.md", "hello\n")])
    expect(both.get_by_role("heading", level=2)).to_have_text("Run a command")
    expect(both.locator("pre").first).to_have_text("touch deployed")
    expect(both.locator(".approvals-diff")).to_contain_text("hello")
    expect(both).to_contain_text("Edit README.md")
    two = put_to_somebody(stage, page, "Edit", "edit", {"path": "a.txt"},
                          [change("a.txt", "one\n"), change("package.json", "two\n")])
    expect(two.locator(".approvals-diff")).to_have_count(2)
    expect(two.locator(".approvals-diff").last).to_contain_text("package.json")
    gone = put_to_somebody(stage, page, "Tidy up", "delete", {"paths": ["tmp.txt", "src/*x*.py", ".git"]})
    expect(gone.get_by_role("heading", level=2)).to_contain_text("tmp.txt and 2 more")
    expect(gone).to_contain_text("Tidy up")
    assert gone.locator("pre").first.inner_text().split("\n") == ["Deletes:", "  tmp.txt", "  src/*x*.py", "  .git"]
    moved = put_to_somebody(stage, page, "Rename a file", "move", {"source": "notes.txt", "destination": "src/config.py"})
    expect(moved).to_contain_text("Moves notes.txt to src/config.py")


IN_SIGHT = """card => {
  const texts = document.createTreeWalker(card, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const at = text.data.indexOf('at_the_end');
    if (at < 0) continue;
    const range = document.createRange();
    range.setStart(text, at);
    range.setEnd(text, at + 10);
    const box = card.getBoundingClientRect();
    return [...range.getClientRects()].every(place => place.left >= box.left && place.right <= box.right);
  }
  return null;
}"""


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_the_end_of_a_long_line_of_a_change_is_on_the_screen(stage: Stage, make_person: MakePerson, size: str) -> None:
    page = make_person(stage.hub.url, size).log_in(stage.hub, "#/approvals")
    line = "x = 1" + " " * 400 + "; at_the_end()\n"
    long = put_to_somebody(stage, page, "Edit", "edit", {"path": "r.py"}, [change("r.py", line)])
    expect(long.locator(".approvals-diff")).to_contain_text("at_the_end")
    assert long.evaluate(IN_SIGHT) is True


STEPS = "\n".join(f"echo step {number}" for number in range(1, 8))
"""A command of some lines."""


def asked_at_the_end(stage: Stage) -> Session:
    """A session whose agent said something, and asks whether it may run some lines."""
    session = stage.hub.new_session("actor", title="On a short screen")
    said = ["say", "Some words first.\n\n" * 6]
    tell(session, json.dumps([said, permission(1, STEPS, "execute", {"command": STEPS}), ["wait"]]))
    eventually(lambda: session.view()["pendingApprovals"], "somebody is asked")
    return session


@pytest.mark.parametrize("phone", short_screens())
def test_on_a_short_screen_an_ask_comes_with_its_beginning_and_a_long_draft_leaves_room(
        stage: Stage, make_person: MakePerson, phone: tuple[int, int]) -> None:
    session = asked_at_the_end(stage)
    page = on_phone(make_person, stage.hub, phone, f"#/s/{session.id}")
    expect(page.locator("[data-ask] pre").first).to_contain_text("echo step 7")
    until(page, """() => {
      const [feed, title, command] = ['[role=feed]', '[data-ask] h2', '[data-ask] pre'].map(each => document.querySelector(each));
      const [view, lines] = [feed.getBoundingClientRect(), command.getBoundingClientRect()];
      return title.getBoundingClientRect().top >= view.top && lines.top + 4 * 20 <= view.bottom;
    }""")
    page.get_by_role("textbox", name="Message to the agent").fill("line\n" * 30)
    feed = page.get_by_role("feed").bounding_box()
    assert feed is not None and feed["height"] > phone[1] / 3
    assert page.evaluate("document.scrollingElement.scrollHeight <= innerHeight"), "all of it is on the screen"


def asked_while_they_read_elsewhere(stage: Stage, person: Person, asks: Path) -> Page:
    """Somebody is at the beginning of a conversation at whose end they are asked; from then on their clock stands still."""
    session = stage.hub.new_session("actor", title="On a short screen")
    said = ["say", "Some words first.\n\n" * 12]
    asked = permission(1, STEPS, "execute", {"command": STEPS})
    tell(session, json.dumps([said, ["await", str(asks)], asked, ["wait"]]))
    eventually(lambda: "Some words" in json.dumps(history(session)), "the agent speaks")
    page = person.page
    page.clock.install()
    person.log_in(stage.hub, f"#/s/{session.id}/e/1")
    expect(page.get_by_text("Session started").first).to_be_in_viewport()
    asks.touch()
    expect(page.get_by_role("status").filter(has_text="Waits for approval")).to_be_visible()
    expect(page.locator("[data-ask]")).not_to_be_in_viewport()
    page.clock.pause_at(page.evaluate("Date.now() + 1_000"))
    return page


AT_END = """() => {
  const feed = document.querySelector('[role=feed]');
  return feed.scrollTop + feed.clientHeight > feed.scrollHeight - 2;
}"""


def go_to_the_end(page: Page) -> None:
    """By the key, again where what was drawn on the way there is taller than was thought."""
    page.get_by_role("feed").focus()

    def is_there() -> bool:
        page.keyboard.press("End")
        return bool(page.evaluate(AT_END))

    eventually(is_there, "the end is on the screen")


def go_to_the_title(page: Page) -> None:
    """To where the card begins."""
    page.locator("[data-ask]").evaluate("card => card.scrollIntoView({ block: 'start' })")


def go_to_the_beginning(page: Page) -> None:
    """To where what is asked for begins."""
    page.locator("[data-ask] [data-decided]").evaluate("decided => decided.scrollIntoView({ block: 'start' })")


@pytest.mark.parametrize("phone", short_screens())
def test_who_goes_past_the_beginning_of_an_ask_cannot_approve_it_before_they_saw_that(
        stage: Stage, make_person: MakePerson, tmp_path: Path, phone: tuple[int, int]) -> None:
    person = make_person(stage.hub.url, "phone", viewport={"width": phone[0], "height": phone[1]})
    page = asked_while_they_read_elsewhere(stage, person, tmp_path / "asks")
    button = page.locator("[data-ask]").get_by_role("button", name="Approve", exact=True)
    go_to_the_end(page)
    page.clock.run_for(3_000)
    expect(button).to_be_in_viewport()
    expect(button).to_be_disabled()
    go_to_the_beginning(page)
    page.clock.run_for(300)
    go_to_the_end(page)
    page.clock.run_for(3_000)
    expect(button).to_be_disabled()  # it flew past
    go_to_the_beginning(page)
    page.clock.run_for(3_000)
    go_to_the_end(page)
    expect(button).to_be_disabled()  # its title was not there
    go_to_the_title(page)
    page.clock.run_for(3_000)
    expect(button).to_be_enabled()


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_a_long_command_says_how_much_of_it_is_not_shown_and_shows_it_on_request(clear_hub: HubProcess, make_person: MakePerson,
                                                                                 size: str) -> None:
    session = clear_hub.new_session("puppet", title="Long")
    command = "\n".join(f"echo step {number}" for number in range(1, 62))
    tell(session, json.dumps([permission(1, command, "execute", {"command": command}), ["wait"]]))
    eventually(lambda: session.view()["pendingApprovals"], "somebody is asked")
    page = make_person(clear_hub.url, size).log_in(clear_hub, "#/approvals")
    shown = page.locator("[data-ask] pre").first
    whole = shown.evaluate("lines => lines.scrollHeight")
    more = page.get_by_role("button", name=re.compile(r"^\d+ more lines$"))
    left = int(more.inner_text().split()[0])
    seen = shown.evaluate("lines => (lines.clientHeight - 8) / parseFloat(getComputedStyle(lines).lineHeight)")
    assert left + int(seen) == 61
    more.click()
    expect(more).to_have_count(0)
    assert shown.evaluate("lines => lines.clientHeight") >= whole


@pytest.mark.slow
@pytest.mark.parametrize("phone", PHONES, ids=lambda phone: f"{phone[0]}x{phone[1]}")
def test_on_a_phone_the_first_ask_is_decided_with_the_thumb(stage: Stage, make_person: MakePerson,
                                                            phone: tuple[int, int]) -> None:
    session = stage.hub.new_session("actor", title="On the way")
    tell(session, json.dumps([edit_of(stage, 1), ["wait"]]))
    eventually(lambda: session.view()["pendingApprovals"], "somebody is asked")
    page = on_phone(make_person, stage.hub, phone, "#/approvals")
    expect(card(page, "Edit deploy.py").get_by_text("line 12")).to_be_attached()
    for name in ("Approve", "Deny"):
        box = card(page, "Edit deploy.py").get_by_role("button", name=name, exact=True).bounding_box()
        assert box is not None and phone[1] * 2 / 3 < box["y"] and box["y"] + box["height"] <= phone[1]


def test_what_a_tool_is_called_with_is_changed_before_it_is_approved(tmp_path: Path, make_person: MakePerson) -> None:
    program = fake_program(tmp_path, tmp_path / "log.jsonl", {})
    with HubProcess(tmp_path / "hub", env={"PATH": f"{program.parent}:{os.environ['PATH']}"}) as hub:
        session = hub.new_session("claude-code", mode="default")
        tell(session, json.dumps([["ask", "Bash", {"command": "rm -rf build", "timeout": 5000}]]))
        eventually(lambda: session.view()["pendingApprovals"], "somebody is asked")
        person = make_person(hub.url)
        page = person.log_in(hub, "#/approvals")
        card(page, "rm -rf build").get_by_role("button", name="Edit", exact=True).click()
        sheet = page.get_by_role("dialog")
        sheet.get_by_label("command").fill("rm -rf build/cache")
        sheet.get_by_label("timeout").fill("soon")
        sheet.get_by_role("button", name="Approve with these changes").click()
        expect(sheet.get_by_role("alert")).to_have_text("This is not a number.")
        assert session.view()["pendingApprovals"], "what cannot be sent is not sent"
        sheet.get_by_label("timeout").fill("9000")
        sheet.get_by_role("tab", name="JSON").click()
        assert json.loads(sheet.get_by_role("textbox").input_value()) == {"command": "rm -rf build/cache", "timeout": 9000}
        sheet.get_by_role("button", name="Approve with these changes").click()
        wait_until_idle(session)
        said = json.loads(texts(session)[-1])
        assert (said["behavior"], said["updatedInput"]) == ("allow", {"command": "rm -rf build/cache", "timeout": 9000})
        person.go(f"#/s/{session.id}")
        expect(page.get_by_role("feed")).to_contain_text("rm -rf build/cache")
        person.leave()


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_a_question_is_a_form_that_is_checked_and_answered(clear_hub: HubProcess, make_person: MakePerson, size: str) -> None:
    session = ask(clear_hub, "A form", "/question")
    page = make_person(clear_hub.url, size).log_in(clear_hub, f"#/s/{session.id}")
    form = card(page, "How shall the demo go on?")
    form.get_by_role("button", name="Send answer").click()
    expect(form.get_by_role("alert")).to_have_text("This is needed.")
    expect(form.get_by_label("Your name")).to_be_focused()
    form.get_by_label("Your name").fill("Ada")
    form.get_by_role("radio", name="Red").check()
    form.get_by_label(re.compile("How many steps")).fill("12")
    form.get_by_role("button", name="Send answer").click()
    expect(form.get_by_role("alert")).to_have_text("At most 9.")
    expect(form.get_by_label(re.compile("How many steps"))).to_be_focused()
    form.get_by_label(re.compile("How many steps")).fill("7")
    form.get_by_role("checkbox", name="Are you sure?").uncheck()
    form.get_by_role("button", name="Send answer").click()
    wait_until_idle(session)
    expect(page.get_by_text(re.compile("You answered")).first).to_be_visible()
    said = [event["delta"] for event in history(session) if event["type"] == "message:delta" and event["role"] == "assistant"]
    assert all(answer in said[-1] for answer in ('"name": "Ada"', '"colour": "red"', '"steps": 7', '"sure": false'))


def test_what_is_filled_into_a_question_is_there_after_a_look_elsewhere_and_a_reload_until_it_is_answered(
        clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = ask(clear_hub, "A form", "/question")
    person = make_person(clear_hub.url)
    page = person.log_in(clear_hub, f"#/s/{session.id}")
    form = card(page, "How shall the demo go on?")

    def is_filled_in() -> None:
        expect(form.get_by_label("Your name")).to_have_value("Ada")
        expect(form.get_by_role("radio", name="Red")).to_be_checked()

    form.get_by_label("Your name").fill("Ada")
    form.get_by_role("radio", name="Red").check()
    person.go("#/")
    expect(page.get_by_role("searchbox", name="Search sessions")).to_be_visible()
    person.go("#/approvals")
    is_filled_in()
    page.reload()
    is_filled_in()
    person.go(f"#/s/{session.id}")
    is_filled_in()
    form.get_by_role("button", name="Send answer").click()
    wait_until_idle(session)
    until(page, "() => !JSON.stringify({...sessionStorage}).includes('Ada')")


def test_a_question_can_be_declined_and_a_page_is_never_opened_by_itself(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = ask(clear_hub, "A page", "/question url")
    person = make_person(clear_hub.url)
    page = person.log_in(clear_hub, f"#/s/{session.id}")
    form = card(page, "Have a look at this page.").last
    expect(form).to_contain_text("example.com")
    link = form.get_by_role("link", name="Open the page")
    assert link.get_attribute("rel") == "noopener noreferrer" and link.get_attribute("href") == "https://example.com/demo"
    form.get_by_role("button", name="Decline").click()
    wait_until_idle(session)
    expect(page.get_by_text(re.compile("You answered")).first).to_contain_text("decline")


def test_who_may_only_watch_is_told_so_and_decides_nothing(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = ask(clear_hub, "Watched")
    page = make_person(clear_hub.url).log_in(clear_hub, "#/approvals", scope="view")
    expect(card(page, "permission 1")).to_contain_text("This device may watch, but not decide.")
    assert card(page, "permission 1").get_by_role("button", name="Approve", exact=True).count() == 0
    assert session.view()["pendingApprovals"]
