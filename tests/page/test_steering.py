"""Steering: the composer, the queue, stopping and pausing, mode and model, limits, the policy."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.page.beginning import choose_agent
from tests.page.conftest import MakePerson
from tests.page.journal import tell, texts, wait_until_idle
from tests.page.person import Person
from tests.tooling.hub_process import HubProcess, Session
from tests.tooling.processes import eventually


def composer(page: Page) -> Locator:
    """Where one writes to the agent."""
    return page.get_by_role("textbox", name="Message to the agent")


def opened(person: Person, hub: HubProcess, agent: str = "fast") -> tuple[Page, Session]:
    """A new session before somebody's eyes."""
    session = hub.new_session(agent)
    page = person.log_in(hub, f"#/s/{session.id}")
    expect(composer(page)).to_be_visible()
    return page, session


def test_a_prompt_is_sent_by_the_button_and_by_enter_and_shift_enter_begins_a_line(hub: HubProcess, person: Person) -> None:
    page, session = opened(person, hub)
    composer(page).fill("/echo by the button")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("by the button", exact=True)).to_be_visible()
    wait_until_idle(session)
    composer(page).press_sequentially("/echo by")
    composer(page).press("Shift+Enter")
    composer(page).press_sequentially("the key")
    composer(page).press("Enter")
    eventually(lambda: texts(session, "user")[-1:] == ["/echo by\nthe key"], "the second prompt came with its line break")
    expect(composer(page)).to_have_value("")


def test_on_a_phone_enter_begins_a_line_and_the_button_sends(hub: HubProcess, make_person: MakePerson) -> None:
    page, session = opened(make_person(hub.url, "phone"), hub)
    composer(page).press_sequentially("/echo one")
    composer(page).press("Enter")
    composer(page).press_sequentially("two")
    page.get_by_role("button", name="Send").tap()
    eventually(lambda: texts(session, "user") == ["/echo one\ntwo"], "it was sent whole")


def test_earlier_prompts_come_back_by_the_arrow_keys(hub: HubProcess, person: Person) -> None:
    page, session = opened(person, hub)
    for words in ("/echo first", "/echo second"):
        composer(page).fill(words)
        composer(page).press("Enter")
        expect(page.get_by_text(words.removeprefix("/echo "), exact=True)).to_be_visible()
        wait_until_idle(session)
    composer(page).press("ArrowUp")
    expect(composer(page)).to_have_value("/echo second")
    composer(page).press("ArrowUp")
    expect(composer(page)).to_have_value("/echo first")
    composer(page).press("ArrowDown")
    expect(composer(page)).to_have_value("/echo second")


def test_slash_commands_are_the_agents_own(hub: HubProcess, anybody: Person) -> None:
    page, _ = opened(anybody, hub)
    composer(page).press_sequentially("/ref")
    options = page.get_by_role("listbox", name=re.compile("Commands|Suggestions"))
    expect(options.get_by_role("option", name=re.compile("refuse"))).to_be_visible()
    expect(options.get_by_role("option", name=re.compile("crash"))).to_have_count(0)
    composer(page).press("Tab")
    expect(composer(page)).to_have_value(re.compile("^/refuse ?$"))


HOLD_FRAMES = """() => {
  const held = [];
  window.requestAnimationFrame = step => held.push(step);
  window.letGo = () => held.splice(0).forEach(step => step(performance.now()));
}"""
"""From now on no frame is drawn before ``letGo()``, as on a machine that is busy."""


@pytest.mark.parametrize("place", ["session", "new"])
def test_what_is_typed_on_before_the_next_frame_stands_behind_a_suggestion_that_was_taken(
        hub: HubProcess, person: Person, place: str) -> None:
    page, _ = opened(person, hub)
    field = composer(page)
    if place == "new":
        person.go("#/new")
        choose_agent(page, "fast")
        field = page.get_by_label("First prompt")
    field.press_sequentially("/ech")
    expect(page.get_by_role("option", name="/echo")).to_be_visible()
    page.evaluate(HOLD_FRAMES)
    field.press("Tab")
    page.keyboard.type("look")
    page.evaluate("letGo()")
    page.keyboard.type(" here")
    expect(field).to_have_value("/echo look here")


