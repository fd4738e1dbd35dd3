"""Reading a page as a whole: everything that it shows, opened and scrolled through, and whether anything became more than text.

Rule: who reads says what they must have read. A page that shows nothing has nothing hostile on it either.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from playwright.sync_api import Page

from tests.page.person import Person, until
from tests.tooling.hub_process import HubProcess

STANDS = """() => {
  const found = [];
  if (window.hacked !== undefined || window.wasPwned) found.push('a script ran');
  for (const part of document.querySelectorAll('main *, dialog *')) {
    const bad = () => found.push(part.outerHTML.slice(0, 200));
    if (/^(script|object|embed|base|meta|link|style|applet|frame)$/i.test(part.localName)) bad();
    if (part.localName === 'iframe' && part.getAttribute('sandbox') === null) found.push('a frame without a sandbox');
    for (const {name, value} of part.attributes) {
      if (/^on/i.test(name)) bad();
      const leads = /^(href|src|action|formaction|srcset|data|xlink:href|background)$/i.test(name);
      if (leads && /^\\s*(java\\s*script|vbscript|data:text)/i.test(value)) bad();
    }
    if (/^https?:.*evil/.test(part.src ?? '') || /url\\(/.test(part.getAttribute('style') ?? '')) bad();
  }
  return found;
}"""

READ = """async feed => {
  const frames = async () => { for (let n = 0; n < 2; n++) await new Promise(done => requestAnimationFrame(done)); };
  for (let round = 0; round < 6; round++) {
    const closed = feed.querySelectorAll('button[aria-expanded=false]');
    if (!closed.length) break;
    closed.forEach(each => each.click());
    await frames();
  }
  const told = [...feed.querySelectorAll('[data-key]')].filter(row => !row.querySelector('.session-asked'));
  const rows = told.map(row => [row.dataset.key, row.textContent,
    row.querySelectorAll('img, a, table, input, svg, code, details, hr').length]);
  const more = feed.scrollTop + feed.clientHeight < feed.scrollHeight - 2;
  feed.scrollTop += feed.clientHeight * 0.8;
  await frames();
  return [rows, more];
}"""


class Row:
    """A row of a conversation: its text, and how many elements that are more than text are in it."""

    def __init__(self, text: str, elements: int) -> None:
        self.text = text
        self.elements = elements


def watched(person: Person, hub: HubProcess, path: str) -> Page:
    """A page on which the corpus would be noticed."""
    person.page.add_init_script("window.pwned = () => { window.wasPwned = true }")
    person.expect_loss("status of 404")  # a picture of the session's own folder that is not there
    return person.log_in(hub, path)


def assert_stands(page: Page) -> None:
    """Nothing that somebody said became more than text."""
    assert page.evaluate(STANDS) == []


def read_through(page: Page) -> list[Row]:
    """Look at the whole conversation, from its beginning to its end, and open what is closed; returns its rows, but for those
    that a person said: in tests that is the very script that the agent follows."""
    feed = page.get_by_role("feed")
    feed.focus()
    page.keyboard.press("Home")
    until(page, "() => document.querySelector('[role=feed]').scrollTop === 0")
    found: dict[str, Row] = {}
    more = True
    while more:
        rows, more = feed.evaluate(READ)
        found |= {key: Row(text, elements) for key, text, elements in rows}
        assert_stands(page)
    return list(found.values())


def every(rows: list[Row]) -> str:
    """What all rows say."""
    return " ".join(row.text for row in rows)


def shown(page: Page) -> str:
    """What is on the page now, also in its sheets."""
    return str(page.evaluate("() => [...document.querySelectorAll('main, dialog')].map(each => each.textContent).join(' ')"))


def not_in(there: str, texts: Iterable[str], most: int = 60) -> list[str]:
    """Those of the texts of which not even the beginning is there, as it was said or as a terminal would print it."""
    letters = _letters(there)
    return [text for text in texts
            if not any(_letters(each)[:most] in letters for each in (text, CONTROLS.sub("", text)))]


CONTROLS = re.compile(r"\x1b(\[[0-9;]*[a-zA-Z]|\][^\x07\x1b]*(\x07|\x1b\\)|P[^\x1b]*\x1b\\)|\x9b[0-9;]*[a-zA-Z]")


def _letters(text: str) -> str:
    """Without what nobody sees, or sees only spelled out: unseen characters and their numbers, marks beyond measure, spaces."""
    plain = re.sub(r"U\+(?:E00[0-7][0-9A-F]|[0-9A-F]{4})|\+\d+(?!\w)", "", text)
    return "".join(letter for letter in plain if unicodedata.category(letter)[0] not in "CZM")
