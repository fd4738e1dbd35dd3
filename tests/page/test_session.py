"""The session view: every part of a conversation, live and from history, on a desk and on a phone."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.page.conftest import MakePerson
from tests.page.journal import history, tell, texts, wait_until_idle
from tests.page.person import Person, shows, sideways, until
from tests.page.stage import COLOURS, FIX, Stage, call, permission, text_content, think, update
from tests.tooling.hub_process import HubProcess, Session
from tests.tooling.processes import eventually

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def puppet_says(session: Session, *steps: Sequence[object]) -> None:
    """Have the puppet take steps."""
    tell(session, json.dumps(steps))


def tool_card(page: Page, name: str) -> Locator:
    """The line of a tool's card, which opens it."""
    return page.get_by_role("feed").get_by_role("button", name=pattern(name))


def pattern(text: str) -> re.Pattern[str]:
    """A pattern that Playwright can carry: it forgets to quote slashes."""
    return re.compile(text.replace("/", r"\/"))


def open_all(page: Page) -> None:
    """Open every group of calls."""
    groups = page.get_by_role("feed").get_by_role("button", expanded=False, name=re.compile("Searched|read \\d|ran \\d", re.I))
    expect(groups.first).to_be_visible()
    while groups.count():  # each that was opened is no longer one of them
        groups.first.click()


@pytest.fixture(params=["desk", "phone"])
def fixed(request: pytest.FixtureRequest, stage: Stage, make_person: MakePerson) -> tuple[Page, Session]:
    """Somebody who looks at a turn with something of everything."""
    session = stage.fixed()
    page = make_person(stage.hub.url, request.param).log_in(stage.hub, f"#/s/{session.id}")
    expect(page.get_by_role("heading", name="What was wrong")).to_be_visible()
    return page, session


def test_a_message_is_github_flavoured_markdown(fixed: tuple[Page, Session]) -> None:
    page, _ = fixed
    said = page.get_by_role("article", name="Agent said").last
    expect(said.get_by_role("heading", name="What was wrong")).to_be_visible()
    expect(said.get_by_role("table")).to_contain_text("12:00:00.998")
    boxes = said.get_by_role("checkbox")
    assert [box.is_checked() for box in boxes.all()] == [True, True, False]
    assert all(box.is_disabled() for box in boxes.all())
    code = said.locator("pre")
    expect(code).to_contain_text("class Login:")
    expect(code.locator("span[class]").filter(has_text=re.compile("^class$"))).to_be_visible()
    link = said.get_by_role("link", name=re.compile("notes on clocks"))
    assert link.get_attribute("target") == "_blank" and "noopener" in (link.get_attribute("rel") or "")
    assert sideways(page) == 0


def test_thinking_is_closed_until_somebody_wants_it(fixed: tuple[Page, Session]) -> None:
    page, _ = fixed
    thought = page.get_by_role("button", name=re.compile("^Thought"))
    expect(thought).to_have_attribute("aria-expanded", "false")
    expect(page.get_by_text("I look for clocks first.")).to_have_count(0)
    thought.click()
    expect(page.get_by_text("I look for clocks first.")).to_be_visible()


def test_a_run_of_calls_is_one_line_that_says_what_happened_and_what_failed_is_open(fixed: tuple[Page, Session]) -> None:
    page, _ = fixed
    group = page.get_by_role("button", name=re.compile("Searched once, read 2 files, ran 1 command, edited 1 file"))
    expect(group).to_have_attribute("aria-expanded", "false")
    expect(group).to_contain_text("1 failed")
    expect(page.get_by_text("Error: File not found: src/clock.py").first).to_be_visible()
    group.click()
    expect(tool_card(page, "pytest tests/test_login.py")).to_be_visible()
    expect(tool_card(page, "src/clock.py.*Failed")).to_have_attribute("aria-expanded", "true")