def test_files_of_the_session_are_found_by_at(hub: HubProcess, anybody: Person) -> None:
    session = hub.new_session("fast")
    (session.folder / "src").mkdir()
    (session.folder / "src" / "heron.py").write_text("")
    page = anybody.log_in(hub, f"#/s/{session.id}")
    composer(page).press_sequentially("/echo see @her")
    expect(page.get_by_role("option", name=re.compile("heron.py"))).to_be_visible()
    composer(page).press("Enter")
    expect(composer(page)).to_have_value(re.compile(r"^/echo see @src/heron\.py ?$"))


def test_what_is_sent_while_a_turn_runs_waits_and_can_be_edited_and_dropped(hub: HubProcess, anybody: Person) -> None:
    page, session = opened(anybody, hub)
    tell(session, "/silent")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    for words in ("/echo one", "/echo two"):
        composer(page).fill(words)
        page.get_by_role("button", name="Queue", exact=True).click()
    queue = page.get_by_role("region", name=re.compile("2 messages wait"))
    expect(queue.get_by_role("listitem")).to_have_count(2)
    queue.get_by_role("button", name="Drop this message").first.click()
    queue = page.get_by_role("region", name=re.compile("1 message waits"))
    queue.get_by_role("button", name="Edit this message").click()
    queue.get_by_role("textbox").fill("/echo three")
    queue.get_by_role("button", name="Save").click()
    expect(queue).to_contain_text("/echo three")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("three", exact=True)).to_be_visible()
    assert texts(session, "user") == ["/silent", "/echo three"]


def test_what_is_written_into_a_waiting_message_comes_back_when_that_goes_out_first(hub: HubProcess, anybody: Person) -> None:
    page, session = opened(anybody, hub)
    tell(session, "/silent")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    composer(page).fill("/echo early")
    page.get_by_role("button", name="Queue", exact=True).click()
    queue = page.get_by_role("region", name=re.compile("1 message waits"))
    queue.get_by_role("button", name="Edit this message").click()
    queue.get_by_role("textbox").fill("/echo late words")
    composer(page).fill("something else")
    session.post("cancel", {})
    expect(page.get_by_text("early", exact=True)).to_be_visible()
    expect(page.get_by_text("Your words are in the message field.")).to_be_visible()
    expect(composer(page)).to_have_value("something else\n\n/echo late words")
    assert texts(session, "user") == ["/silent", "/echo early"]


def say(words: str) -> str:
    """A message that has the puppet say something."""
    return json.dumps([["say", words]])


def held_back(hub: HubProcess, tmp_path: Path, *waiting: str) -> Session:
    """A session whose agent died in a turn behind which messages wait."""
    session = hub.new_session("puppet")
    tell(session, json.dumps([["await", str(tmp_path / "go")], ["die", 1, str(tmp_path / "at")]]))
    for words in waiting:
        tell(session, say(words), whenBusy="queue")
    (tmp_path / "go").touch()
    eventually(lambda: session.view()["turn"] is None, "the turn has failed")
    return session


def test_messages_behind_a_failed_turn_say_that_they_are_held_back_and_are_sent_on_request(hub: HubProcess, anybody: Person,
                                                                                           tmp_path: Path) -> None:
    session = held_back(hub, tmp_path, "first", "second")
    page = anybody.log_in(hub, f"#/s/{session.id}")
    queue = page.get_by_role("region", name=re.compile("2 messages wait"))
    expect(queue).to_contain_text("Held back because the last answer failed")
    queue.get_by_role("button", name="Send now").click()
    expect(page.get_by_text("second", exact=True)).to_be_visible()
    wait_until_idle(session)
    assert texts(session, "user")[1:] == [say("first"), say("second")]


def test_a_message_goes_behind_those_that_are_held_back_and_sends_them(hub: HubProcess, person: Person, tmp_path: Path) -> None:
    session = held_back(hub, tmp_path, "first", "second")
    page = person.log_in(hub, f"#/s/{session.id}")
    expect(page.get_by_role("region", name=re.compile("2 messages wait"))).to_be_visible()
    composer(page).fill(say("typed later"))
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_text("typed later", exact=True)).to_be_visible()
    wait_until_idle(session)
    assert texts(session, "user")[1:] == [say("first"), say("second"), say("typed later")]


