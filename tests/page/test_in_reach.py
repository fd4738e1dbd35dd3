"""What is read and pressed is in reach: open menus lie above the list, asks are shown from the first and from its beginning, and
on narrow phones nothing is pushed off the screen."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Locator, expect

from tests.page.beginning import chip, choose_agent
from tests.page.conftest import MakePerson
from tests.page.journal import tell, wait_until_idle
from tests.page.person import sideways, until
from tests.page.stage import permission
from tests.page.test_approvals import ask
from tests.tooling.hub_process import HubProcess
from tests.tooling.processes import eventually

OVERLAID = """list => [...list.querySelectorAll('[role^=menuitem]')].flatMap(item => {
  const { left, right, top, bottom } = item.getBoundingClientRect();
  return [0.1, 0.5, 0.9].map(part => document.elementFromPoint(left + (right - left) * part, (top + bottom) / 2))
    .filter(there => !item.contains(there)).map(there => `${item.textContent}: ${there?.outerHTML.slice(0, 80)}`);
})"""
"""What lies over the items of a menu, at their beginnings, middles and ends."""

SEEN_FROM = """title => {
  const { left, top } = title.getBoundingClientRect();
  const feed = document.querySelector('[role=feed]').getBoundingClientRect();
  return top >= feed.top && title.contains(document.elementFromPoint(left + 4, top + 4));
}"""
"""Whether a title is on the screen from its first line on."""


WATCH_TOPS = """feed => {
  window.tops = [];
  const look = () => { window.tops.push(feed.scrollTop); requestAnimationFrame(look); };
  look();
}"""
"""Notes at each frame where the conversation is."""


def approve(card: Locator) -> Locator:
    """The button that lets it happen."""
    return card.get_by_role("button", name="Approve", exact=True)


def title_is_seen(card: Locator) -> None:
    """Until the title of a card is on the screen, and nothing lies over it."""
    title = card.get_by_role("heading", level=2)
    expect(title).to_be_visible()
    eventually(lambda: title.evaluate(SEEN_FROM), "the title is on the screen")


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_an_open_menu_lies_above_the_rest_of_the_page(clear_hub: HubProcess, make_person: MakePerson, size: str) -> None:
    sessions = [clear_hub.new_session("fast", title=f"Row {number}") for number in range(4)]
    person = make_person(clear_hub.url, size)
    page = person.log_in(clear_hub)
    menus = [(f"Actions for {each.view()['title']}", "#/") for each in sessions]
    in_session = f"#/s/{sessions[0].id}"
    for name, path in [*menus, ("Menu", "#/"), ("More about this session", in_session), ("More controls", in_session)]:
        person.go(path)
        page.get_by_role("button", name=name, exact=True).click()
        assert page.get_by_role("menu").evaluate(OVERLAID) == [], f"{name} on the {size}"
        page.keyboard.press("Escape")


@pytest.mark.parametrize("from_top", [20, 130])
def test_the_first_turn_of_the_wheel_counts_while_an_ask_waits(clear_hub: HubProcess, make_person: MakePerson, from_top: int
                                                               ) -> None:
    session = clear_hub.new_session("puppet", title="Up")
    said = [["say", f"line {number}\n\n"] for number in range(60)]
    tell(session, json.dumps([*said, permission(1, "make 1", "execute", {"command": "make 1"}), ["wait"]]))
    page = make_person(clear_hub.url, viewport={"width": 1280, "height": 800}).log_in(clear_hub, f"#/s/{session.id}")
    card = page.locator("[data-ask]")
    expect(approve(card)).to_be_enabled()
    box = card.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 200, box["y"] + from_top)
    page.get_by_role("feed").evaluate(WATCH_TOPS)
    page.mouse.wheel(0, -120)
    until(page, "() => window.tops.length > 40")
    tops = page.evaluate("() => window.tops")
    assert tops[-1] <= tops[0] - 100, tops


@pytest.mark.parametrize("phone", [(390, 844), (360, 740)])
def test_on_a_phone_what_the_tour_asks_is_shown_from_its_title(clear_hub: HubProcess, make_person: MakePerson,
                                                              phone: tuple[int, int]) -> None:
    session = clear_hub.new_session("fast", title="A tour")
    viewport = {"width": phone[0], "height": phone[1]}
    page = make_person(clear_hub.url, "phone", viewport=viewport).log_in(clear_hub, f"#/s/{session.id}")
    tell(session, "Show me around")
    eventually(lambda: session.view()["pendingApprovals"], "it asks")
    card = page.locator(f"[data-ask='{session.view()['pendingApprovals'][0]['requestId']}']")
    expect(page.get_by_text("1 of 5 done")).to_be_visible()
    expect(card.get_by_text("print(greet").first).to_be_visible()
    title_is_seen(card)


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_of_two_asks_the_first_is_shown_and_can_be_decided(clear_hub: HubProcess, make_person: MakePerson, size: str) -> None:
    session = ask(clear_hub, "Two at once", "/ask 2")
    eventually(lambda: len(session.view()["pendingApprovals"]) == 2, "both are asked")
    first = session.view()["pendingApprovals"][0]["requestId"]
    wishes = {"viewport": {"width": 1280, "height": 800}} if size == "desk" else {}
    page = make_person(clear_hub.url, size, **wishes).log_in(clear_hub, f"#/s/{session.id}")
    card = page.locator(f"[data-ask='{first}']")
    title_is_seen(card)
    expect(approve(card)).to_be_enabled()
    title_is_seen(card)


def test_on_a_narrow_screen_a_flag_of_a_command_is_not_divided_at_its_hyphens(clear_hub: HubProcess,
                                                                               make_person: MakePerson) -> None:
    session = clear_hub.new_session("puppet", title="Flags")
    command = "npm run publish-all --dry-run --access-level public --registry-timeout 20 --with-" + "long-" * 20 + "name"
    tell(session, json.dumps([permission(1, command, "execute", {"command": command}), ["wait"]]))
    page = make_person(clear_hub.url, "phone", viewport={"width": 320, "height": 640}).log_in(clear_hub, f"#/s/{session.id}")
    flags = page.locator("[data-ask] .approvals-part-flag")
    expect(flags).to_have_count(4)
    assert flags.evaluate_all("all => all.map(each => each.getClientRects().length)") == [1] * 4
    assert flags.evaluate_all("all => all.every(each => each.scrollWidth <= each.clientWidth)"), "a long one is divided"
    assert page.locator("[data-ask] pre").first.inner_text().replace("\n", "") == command
    assert sideways(page) == 0


def test_on_a_phone_the_words_that_a_tap_was_not_taken_can_be_read(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = ask(clear_hub, "Too soon", "/ask 2")
    eventually(lambda: len(session.view()["pendingApprovals"]) == 2, "both are asked")
    first = session.view()["pendingApprovals"][0]["requestId"]
    person = make_person(clear_hub.url, "phone", viewport={"width": 390, "height": 600})
    person.page.clock.install()
    page = person.log_in(clear_hub)
    page.clock.pause_at(page.evaluate("Date.now() + 1_000"))
    person.go(f"#/s/{session.id}")
    card = page.locator(f"[data-ask='{first}']")

    def comes() -> bool:
        page.clock.run_for(20)  # far less than it rests
        return card.count() > 0

    eventually(comes, "the card is there")
    card.evaluate("""card => {
      const [feed, buttons] = [card.closest('[role=feed]'), card.querySelector('footer')];
      const down = () => buttons.getBoundingClientRect().top - feed.getBoundingClientRect().top;
      feed.scrollTop += card.getBoundingClientRect().bottom - buttons.getBoundingClientRect().bottom; // they stick no more
      feed.scrollTop += down() - 10;
      if (Math.abs(down() - 10) > 2) throw new Error(`the buttons are ${down()} px below the top`);
      buttons.querySelector('button').click();
    }""")
    refused = card.locator("[data-refused]")
    page.clock.run_for(20)
    expect(refused).to_be_visible()
    feed = page.get_by_role("feed").bounding_box()
    words = refused.bounding_box()
    assert feed and words and words["y"] >= feed["y"], "the head does not cut it off"
    assert len(session.view()["pendingApprovals"]) == 2


@pytest.mark.parametrize("width", [360, 320])
def test_on_a_narrow_phone_nothing_of_an_open_call_or_of_the_controls_is_out_of_reach(
        clear_hub: HubProcess, make_person: MakePerson, width: int) -> None:
    session = ask(clear_hub, "Narrow", "/ask 2")
    page = make_person(clear_hub.url, "phone", viewport={"width": width, "height": 740}).log_in(clear_hub, f"#/s/{session.id}")
    more = page.get_by_role("button", name="More controls", exact=True)
    stop = page.get_by_role("button", name="Stop")
    expect(stop).to_be_visible()
    [stops, mores] = [each.bounding_box() for each in (stop, more)]
    assert stops and mores and abs(stops["y"] + stops["height"] / 2 - mores["y"] - mores["height"] / 2) < 12, "one row"
    eventually(lambda: len(session.view()["pendingApprovals"]) == 2, "both are asked")
    for each in session.view()["pendingApprovals"]:
        session.post(f"permissions/{each['requestId']}", {"decision": "deny"})
    wait_until_idle(session)
    run = page.get_by_role("button", name="2 denied")
    expect(run).to_have_count(1)
    assert run.get_by_role("img", name="Done").count() == 0, "nothing of it was done"
    links = page.get_by_role("button", name="Link to this")
    expect(links.first).to_be_visible()
    for link in links.all():
        box = link.bounding_box()
        assert box and box["x"] >= 0 and box["x"] + box["width"] <= width
    assert sideways(page) == 0


def test_on_a_short_screen_what_opens_for_a_new_session_is_shown_whole(clear_hub: HubProcess, make_person: MakePerson) -> None:
    clear_hub.new_session("fast", clear_hub.new_folder())
    page = make_person(clear_hub.url, "phone", viewport={"width": 320, "height": 640}).log_in(clear_hub, "#/new")
    choose_agent(page, "fast")
    chip(page, "Folder").tap()
    expect(page.get_by_role("button", name="Browse")).to_be_in_viewport(ratio=1)
    expect(page.get_by_text("The agent works in this folder")).to_be_in_viewport(ratio=1)
    expect(page.get_by_text("Folder", exact=True)).to_be_in_viewport(ratio=1)