def test_terminal_output_has_its_colours_and_its_exit_code(fixed: tuple[Page, Session]) -> None:
    page, _ = fixed
    open_all(page)
    line = tool_card(page, "pytest tests/test_login.py")
    expect(line).to_contain_text("exit 1")
    expect(line).to_have_accessible_name(re.compile("The command ended with 1$"))
    expect(line).to_have_attribute("aria-expanded", "false")
    line.click()
    plain = re.sub(r"\x1b\[[\d;]*m", "", COLOURS)
    expect(page.get_by_text("199 passed").last).to_be_visible()
    shown = page.get_by_role("feed").evaluate("feed => feed.innerText")
    assert "\x1b" not in shown
    for piece in plain.split("\n"):
        assert piece.strip() in shown
    colours = page.evaluate("""() => {
      const walk = document.createTreeWalker(document.querySelector('[role=feed]'), NodeFilter.SHOW_TEXT);
      const found = {};
      while (walk.nextNode()) for (const word of ['1 failed', '199 passed'])
        if (walk.currentNode.data.trim() === word) found[word] = getComputedStyle(walk.currentNode.parentElement).color;
      return found;
    }""")
    assert len(set(colours.values())) == 2, colours


def test_a_file_that_was_read_has_line_numbers(fixed: tuple[Page, Session]) -> None:
    page, _ = fixed
    open_all(page)
    tool_card(page, "read src/login.py").click()
    expect(page.get_by_role("feed").locator("[data-n='9']").first).to_be_attached()
    expect(page.get_by_text("self._codes[code] = time.time() + lifetime").first).to_be_visible()


def test_search_results_are_links_to_the_files(fixed: tuple[Page, Session]) -> None:
    page, session = fixed
    open_all(page)
    tool_card(page, "grep").click()
    hit = page.get_by_role("feed").get_by_role("link", name=pattern("src/login.py")).first
    expect(hit).to_be_visible()
    assert f"#/s/{session.id}/files" in (hit.get_attribute("href") or "")


def test_a_diff_has_true_line_numbers_words_and_two_layouts(fixed: tuple[Page, Session]) -> None:
    page, _ = fixed
    open_all(page)
    tool_card(page, "edit src/login.py").click()
    diff = page.get_by_role("feed").get_by_role("table", name=re.compile("login.py")).or_(
        page.get_by_role("feed").locator(".content-diff")).first
    expect(diff).to_contain_text("from collections.abc import Callable")
    assert diff.locator("ins, .content-diff-added, [class*=added]").count() > 0
    assert diff.locator("del, .content-diff-removed, [class*=removed]").count() > 0
    choice = page.get_by_role("feed").get_by_role("button", name=re.compile("Side by side|Split", re.I)).or_(
        page.get_by_role("radio", name=re.compile("Side by side|Split", re.I))).first
    if choice.count() and choice.is_visible():
        choice.click()
        expect(page.get_by_role("feed")).to_contain_text("from collections.abc import Callable")


def test_the_head_shows_the_context_and_the_cost_with_its_plot(fixed: tuple[Page, Session]) -> None:
    page, _ = fixed
    spent = page.get_by_role("button", name=re.compile(r"Context: 31 % full.*Cost: \$0.61"))
    expect(spent).to_be_visible()
    spent.click()
    sheet = page.get_by_role("dialog", name="Cost and context")
    expect(sheet).to_contain_text("$0.61")
    expect(sheet.locator("svg polyline").first).to_be_attached()


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_words_that_are_read_from_right_to_left_begin_at_the_right_and_code_does_not(
        hub: HubProcess, make_person: MakePerson, size: str) -> None:
    session = hub.new_session("puppet", title="\u05d1\u05d3\u05d9\u05e7\u05d4")
    puppet_says(session, ["say", "`npm test` \u05e0\u05db\u05e9\u05dc.\n\n- \u05e4\u05e8\u05d9\u05d8\n\n"],
                ["say", "```sh\nnpm test\n```\n\nIn English."])
    page = make_person(hub.url, size).log_in(hub, f"#/s/{session.id}")
    feed = page.get_by_role("feed")
    expect(feed.get_by_text("In English.", exact=True)).to_be_visible()
    directions = """(feed) => ['p:has(.content-codespan)', 'p .content-codespan', 'li', 'pre', 'p:last-of-type']
      .map(each => getComputedStyle(feed.querySelector(`.content-markdown ${each}`)).direction)"""
    assert feed.evaluate(directions) == ["rtl", "ltr", "rtl", "ltr", "ltr"]
    field = page.get_by_role("textbox", name="Message to the agent")
    field.fill("\u05e9\u05dc\u05d5\u05dd")
    for each in (field, page.get_by_role("heading", level=1)):
        assert each.evaluate("each => getComputedStyle(each).direction") == "rtl"


