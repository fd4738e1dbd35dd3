"""For everybody: axe finds nothing, in both themes; nothing scrolls sideways, from 320 to 2560 pixels; the keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.page.beginning import opened
from tests.page.conftest import MakePerson, free_port
from tests.page.person import Person, sideways
from tests.page.stage import Stage
from tests.tooling.hub_process import Session

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
Busy = tuple[Stage, dict[str, Session]]
VIEWS = ("home", "new", "fixed", "fixed-files", "toured-artifacts", "publishing", "asking", "failed", "renamed", "followed",
         "approvals", "policy", "devices")


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Busy]:
    """A hub with something of everything on it."""
    stage = Stage(tmp_path_factory.mktemp("stage"), port=free_port())
    with stage.hub:
        names = ("fixed", "toured", "publishing", "asking", "failed", "renamed", "watching", "followed")
        yield stage, {name: getattr(stage, name)() for name in names}


def path_of(view: str, cast: dict[str, Session]) -> str:
    """Where a view is."""
    name, _, tab = view.partition("-")
    if name in cast:
        return f"#/s/{cast[name].id}" + (f"/{tab}" if tab else "")
    return "#/" if view == "home" else f"#/{view}"


def settle(person: Person) -> None:
    """Until the view is drawn and nothing moves."""
    page = person.page
    expect(page.get_by_role("main")).to_be_visible()
    expect(page.locator("h1").first).to_be_attached()  # a view that is loaded only now
    expect(page.get_by_role("status").filter(has_text="Connected")).to_be_attached()
    person.rest()
    page.evaluate("() => Promise.all(document.getAnimations().filter(each => each.effect.getTiming().iterations !== Infinity)"
                  ".map(each => each.finished.catch(() => null))).then(() => null)")


def found_by_axe(page: Page) -> list[str]:
    """All that axe finds, also by the rule on names that say something else than what is seen, which it leaves out by itself."""
    page.evaluate(AXE.read_text() + ";null")
    found: dict[str, Any] = page.evaluate(
        "axe.run(document, {resultTypes: ['violations'], rules: {'label-content-name-mismatch': {enabled: true}}})")
    return [f"{each['id']}: {node['target']} {node['html'][:160]} {node['failureSummary'][:300]}"
            for each in found["violations"] for node in each["nodes"]]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", ["desk", "phone"])
def test_axe_finds_nothing_in_any_view(busy: Busy, make_person: MakePerson, size: str, theme: str) -> None:
    stage, cast = busy
    person = make_person(stage.hub.url, size, color_scheme=theme, reduced_motion="reduce")
    page = person.log_in(stage.hub)
    found = []
    for view in VIEWS:
        person.go(path_of(view, cast))
        settle(person)
        found += [f"{view}: {each}" for each in found_by_axe(page)]
    assert not found, "\n".join(found)


def open_everything(page: Page) -> int:
    """Open every card, group and fold of a conversation, and those inside of them; says how many."""
    closed = page.get_by_role("feed").locator("button.session-card-line[aria-expanded=false]")
    expect(closed.first).to_be_visible()
    opened = 0
    while closed.count():
        closed.first.click()
        opened += 1
    return opened


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_where_all_cards_are_open(busy: Busy, make_person: MakePerson, theme: str) -> None:
    stage, cast = busy
    # As high as all of it: what is off the screen is not drawn.
    person = make_person(stage.hub.url, color_scheme=theme, reduced_motion="reduce", viewport={"width": 1280, "height": 6000})
    page = person.log_in(stage.hub)
    found, opened = [], 0
    for name in ("fixed", "toured"):
        person.go(path_of(name, cast))
        settle(person)
        opened += open_everything(page)
        settle(person)
        found += [f"{name}: {each}" for each in found_by_axe(page)]
    assert opened > 10
    assert not found, "\n".join(found)


def press(role: Any, name: str) -> Callable[[Page], None]:
    """Press the first that has this role and begins so."""
    return lambda page: page.get_by_role(role, name=re.compile(f"^{name}")).first.click()


def find(page: Page) -> None:
    """Search, until something is found."""
    page.get_by_role("searchbox").fill("login")
    expect(page.locator("mark").first).to_be_visible()


def explain(page: Page) -> None:
    """Ask what a command would come to."""
    page.get_by_role("tab", name="Explain").click()
    page.get_by_label("Command", exact=True).fill("npm test")
    page.get_by_role("button", name="Explain", exact=True).click()


def missing_agents(page: Page) -> None:
    """Show the agents that are not installed."""
    opened(page, "Agent")
    page.get_by_text("not installed").click()


def wait_and_press(name: str) -> Callable[[Page], None]:
    """Press a button of an ask as soon as it takes it."""

    def do(page: Page) -> None:
        button = page.get_by_role("button", name=name, exact=True).first
        button.scroll_into_view_if_needed()
        expect(button).to_be_enabled()
        button.click()

    return do


OPENED: dict[str, tuple[str, Callable[[Page], None]]] = {
    "the menu": ("home", press("button", "Menu")), "the menu of a row": ("home", press("button", "Actions for")),
    "a session by its id": ("home", press("button", "Open a session")),
    "what a search finds": ("home", find),
    "the folders": ("new", lambda page: opened(page, "Folder")), "agents to install": ("new", missing_agents),
    "the menu of a session": ("fixed", press("button", "More")), "what it cost": ("fixed", press("button", "(Cost|Context)")),
    "a denial": ("approvals", wait_and_press("Deny")), "for longer": ("approvals", wait_and_press("Always …")),
    "a code": ("devices", press("button", "Show the code")), "the file of rules": ("policy", press("tab", "File")),
    "an explanation": ("policy", explain), "a new rule": ("policy", press("button", "Add rule")),
}
"""What is open in a view only after somebody pressed something."""


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", ["desk", "phone"])
def test_axe_finds_nothing_in_what_opens(busy: Busy, make_person: MakePerson, size: str, theme: str) -> None:
    stage, cast = busy
    person = make_person(stage.hub.url, size, color_scheme=theme, reduced_motion="reduce")
    page = person.log_in(stage.hub)
    found = []
    for name, (view, do) in OPENED.items():
        person.go(path_of(view, cast))
        page.reload()
        settle(person)
        do(page)
        settle(person)
        found += [f"{name}: {each}" for each in found_by_axe(page)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("width", [320, 390, 768, 1100, 2560])
def test_nothing_scrolls_sideways(busy: Busy, make_person: MakePerson, width: int) -> None:
    stage, cast = busy
    person = make_person(stage.hub.url, viewport={"width": width, "height": 800})
    page = person.log_in(stage.hub)
    found = {}
    for view in VIEWS:
        person.go(path_of(view, cast))
        settle(person)
        if sideways(page):
            found[view] = page.evaluate("""() => [...document.querySelectorAll('body *')]
              .filter(part => part.getBoundingClientRect().right > innerWidth + 1)
              .slice(0, 5).map(part => part.outerHTML.slice(0, 80))""")
    assert not found


def test_on_a_narrow_phone_no_tab_is_cut_off(busy: Busy, make_person: MakePerson) -> None:
    stage, cast = busy
    person = make_person(stage.hub.url, "phone", viewport={"width": 320, "height": 640})
    page = person.log_in(stage.hub)
    seen, cut = 0, {}
    for view in VIEWS:
        person.go(path_of(view, cast))
        settle(person)
        seen += page.get_by_role("tab").count()
        cut[view] = page.evaluate("""() => [...document.querySelectorAll('[role=tab]')].filter(tab => {
          const row = tab.parentElement.getBoundingClientRect(), box = tab.getBoundingClientRect();
          const isOut = box.right > Math.min(row.right, innerWidth) + 0.5 || box.left < row.left - 0.5;
          return isOut || tab.scrollWidth > tab.clientWidth;
        }).map(tab => tab.textContent)""")
    assert seen > 4
    assert not {view: tabs for view, tabs in cut.items() if tabs}


def test_on_a_narrow_phone_names_are_whole_or_say_that_they_are_not(busy: Busy, make_person: MakePerson) -> None:
    stage, cast = busy
    person = make_person(stage.hub.url, "phone", viewport={"width": 320, "height": 640})
    page = person.log_in(stage.hub, path_of("publishing", cast))
    expect(page.get_by_role("heading", name="Publish release 2.4")).to_be_visible()
    settle(person)
    # A browser marks what it cuts in a box of text only, not in one that lays out boxes of its own.
    assert page.evaluate("""() => [...document.querySelectorAll('.session-title, .session-where > span')]
      .map(part => [part, getComputedStyle(part)])
      .filter(([, style]) => style.display !== 'block' || style.textOverflow !== 'ellipsis' || style.overflowX !== 'hidden')
      .map(([part]) => part.textContent)""") == []
    heights = page.evaluate("() => [...document.querySelectorAll('.session-where > span')].map(part => part.clientHeight)")
    assert max(heights) < 24, "each is one line"
    person.go("#/new")
    opened(page, "Agent")
    expect(page.get_by_role("radio", name=re.compile("trusted"))).to_be_attached()
    broken = page.evaluate("""() => [...document.querySelectorAll('.new-agents .new-agent-name')]
      .filter(name => name.getClientRects()[0].height > 1.5 * parseFloat(getComputedStyle(name).lineHeight))
      .map(name => name.textContent)""")
    assert broken == []
    page.get_by_text("not installed").click()
    expect(page.get_by_text("Install:", exact=True).first).to_be_visible()
    assert page.evaluate("""() => [...document.querySelectorAll('.new-install > span:first-child')]
      .filter(label => label.getBoundingClientRect().height > 1.5 * parseFloat(getComputedStyle(label).lineHeight))
      .map(label => label.textContent)""") == []


def test_the_login_is_for_everybody_too(busy: Busy, make_person: MakePerson) -> None:
    stage, _ = busy
    person = make_person(stage.hub.url, "phone")
    with person.losing_the_network(expected="status of 401"):
        person.page.goto(stage.hub.url)
        expect(person.page.get_by_role("status").filter(has_text="Not logged in")).to_be_visible()
        expect(person.page.get_by_role("button", name="Log in")).to_be_visible()
        assert not found_by_axe(person.page)
        assert sideways(person.page) == 0


@pytest.mark.parametrize("view", ["home", "fixed", "publishing", "asking", "approvals", "new", "policy", "devices"])
def test_what_a_finger_must_hit_is_large_enough(busy: Busy, make_person: MakePerson, view: str) -> None:
    stage, cast = busy
    person = make_person(stage.hub.url, "phone")
    page = person.log_in(stage.hub, path_of(view, cast))
    settle(person)
    small = page.evaluate("""() => [...document.querySelectorAll('button, [role=tab], select, summary, nav a, .ui-button')]
      .filter(part => part.offsetParent && !part.closest('.visually-hidden'))
      .filter(part => {  // one that is laid over its whole row is hit wherever the row is
        const row = part.closest('li'), box = row?.getBoundingClientRect();
        return !box || box.height < 43 || getComputedStyle(part, '::after').position !== 'absolute'
          || (box.bottom <= innerHeight && document.elementFromPoint(box.left + box.width / 2, box.bottom - 4) !== part);
      })
      .map(part => [part, part.getBoundingClientRect()])
      .filter(([part, box]) => box.width > 0 && Math.min(box.height, box.width) < 43)
      .filter(([part]) => getComputedStyle(part).visibility !== 'hidden' && getComputedStyle(part).opacity !== '0')
      .map(([part, box]) => `${part.className} ${(part.getAttribute('aria-label') ?? part.textContent).slice(0, 40)} `
        + `${Math.round(box.width)}x${Math.round(box.height)}`)""")
    assert not small, "\n".join(small)


def test_the_keyboard_goes_everywhere_and_is_seen(busy: Busy, make_person: MakePerson) -> None:
    stage, _cast = busy
    person = make_person(stage.hub.url)
    page = person.log_in(stage.hub)
    settle(person)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    for _ in range(12):
        page.keyboard.press("Tab")
        seen = page.evaluate("""() => {
          const part = document.activeElement;
          const around = part.closest('li, .home-search') ?? part;
          const drawn = [[part], [part, '::after'], [around]].map(each => getComputedStyle(...each));
          const isSeen = drawn.some(style => style.outlineStyle !== 'none' || style.boxShadow !== 'none');
          return [part.outerHTML.slice(0, 120), isSeen];
        }""")
        assert seen[1], f"focus cannot be seen on {seen[0]}"


def test_a_theme_is_chosen_and_kept(busy: Busy, make_person: MakePerson) -> None:
    stage, _ = busy
    person: Person = make_person(stage.hub.url, color_scheme="light")
    page = person.log_in(stage.hub)
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("menuitemradio", name="Dark").or_(page.get_by_role("menuitem", name="Dark")).click()
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark != light
    page.reload()
    expect(page.get_by_role("main")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark
    assert re.match("rgb", light)
