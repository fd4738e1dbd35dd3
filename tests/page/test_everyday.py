"""Small things of every day: names that are there at once, words that are true, nothing in the way of what one presses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from tests.page.beginning import chip, choose_agent
from tests.page.conftest import MakePerson, free_port
from tests.page.journal import puppet_says, tell, wait_until_idle
from tests.page.person import sideways, until
from tests.page.stage import permission
from tests.page.test_approvals import ask
from tests.page.test_devices import paired_phone
from tests.page.test_following import composer
from tests.tooling.hub_process import HubProcess
from tests.tooling.processes import eventually
from trunkline.cli.commands.serve import check_reach
from trunkline.cli.commands.serve import command as serve
from trunkline.cli.hosting.way_in import own_command
from trunkline.cli.read_settings import load


def test_a_session_without_a_title_is_called_after_its_first_message_at_once(
        clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = clear_hub.new_session("fast")
    page = make_person(clear_hub.url).log_in(clear_hub, f"#/s/{session.id}")
    expect(page.get_by_role("heading", name="Untitled session")).to_be_visible()
    composer(page).fill("/echo Count the herons")
    page.get_by_role("button", name="Send", exact=True).click()
    wait_until_idle(session)
    expect(page.get_by_role("heading", name=session.view()["title"], level=1)).to_be_visible()


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_a_session_whose_history_is_slow_to_come_has_its_name_and_state_at_once(
        clear_hub: HubProcess, make_person: MakePerson, size: str) -> None:
    session = clear_hub.new_session("fast", title="A long story")
    person = make_person(clear_hub.url, size, alone=True, service_workers="block")
    page = person.log_in(clear_hub)
    held: list[Route] = []
    page.route(re.compile(f"/sessions/{session.id}/(snapshot|history)"), lambda route: held.append(route))
    person.go(f"#/s/{session.id}")
    name, state = page.get_by_role("heading", level=1), page.locator(".session-status")
    expect(name).to_have_text("Loading the session …")
    expect(state).to_have_count(0)
    eventually(lambda: page.evaluate("1") and len(held) > 1, "both are on their way")
    next(route for route in held if "/snapshot" in route.request.url).continue_()
    expect(name).to_have_text("A long story")
    expect(state).to_have_text("Ready")
    page.unroute_all()  # lets what is held go on
    expect(page.get_by_role("feed")).to_be_visible()


def test_who_wrote_a_message_here_is_called_you(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = ask(clear_hub, "By whom")
    page = make_person(clear_hub.url).log_in(clear_hub, f"#/s/{session.id}")
    page.get_by_role("button", name="Approve", exact=True).click()
    wait_until_idle(session)
    composer(page).fill("/echo hello")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("article", name="You said")).to_be_visible()
    wait_until_idle(session)
    page.reload()
    line = page.get_by_role("button", name="bash echo permission 1 was given: Done, Approved by you")
    expect(line.get_by_text("Approved by you", exact=True)).to_be_visible()
    line.click()
    expect(page.get_by_text("Approved by you", exact=True)).to_have_count(1)


@pytest.mark.parametrize("width", [320, 1280])
def test_who_decided_is_read_in_the_line_of_the_call(own_hub: HubProcess, make_person: MakePerson, width: int) -> None:
    session = own_hub.new_session("fast", title="Decided")
    desk = make_person(own_hub.url, viewport={"width": width, "height": 800})
    page = desk.log_in(own_hub, "#/devices")
    phone = paired_phone(own_hub, make_person, page, "Phone of Ada Lovelace")
    desk.go(f"#/s/{session.id}")
    phone.go(f"#/s/{session.id}")
    for decider, answer in ((page, "Approve"), (phone.page, "Deny")):
        tell(session, "/ask")
        decider.get_by_role("button", name=answer, exact=True).click()
        if answer == "Deny":
            decider.get_by_role("button", name="Deny", exact=True).last.click()
        wait_until_idle(session)
    session.post("limits", {"waits": {"approvalS": 1}})
    tell(session, "/ask")
    wait_until_idle(session)
    own_hub.wire.ask("PUT", "/policy", {"text": '[[rules]]\ncommand = ["echo *"]\naction = "allow"\n'}).expect(200)
    tell(session, "/ask")
    wait_until_idle(session)

    lines = page.get_by_role("feed").locator(".session-card-line")
    expect(lines).to_have_count(4)
    said = ("Approved by you", "Denied by Phone of Ada Lovelace", "Nobody answered in time", "Allowed by a rule")
    for line, words in zip(lines.all(), said, strict=True):
        line.scroll_into_view_if_needed()
        if line.get_attribute("aria-expanded") == "true":  # what was denied is open, and says it inside
            line.click()
        expect(line).to_have_accessible_name(re.compile(f", {words}$"))
        note = line.get_by_text(words, exact=True)
        expect(note).to_be_visible()
        assert note.evaluate("note => note.scrollWidth - note.clientWidth") == 0, "whole"
        subject = line.locator(".session-subject")
        assert subject.evaluate("subject => subject.clientWidth") > 100, "and so much of what it is about"
    assert sideways(page) == 0


def test_a_run_of_calls_that_one_person_let_happen_says_so(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = ask(clear_hub, "Two of them", "/ask 2")
    page = make_person(clear_hub.url, viewport={"width": 1280, "height": 1000}).log_in(clear_hub, f"#/s/{session.id}")
    for _ in range(2):
        page.get_by_role("button", name="Approve", exact=True).first.click()
    wait_until_idle(session)
    group = page.get_by_role("button", name="Ran 2 commands")
    expect(group).to_contain_text("Approved by you")


def test_that_an_answer_failed_is_said_once_and_why(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = clear_hub.new_session("fast", title="It crashes")
    person = make_person(clear_hub.url)
    page = person.log_in(clear_hub, f"#/s/{session.id}")
    tell(session, "/crash 3")
    wait_until_idle(session)
    banner = page.get_by_role("group", name="The answer failed")
    expect(banner).to_contain_text("the agent ended in the middle of its work")
    expect(banner).not_to_contain_text("agent_exited")
    banner.get_by_role("button", name="Details").click()
    expect(banner.get_by_text("agent_exited").first).to_be_visible()
    said = re.compile("failed", re.IGNORECASE)
    expect(page.get_by_role("main").get_by_text(said)).to_have_count(1)
    expect(page.get_by_title(re.compile("^Failed: the agent ended in the middle of its work"))).to_be_visible()
    person.go("#/")
    row = page.get_by_role("listitem").filter(has_text="It crashes")
    expect(row).to_contain_text("the agent ended in the middle of its work")
    expect(row.get_by_text(said)).to_have_count(1)
    tell(session, "/echo again")
    person.go(f"#/s/{session.id}")
    expect(page.get_by_role("status").filter(has_text="Ready")).to_be_visible()
    expect(banner).to_contain_text("The answer failed")


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_a_long_message_of_ones_own_is_folded_and_opens_in_its_place(
        clear_hub: HubProcess, make_person: MakePerson, size: str) -> None:
    session = clear_hub.new_session("puppet", title="Long words")
    lines = [f"{number} of what was pasted" for number in range(1, 301)]
    usage = {"sessionUpdate": "usage_update", "used": 1, "size": 2, "_meta": {"lines": lines}}
    prompt = json.dumps([["update", usage], ["say", "read"]], indent=1)
    page = make_person(clear_hub.url, size).log_in(clear_hub, f"#/s/{session.id}")
    composer(page).fill(prompt)
    page.get_by_role("button", name="Send", exact=True).click()
    wait_until_idle(session)
    own = page.get_by_role("article", name="You said")
    show = own.get_by_role("button", name=f"Show all {len(prompt.splitlines())} lines")
    expect(show).to_be_visible()
    expect(own).to_contain_text("1 of what was pasted")
    expect(own).not_to_contain_text("200 of what was pasted")
    before = own.bounding_box()
    show.click()
    expect(own).to_contain_text("300 of what was pasted")
    expect(show).to_have_count(0)
    expect(own).to_be_focused()
    after = own.bounding_box()
    assert before is not None and after is not None
    assert before["height"] < 400 < after["height"]
    assert abs(before["y"] - after["y"]) < 2


def test_the_home_of_a_session_that_talks_never_says_that_nothing_was_said(
        clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = clear_hub.new_session("puppet", title="Talks")
    tell(session, json.dumps([["say", "many words"], ["wait"]]))
    page = make_person(clear_hub.url).log_in(clear_hub)
    expect(page.get_by_role("link", name="Talks")).to_be_visible()
    eventually(lambda: session.view()["turn"], "it talks")
    expect(page.get_by_role("main")).not_to_contain_text("Nothing said yet")


def test_no_search_hides_what_waits_and_each_session_is_found_once(clear_hub: HubProcess, make_person: MakePerson) -> None:
    ask(clear_hub, "Asks something")
    often = clear_hub.new_session("puppet", title="About birds")
    puppet_says(often, [["say", "A zyzzyva is a weevil."]])
    puppet_says(often, [["say", "Another zyzzyva."]])
    page = make_person(clear_hub.url).log_in(clear_hub)
    page.get_by_role("searchbox", name="Search sessions").fill("zyzzyva")
    hits = page.get_by_role("region", name=re.compile("passage|result|found", re.IGNORECASE))
    expect(hits.locator("mark").nth(1)).to_be_visible()
    expect(hits.get_by_role("link", name="About birds", exact=True)).to_have_count(1)
    waiting = page.get_by_role("region", name=re.compile("^Waiting for you"))
    expect(waiting.get_by_role("link", name="Asks something")).to_be_visible()
    hits.get_by_role("link").last.click()
    expect(page).to_have_url(re.compile(f"#/s/{often.id}/e/"))


def test_a_session_that_is_found_by_its_name_is_named_once(clear_hub: HubProcess, make_person: MakePerson) -> None:
    clear_hub.new_session("puppet", title="About zyzzyvas")
    talked = clear_hub.new_session("puppet", title="More about zyzzyvas")
    puppet_says(talked, [["say", "The zyzzyvas are weevils."]])
    page = make_person(clear_hub.url).log_in(clear_hub)
    page.get_by_role("searchbox", name="Search sessions").fill("zyzzyvas")
    hits = page.get_by_role("region", name=re.compile("passage"))
    found = hits.get_by_role("listitem").filter(has=page.get_by_text("are weevils"))
    expect(found.get_by_role("link", name="More about zyzzyvas", exact=True).locator("mark")).to_have_text("zyzzyvas")
    assert found.inner_text().count("More about zyzzyvas") == 1
    looks = found.locator("mark").evaluate_all("all => all.map(each => getComputedStyle(each).backgroundColor)")
    assert len(looks) > 1 and len(set(looks)) == 1, "what was found looks alike in names and passages"
    expect(page.get_by_role("link", name="About zyzzyvas", exact=True)).to_have_count(1)


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_a_pause_says_what_is_held_and_a_notice_covers_no_button(
        clear_hub: HubProcess, make_person: MakePerson, size: str) -> None:
    session = clear_hub.new_session("puppet", title="Held")
    tell(session, json.dumps([["say", "words"], ["wait"]]))
    eventually(lambda: session.view()["turn"], "it works")
    page = make_person(clear_hub.url, size).log_in(clear_hub, f"#/s/{session.id}")
    composer(page).fill("more")
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(page.get_by_text("The agent goes on until it asks or is done.").last).to_be_visible()
    expect(page.locator(".controls-held")).to_contain_text("your messages and what rules would allow wait")
    assert page.evaluate("""() => [...document.querySelectorAll('.composer button, .controls button')].filter(button => {
      const box = button.getBoundingClientRect();
      const there = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
      return !button.contains(there);
    }).map(button => button.textContent)""") == []
    assert page.get_by_role("button", name=re.compile("^More")).count() == 2, "one menu for the session, one for its turn"
    page.goto(f"{clear_hub.url}/#/")
    expect(page.get_by_role("region", name="Working")).to_contain_text("Held")  # it goes on


@pytest.mark.parametrize(("width", "zoom"), [(320, 1), (640, 2)])
def test_titles_are_readable_on_a_narrow_screen_and_when_zoomed(clear_hub: HubProcess, make_person: MakePerson, width: int,
                                                                zoom: int) -> None:
    session = ask(clear_hub, "A title of some length that says what it is")
    person = make_person(clear_hub.url, viewport={"width": width // zoom, "height": 640}, device_scale_factor=zoom)
    page = person.log_in(clear_hub, f"#/s/{session.id}")
    title = page.get_by_role("heading", level=1)
    expect(title).to_be_visible()
    assert title.evaluate("title => title.clientWidth") > 120
    person.go("#/")
    link = page.get_by_role("link", name=re.compile("^A title of some"))
    expect(link).to_be_visible()
    assert link.evaluate("link => link.clientWidth") > 120


@pytest.mark.parametrize("width", [320, 390])
def test_the_head_of_a_session_is_whole_on_a_phone(clear_hub: HubProcess, make_person: MakePerson, width: int) -> None:
    session = clear_hub.new_session("puppet", title="A tour of Trunkline")
    usage = {"sessionUpdate": "usage_update", "used": 1200, "size": 200_000}
    tell(session, json.dumps([["update", usage], permission(1, "ls", "execute", {"command": "ls"}), ["wait"]]))
    page = make_person(clear_hub.url, "phone", viewport={"width": width, "height": 844}).log_in(clear_hub, f"#/s/{session.id}")
    head = page.locator(".session-head-line")
    expect(head).to_contain_text("Waits for approval")
    expect(head.get_by_role("button", name=re.compile("^Context"))).to_be_visible()
    parts = head.locator(".session-back, .session-spent, .ui-menu, .session-title, .session-status")
    boxes = [box for part in parts.all() if (box := part.bounding_box()) is not None]
    assert len(boxes) == 5
    whole = head.bounding_box()
    assert whole is not None and whole["height"] <= 60, "one line of buttons"
    assert all(whole["y"] <= box["y"] and box["y"] + box["height"] <= whole["y"] + whole["height"] + 1 for box in boxes)
    assert page.get_by_role("heading", level=1).evaluate("title => title.scrollWidth - title.clientWidth") == 0
    assert sideways(page) == 0


def test_a_button_that_takes_no_press_says_why(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = ask(clear_hub, "Two of them", "/ask 2")
    page = make_person(clear_hub.url, viewport={"width": 1280, "height": 660}).log_in(clear_hub, f"#/s/{session.id}")
    upper, lower = (page.get_by_role("article").filter(has_text=f"permission {which} was given").get_by_role(
        "button", name="Approve", exact=True) for which in (1, 2))
    expect(page.locator(".session-status")).to_contain_text("Waits for approval")
    expect(page.locator(".session-head")).not_to_contain_text("tool call")
    expect(upper).to_be_enabled()
    expect(lower).to_be_disabled()
    expect(lower).to_have_accessible_description("Scroll all of it into view first")
    page.locator("[data-ask]").last.evaluate("card => card.scrollIntoView({block: 'center'})")
    expect(lower).to_be_enabled()
    expect(lower).not_to_have_accessible_description(re.compile("Scroll"))


def test_who_comes_straight_to_a_session_reads_what_its_agent_is_called(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = clear_hub.new_session("demo")
    page = make_person(clear_hub.url).log_in(clear_hub, f"#/s/{session.id}")
    page.reload()  # the list of sessions, which knows all agents, was not shown
    expect(composer(page)).to_have_attribute("placeholder", "Message Demo")
    tell(session, "/ask")
    expect(page.get_by_text(re.compile("^Session started in .* with Demo One$"))).to_be_visible()
    page.goto(f"{clear_hub.url}/#/approvals")
    page.reload()
    expect(page.get_by_role("article").get_by_text("Demo", exact=True)).to_be_visible()


def test_a_session_at_work_has_one_word_for_that(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = clear_hub.new_session("puppet", title="Busy")
    tell(session, json.dumps([["wait"]]))
    page = make_person(clear_hub.url).log_in(clear_hub, f"#/s/{session.id}")
    expect(page.locator(".session-head").get_by_text("Working", exact=True)).to_be_visible()
    page.goto(f"{clear_hub.url}/#/")
    row = page.get_by_role("region", name="Working").get_by_role("listitem").filter(has_text="Busy")
    expect(row.get_by_text("Working", exact=True)).to_be_visible()
    expect(row.get_by_text("Working …", exact=True)).to_be_visible()
    expect(page.get_by_role("main")).not_to_contain_text(re.compile("Running|At work"))


def test_an_ask_that_nobody_answered_is_told_as_missed(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = clear_hub.new_session("fast", title="Nobody there")
    session.post("limits", {"waits": {"approvalS": 3}})
    person = make_person(clear_hub.url)
    page = person.log_in(clear_hub, f"#/s/{session.id}")
    tell(session, "/ask")
    expect(page.get_by_text("Approval is waiting")).to_be_visible()
    expect(page.get_by_text("Nobody answered in time", exact=True)).to_be_visible()
    expect(page.get_by_text("Little time was left, and nobody had answered")).to_be_visible()
    expect(page.get_by_role("feed")).not_to_contain_text("is denied in")
    wait_until_idle(session)
    person.go("#/")
    row = page.get_by_role("listitem").filter(has_text="Nobody there")
    expect(row.get_by_text("Missed", exact=True)).to_be_visible()
    page.reload()
    expect(row.get_by_text("Missed", exact=True)).to_be_visible()
    expect(row.locator("time")).to_have_attribute("title", re.compile("^Last activity: "))
    tell(session, "/echo again")
    wait_until_idle(session)
    expect(row.get_by_text("Missed", exact=True)).to_have_count(0)


def test_who_came_in_again_is_still_you_and_others_have_names(own_hub: HubProcess, make_person: MakePerson) -> None:
    session = own_hub.new_session("fast", title="By whom")
    desk = make_person(own_hub.url)
    page = desk.log_in(own_hub, f"#/s/{session.id}")
    composer(page).fill("/echo hello")
    page.get_by_role("button", name="Send", exact=True).click()
    wait_until_idle(session)
    desk.log_in(own_hub, f"#/s/{session.id}")
    expect(page.get_by_role("article", name="You said")).to_be_visible()
    other = make_person(own_hub.url, "phone").log_in(own_hub, f"#/s/{session.id}")
    expect(other.get_by_role("article", name="Another browser said")).to_be_visible()
    expect(other.get_by_role("main")).not_to_contain_text(re.compile(r"\([0-9a-f]{12}\)"))


def test_the_command_line_that_makes_a_hub_reachable_is_one_that_serve_takes(
        clear_hub: HubProcess, make_person: MakePerson) -> None:
    page = make_person(clear_hub.url).log_in(clear_hub, "#/devices")
    page.get_by_role("button", name="Show the code").click()
    line = page.get_by_text(re.compile(f"{re.escape(own_command())} serve --host"))
    expect(line).to_be_visible()
    filled_in = line.inner_text().replace("<name>", "hub.example.org").replace("<file>", "file.pem")
    command, *flags = filled_in.removeprefix(own_command()).split()
    assert command == "serve", "it is called as it was installed"
    settings = load(serve.make_context("serve", flags).params)
    assert settings.data == clear_hub.data, "the same hub, with its sessions"
    check_reach(settings)
    assert settings.tls_cert and settings.tls_key, "one without the other is refused"
    assert (settings.allow_host, settings.public_url) == (("hub.example.org",), "https://hub.example.org:7420")


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_the_tour_is_taken_from_the_empty_home_and_its_ask_can_be_approved(
        clear_hub: HubProcess, make_person: MakePerson, size: str) -> None:
    page = make_person(clear_hub.url, size).log_in(clear_hub)
    page.get_by_role("button", name="Take the tour").click()
    approve = page.get_by_role("button", name=re.compile("^(Approve|Allow this tour)")).first
    expect(approve).to_be_visible(timeout=30_000)
    (view,) = clear_hub.wire.get("/sessions")["sessions"]
    assert (view["agent"], view["cwd"]) == ("demo", str(clear_hub.data / "playground"))
    expect(page.get_by_role("feed")).to_contain_text("I ask once, before the first change:")
    title = page.locator("[data-ask]").get_by_role("heading", level=2)
    until(page, "() => document.querySelector('[data-ask] h2').getBoundingClientRect().top"
                " >= document.querySelector('[role=feed]').getBoundingClientRect().top")
    expect(title).to_be_in_viewport(ratio=1)
    expect(approve).to_be_enabled()
    approve.click()
    eventually(lambda: list((clear_hub.data / "playground" / "trunkline-demo").glob("hello*.py")), "it was allowed to write", 30)


def test_a_policy_file_that_was_deleted_is_put_back_with_a_click(own_hub: HubProcess, make_person: MakePerson) -> None:
    file = own_hub.data / "policy.toml"
    before = file.read_text()
    assert own_hub.wire.get("/policy")["lastGood"] is None
    file.unlink()
    page = make_person(own_hub.url).log_in(own_hub, "#/policy")
    trouble = page.get_by_role("alert").filter(has_text="is gone")
    trouble.get_by_role("button", name="Put the last good rules back").click()
    expect(trouble).to_have_count(0)
    assert file.read_text() == before
    file.unlink()
    page.reload()
    trouble.get_by_role("button", name="Begin with no rules").click()
    expect(trouble).to_have_count(0)
    assert file.read_text() == ""


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_a_new_session_is_one_line_of_text_with_what_was_chosen_last(
        clear_hub: HubProcess, make_person: MakePerson, size: str) -> None:
    folder = clear_hub.new_folder()
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/feature/herons\n")
    (folder / "heron_notes.md").write_text("grey")
    clear_hub.new_session("fast", folder)
    person = make_person(clear_hub.url, size)
    page = person.log_in(clear_hub, "#/new")
    choose_agent(page, "fast")
    page.get_by_role("combobox", name=re.compile(r"^Mode\b")).select_option("plan")
    field = page.get_by_label("First prompt")
    field.fill("/echo one")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("feed")).to_be_visible()

    person.go("#/new")
    page.reload()  # a page that has opened no session yet knows the agent's commands all the same
    expect(chip(page, "Agent")).to_have_accessible_name("Agent: fast")
    expect(chip(page, "Folder")).to_have_accessible_name(f"Folder: {folder.name} feature/herons")
    expect(page.get_by_role("combobox", name=re.compile(r"^Mode\b"))).to_have_value("plan")
    field.press_sequentially("/ech")
    expect(page.get_by_role("option", name="/echo")).to_be_visible()
    field.press("Tab")
    expect(field).to_have_value("/echo ")
    field.press_sequentially("look at @heron")
    page.get_by_role("option", name="heron_notes.md").click()
    expect(field).to_have_value("/echo look at @heron_notes.md ")
    assert sideways(page) == 0
    field.press("Enter" if size == "desk" else "Control+Enter")
    expect(page.get_by_text("look at @heron_notes.md", exact=True)).to_be_visible()
    newest = max(clear_hub.wire.get("/sessions")["sessions"], key=lambda view: view["createdAt"])
    assert (newest["agent"], newest["cwd"], newest["mode"]) == ("fast", str(folder), "plan")


def test_who_types_at_once_types_where_it_belongs(clear_hub: HubProcess, make_person: MakePerson) -> None:
    clear_hub.new_session("fast", clear_hub.new_folder())
    page = make_person(clear_hub.url).log_in(clear_hub, "#/new")
    field, new = page.get_by_label("First prompt"), page.get_by_role("link", name="New session")
    choose_agent(page, "fast")
    for words in ("first", "second"):
        new.click()
        expect(field).to_be_focused()
        height = field.evaluate("field => field.offsetHeight")
        page.keyboard.type(f"/echo {words}")
        assert field.evaluate("field => field.offsetHeight") == height, "what is below it does not jump at the first letter"
        page.keyboard.press("Enter")
        expect(composer(page)).to_be_focused()
        page.keyboard.type("and then")
        expect(composer(page)).to_have_value("and then")
    new.click()
    chip(page, "Folder").click()
    expect(page.get_by_label("Folder", exact=True)).to_be_focused()
    new.click()
    expect(field).to_be_focused()


def test_no_keyboard_comes_up_on_a_phone_by_itself(clear_hub: HubProcess, make_person: MakePerson) -> None:
    clear_hub.new_session("fast", clear_hub.new_folder())
    page = make_person(clear_hub.url, "phone").log_in(clear_hub, "#/new")
    choose_agent(page, "fast")
    page.get_by_label("First prompt").fill("/echo begun")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(composer(page)).to_be_visible()
    expect(composer(page)).not_to_be_focused()
    page.get_by_role("link", name="New session").click()
    expect(page.get_by_label("First prompt")).not_to_be_focused()


def test_who_has_no_agent_of_their_own_is_told_how_to_get_one_and_log_in(tmp_path: Path, make_person: MakePerson) -> None:
    nowhere = dict.fromkeys(("fast", "puppet", "trusted"), "no-such-program")
    with HubProcess(tmp_path / "hub", port=free_port(), agents=nowhere) as hub:
        person = make_person(hub.url)
        page = person.log_in(hub, "#/new")
        expect(chip(page, "Agent")).to_have_accessible_name("Agent: Demo")
        expect(page.get_by_role("radio", name=re.compile("^Demo"))).to_be_checked()
        page.get_by_text("more are not installed").click()
        entry = page.get_by_role("listitem").filter(has=page.get_by_text("Claude Code", exact=True))
        expect(entry).to_contain_text("the one to pick for Claude")
        expect(entry).to_contain_text("npm install -g @anthropic-ai/claude-code")
        expect(entry).to_contain_text("run claude once and log in")
        expect(entry.get_by_role("button", name="Copy how to log in to Claude Code")).to_be_visible()
        name, link, pick = (entry.get_by_text(text, exact=True).evaluate("part => part.getBoundingClientRect().toJSON()")
                            for text in ("Claude Code", "How to install", "the one to pick for Claude"))
        assert link["left"] >= name["right"] and link["top"] < name["bottom"], "more is told beside the name"
        assert pick["left"] == name["left"] and pick["top"] >= name["bottom"], "below the name, and not below the sign"
        person.leave()