def test_what_a_restart_broke_off_is_tried_again_before_the_messages_behind_it(own_hub: HubProcess, make_person: MakePerson
                                                                               ) -> None:
    session = own_hub.new_session("fast")
    tell(session, "/slow 60")
    tell(session, "/echo behind it", whenBusy="queue")
    own_hub.kill()
    own_hub.start()
    page = make_person(own_hub.url).log_in(own_hub, f"#/s/{session.id}")
    queue = page.get_by_role("region", name=re.compile("1 message waits"))
    expect(queue).to_contain_text("Held back because Trunkline was restarted")
    page.get_by_role("button", name="Try again").click()
    expect(queue).to_contain_text("Sent to the agent when it is done")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("behind it", exact=True)).to_be_visible()
    assert texts(session, "user") == ["/slow 60", "/slow 60", "/echo behind it"]


def test_a_turn_is_stopped(hub: HubProcess, anybody: Person) -> None:
    page, session = opened(anybody, hub)
    tell(session, "/slow 60")
    page.get_by_role("button", name="Stop").click()
    wait_until_idle(session)
    expect(page.get_by_text(re.compile("^Stopped( ·|$)")).first).to_be_visible()  # how long it took follows, where it did
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)


def test_a_session_is_paused_and_resumed(hub: HubProcess, anybody: Person) -> None:
    page, session = opened(anybody, hub)
    page.get_by_role("button", name=re.compile("^Pause")).click()
    expect(page.locator(".session-status")).to_have_text("Paused")
    composer(page).fill("/echo after the pause")
    page.get_by_role("button", name=re.compile("^(Queue|Send)$")).click()
    expect(page.get_by_role("region", name=re.compile("1 message waits"))).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_text("after the pause", exact=True)).to_be_visible()
    wait_until_idle(session)


def test_mode_and_model_are_switched(hub: HubProcess, anybody: Person) -> None:
    page, session = opened(anybody, hub)
    page.get_by_role("combobox", name=re.compile(r"^Mode\b")).select_option("plan")
    eventually(lambda: session.view()["mode"] == "plan", "the mode is switched")
    page.get_by_role("combobox", name=re.compile(r"^Model\b")).select_option("demo-2")
    eventually(lambda: "demo-2" in json.dumps([option.get("currentValue") for option in session.view()["configOptions"]]),
               "the model is switched")
    session.post("mode", {"modeId": "auto"})
    expect(page.get_by_role("combobox", name=re.compile(r"^Mode\b"))).to_have_value("auto")


def test_a_spend_cap_pauses_the_session_and_asks(clear_hub: HubProcess, make_person: MakePerson) -> None:
    page, session = opened(make_person(clear_hub.url), clear_hub)
    page.get_by_role("button", name="More controls").click()
    page.get_by_role("menuitem", name="Limits …").click()
    sheet = page.get_by_role("dialog", name="Limits of this session")
    sheet.get_by_role("textbox", name="Answers").fill("none")
    expect(sheet.get_by_role("alert")).to_have_text("This is not a number.")
    expect(sheet.get_by_role("button", name="Save")).to_be_disabled()
    sheet.get_by_role("textbox", name="Answers").fill("1")
    sheet.get_by_role("button", name="Save").click()
    expect(sheet).to_have_count(0)
    assert session.view()["caps"] == {"turns": 1}
    composer(page).fill("/echo the only one")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("A limit is reached").first).to_be_visible()


