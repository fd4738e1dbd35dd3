"""What an agent says can be large, or made to be slow. The page stays a page: it answers, and what it draws is bounded.

Rule: the bounds are generous, for slow machines. Without care each of these takes the page from ten seconds to a minute, or makes
tens of thousands of elements.
"""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import MakePerson
from tests.page.journal import tell, texts, wait_until_idle
from tests.page.person import Person
from tests.page.stage import text_content, update
from tests.tooling.hub_process import HubProcess, Session
from tests.tooling.pace import crowding
from tests.tooling.processes import eventually

LONGEST_MS = 4_000
"""For a core of one's own; where several want each, it takes as many times as long."""
MOST_ELEMENTS = 12_000

PRINTED = {
    "carriage returns": "a\r" * 200_000,
    "backspaces": "a\b" * 200_000,
    "cleared screens": "\x1b[2J\x1b[H" * 50_000,
    "colours": "\x1b[31ma\x1b[32mb" * 20_000,
    "progress": "".join(f"\r{number / 30:5.1f}% [{'#' * (number // 100):30}]" for number in range(3_000)) + "\n",
    "far away": "\x1b[999999999C\x1b[999999999Bx",
    "one long line": "x" * 2_000_000,
    "many lines": "line\n" * 300_000,
}
SAID = {
    "a large table": "|" + "a|" * 20 + "\n|" + "-|" * 20 + "\n" + ("|" + "b|" * 20 + "\n") * 2_000,
    "combining marks": "a" + "\u0301" * 50_000,
    "paragraphs": "a\n\n" * 30_000,
    "quotes in quotes": ">" * 20_000 + " x",
    "brackets": "[" * 30_000,
    "open tags": "<div>" * 20_000,
    "stars": "*a " * 30_000,
}
WATCH = """() => {
  window.longest = 0;
  let last = performance.now();
  const look = () => { const now = performance.now(); window.longest = Math.max(window.longest, now - last); last = now; };
  clearInterval(window.looking);
  window.looking = setInterval(look, 20);
}"""
MEASURE = """() => new Promise(done => requestAnimationFrame(() => setTimeout(() => done(
  {longest: window.longest, elements: document.getElementsByTagName('*').length}), 100)))"""


def assert_light(person: Person, page: Page, session: Session, last: str) -> None:
    """Opening the session does not hold the page up, and draws a bounded number of elements. It has come to its last word."""
    person.go("#/")
    expect(page.get_by_role("searchbox")).to_be_visible()
    page.evaluate(WATCH)
    person.go(f"#/s/{session.id}")
    expect(page.get_by_role("feed").get_by_text(last).last).to_be_visible(timeout=60_000)
    measured = page.evaluate(MEASURE)
    assert measured["longest"] < LONGEST_MS * crowding() and measured["elements"] < MOST_ELEMENTS, measured


@pytest.mark.parametrize("name", PRINTED)
def test_what_a_failed_command_printed(hub: HubProcess, make_person: MakePerson, name: str) -> None:
    session = hub.new_session("puppet")
    text = PRINTED[name]
    tell(session, json.dumps([
        update("tool_call", toolCallId="c", title="run", kind="execute", status="pending", rawInput={"command": "x"}),
        update("tool_call_update", toolCallId="c", status="failed", content=text_content(text),
               rawOutput={"output": text, "exit_code": 1}),
        ["say", "That was it."]]))
    wait_until_idle(session)
    person = make_person(hub.url)
    page = person.log_in(hub)
    assert_light(person, page, session, "That was it.")


@pytest.mark.parametrize("name", SAID)
def test_what_an_agent_said(hub: HubProcess, make_person: MakePerson, name: str) -> None:
    session = hub.new_session("puppet")
    text = SAID[name] + "\n\n"
    tell(session, json.dumps([*[["say", text[at:at + 20_000]] for at in range(0, len(text), 20_000)],
                              update("tool_call", toolCallId="c", title="echo done", kind="execute", status="completed")]))
    wait_until_idle(session)
    person = make_person(hub.url)
    page = person.log_in(hub)
    assert_light(person, page, session, "echo done")


WRITE = """async box => {
  const drawn = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
  const began = performance.now();
  box.focus();
  box.value = 'line of a log\\n'.repeat(150000);
  box.dispatchEvent(new Event('input', {bubbles: true}));
  await drawn();
  box.setRangeText('x', box.value.length, box.value.length, 'end');
  box.dispatchEvent(new Event('input', {bubbles: true}));
  await drawn();
  return performance.now() - began;
}"""
"""Two megabytes, and then a letter."""

PLAIN = """() => {
  const box = document.createElement('textarea');
  box.style = 'position: fixed; inset: 0; width: 800px; height: 360px';
  document.body.append(box);
  return box;
}"""


@pytest.mark.slow
def test_a_long_text_is_written_about_as_fast_as_in_any_field_and_sent(hub: HubProcess, make_person: MakePerson) -> None:
    session = hub.new_session("puppet")
    page = make_person(hub.url).log_in(hub, f"#/s/{session.id}")
    box = page.get_by_role("textbox", name="Message to the agent")
    expect(box).to_be_visible()
    plain = page.evaluate_handle(PLAIN).as_element()
    assert plain is not None
    usual_ms = plain.evaluate(WRITE)
    plain.evaluate("plain => plain.remove()")
    assert box.evaluate(WRITE) < 2 * usual_ms + 1_000
    page.get_by_role("button", name="Send").click()
    expect(box).to_have_value("")
    eventually(lambda: [len(text) for text in texts(session, "user")] == [150_000 * 14 + 1], "it was sent whole")
    session.post("cancel")
