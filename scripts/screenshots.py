"""Pictures of the page's main views, light and dark, desk and phone: ``make screenshots`` puts them into docs/screenshots.

    python -m scripts.screenshots [NAME …]     # all, or only those whose name has one of the words in it

They are of a real hub with the sessions of the tests' stage on it. What is said there is always the same; times are not.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, Locator, Page, Route, expect, sync_playwright

from scripts.browser import FLAGS, recorded
from scripts.traffic import Traffic
from tests.page.machines import Machines, machines_of
from tests.page.person import until
from tests.page.profiles import SIZES
from tests.page.stage import BUILD, FIX, WATCH, Stage
from tests.tooling.hub_process import HubProcess, Session
from trunkline.server.options import PLAIN_COMMAND

TARGET = Path(__file__).parents[1] / "docs" / "screenshots"
ROOT = Path(tempfile.gettempdir()) / "trunkline-screenshots"
THEMES = ("light", "dark")
RESTED = """() => [...document.querySelectorAll('.approvals-card')]
  .filter((card) => card.getBoundingClientRect().top >= 0 && card.getBoundingClientRect().top < innerHeight / 2)
  .every((card) => card.querySelector('.approvals-actions button:disabled') === null)"""
"""A card that came just now takes no press, and neither does one that is not seen yet."""
STEP_PX = 300
READ_MS = 1_200
"""For pictures only: how long each part of a card is looked at."""
SETTLE_MS = 400
"""For pictures only: lets fonts, highlighting and sliding sheets come to rest."""


class Shot(NamedTuple):
    """One picture: its name, the view, and what is done there before it is taken; on a hub without sessions, by somebody whom the
    hub does not know, in sizes where the view is another one."""

    name: str
    path: str
    ready: Callable[[Page], object]
    is_empty: bool = False
    is_stranger: bool = False
    sizes: tuple[str, ...] = tuple(SIZES)


class Cast(NamedTuple):
    """The sessions that are pictured."""

    fixed: Session
    publishing: Session
    asking: Session
    failed: Session
    toured: Session
    renamed: Session
    drawn: Session
    elsewhere: Session


def shots(cast: Cast) -> list[Shot]:
    """Every picture."""
    return [
        Shot("login", "#/", lambda page: page.get_by_text(PLAIN_COMMAND, exact=True).wait_for(), is_stranger=True),
        Shot("empty-home", "#/", lambda page: page.get_by_role("main").wait_for(), is_empty=True),
        Shot("home", "#/", lambda page: page.get_by_text("Publish release 2.4").first.wait_for()),
        Shot("home-elsewhere", "#/", _show_elsewhere),
        Shot("elsewhere", f"#/s/{cast.elsewhere.id}", lambda page: page.get_by_text("You can read along").wait_for()),
        Shot("search", "#/", _search),
        Shot("new-session", "#/new", lambda page: page.get_by_label("First prompt").wait_for()),
        Shot("session", f"#/s/{cast.fixed.id}", lambda page: page.get_by_text("What was wrong").wait_for()),
        Shot("tools", f"#/s/{cast.fixed.id}", _open_tools),
        Shot("diff", f"#/s/{cast.fixed.id}", _open_diff),
        Shot("diff-side-by-side", f"#/s/{cast.fixed.id}", _open_split_diff, sizes=("desk",)),
        Shot("spending", f"#/s/{cast.fixed.id}", _open_spending),
        Shot("tour", f"#/s/{cast.toured.id}", lambda page: page.get_by_text("The tour is over").wait_for()),
        Shot("files", f"#/s/{cast.fixed.id}/files", lambda page: page.get_by_text("README.md").first.wait_for()),
        Shot("artifacts", f"#/s/{cast.toured.id}/artifacts", lambda page: page.get_by_text("hello.md").last.wait_for()),
        Shot("artifact-code", f"#/s/{cast.toured.id}/artifacts", _open_code),
        Shot("artifact-page", f"#/s/{cast.drawn.id}/artifacts", _open_page),
        Shot("long-names", f"#/s/{cast.renamed.id}", lambda page: page.get_by_text("is gone").first.wait_for()),
        Shot("approval", f"#/s/{cast.publishing.id}", lambda page: page.get_by_text("npm publish").first.wait_for()),
        Shot("approvals", "#/approvals", lambda page: page.get_by_text("npm publish").first.wait_for()),
        Shot("approval-always", f"#/s/{cast.publishing.id}", _open_always),
        Shot("question", f"#/s/{cast.asking.id}", lambda page: page.get_by_text("How shall the demo go on?").first.wait_for()),
        Shot("error", f"#/s/{cast.failed.id}", lambda page: page.get_by_text("I am about to crash.").wait_for()),
        Shot("policy", "#/policy", lambda page: page.get_by_role("tab", name="List").wait_for()),
        Shot("policy-explain", "#/policy", _explain),
        Shot("devices", "#/devices", _pair),
        Shot("offline", f"#/s/{cast.fixed.id}", _go_offline),
    ]


NODES = "nodes"
"""How the names of their pictures begin."""
RULES = """\
[[rules]]
command = ["npm test*", "git status"]
action = "allow"