def test_the_copy_of_a_message_is_the_journals_text_character_by_character(stage: Stage, make_person: MakePerson) -> None:
    session = stage.fixed()
    person = make_person(stage.hub.url, permissions=["clipboard-read", "clipboard-write"])
    page = person.log_in(stage.hub, f"#/s/{session.id}")
    said = page.get_by_role("article", name="Agent said").last
    said.hover()
    said.get_by_role("button", name="Copy message").click()
    expect(page.get_by_text("Copied").or_(said.get_by_role("button", name="Copied")).first).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == texts(session)[-1]


def test_todos_stay_in_view_while_the_turn_runs(hub: HubProcess, anybody: Person, tmp_path: Path) -> None:
    session = hub.new_session("puppet")
    page = anybody.log_in(hub, f"#/s/{session.id}")
    entries = [{"content": "Look", "priority": "high", "status": "completed"},
               {"content": "Leap", "priority": "high", "status": "in_progress"}]
    puppet_says(session, update("plan", entries=entries), ["say", "word\n\n" * 200], ["await", str(tmp_path / "go")])
    card = page.get_by_role("region", name="To do")
    expect(card).to_contain_text("Leap")
    expect(card).to_contain_text("1 of 2 done")
    card.get_by_role("button").click()
    expect(card.get_by_role("listitem")).to_have_count(2)
    expect(card).to_be_in_viewport()
    (tmp_path / "go").touch()


def test_the_agent_is_seen_to_get_ready_until_its_first_words(hub: HubProcess, anybody: Person, tmp_path: Path) -> None:
    session = hub.new_session("puppet")
    page = anybody.log_in(hub, f"#/s/{session.id}")
    puppet_says(session, ["await", str(tmp_path / "go")], ["say", "Here I am."], ["await", str(tmp_path / "end")])
    expect(page.get_by_text("The agent is getting ready …")).to_be_visible()
    (tmp_path / "go").touch()
    expect(page.get_by_text("Here I am.", exact=True)).to_be_visible()
    expect(page.get_by_text("The agent is getting ready …")).to_have_count(0)
    (tmp_path / "end").touch()


