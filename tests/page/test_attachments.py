"""Files and pictures that go with a message: how they come in, what happens while one is made ready, what is kept of them."""

from __future__ import annotations

import json
import re

from playwright.sync_api import Page, expect

from tests.page.journal import texts
from tests.page.person import Person
from tests.page.test_steering import composer, opened
from tests.tooling.hub_process import HubProcess
from tests.tooling.processes import eventually


def test_attachments_come_by_paste_and_by_drop(hub: HubProcess, person: Person) -> None:
    page, session = opened(person, hub)
    give = """(field, how) => {
      const data = new DataTransfer();
      data.items.add(new File(['some notes'], `${how}.txt`, {type: 'text/plain'}));
      const event = how === 'paste' ? new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true})
        : new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true});
      field.dispatchEvent(event);
    }"""
    for how in ("paste", "drop"):
        composer(page).evaluate(give, how)
        eventually(lambda name=f"{how}.txt": [path for path in session.folder.rglob("*") if path.name == name],  # type: ignore[misc]
                   f"{how}.txt is uploaded")
    expect(composer(page)).to_have_value(re.compile(r"paste\.txt.*drop\.txt"))


PASTE = """async (field, [name, side]) => {
  const canvas = new OffscreenCanvas(side, side), draw = canvas.getContext('2d'), noise = draw.createImageData(side, side);
  for (let at = 0; at < noise.data.length; at += 60_000) crypto.getRandomValues(noise.data.subarray(at, at + 60_000));
  draw.putImageData(noise, 0, 0);
  const data = new DataTransfer();
  data.items.add(new File([await canvas.convertToBlob({type: 'image/png'})], name, {type: 'image/png'}));
  field.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}));
}"""
"""Noise does not pack: with long sides it has to be drawn smaller before it is sent."""

HOLD_DRAWING = """() => {
  const draw = window.createImageBitmap, held = new Promise(letGo => { window.letGo = letGo });
  window.createImageBitmap = async (...what) => { await held; return draw.apply(window, what) };
}"""
"""From now on no picture is ready before ``letGo()``: how long that takes is the test's to say, not the machine's."""


def holding_a_picture(page: Page) -> None:
    """A picture and words that are written, and the picture will not be ready for as long as nobody lets it."""
    composer(page).evaluate(PASTE, ["noise.png", 700])
    composer(page).fill("Look at this")
    expect(page.get_by_role("button", name="Send")).to_be_enabled(timeout=30_000)
    page.evaluate(HOLD_DRAWING)


def test_a_second_enter_while_a_picture_is_made_ready_sends_nothing_twice(hub: HubProcess, person: Person) -> None:
    page, session = opened(person, hub)
    holding_a_picture(page)
    composer(page).press("Enter")
    expect(page.get_by_role("button", name="Send")).to_be_disabled()
    composer(page).press("Enter")
    composer(page).press("End")
    page.keyboard.type(" and then at that")
    assert not texts(session, "user")
    page.evaluate("letGo()")
    expect(composer(page)).to_have_value("and then at that")
    eventually(lambda: texts(session, "user"), "it was sent", 30)
    assert texts(session, "user") == ["Look at this"] and not session.view()["queue"]


def test_who_looks_elsewhere_while_a_picture_is_made_ready_sends_nothing_twice(hub: HubProcess, person: Person) -> None:
    page, session = opened(person, hub)
    holding_a_picture(page)
    composer(page).press("Enter")
    person.go("#/")
    expect(page.get_by_role("searchbox", name="Search sessions")).to_be_visible()
    person.go(f"#/s/{session.id}")
    expect(composer(page)).to_have_value("Look at this")
    expect(page.get_by_role("button", name="Send")).to_be_disabled()
    composer(page).press("Enter")
    page.evaluate("letGo()")
    expect(composer(page)).to_have_value("")
    composer(page).fill("/echo the next one")
    composer(page).press("Enter")
    eventually(lambda: session.view()["queue"], "what was written after it waits", 30)
    assert texts(session, "user") == ["Look at this"]
    assert [each["content"][0]["text"] for each in session.view()["queue"]] == ["/echo the next one"]


def test_a_picture_that_is_not_sent_yet_is_there_after_a_look_elsewhere_and_a_reload(hub: HubProcess, anybody: Person) -> None:
    page, session = opened(anybody, hub)
    other = hub.new_session("fast")
    composer(page).evaluate(PASTE, ["shot.png", 120])
    composer(page).fill("Look at this")
    picture = page.get_by_role("img", name="shot.png")
    expect(picture).to_be_visible()
    anybody.go("#/")
    expect(page.get_by_role("searchbox", name="Search sessions")).to_be_visible()
    anybody.go(f"#/s/{session.id}")
    expect(picture).to_be_visible()
    page.reload()
    expect(composer(page)).to_have_value("Look at this")
    expect(picture).to_be_visible()
    anybody.go(f"#/s/{other.id}")
    expect(composer(page)).to_have_value("")
    expect(picture).to_have_count(0)
    anybody.go(f"#/s/{session.id}")
    page.get_by_role("button", name="Send").click()
    eventually(lambda: "you sent 1 attachment" in json.dumps(session.wire.get(f"{session.path}/messages?limit=1000")),
               "the agent got the picture")
    expect(picture).to_have_count(0)
    page.reload()
    expect(composer(page)).to_be_visible()
    expect(picture).to_have_count(0)


def test_a_picture_that_a_reload_cannot_keep_has_to_be_attached_again(hub: HubProcess, person: Person) -> None:
    page, _ = opened(person, hub)
    page.evaluate("sessionStorage.setItem('trunkline.draft.files.another', 'x'.repeat(1_999_000))")
    composer(page).evaluate(PASTE, ["shot.png", 120])
    expect(page.get_by_role("img", name="shot.png")).to_be_visible()
    page.reload()
    lost = page.get_by_role("listitem").filter(has_text="shot.png did not survive the reload: attach it again")
    expect(lost).to_be_visible()
    expect(page.get_by_role("button", name="Send")).to_be_disabled()
    composer(page).evaluate(PASTE, ["shot.png", 120])
    expect(page.get_by_role("img", name="shot.png")).to_be_visible()
    expect(lost).to_have_count(0)
