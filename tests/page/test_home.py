"""Home: all sessions by what needs me; search; a new one."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.page.beginning import chip, choose_agent, choose_folder, opened
from tests.page.conftest import MakePerson, free_port
from tests.page.journal import tell, texts, wait_until_idle
from tests.page.person import sideways, until
from tests.page.stage import Stage
from tests.tooling.hub_process import PUPPET, HubProcess
from tests.tooling.processes import eventually
from tests.tooling.stores import STORES, Made


def group(page: Page, name: str) -> Locator:
    """The sessions under a heading."""
    return page.get_by_role("region", name=re.compile(f"^{name}"))


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_sessions_are_grouped_by_what_needs_me_and_move_as_they_go(stage: Stage, make_person: MakePerson, size: str) -> None:
    fixed, watching, publishing, asking = stage.fixed(), stage.watching(), stage.publishing(), stage.asking()
    page = make_person(stage.hub.url, size).log_in(stage.hub)
    waiting = group(page, "Waiting for you")
    expect(waiting.get_by_role("listitem").filter(has_text="Publish release 2.4")).to_contain_text("Run: rm -rf dist")
    expect(waiting.get_by_role("listitem").filter(has_text="Choose how to go on")).to_contain_text("Asks: How shall the demo")
    expect(group(page, "Working").get_by_role("link", name="Watch the build")).to_be_visible()
    row = group(page, "Idle").get_by_role("listitem").filter(has_text="Fix the flaky login test")
    expect(row).to_contain_text("webshop")
    expect(row).to_contain_text("$0.61")
    expect(row).to_contain_text(re.compile("1 file"))
    assert sideways(page) == 0
    watching.post("cancel")
    expect(group(page, "Idle").get_by_role("link", name="Watch the build")).to_be_visible()
    for approval in publishing.view()["pendingApprovals"]:
        publishing.post(f"permissions/{approval['requestId']}", {"decision": "deny"})
    expect(waiting.get_by_text("Publish release 2.4")).to_have_count(0)
    asking.post("cancel")
    expect(group(page, "Idle").get_by_role("link", name="Choose how to go on")).to_be_visible()
    page.get_by_role("link", name="Fix the flaky login test").click()
    expect(page).to_have_url(re.compile(f"#/s/{fixed.id}$"))


def test_a_session_that_is_deleted_elsewhere_leaves_the_list(clear_hub: HubProcess, make_person: MakePerson) -> None:
    kept, deleted = clear_hub.new_session("fast", title="Kept"), clear_hub.new_session("fast", title="Deleted")
    page = make_person(clear_hub.url).log_in(clear_hub)
    expect(page.get_by_role("link", name="Deleted")).to_be_visible()
    deleted.delete()
    expect(page.get_by_role("link", name="Deleted")).to_have_count(0)
    expect(page.get_by_role("link", name="Kept")).to_be_visible()
    assert kept.view()["title"] == "Kept"


def test_a_session_whose_last_turn_failed_says_so_until_it_goes_on(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = clear_hub.new_session("fast", title="Broken")
    page = make_person(clear_hub.url).log_in(clear_hub)
    row = group(page, "Idle").get_by_role("listitem").filter(has_text="Broken")
    tell(session, "/error")
    expect(row).to_contain_text("Last answer failed")
    expect(row).to_contain_text("The demo failed, as /error asks")
    page.reload()
    expect(row).to_contain_text("Last answer failed")
    tell(session, "/echo well again")
    expect(row).to_contain_text("well again")
    expect(row).not_to_contain_text("Last answer failed")


def test_an_empty_home_says_how_to_begin(clear_hub: HubProcess, make_person: MakePerson) -> None:
    page = make_person(clear_hub.url).log_in(clear_hub)
    expect(page.get_by_role("heading", name="No sessions yet")).to_be_visible()
    page.get_by_role("link", name="Start a session").click()
    expect(page.get_by_role("heading", name="New session")).to_be_visible()


def test_a_search_finds_titles_and_contents_and_leads_to_the_place(clear_hub: HubProcess, make_person: MakePerson) -> None:
    herons = clear_hub.new_session("fast", title="About herons")
    others = clear_hub.new_session("fast", title="About others")
    tell(others, "/echo A zyzzyva is a weevil.")
    wait_until_idle(others)
    page = make_person(clear_hub.url).log_in(clear_hub)
    field = page.get_by_role("searchbox", name="Search sessions")
    field.fill("heron")
    expect(page.get_by_role("link", name="About herons").first).to_be_visible()
    expect(page.get_by_role("link", name="About others")).to_have_count(0)
    field.fill("zyzzyva")
    hit = page.get_by_role("listitem").filter(has=page.locator("mark", has_text="zyzzyva")).first
    expect(hit).to_be_visible()
    expect(hit.get_by_role("link", name="About others", exact=True)).to_have_count(1)
    hit.get_by_role("link", name=re.compile("zyzzyva is a weevil")).click()
    expect(page.get_by_text("A zyzzyva is a weevil.", exact=True)).to_be_visible()
    assert f"#/s/{others.id}/e/" in page.url and herons.id not in page.url


def test_a_search_without_a_letter_says_that_nothing_can_be_searched_for(clear_hub: HubProcess, make_person: MakePerson) -> None:
    clear_hub.new_session("fast", title="Somewhere")
    page = make_person(clear_hub.url).log_in(clear_hub)
    expect(page.get_by_role("link", name="Somewhere")).to_be_visible()
    field = page.get_by_role("searchbox")
    field.fill("/")
    expect(page.get_by_text("There is nothing to search for in “/”")).to_be_visible()
    expect(page.get_by_role("link", name="Somewhere")).to_have_count(0)
    field.fill("somewh")
    expect(page.get_by_role("link", name="Somewhere").first).to_be_visible()


def test_on_a_phone_no_passage_of_a_search_is_drawn_over_the_next(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = clear_hub.new_session("fast", title="About weevils")
    for number in range(3):
        tell(session, f"/echo {number} the zyzzyva {'lives in a long sentence ' * 8}")
        wait_until_idle(session)
    page = make_person(clear_hub.url, "phone").log_in(clear_hub)
    page.get_by_role("searchbox", name="Search sessions").fill("zyzzyva")
    passages = page.locator("mark", has_text="zyzzyva").locator("xpath=..")
    expect(passages.nth(3)).to_be_visible()
    cut = passages.evaluate_all("all => all.filter((each) => each.scrollHeight > each.clientHeight + 1)"
                                ".map((each) => getComputedStyle(each).overflowY)")
    assert cut and set(cut) == {"hidden"}


def test_a_search_that_failed_says_so_and_is_made_as_soon_as_the_hub_is_there(
        own_hub: HubProcess, make_person: MakePerson) -> None:
    session = own_hub.new_session("fast", title="Of birds")
    tell(session, "/echo A zyzzyva is a weevil.")
    wait_until_idle(session)
    person = make_person(own_hub.url)
    page = person.log_in(own_hub)
    expect(page.get_by_role("link", name="Of birds")).to_be_visible()
    hits = page.get_by_role("region", name=re.compile("passage|search", re.IGNORECASE))
    with person.losing_the_network():
        person.context.set_offline(True)
        page.get_by_role("searchbox", name="Search sessions").fill("zyzzyva")
        expect(hits.get_by_role("alert")).to_contain_text("The search failed")
        expect(hits.get_by_role("heading")).to_have_text("Not searched yet")
        own_hub.restart()  # the line is lost for certain, whatever the browser does with it while it is offline
        person.context.set_offline(False)
        expect(hits.locator("mark", has_text="zyzzyva").first).to_be_visible(timeout=40_000)
    expect(hits.get_by_role("alert")).to_have_count(0)


def test_who_comes_while_the_hub_is_away_is_told_that_nothing_is_known_yet(own_hub: HubProcess, make_person: MakePerson) -> None:
    own_hub.new_session("fast", title="Of birds")
    person = make_person(own_hub.url, alone=True)
    page = person.log_in(own_hub)
    page.evaluate("() => navigator.serviceWorker.ready.then(() => null)")
    person.rest()  # what is asked while the hub stops is answered with a failure
    with person.losing_the_network():
        own_hub.stop()
        page.reload()
        expect(page.get_by_role("heading", name="Nothing is known yet")).to_be_visible()
        own_hub.start()
        expect(page.get_by_role("link", name="Of birds")).to_be_visible(timeout=40_000)
    expect(page.get_by_role("heading", name="Nothing is known yet")).to_have_count(0)


def test_filters_narrow_the_list(clear_hub: HubProcess, make_person: MakePerson) -> None:
    clear_hub.new_session("fast", title="Of the demo")
    clear_hub.new_session("puppet", title="Of the puppet")
    page = make_person(clear_hub.url).log_in(clear_hub)
    expect(page.get_by_role("link", name="Of the demo")).to_be_visible()
    page.get_by_label("Agent", exact=True).select_option("puppet")
    expect(page.get_by_role("link", name="Of the demo")).to_have_count(0)
    expect(page.get_by_role("link", name="Of the puppet")).to_be_visible()


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_the_place_and_the_filters_are_there_after_a_look_at_a_session_and_a_reload(
        clear_hub: HubProcess, make_person: MakePerson, size: str) -> None:
    clear_hub.new_session("puppet", title="Of the puppet")
    for number in range(40):
        clear_hub.new_session("fast", title=f"Number {number}")
    page = make_person(clear_hub.url, size).log_in(clear_hub)
    page.get_by_label("Agent", exact=True).select_option("fast")
    page.get_by_role("button", name="Show 15 more").click()
    deep = page.get_by_role("link", name="Number 3", exact=True)
    deep.evaluate("row => row.scrollIntoView({block: 'center'})")
    until(page, "() => scrollY > 400")

    def is_there() -> None:
        expect(deep).to_be_in_viewport()
        expect(page.get_by_role("link", name="Of the puppet")).to_have_count(0)
        expect(page.get_by_label("Agent", exact=True)).to_have_value("fast")

    deep.click()
    expect(page.get_by_role("heading", name="Number 3")).to_be_visible()
    page.go_back()
    is_there()
    page.reload()
    is_there()
    page.get_by_label("Agent", exact=True).select_option("")
    page.reload()
    expect(page.get_by_role("link", name="Of the puppet")).to_have_count(1)


def test_sessions_of_the_agents_own_are_found_and_joined(tmp_path: Path, make_person: MakePerson) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    store = tmp_path / "store.json"
    said = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "I was here before."}}
    known = {"sessionId": "old-1", "cwd": str(folder), "title": "An old conversation", "updatedAt": "2026-01-01T00:00:00Z"}
    store.write_text(json.dumps({"offers": ["list", "load"], "sessions": [known], "history": {"old-1": [said]}}))
    agents = {"keeper": f"{PUPPET} --store {shlex.quote(str(store))}"}
    with HubProcess(tmp_path / "hub", agents=agents, port=free_port()) as hub:
        person = make_person(hub.url)
        page = person.log_in(hub)
        found = group(page, "In your agents")
        found.get_by_role("button", name="An old conversation").click()
        expect(page.get_by_text("I was here before.", exact=True)).to_be_visible()
        person.leave()


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_a_new_session_is_begun_with_an_agent_a_folder_a_mode_and_a_prompt(clear_hub: HubProcess, make_person: MakePerson,
                                                                             size: str) -> None:
    folder = clear_hub.new_folder()
    before = clear_hub.new_session("fast", folder)
    page = make_person(clear_hub.url, size).log_in(clear_hub, "#/new")
    choose_agent(page, "fast")
    choose_folder(page, folder)
    page.get_by_role("combobox", name=re.compile(r"^Mode\b")).select_option("plan")
    page.get_by_label("First prompt").fill("/echo begun from the page")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_text("begun from the page", exact=True)).to_be_visible()
    made = next(view for view in clear_hub.wire.get("/sessions")["sessions"] if view["id"] != before.id)
    assert (made["agent"], made["cwd"], made["mode"]) == ("fast", str(folder), "plan")
    assert sideways(page) == 0


def test_a_folder_is_chosen_by_browsing_and_from_recent_ones(clear_hub: HubProcess, make_person: MakePerson) -> None:
    (clear_hub.home / "projects" / "herons").mkdir(parents=True)
    recent = clear_hub.new_session("fast")
    page = make_person(clear_hub.url).log_in(clear_hub, "#/new")
    opened(page, "Folder")
    page.get_by_role("button", name="Browse").click()
    sheet = page.get_by_role("dialog", name="Choose a folder")
    sheet.get_by_role("button", name="Home").click()
    sheet.get_by_role("button", name="projects").click()
    sheet.get_by_role("button", name="herons").click()
    sheet.get_by_role("button", name="Use this folder").click()
    expect(page.get_by_label("Folder", exact=True)).to_have_value(str(clear_hub.home / "projects" / "herons"))
    page.get_by_role("button", name=recent.folder.name, exact=True).click()
    expect(page.get_by_label("Folder", exact=True)).to_have_value(str(recent.folder))


def test_enter_in_the_folders_field_takes_the_folder_and_starts_nothing(clear_hub: HubProcess, make_person: MakePerson) -> None:
    page = make_person(clear_hub.url).log_in(clear_hub, "#/new")
    choose_agent(page, "fast")
    folder = clear_hub.new_folder()
    choose_folder(page, folder)
    page.get_by_label("Folder", exact=True).press("Enter")
    expect(page.get_by_label("First prompt")).to_be_focused()
    expect(chip(page, "Folder")).to_have_attribute("title", str(folder))
    expect(page.get_by_label("Folder", exact=True)).to_have_count(0)
    assert clear_hub.wire.get("/sessions")["sessions"] == []
    page.keyboard.type("/echo begun")
    page.keyboard.press("Enter")
    expect(page.get_by_text("begun", exact=True)).to_be_visible()


def test_a_new_session_takes_attachments_by_paste(clear_hub: HubProcess, make_person: MakePerson) -> None:
    page = make_person(clear_hub.url).log_in(clear_hub, "#/new")
    choose_agent(page, "fast")
    choose_folder(page, clear_hub.new_folder())
    field = page.get_by_label("First prompt")
    field.fill("Look at this")
    field.evaluate("""field => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(atob('R0lGODlhAQABAAAAACwAAAAAAQABAAA='), each => each.charCodeAt(0))], 'dot.gif',
        {type: 'image/gif'}));
      field.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}));
    }""")
    expect(page.get_by_text("dot.gif")).to_be_visible()
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("feed")).to_be_visible()
    made = clear_hub.wire.get("/sessions")["sessions"][0]
    eventually(lambda: "you sent 1 attachment" in json.dumps(clear_hub.wire.get(f"/sessions/{made['id']}/messages?limit=1000")),
               "the agent got the picture")


def test_what_is_filled_in_for_a_new_session_is_there_after_a_look_elsewhere_and_a_reload(
        clear_hub: HubProcess, make_person: MakePerson) -> None:
    folder = clear_hub.new_folder()
    person = make_person(clear_hub.url)
    page = person.log_in(clear_hub, "#/new")
    field, where = page.get_by_label("First prompt"), chip(page, "Folder")
    choose_agent(page, "fast")
    choose_folder(page, folder)
    field.fill("Words that I do not want to write twice")
    field.evaluate("""field => {
      const data = new DataTransfer();
      data.items.add(new File(['some notes'], 'notes.txt', {type: 'text/plain'}));
      field.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}));
    }""")
    expect(page.get_by_text("notes.txt")).to_be_visible()

    def is_all_there() -> None:
        expect(field).to_have_value("Words that I do not want to write twice")
        expect(where).to_have_attribute("title", str(folder))
        expect(page.get_by_text("notes.txt")).to_be_visible()

    person.go("#/approvals")
    expect(page.get_by_role("heading", name="Approvals")).to_be_visible()
    person.go("#/new")
    is_all_there()
    expect(chip(page, "Agent")).to_have_accessible_name("Agent: fast")
    page.reload()
    is_all_there()
    choose_agent(page, "fast")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("feed")).to_be_visible()
    made = clear_hub.wire.get("/sessions")["sessions"][0]
    eventually(lambda: "some notes" in json.dumps(clear_hub.wire.get(f"/sessions/{made['id']}/messages?limit=1000")),
               "the agent got the file")
    person.go("#/new")
    expect(field).to_have_value("")
    expect(page.get_by_text("notes.txt")).to_have_count(0)


def test_a_session_is_renamed_and_deleted_from_the_list(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = clear_hub.new_session("fast", title="To be renamed")
    person = make_person(clear_hub.url)
    person.expect_loss("404")  # what was being asked of it when it went
    page = person.log_in(clear_hub)
    page.get_by_role("button", name="Actions for To be renamed").click()
    page.get_by_role("menuitem", name="Rename").click()
    page.get_by_label("Title").fill("Renamed")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("link", name="Renamed")).to_be_visible()
    page.get_by_role("button", name="Actions for Renamed").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("link", name="Renamed")).to_have_count(0)
    assert session.wire.ask("GET", session.path).status == 404


def test_a_failure_to_start_is_told_and_the_form_stays(tmp_path: Path, make_person: MakePerson) -> None:
    agents = {"broken": f"{PUPPET} --new -32603 'the model is on holiday'"}
    with HubProcess(tmp_path / "hub", agents=agents, port=free_port()) as hub:
        person = make_person(hub.url)
        page = person.log_in(hub, "#/new")
        choose_agent(page, "broken")
        choose_folder(page, hub.new_folder())
        page.get_by_label("First prompt").fill("Words that I do not want to write twice")
        with person.losing_the_network(expected="status of [45]0"):
            page.get_by_role("button", name="Start", exact=True).click()
            expect(page.get_by_role("alert")).to_contain_text("holiday")
        expect(page.get_by_label("First prompt")).to_have_value("Words that I do not want to write twice")
        person.leave()


def test_a_view_is_listed_with_what_it_said_last(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = clear_hub.new_session("fast", title="Last words")
    tell(session, "/echo These are my last words.")
    wait_until_idle(session)
    page = make_person(clear_hub.url).log_in(clear_hub)
    expect(page.get_by_role("listitem").filter(has_text="Last words").first).to_contain_text("These are my last words.")
    assert texts(session) == ["These are my last words."]


def test_damage_of_the_storage_is_told_until_it_is_waved_away(own_hub: HubProcess, make_person: MakePerson) -> None:
    own_hub.new_session("fast", title="Kept").say("/echo hello")
    own_hub.kill()
    (own_hub.data / "journal.db-wal").unlink()  # what a crash left there is lost with it
    own_hub.start()
    page = make_person(own_hub.url).log_in(own_hub)
    news = page.get_by_role("status").filter(has_text="storage was damaged")
    expect(news).to_be_visible()
    news.get_by_role("button").click()
    expect(news).to_have_count(0)
    page.reload()
    own_hub.new_session("fast", title="Newer")
    expect(page.get_by_role("link", name="Newer")).to_be_visible()
    expect(news).to_have_count(0)


@pytest.fixture
def other_programs(clear_hub: HubProcess) -> Iterator[tuple[Made, Made]]:
    """What two other programs wrote; afterwards it is gone."""
    yield STORES["copilot"](clear_hub.home), STORES["gemini"](clear_hub.home)
    for name in (".copilot", ".gemini"):
        shutil.rmtree(clear_hub.home / name)


def test_sessions_of_other_programs_are_in_the_list_and_those_that_run_stand_with_the_hubs_own(
        clear_hub: HubProcess, make_person: MakePerson, other_programs: tuple[Made, Made]) -> None:
    running, later = other_programs
    running.file.with_name(f"inuse.{os.getpid()}.lock").touch()
    text = later.file.read_bytes()
    later.file.unlink()
    page = make_person(clear_hub.url).log_in(clear_hub)
    row = group(page, "Working").get_by_role("listitem").filter(has_text="run: touch t120")
    expect(row).to_contain_text("Runs elsewhere")
    expect(row).to_contain_text("project")
    # One that begins while the list is looked at is in it, without anybody's asking.
    later.file.write_bytes(text)
    expect(group(page, "In your agents").get_by_role("listitem").filter(has_text="run: touch x1")).to_be_visible()
    row.get_by_role("button", name="run: touch t120").click()
    expect(page).to_have_url(re.compile("#/s/"))
    expect(page.get_by_role("main")).to_contain_text("I will use a tool.")
