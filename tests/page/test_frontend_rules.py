"""What the packet seed asks of a frontend: its rendering rules, its states, its components and its advice on streaming.

Each test is one section of the seed; ``tests/spec/manifest.toml`` names them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.page.journal import tell, wait_until_idle
from tests.page.person import Person, shows, until
from tests.page.stage import AFTER, BEFORE, call, text_content, update
from tests.tooling.hub_process import HubProcess, Session


class Scene:
    """A session of the puppet's that somebody watches; the puppet goes on when it is let."""

    def __init__(self, hub: HubProcess, person: Person, folder: Path) -> None:
        self.session: Session = hub.new_session("puppet")
        self.page: Page = person.log_in(hub, f"#/s/{self.session.id}")
        self._folder = folder
        expect(self.composer).to_be_visible()

    def play(self, *steps: Sequence[object]) -> None:
        """Have the puppet take steps in one turn."""
        tell(self.session, json.dumps(steps))

    def stop(self, name: str) -> list[object]:
        """A step at which the puppet stays until it is let go."""
        return ["await", str(self._folder / name)]

    def go(self, name: str) -> None:
        """Let the puppet go on."""
        (self._folder / name).touch()

    @property
    def feed(self) -> Locator:
        """The conversation."""
        return self.page.get_by_role("feed")

    @property
    def composer(self) -> Locator:
        """Where the next message is written."""
        return self.page.get_by_role("textbox", name="Message to the agent")

    @property
    def said(self) -> Locator:
        """The agent's last message."""
        return self.feed.get_by_role("article", name="Agent said").last

    def card(self, name: str) -> Locator:
        """The line of a tool's card. (Playwright forgets to quote slashes in patterns.)"""
        return self.feed.get_by_role("button", name=re.compile(name.replace("/", r"\/")))


@pytest.fixture
def scene(hub: HubProcess, anybody: Person, tmp_path: Path) -> Scene:
    return Scene(hub, anybody, tmp_path)


def tool(state: str, **fields: object) -> list[object]:
    """A call's beginning, or what is new of it."""
    return update("tool_call" if state == "pending" else "tool_call_update", toolCallId="c", status=state, **fields)


def test_message_chunks_are_joined_and_shown_as_markdown_while_they_come(scene: Scene) -> None:
    scene.play(["say", "Half of a **bo"], scene.stop("a"), ["say", "ld** word\n\n| a | b |\n|---|---|\n| 1 "], scene.stop("b"),
               ["say", "| 2 |\n\n- [x] done\n"])
    shows(scene.page, "Half of a")
    scene.go("a")
    expect(scene.said.locator("strong")).to_have_text("bold")
    scene.go("b")
    expect(scene.said.get_by_role("table")).to_contain_text("2")
    expect(scene.said.get_by_role("checkbox")).to_be_checked()
    expect(scene.feed.get_by_role("article", name="Agent said")).to_have_count(1)


def test_a_call_that_starts_is_a_card_with_its_name_that_is_not_done_yet(scene: Scene) -> None:
    scene.play(tool("pending", title="bash", kind="execute", rawInput={}), scene.stop("a"))
    card = scene.card("^bash: Getting ready")
    expect(card).to_be_visible()
    expect(card.locator(".session-mark-runs .ui-spinner")).to_be_visible()
    scene.go("a")


def test_a_call_that_goes_on_shows_what_its_status_says(scene: Scene) -> None:
    scene.play(tool("pending", title="bash", kind="execute", rawInput={}),
               tool("in_progress", rawInput={"command": "make all"}), scene.stop("a"),
               tool("completed", content=text_content("built\n"), rawOutput={"output": "built\n", "exit_code": 2}),
               scene.stop("b"),
               *call(2, "Read app.py", "read", {"filePath": "app.py"}, content=text_content("1\tdef run():\n2\t    pass\n")),
               *call(3, "apply_patch", "edit", {"filePath": "app.py"},
                     content=[{"type": "diff", "path": "app.py", "oldText": BEFORE, "newText": AFTER}]),
               *call(4, "rm app.py", "execute", {"command": "rm app.py"}, status="failed",
                     content=text_content("The user rejected it: keep the file")))
    running = scene.card("bash make all: Running")
    expect(running.locator(".ui-spinner")).to_be_visible()
    scene.go("a")
    done = scene.card("bash make all: The command ended with 2")
    expect(done).to_contain_text("exit 2")
    done.click()
    expect(scene.feed.get_by_role("group", name="Output")).to_have_text("built\n")
    scene.go("b")
    wait_until_idle(scene.session)
    scene.card("Ran 2 commands").click()
    expect(scene.card("rm app.py: Failed")).to_have_attribute("aria-expanded", "true")
    expect(scene.feed.get_by_text("The user rejected it: keep the file").first).to_be_visible()
    scene.card("read app.py: Done").click()
    expect(scene.feed.locator(".content-hl-keyword").filter(has_text=re.compile("^def$")).first).to_be_visible()
    scene.card("app.py: Done").filter(has_text="+8").click()
    diff = scene.feed.get_by_role("group", name="Changes of app.py")
    expect(diff).to_contain_text("added: from collections.abc import Callable")
    expect(diff).to_contain_text("removed: ")