def test_a_running_command_streams_its_output(hub: HubProcess, person: Person, tmp_path: Path) -> None:
    session = hub.new_session("puppet")
    page = person.log_in(hub, f"#/s/{session.id}")
    running = {"toolCallId": "c", "title": "make", "kind": "execute", "rawInput": {"command": "make"}}
    puppet_says(session,
                update("tool_call", **running, status="in_progress"),
                update("tool_call_update", toolCallId="c", content=text_content("compiled 1\n")),
                ["await", str(tmp_path / "first")],
                update("tool_call_update", toolCallId="c", content=text_content("compiled 1\ncompiled 2\n")),
                ["await", str(tmp_path / "second")],
                update("tool_call_update", toolCallId="c", status="completed", content=text_content("compiled 2\nok\n")))
    line = tool_card(page, "make.*Running")
    line.click()
    shows(page, "compiled 1")
    (tmp_path / "first").touch()
    shows(page, "compiled 2")
    (tmp_path / "second").touch()
    shows(page, "ok")
    expect(tool_card(page, "make.*Done")).to_be_visible()


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_a_command_that_the_hub_runs_for_the_agent_is_read_while_it_prints(trusting: HubProcess, make_person: MakePerson,
                                                                            size: str) -> None:
    session = trusting.new_session("trusted")
    page = make_person(trusting.url, size).log_in(trusting, f"#/s/{session.id}")
    go = session.folder / "go"
    tell(session, f"/terminal for i in 1 2; do echo line $i; done; until [ -e {go} ]; do sleep 0.1; done; echo line 3")
    tool_card(page, "Running").click()
    output = page.get_by_role("feed").get_by_role("group", name="Output")
    expect(output).to_have_text("line 1\nline 2\n")
    assert not any(event["type"] == "tool:result" for event in history(session))
    page.reload()
    tool_card(page, "Running").click()
    expect(output).to_have_text("line 1\nline 2\n")
    go.touch()
    expect(output).to_have_text("line 1\nline 2\nline 3\n")
    expect(tool_card(page, "Done")).to_be_visible()


def test_a_failed_turn_says_why_and_can_be_tried_again(hub: HubProcess, anybody: Person) -> None:
    session = hub.new_session("fast")
    page = anybody.log_in(hub, f"#/s/{session.id}")
    tell(session, "/error")
    banner = page.get_by_role("group", name="The answer failed")
    expect(banner).to_contain_text("The demo failed, as /error asks")
    banner.get_by_role("button", name="Try again").click()
    eventually(lambda: texts(session, "user") == ["/error", "/error"], "it was sent again")


def test_trying_again_sends_the_pictures_again(hub: HubProcess, anybody: Person) -> None:
    session = hub.new_session("fast")
    page = anybody.log_in(hub, f"#/s/{session.id}")
    picture = {"type": "image", "mimeType": "image/png", "data": PIXEL}
    session.post("send-message", {"content": [{"type": "text", "text": "/error"}, picture]}, 202)
    page.get_by_role("group", name="The answer failed").get_by_role("button", name="Try again").click()
    eventually(lambda: len(texts(session, "user")) == 2, "it was sent again")
    asked = [event["content"] for event in history(session) if event["type"] == "message:complete" and event["role"] == "user"]
    first, second = ([part.get("url", "") for part in content if part["type"] == "image"] for content in asked)
    assert first == second == [f"data:image/png;base64,{PIXEL}"]


def test_a_crash_of_the_agent_is_told_and_the_session_goes_on(hub: HubProcess, anybody: Person) -> None:
    session = hub.new_session("fast")
    page = anybody.log_in(hub, f"#/s/{session.id}")
    tell(session, "/crash 3")
    expect(page.get_by_role("group", name="The answer failed")).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="Failed")).to_have_text("Failed")  # no code beside it
    tell(session, "/echo I am back")
    expect(page.get_by_text("I am back", exact=True)).to_be_visible()


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_the_whole_tour_reads_the_same_live_and_from_history(clear_hub: HubProcess, make_person: MakePerson, size: str) -> None:
    live = make_person(clear_hub.url, size)
    session = clear_hub.new_session("fast", mode="auto")
    page = live.log_in(clear_hub, f"#/s/{session.id}")
    tell(session, "Show me around")
    wait_until_idle(session)
    expect(page.get_by_role("status").filter(has_text="Ready")).to_be_visible()
    later = make_person(clear_hub.url, size).log_in(clear_hub, f"#/s/{session.id}")
    expect(later.get_by_role("status").filter(has_text="Ready")).to_be_visible()
    for each in (page, later):
        each.get_by_role("feed").focus()
        each.keyboard.press("Home")
    assert rows(page) == rows(later)
    assert sideways(page) == 0