[[rules]]
path = ".env"
reason = "secrets"
action = "deny"
"""
ON_MACHINES = {"laptop": FIX, "workstation": WATCH, "build-box": BUILD}


def shots_of_machines(machines: Machines) -> list[Shot]:
    """While all of them are there."""
    far = machines.sessions["workstation"]
    return [
        Shot("nodes-home", "#/", lambda page: page.get_by_text("Publish release 2.4").first.wait_for()),
        Shot("nodes-new", "#/new", lambda page: page.get_by_role("combobox", name="Node").wait_for()),
        Shot("nodes-session", f"#/s/{far.id}", lambda page: page.get_by_text("make watch").first.wait_for()),
        Shot("nodes-approvals", "#/approvals", lambda page: page.get_by_text("npm publish").first.wait_for()),
        Shot("nodes-policy", "#/policy", lambda page: page.get_by_role("radio", name="Of the cluster").wait_for()),
    ]


def shots_without_laptop(machines: Machines) -> list[Shot]:
    """While one of them is away."""
    lost = f"#/s/{machines.sessions['laptop'].id}"
    gone = "has not been heard of since"
    return [
        Shot("nodes-away-home", "#/", lambda page: page.get_by_text(gone).first.wait_for(timeout=60_000)),
        Shot("nodes-away", lost, lambda page: page.get_by_role("region", name="Unreachable").wait_for(timeout=60_000)),
        Shot("nodes-move", lost, _open_move),
    ]


def _open_move(page: Page) -> None:
    page.get_by_role("button", name="Continue on another node").click(timeout=60_000)
    page.get_by_role("dialog").wait_for()


def _take_nodes(browser: Browser, wants: Callable[[str], bool]) -> None:
    shutil.rmtree(ROOT, ignore_errors=True)
    with machines_of(ROOT / "nodes", *ON_MACHINES) as machines:
        machines.sessions = {name: machines.act(name, prompt) for name, prompt in ON_MACHINES.items()}
        machines.web.wire.ask("PUT", "/policy?of=cluster", {"text": RULES}).expect(200)
        _take_round(browser, machines.web, shots_of_machines(machines), wants)
        with machines.without("laptop"):
            _take_round(browser, machines.web, shots_without_laptop(machines), wants)


def _take_round(browser: Browser, hub: HubProcess, all_shots: list[Shot], wants: Callable[[str], bool]) -> None:
    for size, theme in [(size, theme) for size in SIZES for theme in THEMES]:
        page = _log_in(browser, hub, size, theme)
        for shot in all_shots:
            name = f"{shot.name}-{size}-{theme}"
            if wants(name):
                print(name, flush=True)
                _take(page, shot, name)
        page.context.close()


def _open_tools(page: Page) -> None:
    page.get_by_text("What was wrong").wait_for()
    page.get_by_role("feed").focus()
    page.keyboard.press("Home")
    _open(page, "^Searched once")
    for name in ("pytest", "^grep"):
        _open(page, name)
    page.get_by_role("feed").focus()
    page.keyboard.press("Home")


def _open(page: Page, name: str) -> Locator:
    line = page.get_by_role("feed").get_by_role("button", name=re.compile(name)).first
    if line.get_attribute("aria-expanded") == "false":
        line.click()
    return line


def _open_diff(page: Page) -> None:
    _open_tools(page)
    _open(page, "^edit").evaluate("line => line.scrollIntoView({block: 'start'})")


def _open_split_diff(page: Page) -> None:
    _open_diff(page)
    page.get_by_role("feed").get_by_role("button", name="Side by side").first.click()


def _open_spending(page: Page) -> None:
    page.get_by_text("What was wrong").wait_for()
    page.get_by_role("button", name=re.compile("Cost: ")).click()
    page.get_by_role("dialog").wait_for()


def _read_through(page: Page, card: Locator) -> None:
    """A card that is taller than the screen takes no press before all of it was seen."""
    card.evaluate("card => card.scrollIntoView({block: 'start'})")
    box = card.bounding_box()
    for _ in range(int((box["height"] if box else 0) // STEP_PX) + 1):
        page.wait_for_timeout(READ_MS)
        page.get_by_role("feed").evaluate("(feed, by) => feed.scrollBy(0, by)", STEP_PX)
    page.wait_for_timeout(READ_MS)


def _open_always(page: Page) -> None:
    edit = page.get_by_role("article").filter(has_text="Edit src/login.py").last
    _read_through(page, edit)
    edit.get_by_role("button", name="Always …").click()
    page.get_by_role("dialog").get_by_text("action = ").wait_for()


def _open_code(page: Page) -> None:
    page.get_by_role("link", name=re.compile("^hello.py")).click()
    page.get_by_role("article", name="hello.py").get_by_text("def greet").wait_for()


def _open_page(page: Page) -> None:
    page.get_by_role("link", name=re.compile("^orders.html")).click()
    page.frame_locator("iframe").get_by_role("heading", name="Orders of this week").wait_for()


def _search(page: Page) -> None:
    page.get_by_role("searchbox").click()  # who does that does not want to be where they were any more
    page.get_by_role("searchbox").fill("login")
    page.locator("mark", has_text="login").first.wait_for()


def _show_elsewhere(page: Page) -> None:
    found = page.get_by_role("region", name=re.compile("^In your agents"))
    found.get_by_role("listitem").first.wait_for()
    page.get_by_role("button", name=re.compile("^Open a session by its id")).scroll_into_view_if_needed()


def _pair(page: Page) -> None:
    page.get_by_role("button", name="Show the code").click()
    page.get_by_role("img", name="QR code that pairs a phone").wait_for()


def _explain(page: Page) -> None:
    page.get_by_role("tab", name="Explain").click()
    page.get_by_label("Command", exact=True).fill("npm test && rm -rf build")
    page.get_by_role("button", name="Explain", exact=True).click()
    page.get_by_text("A person is asked").wait_for()


def _go_offline(page: Page) -> None:
    page.get_by_text("What was wrong").wait_for()
    page.context.set_offline(True)
    expect(page.get_by_text("Offline").first).to_be_visible(timeout=60_000)


@contextmanager
def _staged() -> Iterator[tuple[Stage, Cast, HubProcess]]:
    shutil.rmtree(ROOT, ignore_errors=True)
    stage = Stage(ROOT)
    with stage.hub, HubProcess(ROOT / "empty") as empty:
        cast = Cast(stage.fixed(), stage.publishing(), stage.asking(), stage.failed(), stage.toured(), stage.renamed(),
                    stage.drawn(), stage.followed())
        stage.planned()
        stage.watching()
        yield stage, cast, empty
    shutil.rmtree(ROOT, ignore_errors=True)


def _come(browser: Browser, size: str, theme: str) -> Page:
    context = browser.new_context(**{**SIZES[size], "locale": "en-GB", "timezone_id": "UTC", "color_scheme": theme,
                                     "reduced_motion": "reduce"})
    return context.new_page()


def _log_in(browser: Browser, hub: HubProcess, size: str, theme: str) -> Page:
    page = _come(browser, size, theme)
    page.goto(hub.url + hub.wire.post("/auth/codes", {}, 201)["path"])
    page.get_by_role("main").wait_for()
    return page


def _tell_plain_command(route: Route) -> None:
    if route.request.method == "GET":
        route.fulfill(json={"command": PLAIN_COMMAND})
    else:
        route.continue_()


def _take(page: Page, shot: Shot, name: str) -> None:
    traffic = Traffic(page.context)
    if not shot.is_stranger:
        _go(page, shot.path)
    shot.ready(page)
    traffic.rest(page)
    traffic.forget()
    page.mouse.move(0, 0)
    page.evaluate("() => document.activeElement?.blur()")
    until(page, RESTED)
    page.wait_for_timeout(SETTLE_MS)
    page.screenshot(path=str(TARGET / f"{name}.png"))


def _go(page: Page, path: str) -> None:
    """To a view as if one came anew: what was opened, typed and chosen before is gone."""
    page.evaluate("() => { sessionStorage.clear(); localStorage.removeItem('trunkline.diff'); location.hash = '#/' }")
    page.reload()
    page.get_by_role("searchbox").wait_for()
    page.evaluate("path => { location.hash = path }", path)


def _take_stage(browser: Browser, wants: Callable[[str], bool]) -> None:
    with _staged() as (stage, cast, empty):
        for size, theme in [(size, theme) for size in SIZES for theme in THEMES]:
            known, at_empty = (_log_in(browser, hub, size, theme) for hub in (stage.hub, empty))
            stranger = _come(browser, size, theme)
            for page in (known, at_empty, stranger):
                # As somebody elsewhere sees it: where this checkout lies is nobody's business.
                page.route("**/auth/login", _tell_plain_command)
            stranger.goto(stage.hub.url)
            for shot in shots(cast):
                name = f"{shot.name}-{size}-{theme}"
                if size in shot.sizes and wants(name):
                    print(name, flush=True)
                    _take(stranger if shot.is_stranger else at_empty if shot.is_empty else known, shot, name)
            for page in (known, at_empty, stranger):
                page.context.close()


def main(words: list[str]) -> None:
    """Take the pictures that the words ask for."""
    TARGET.mkdir(parents=True, exist_ok=True)
    found = recorded()

    def wants(name: str) -> bool:
        return not words or any(word in name for word in words)

    of_nodes = [word for word in words if word.startswith(NODES)]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found.path, args=list(FLAGS), env=dict(found.environment()))
        if not words or len(of_nodes) < len(words):
            _take_stage(browser, wants)
        if not words or of_nodes:
            _take_nodes(browser, wants)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