def test_the_draft_survives_a_reload(hub: HubProcess, person: Person) -> None:
    page, _ = opened(person, hub)
    composer(page).fill("half a thought")
    page.reload()
    expect(composer(page)).to_have_value("half a thought")


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_the_policy_is_explained_edited_and_checked(clear_hub: HubProcess, make_person: MakePerson, size: str) -> None:
    person = make_person(clear_hub.url, size)
    page = person.log_in(clear_hub, "#/policy")
    page.get_by_role("tab", name="Explain").click()
    page.get_by_label("Command", exact=True).fill("npm test && rm -rf build")
    page.get_by_role("textbox", name="Folder").fill(str(clear_hub.new_folder()))
    page.get_by_role("button", name="Explain", exact=True).click()
    expect(page.get_by_text("A person is asked")).to_be_visible()
    expect(page.get_by_text(re.compile("deletes files"))).to_be_visible()
    page.get_by_role("tab", name="File").click()
    text = page.get_by_label("policy.toml")
    text.fill('[[rules]]\naction = "perhaps"\n')
    with person.losing_the_network(expected="status of 400"):
        page.get_by_role("button", name="Save rules").click()
        expect(page.get_by_role("alert")).to_contain_text("action")
    text.fill('[[rules]]\naction = "deny"\ncommand = ["rm *"]\nreason = "Nothing is removed here"\n')
    page.get_by_role("button", name="Save rules").click()
    expect(page.get_by_text("Saved. It counts from now on.")).to_be_visible()
    assert "Nothing is removed here" in (clear_hub.data / "policy.toml").read_text()
    page.get_by_role("tab", name="List").click()
    expect(page.get_by_text("Nothing is removed here")).to_be_visible()
    page.get_by_role("tab", name="Explain").click()
    page.get_by_label("Command", exact=True).fill("rm -rf build")
    page.get_by_role("button", name="Explain", exact=True).click()
    expect(page.get_by_text("Denied without asking")).to_be_visible()


def test_unsaved_changes_of_the_policy_are_there_after_a_look_elsewhere_and_know_what_they_change(
        clear_hub: HubProcess, make_person: MakePerson) -> None:
    person = make_person(clear_hub.url)
    page = person.log_in(clear_hub, "#/policy")
    page.get_by_role("tab", name="File").click()
    text = page.get_by_role("textbox", name="policy.toml")
    before = text.input_value()
    came_back = page.get_by_text("These are your unsaved changes from before.")
    text.fill(f"{before}\n# mine\n")
    expect(came_back).to_have_count(0)
    person.go("#/approvals")
    expect(page.get_by_role("heading", name="Approvals")).to_be_visible()
    person.go("#/policy")
    expect(text).to_have_value(f"{before}\n# mine\n")
    expect(came_back).to_be_visible()
    clear_hub.wire.ask("PUT", "/policy", {"text": f"{before}\n# theirs\n"}).expect(200)
    page.reload()
    expect(text).to_have_value(f"{before}\n# mine\n")
    expect(page.get_by_role("alert")).to_contain_text("The file was changed elsewhere while you edited.")
    page.get_by_role("button", name="Load the file again").click()
    expect(text).to_have_value(f"{before}\n# theirs\n")
    expect(came_back).to_have_count(0)
    page.reload()
    expect(page.get_by_role("tab", name="List")).to_have_attribute("aria-selected", "true")


def test_the_fields_of_a_new_rule_are_named_as_words_above_them(clear_hub: HubProcess, make_person: MakePerson) -> None:
    page = make_person(clear_hub.url).log_in(clear_hub, "#/policy")
    page.get_by_role("button", name=re.compile("Add rule")).click()
    sheet = page.get_by_role("dialog")
    expect(sheet.get_by_text("Commands, one per line")).to_be_visible()
    looks = sheet.locator(".policy-add > label").evaluate_all(
        "labels => labels.map(label => [getComputedStyle(label).textTransform, getComputedStyle(label).display])")
    assert looks and all(look == ["none", "grid"] for look in looks)


def test_who_may_not_change_the_policy_can_read_it(clear_hub: HubProcess, make_person: MakePerson) -> None:
    page = make_person(clear_hub.url).log_in(clear_hub, "#/policy", scope="control")
    page.get_by_role("tab", name="File").click()
    expect(page.get_by_text("This device may read the rules but not change them.")).to_be_visible()


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_files_are_browsed_and_previewed_and_changes_shown(stage_session: tuple[HubProcess, Session], make_person: MakePerson,
                                                           size: str) -> None:
    hub, session = stage_session
    page = make_person(hub.url, size).log_in(hub, f"#/s/{session.id}/files")
    page.get_by_text("README.md", exact=True).first.click()
    expect(page.get_by_text("Sells webs.")).to_be_visible()