def rows(page: Page) -> list[str]:
    """What every row of the conversation says, from the first to the last, without times."""
    found: dict[str, str] = {}
    feed = page.get_by_role("feed")
    feed.evaluate("feed => { feed.scrollTop = 0 }")
    while True:
        seen = feed.evaluate("""feed => [...feed.querySelectorAll('[data-key]')].map(row => [row.dataset.key, row.innerText])""")
        found.update({key: re.sub(r"\d+(\.\d+)? ?(ms|s)\b|\d\d:\d\d", "", text) for key, text in seen})
        end = feed.evaluate("""feed => new Promise(resolve => {
          const before = feed.scrollTop;
          feed.scrollTop += feed.clientHeight / 2;
          requestAnimationFrame(() => requestAnimationFrame(() => resolve(feed.scrollTop === before)));
        })""")
        if end:
            return list(found.values())


def test_a_link_to_an_event_shows_it(hub: HubProcess, anybody: Person) -> None:
    session = hub.new_session("puppet")
    puppet_says(session, *[step for number in range(60) for step in (
        *call(number, f"echo {number}", "execute", {"command": f"echo {number}"}), ["say", f"Paragraph {number}.\n\n"])])
    wait_until_idle(session)
    wanted = next(event["seq"] for event in history(session)
                  if event["type"] == "message:delta" and event["delta"].startswith("Paragraph 20."))
    page = anybody.log_in(hub, f"#/s/{session.id}/e/{wanted}")
    expect(page.get_by_text("Paragraph 20.", exact=True)).to_be_in_viewport()
    expect(page.get_by_text("Paragraph 59.", exact=True)).not_to_be_in_viewport()


def test_reading_is_not_disturbed_and_a_pill_leads_to_what_is_new(hub: HubProcess, anybody: Person, tmp_path: Path) -> None:
    session = hub.new_session("puppet")
    page = anybody.log_in(hub, f"#/s/{session.id}")
    pages: list[list[object]] = [["say", f"Paragraph {number}.\n\n"] for number in range(100)]
    puppet_says(session, *pages, ["await", str(tmp_path / "go")], think("Hm."), ["say", "The newest words."])
    expect(page.get_by_text("Paragraph 99.", exact=True)).to_be_in_viewport()
    feed = page.get_by_role("feed")
    scroll_up(page, 600)
    pill = page.get_by_role("button", name="To the newest")
    expect(pill).to_be_visible()
    before = feed.evaluate("feed => feed.scrollTop")
    (tmp_path / "go").touch()
    wait_until_idle(session)
    expect(pill).to_contain_text("new")
    assert feed.evaluate("feed => feed.scrollTop") == before
    pill.click()
    expect(page.get_by_text("The newest words.", exact=True)).to_be_in_viewport()
    expect(pill).to_have_count(0)


def test_the_view_follows_the_text_while_the_reader_is_at_the_end(hub: HubProcess, anybody: Person) -> None:
    session = hub.new_session("puppet")
    page = anybody.log_in(hub, f"#/s/{session.id}")
    for number in range(3):
        puppet_says(session, *[["say", f"Turn {number}, line {line}.\n\n"] for line in range(50)])
        expect(page.get_by_text(f"Turn {number}, line 49.", exact=True)).to_be_in_viewport()
        wait_until_idle(session)