def test_a_turn_that_ends_ends_its_message_frees_the_input_and_stops_what_turns(scene: Scene) -> None:
    scene.play(["say", "All of it."], scene.stop("a"))
    shows(scene.page, "All of it.")
    expect(scene.page.get_by_role("button", name="Stop")).to_be_visible()
    expect(scene.composer).to_have_attribute("placeholder", re.compile("Queue"))
    expect(scene.said.get_by_role("button", name="Copy message")).to_have_count(0)
    scene.go("a")
    expect(scene.said.get_by_role("button", name="Copy message")).to_be_attached()
    expect(scene.page.get_by_role("button", name="Stop")).to_have_count(0)
    expect(scene.composer).to_have_attribute("placeholder", re.compile("^Message"))
    expect(scene.composer).to_be_enabled()
    expect(scene.page.get_by_role("main").locator(".ui-spinner")).to_have_count(0)


def test_an_error_stands_out_and_can_be_tried_again_and_one_of_a_session_that_is_gone_leads_away(hub: HubProcess,
                                                                                              anybody: Person) -> None:
    session = hub.new_session("fast")
    page = anybody.log_in(hub, f"#/s/{session.id}")
    tell(session, "/error")
    banner = page.get_by_role("group", name="The answer failed")
    expect(banner).to_contain_text("The demo failed, as /error asks")
    expect(banner.get_by_role("button", name="Try again")).to_be_enabled()
    with anybody.losing_the_network(expected="404"):
        anybody.go("#/s/ses_0000000000000000")
        expect(page.get_by_role("alert")).to_be_visible()
        expect(page.get_by_role("link", name=re.compile("sessions", re.I)).first).to_be_visible()


def test_a_turn_has_its_streaming_its_calls_by_their_ids_and_its_text(scene: Scene) -> None:
    two = [update("tool_call", toolCallId=name, title="bash", kind="execute", status="in_progress",
                  rawInput={"command": f"echo {name}"}) for name in ("one", "two")]
    scene.play(["say", "Some "], *two, scene.stop("a"),
               update("tool_call_update", toolCallId="two", status="failed", content=text_content("no")),
               update("tool_call_update", toolCallId="one", status="completed", content=text_content("yes")), ["say", "words"])
    state = scene.page.get_by_role("status").filter(has_text=re.compile("Working|Thinking"))
    expect(state).to_be_visible()
    expect(scene.card("echo one: Running")).to_be_visible()
    expect(scene.card("echo two: Running")).to_be_visible()
    scene.go("a")
    wait_until_idle(scene.session)
    scene.card("Ran 2 commands").click()
    expect(scene.card("echo one: Done")).to_be_visible()
    expect(scene.card("echo two: Failed")).to_be_visible()
    expect(state).to_have_count(0)
    shows(scene.page, "words")


def test_the_components_are_a_bubble_a_card_a_diff_and_a_banner(scene: Scene) -> None:
    scene.play(["say", "## Heading"], *call(1, "bash", "execute", {"command": "true"}), ["say", "\n\nThen:\n\n"],
               *call(2, "Read x.py", "read", {"filePath": "x.py"}, content=text_content("1\tx = 1\n")), ["say", "\n\nAnd:\n\n"],
               *call(3, "Edit x.py", "edit", {"filePath": "x.py"},
                     content=[{"type": "diff", "path": "x.py", "oldText": "x = 1\n", "newText": "x = int(2)\n"}]))
    wait_until_idle(scene.session)
    expect(scene.feed.get_by_role("heading", name="Heading")).to_be_visible()
    looks = [scene.card(name).locator("svg").first.inner_html() for name in ("true: Done", "read x.py: Done", "edit x.py: Done")]
    assert len(set(looks)) == 3, "an icon by kind"
    edit = scene.card("edit x.py: Done")
    expect(edit.locator(".session-mark-done")).to_be_visible()
    edit.click()
    diff = scene.feed.get_by_role("group", name="Changes of x.py")
    expect(diff).to_contain_text("removed: x = 1")
    expect(diff).to_contain_text("added: x = int(2)")
    expect(diff.locator("[class*=content-hl-]").first).to_be_visible()
    edit.click()
    expect(diff).to_have_count(0)
    scene.play(["die", 3, "/dev/null"])
    expect(scene.page.get_by_role("group", name="The answer failed")).to_be_visible()


def test_streaming_shows_that_it_begins_grows_stays_closed_and_lets_the_reader_read(scene: Scene) -> None:
    scene.play(scene.stop("a"), *call(1, "bash", "execute", {"command": "date"}, content=text_content("Monday")))
    expect(scene.page.get_by_text("The agent is getting ready …")).to_be_visible()
    scene.go("a")
    expect(scene.card("bash date: Done")).to_have_attribute("aria-expanded", "false")
    expect(scene.page.get_by_text("The agent is getting ready …")).to_have_count(0)
    scene.card("bash date: Done").click()
    expect(scene.feed.get_by_text("Monday", exact=True)).to_be_visible()
    scene.feed.focus()
    scene.page.keyboard.press("End")
    paragraphs: list[list[object]] = [["say", f"Paragraph *{number}*.\n\n"] for number in range(80)]
    scene.play(*paragraphs, scene.stop("b"), ["say", "The end."])
    expect(scene.page.get_by_text("Paragraph 79.", exact=True)).to_be_in_viewport()
    scene.feed.focus()
    scene.page.keyboard.press("Home")
    until(scene.page, "() => document.querySelector('[role=feed]').scrollTop === 0")
    scene.go("b")
    wait_until_idle(scene.session)
    pill = scene.page.get_by_role("button", name="To the newest")
    expect(pill).to_contain_text("new")
    assert scene.feed.evaluate("feed => feed.scrollTop") == 0, "the reader is not moved"
    pill.click()
    expect(scene.page.get_by_text("The end.", exact=True)).to_be_in_viewport()
