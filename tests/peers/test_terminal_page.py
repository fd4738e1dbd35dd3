"""Real programs in real terminals, and somebody at a browser: what the terminal asks is answered on the page, or said to be
answered there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from playwright.sync_api import Locator, expect, sync_playwright

from scripts.browser import FLAGS, recorded
from tests.page.person import Person
from tests.page.profiles import Profiles
from tests.peers.claude import NATIVE, bash
from tests.peers.places import CODEX, COPILOT, OPENCODE, QWEN
from tests.peers.seat import Seat
from tests.peers.test_terminal import PROMPT, person
from tests.peers.test_terminal_gemini import READY
from tests.peers.test_terminal_gemini import VERSION as GEMINI
from tests.peers.test_terminal_gemini import seat as gemini
from tests.tooling.hub_process import HubProcess

pytestmark = [pytest.mark.peers, pytest.mark.slow]


@contextmanager
def at_page(hub: HubProcess, size: str) -> Iterator[Person]:
    """Somebody at the approvals of a hub. Whatever must never happen there did not."""
    found = recorded()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found.path, args=list(FLAGS), env=dict(found.environment()))
        one = Person(Profiles(browser).take(size, alone=True), hub.url)
        one.log_in(hub, "#/approvals")
        yield one
        one.leave()
        browser.close()
    one.assert_no_faults()


def card_of(reader: Person, command: str) -> Locator:
    """The card of a command. Its session's title is the whole prompt, which has all of them."""
    return reader.by_role("article").filter(has=reader.page.locator("pre", has_text=command))


@pytest.mark.program("Claude Code", NATIVE)
@pytest.mark.shows("allowed on the page", "denied from the hub, and the model sees the reason")
def test_what_the_terminal_asks_is_answered_on_the_page() -> None:
    with person(NATIVE) as terminal, at_page(terminal.hub, "desk") as reader:
        terminal.plays(bash("touch page1"), bash("touch never1"), {"text": "Done with both."})
        terminal.terminal.sees(PROMPT)
        card = card_of(reader, "touch page1")
        expect(card).to_be_visible(timeout=30_000)
        card.get_by_role("button", name="Approve", exact=True).click(delay=50)
        second = card_of(reader, "touch never1")
        expect(second).to_be_visible(timeout=30_000)
        assert (terminal.work / "page1").exists()
        deny(second, "use page2 instead")
        terminal.hears("Done with both.")
        assert not (terminal.work / "never1").exists() and "use page2 instead" in terminal.told_model()


def deny(card: Locator, reason: str) -> None:
    """Say no on a card, and why."""
    card.get_by_role("button", name="Deny", exact=True).click()
    card.get_by_role("textbox").fill(reason)
    card.get_by_role("button", name="Deny", exact=True).last.click()


@pytest.mark.parametrize("seat", [CODEX, OPENCODE, QWEN, COPILOT])
@pytest.mark.shows("allowed on the page", "denied from the hub, and the model sees the reason")
def test_what_any_terminal_asks_is_answered_on_the_page(seat: Callable[[], AbstractContextManager[Seat]]) -> None:
    with seat() as terminal, at_page(terminal.hub, "desk") as reader:
        terminal.hub.command("away")  # one of them asks here only then
        terminal.says("run: touch page1")
        card = card_of(reader, "touch page1")
        expect(card).to_be_visible(timeout=60_000)
        card.get_by_role("button", name="Approve", exact=True).click(delay=50)
        terminal.made("page1")
        terminal.is_idle()
        terminal.says("run: touch never1")
        second = card_of(reader, "touch never1")
        expect(second).to_be_visible(timeout=60_000)
        deny(second, "use page2 instead")
        terminal.is_told("use page2 instead")
        assert not (terminal.work / "never1").exists()


@pytest.mark.program("Gemini CLI", GEMINI)
@pytest.mark.shows("shown as waiting for an answer in the terminal")
def test_what_only_the_terminal_can_answer_says_so_on_a_phone() -> None:
    with gemini() as terminal, at_page(terminal.hub, "phone") as reader:
        terminal.says("run: touch a1")
        card = card_of(reader, "touch a1")
        expect(card.get_by_text("Answer it in the terminal that asks it.")).to_be_visible(timeout=30_000)
        expect(card.get_by_role("button", name="Approve", exact=True)).to_have_count(0)
        terminal.presses("Enter")
        expect(card.get_by_role("button")).to_have_count(0)
        expect(reader.page.get_by_text("Answer it in the terminal that asks it.")).to_have_count(0, timeout=30_000)
        terminal.terminal.sees(READY)
        terminal.made("a1")