def test_the_place_in_a_session_is_kept_over_a_visit_elsewhere(hub: HubProcess, person: Person) -> None:
    session = hub.new_session("puppet")
    for number in range(20):
        puppet_says(session, *[["say", f"Turn {number}, line {line}.\n\n"] for line in range(10)])
        wait_until_idle(session)
    page = person.log_in(hub, f"#/s/{session.id}")
    expect(page.get_by_text("Turn 19, line 9.", exact=True)).to_be_in_viewport()
    scroll_up(page, 1500)
    expect(page.get_by_role("button", name="To the newest")).to_be_visible()
    until(page, "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
    seen = top_line(page)
    page.get_by_role("link", name="All sessions").click()
    expect(page.get_by_role("feed")).to_have_count(0)
    person.go(f"#/s/{session.id}")
    expect(page.get_by_role("feed")).to_be_visible()
    eventually(lambda: top_line(page) == seen, f"{seen!r} is at the top again")


def scroll_up(page: Page, pixels: int) -> None:
    """Turn the wheel over the conversation."""
    feed = page.get_by_role("feed")
    before = feed.evaluate("feed => feed.scrollTop")
    feed.hover()
    page.mouse.wheel(0, -pixels)
    eventually(lambda: feed.evaluate("feed => feed.scrollTop") <= before - pixels / 2, "the conversation was scrolled")


def top_line(page: Page) -> str:
    """The first paragraph that can be seen whole."""
    return str(page.evaluate("""() => {
      const feed = document.querySelector('[role=feed]');
      const top = feed.getBoundingClientRect().top;
      return [...feed.querySelectorAll('p')].find(each => each.getBoundingClientRect().top >= top)?.textContent ?? '';
    }"""))


@pytest.mark.parametrize(("item", "ending", "inside"), [
    ("Export as Markdown", ".md", "# "), ("Export as JSON", ".json", '"session'),
])
def test_a_session_is_exported(stage: Stage, make_person: MakePerson, item: str, ending: str, inside: str) -> None:
    session = stage.fixed()
    page = make_person(stage.hub.url).log_in(stage.hub, f"#/s/{session.id}")
    page.get_by_role("button", name="More about this session").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name=item).click()
    assert download.value.suggested_filename.endswith(ending)
    text = download.value.path().read_text()
    assert inside in text and "What was wrong" in text and FIX in text


def test_an_approval_waits_in_the_conversation_where_it_was_asked(hub: HubProcess, anybody: Person) -> None:
    session = hub.new_session("puppet")
    page = anybody.log_in(hub, f"#/s/{session.id}")
    puppet_says(session, ["say", "May I?"], permission(1, "make clean", "execute", {"command": "make clean"}), ["answer"])
    card = page.get_by_role("article").filter(has_text="make clean").last
    card.get_by_role("button", name="Approve", exact=True).click()
    wait_until_idle(session)
    page.get_by_role("button", name=re.compile("make clean: Done")).click()
    expect(page.get_by_text(re.compile("Approved by")).first).to_be_visible()
    shows(page, '"optionId"')


def press_enter_on(button: Locator) -> None:
    """As somebody without a mouse does."""
    expect(button).to_be_enabled()
    button.focus()
    button.page.keyboard.press("Enter")


def test_who_decides_by_keys_goes_on_from_the_next_ask_and_then_with_writing(hub: HubProcess, person: Person) -> None:
    session = hub.new_session("puppet")
    page = person.log_in(hub, f"#/s/{session.id}")
    asks = [permission(number, f"make {number}", "execute", {"command": f"make {number}"}) for number in (1, 2)]
    puppet_says(session, *asks, ["answer"], ["answer"], ["wait"])
    eventually(lambda: len(session.view()["pendingApprovals"]) == 2, "both are asked")
    first, second = [view["requestId"] for view in session.view()["pendingApprovals"]]
    page.keyboard.press("Tab")
    press_enter_on(page.locator(f"[data-ask='{first}']").get_by_role("button", name="Approve", exact=True))
    expect(page.locator(f"[data-ask='{second}']")).to_be_focused()
    press_enter_on(page.locator(f"[data-ask='{second}']").get_by_role("button", name="Approve", exact=True))
    expect(page.get_by_role("textbox", name="Message to the agent")).to_be_focused()