@pytest.fixture
def stage_session(clear_hub: HubProcess, tmp_path: Path) -> tuple[HubProcess, Session]:
    """A session in a folder with a file."""
    session = clear_hub.new_session("fast")
    (session.folder / "README.md").write_text("# Webshop\n\nSells webs.\n")
    return clear_hub, session


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_what_an_agent_makes_and_changes_is_there_without_looking_again(clear_hub: HubProcess, make_person: MakePerson,
                                                                        size: str) -> None:
    session = clear_hub.new_session("trusted")
    note = str(session.folder / "note.txt")
    person = make_person(clear_hub.url, size)
    page = person.log_in(clear_hub, f"#/s/{session.id}/artifacts")
    expect(page.get_by_text("The agent has made nothing to look at yet.")).to_be_visible()
    tell(session, json.dumps([["ask", "fs/write_text_file", {"path": note, "content": "one"}]]))
    made = page.get_by_role("complementary").get_by_role("link", name=re.compile("note.txt"))
    expect(made).to_be_visible()
    wait_until_idle(session)
    tell(session, json.dumps([["ask", "fs/write_text_file", {"path": note, "content": "two"}]]))
    expect(made).to_contain_text("v2")
    person.go(f"#/s/{session.id}/files?list=changes")
    changes = page.get_by_role("navigation", name="Changes").get_by_role("link")
    expect(changes).to_have_count(1)
    tell(session, json.dumps([["ask", "fs/write_text_file", {"path": note + "2", "content": "three"}]]))
    expect(changes.filter(has_text="note.txt2")).to_be_visible()


def test_an_artifact_is_shown_in_a_sandbox(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = clear_hub.new_session("trusted")
    page_text = "<!doctype html><title>x</title><h1>An artifact</h1><script>try { parent.hacked = 1 } catch {}"
    page_text += " document.body.append('ran to its end')</script>"
    target = session.folder / "site" / "index.html"
    target.parent.mkdir()
    steps = [["ask", "fs/write_text_file", {"path": str(target), "content": page_text}]]
    tell(session, json.dumps(steps))
    wait_until_idle(session)
    eventually(lambda: session.view()["artifacts"], "there is an artifact")
    person = make_person(clear_hub.url)
    person.expect_loss("Blocked script execution")
    page = person.log_in(clear_hub, f"#/s/{session.id}/artifacts")
    page.get_by_role("complementary").get_by_text("site", exact=True).first.click()
    frame = page.locator("iframe")
    expect(frame).to_be_attached()
    assert "allow-same-origin" not in (frame.get_attribute("sandbox") or "")
    framed = page.frame_locator("iframe")
    expect(framed.get_by_role("heading", name="An artifact")).to_be_visible()
    page.get_by_role("button", name="Run scripts and load remote content").click()
    expect(framed.get_by_text("ran to its end")).to_be_visible()
    assert page.evaluate("window.hacked") is None


def test_an_artifact_that_is_code_is_shown_as_code_where_its_link_leads(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = clear_hub.new_session("trusted")
    code = '# Greets.\ndef greet(name: str) -> str:\n    if not name:\n        return "nobody"\n    return f"hello *{name}*"\n'
    tell(session, json.dumps([["ask", "fs/write_text_file", {"path": str(session.folder / "hello.py"), "content": code}]]))
    wait_until_idle(session)
    eventually(lambda: session.view()["artifacts"], "there is an artifact")
    page = make_person(clear_hub.url).log_in(clear_hub, f"#/s/{session.id}")
    page.get_by_role("link", name="Made: hello.py").click()
    shown = page.get_by_role("article", name="hello.py").locator(".content-code-lines")
    expect(shown.locator("span[class]").filter(has_text=re.compile("^def$"))).to_be_visible()
    assert shown.evaluate("lines => lines.textContent") == code
