"""A reply of 4 MB streams without holding the tab and is there whole; after a reload the rest comes on request, all of it."""

from __future__ import annotations

import json
import os
import re

import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import MakePerson
from tests.page.journal import tell, texts, wait_until_idle
from tests.page.person import until
from tests.tooling.hub_process import HubProcess
from tests.tooling.processes import eventually

LONGEST_MS = int(os.environ.get("LONGEST_TASK_MS", "1000"))
"""For a machine that does much else meanwhile; the figure is printed. On a quiet one LONGEST_TASK_MS=200 holds."""
SECTION = "## Part {n}\n\nSome *words* of part {n}, `code`, a [link](https://example.org/{n}) " + "and more of them " * 40 + """

- one of {n}
- two of {n}

```python
def part_{n}() -> int:
    return {n}
```

"""
PARTS = 4_000_000 // len(SECTION.format(n=1000))

WATCH = """() => {
  window.stalls = [];
  window.watching = new PerformanceObserver(list => {
    for (const each of list.getEntries()) window.stalls.push(Math.round(each.duration));
  });
  window.watching.observe({ entryTypes: ['longtask'] });
}"""


ALL_SHOWN = """() => {
  const more = [...document.querySelectorAll('[role=feed] button')].find(each => each.textContent === 'Show more');
  more?.click();
  return more === undefined && document.querySelector('main').textContent.includes('the very end');
}"""


AT_THE_END = """() => {
  const said = [...document.querySelectorAll('[role=feed] .content-markdown')].at(-1)?.lastElementChild;
  return said?.textContent === 'the very end' && said.getBoundingClientRect().top < innerHeight;
}"""
"""Looked at by the page itself: a locator that looks through a page that is being written is a long task of its own."""


def stalls(page: Page) -> list[int]:
    """How long each task over 50 ms took, since it was looked at last, the longest first."""
    found: list[int] = page.evaluate("() => { const all = window.stalls; window.stalls = []; return all }")
    return sorted(found, reverse=True)


def write_reply(hub: HubProcess, parts: int) -> str:
    """The file of a long reply."""
    file = hub.root / "long.md"
    file.write_text("".join(SECTION.format(n=number) for number in range(parts)) + "the very end")
    return str(file)


def write_code(hub: HubProcess) -> str:
    """The file of a reply that is one long block of code."""
    file = hub.root / "code.md"
    part = "def part_{n}(a: int, b: int) -> int:\n    return {n} + a * b  # and some words\n\n"
    file.write_text("```python\n" + "".join(part.format(n=number) for number in range(12_000)) + "```\n\nthe very end")
    return str(file)


@pytest.mark.parametrize("size", [512, 8_192])
def test_a_reply_of_4_mb_streams_without_holding_the_tab(clear_hub: HubProcess, make_person: MakePerson, size: int,
                                                         capsys: pytest.CaptureFixture[str]) -> None:
    longest = stream(clear_hub, make_person, capsys, write_reply(clear_hub, PARTS), size)
    assert longest < LONGEST_MS


def test_one_long_block_of_code_streams_without_holding_the_tab(clear_hub: HubProcess, make_person: MakePerson,
                                                                capsys: pytest.CaptureFixture[str]) -> None:
    longest = stream(clear_hub, make_person, capsys, write_code(clear_hub), 8_192)
    assert longest < LONGEST_MS


def stream(hub: HubProcess, make_person: MakePerson, capsys: pytest.CaptureFixture[str], file: str, size: int) -> int:
    """Have a reply streamed to a page that shows it; returns how long its longest task took, in milliseconds."""
    session = hub.new_session("puppet", title="Long")
    page = make_person(hub.url).log_in(hub, f"#/s/{session.id}")
    expect(page.get_by_role("textbox", name="Message to the agent")).to_be_visible()
    page.evaluate(WATCH)
    tell(session, json.dumps([["recite", file, size]]))
    wait_until_idle(session, 120)
    until(page, AT_THE_END, within_s=120)
    found = stalls(page)
    with capsys.disabled():
        print(f"\n{file} in pieces of {size}: longest tasks {found[:8]} ms, {len(found)} over 50 ms, sum {sum(found)}")
    return max(found, default=0)


def test_after_a_reload_the_rest_of_a_long_reply_comes_on_request_all_of_it(
        clear_hub: HubProcess, make_person: MakePerson) -> None:
    file = write_reply(clear_hub, PARTS // 4)
    session = clear_hub.new_session("puppet", title="Long")
    tell(session, json.dumps([["recite", file, 50_000]]))
    wait_until_idle(session, 120)
    person = make_person(clear_hub.url)
    person.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = person.log_in(clear_hub, f"#/s/{session.id}")
    rest = page.get_by_role("button", name=re.compile(r"^Show the rest \(\d+ KB\)$"))
    expect(rest).to_be_visible()
    kilobytes = int(re.sub(r"\D", "", rest.inner_text()))
    rest.click()
    expect(rest).to_have_count(0)
    page.get_by_role("button", name="Copy message").last.click()
    [said] = texts(session)
    assert said.endswith("the very end") and len(said) > 900_000
    assert abs(len(said) / 1_000 - 200 - kilobytes) < 2, "the button says how much there is"
    eventually(lambda: page.evaluate("() => navigator.clipboard.readText()") == said, "all of it is copied")
    until(page, ALL_SHOWN, within_s=60)