def test_who_leaves_renaming_is_back_at_the_menu_that_it_was_in(hub: HubProcess, person: Person) -> None:
    session = hub.new_session("fast")
    page = person.log_in(hub, f"#/s/{session.id}")
    menu = page.get_by_role("button", name="More about this session")
    menu.focus()
    page.keyboard.press("Enter")
    page.get_by_role("menuitem", name="Rename").press("Enter")
    expect(page.get_by_label("Title")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(menu).to_be_focused()


def test_pictures_are_shown_and_remote_ones_only_after_a_click(hub: HubProcess, anybody: Person) -> None:
    session = hub.new_session("puppet")
    page = anybody.log_in(hub, f"#/s/{session.id}")
    picture = {"type": "image", "mimeType": "image/png", "data": PIXEL}
    puppet_says(session, update("agent_message_chunk", content=picture),
                ["say", "![a chart](https://pictures.example/chart.png)"])
    wait_until_idle(session)
    expect(page.get_by_role("feed").get_by_role("img", name=re.compile("Picture 1|picture", re.I)).first).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("Open picture at pictures.example"))).to_be_visible()


def test_sub_agents_are_nested_and_can_be_opened(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = clear_hub.new_session("fast", mode="auto")
    tell(session, "Show me around")
    wait_until_idle(session)
    page = make_person(clear_hub.url).log_in(clear_hub, f"#/s/{session.id}")
    open_all(page)
    child = page.get_by_role("feed").get_by_role("button", name=re.compile("explore|Sub-agent|Count the files"))
    child.first.scroll_into_view_if_needed()
    child.first.click()
    expect(page.get_by_role("heading", name="Task").first).to_be_visible()
    expect(page.get_by_role("heading", name="Result").first).to_be_visible()


def test_small_things_are_said_once_and_as_they_are(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = clear_hub.new_session("fast", mode="auto")
    page = make_person(clear_hub.url, "phone", viewport={"width": 320, "height": 640}).log_in(clear_hub, f"#/s/{session.id}")
    expect(page.get_by_text("Mode: Auto")).to_have_count(1)
    expect(page.get_by_text("Write the first prompt below.")).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("Paused by you", exact=True)).to_be_visible()
    session.post("commands", {"command": {"command": "terminate"}})
    expect(page.get_by_text("Nothing has been said yet.")).to_be_visible()
    expect(page.get_by_text("Write the first prompt below.")).to_have_count(0)


def test_on_the_narrowest_phone_the_agent_and_its_mode_can_be_read(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = clear_hub.new_session("fast", title="A title that is longer than the line that it stands in")
    page = make_person(clear_hub.url, "phone", viewport={"width": 320, "height": 640}).log_in(clear_hub, f"#/s/{session.id}")
    tell(session, "/silent")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    agent = page.locator(".session-where > span").first
    assert agent.evaluate("name => name.scrollWidth <= name.clientWidth"), "its name is there whole"
    assert page.get_by_label("Mode", exact=True).evaluate("""choice => {
      const needed = new OffscreenCanvas(1, 1).getContext('2d');
      const style = getComputedStyle(choice);
      needed.font = style.font;
      const room = choice.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
      return needed.measureText(choice.selectedOptions[0].text).width <= room + 1;
    }"""), "so is its mode"
    assert sideways(page) == 0


def test_renaming_shows_everywhere(hub: HubProcess, make_person: MakePerson) -> None:
    session = hub.new_session("fast", title="Before")
    desk = make_person(hub.url).log_in(hub, f"#/s/{session.id}")
    phone = make_person(hub.url, "phone").log_in(hub, f"#/s/{session.id}")
    desk.get_by_role("button", name="More about this session").click()
    desk.get_by_role("menuitem", name="Rename").click()
    desk.get_by_label("Title").fill("After")
    desk.get_by_role("button", name="Save").click()
    for page in (desk, phone):
        expect(page.get_by_role("heading", name="After", level=1)).to_be_visible()
        expect(page).to_have_title(re.compile("^After"))
