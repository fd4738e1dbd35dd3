"""Agent output is hostile: whatever an agent says, wherever it appears, nothing of it runs and nothing is loaded from elsewhere.

Besides what each test asserts, every person of these tests fails on a dialog, a request to elsewhere, and a breach of the policy.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.page.conftest import MakePerson
from tests.page.hostile import ALL, SET, WHOLE
from tests.page.journal import tell, wait_until_idle
from tests.page.person import Person, sideways
from tests.page.stage import call, permission, text_content, think, update
from tests.tooling.hub_process import HubProcess, Session
from tests.tooling.processes import eventually

CORPUS = Path(__file__).parents[2] / "web" / "src" / "text" / "hostile.ts"

STANDS = """() => {
  const found = [];
  if (window.hacked !== undefined || window.wasPwned) found.push('a script ran');
  for (const part of document.querySelectorAll('main *, dialog *')) {
    const markup = part.outerHTML.slice(0, 200);
    if (/^(script|object|embed|base|meta|link|style|applet|frame)$/i.test(part.localName)) found.push(markup);
    if (part.localName === 'iframe' && part.getAttribute('sandbox') === null) found.push('a frame without a sandbox');
    for (const {name, value} of part.attributes) {
      if (/^on/i.test(name)) found.push(markup);
      const leads = /^(href|src|action|formaction|srcset|data|xlink:href|background)$/i.test(name);
      if (leads && /^\\s*(java\\s*script|vbscript|data:text)/i.test(value)) found.push(markup);
    }
    if (/^https?:.*evil/.test(part.src ?? '') || /url\\(/.test(part.getAttribute('style') ?? '')) found.push(markup);
  }
  return found;
}"""


@pytest.fixture(scope="module")
def corpus(browser: Browser) -> list[str]:
    """Our own texts and those that the page's own tests use, read by a browser, since they are written in its language."""
    source = re.sub(r"export const (\w+): readonly string\[\] =", r"found.\1 =", CORPUS.read_text())
    page = browser.new_page()
    try:
        theirs = page.evaluate(f"() => {{ const found = {{}}; {source}; return Object.values(found).flat() }}")
    finally:
        page.close()
    assert len(theirs) > 50
    return [*ALL, *theirs]


def assert_stands(page: Page) -> None:
    """Nothing that somebody said became more than text."""
    assert page.evaluate(STANDS) == []


def read_through(page: Page) -> None:
    """Look at the whole conversation, from the end to its beginning, and open what is closed."""
    feed = page.get_by_role("feed")
    while True:
        assert_stands(page)
        feed.evaluate("""feed => {
          for (const line of feed.querySelectorAll('button[aria-expanded=false]')) line.click();
        }""")
        moved = feed.evaluate("""feed => new Promise(resolve => {
          const before = feed.scrollTop;
          feed.scrollTop -= feed.clientHeight * 0.8;
          requestAnimationFrame(() => requestAnimationFrame(() => resolve(feed.scrollTop !== before)));
        })""")
        if not moved:
            break
    assert_stands(page)


def puppet_says(session: Session, steps: Sequence[Sequence[object]]) -> None:
    """Have the puppet take steps, to the end."""
    tell(session, json.dumps(steps))
    wait_until_idle(session)


def note(kind: str, text: str) -> list[object]:
    """A note of the agent's in which everything is this text."""
    data = {"label": text, "message": text, "title": text, "task": text, "subAgentId": text, "state": "spawned",
            "parentToolCallId": "x"}
    return ["line", json.dumps({"jsonrpc": "2.0", "method": "_trunkline/note",
                                "params": {"sessionId": "puppet-session", "kind": kind, "data": data}})]


def watched(person: Person, hub: HubProcess, path: str) -> Page:
    """A page on which the corpus would be noticed."""
    person.context.add_init_script("window.pwned = () => { window.wasPwned = true }")
    person.expect_loss("status of 404")  # a picture of the session's own folder that is not there
    return person.log_in(hub, path)


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_messages_and_thoughts(own_hub: HubProcess, make_person: MakePerson, corpus: list[str], size: str) -> None:
    session = own_hub.new_session("puppet")
    page = watched(make_person(own_hub.url, size), own_hub, f"#/s/{session.id}")
    for start in range(0, len(corpus), 40):
        steps = [step for text in corpus[start:start + 40] for step in (["say", text], think(text))]
        puppet_says(session, steps)
    page.get_by_role("feed").focus()
    page.keyboard.press("End")
    read_through(page)
    assert sideways(page) == 0
    page.reload()
    expect(page.get_by_role("feed")).to_be_visible()
    read_through(page)


def test_text_that_comes_in_the_smallest_pieces(own_hub: HubProcess, make_person: MakePerson) -> None:
    session = own_hub.new_session("puppet")
    page = watched(make_person(own_hub.url), own_hub, f"#/s/{session.id}")
    puppet_says(session, [["say", letter] for letter in WHOLE[:3000]])
    read_through(page)


def test_titles_inputs_outputs_paths_and_diffs_of_tools(own_hub: HubProcess, make_person: MakePerson, corpus: list[str]) -> None:
    session = own_hub.new_session("puppet")
    page = watched(make_person(own_hub.url), own_hub, f"#/s/{session.id}")
    steps: list[Sequence[object]] = []
    for number, text in enumerate(corpus):
        kind = ("execute", "read", "search", "edit", "fetch", "other", "delete", "think")[number % 8]
        path = f"{session.folder}/{text[:80]}"
        raw = {"command": text, "filePath": path, "url": f"https://example.org/{text[:50]}", "pattern": text, text[:60]: text}
        content = [*text_content(text), {"type": "diff", "path": path, "oldText": text, "newText": text + "\nmore"}] \
            if kind == "edit" else text_content(text)
        status = "failed" if number % 3 == 0 else "completed"
        steps += call(number, text, kind, raw, content=content, output={"output": text, "error": text}, status=status,
                      locations=[{"path": path}])
    puppet_says(session, steps)
    page.get_by_role("feed").focus()
    page.keyboard.press("End")
    read_through(page)
    assert sideways(page) == 0


def test_titles_todos_notices_notes_and_unknown_updates(own_hub: HubProcess, make_person: MakePerson, corpus: list[str]) -> None:
    session = own_hub.new_session("puppet")
    page = watched(make_person(own_hub.url), own_hub, f"#/s/{session.id}")
    entries = [{"content": text, "priority": "high", "status": "pending"} for text in corpus[:30]]
    puppet_says(session, [
        update("plan", entries=entries),
        *[update("session_info_update", title=text) for text in corpus],
        *[update("notice", severity="warning", title=text[:60], description=text) for text in corpus[:10]],
        update("available_commands_update", availableCommands=[{"name": text[:30], "description": text} for text in corpus[:20]]),
        update("current_mode_update", currentModeId=WHOLE[:200]),
        update(f"<img src=x onerror={SET}>", value=WHOLE),
        *[note(kind, text) for kind, text in zip(("progress", "retry", "hook", "subagent", f"<img src=x onerror={SET}>") * 4,
                                                 corpus, strict=False)],
    ])
    read_through(page)
    page.get_by_role("button", name="More about this session").click()
    page.get_by_role("menuitem", name="Show every event").click()
    read_through(page)
    page.get_by_role("combobox", name="Message to the agent").press_sequentially("/")
    assert_stands(page)
    page.get_by_role("link", name="All sessions").click()
    expect(page.get_by_role("searchbox")).to_be_visible()
    assert_stands(page)


def test_approvals_and_questions(own_hub: HubProcess, make_person: MakePerson, corpus: list[str]) -> None:
    session = own_hub.new_session("puppet", title=WHOLE[:150])
    texts = corpus[::8]
    asks = [permission(number, text, ("execute", "edit", "other")[number % 3],
                       {"command": text, "filePath": f"{session.folder}/{text[:60]}", "note": text},
                       [{"type": "diff", "path": f"{session.folder}/{text[:60]}", "oldText": text, "newText": text + "!"}])
            for number, text in enumerate(texts)]
    choices = [{"const": text, "title": text} for text in texts[:10]]
    question = {"mode": "form", "message": WHOLE, "requestedSchema": {"type": "object", "title": texts[0], "properties": {
        "a": {"type": "string", "title": texts[1], "description": texts[2], "oneOf": choices},
        f"<img src=x onerror={SET}>": {"type": "string", "title": texts[3], "default": texts[4]}}}}
    link = {"mode": "url", "elicitationId": "e", "url": f"javascript:{SET}", "message": WHOLE}
    questions = [["request", "elicitation/create", asked] for asked in (question, link)]
    tell(session, json.dumps([*asks, *questions, ["wait"]]))
    eventually(lambda: len(session.view()["pendingApprovals"]) == len(asks) and len(session.view()["pendingQuestions"]) == 2,
               "everything waits")
    page = watched(make_person(own_hub.url), own_hub, "#/approvals")
    expect(page.get_by_role("article")).to_have_count(len(asks) + 2)
    page.evaluate("() => { for (const each of document.querySelectorAll('main details')) each.open = true }")
    assert_stands(page)
    assert sideways(page) == 0
    page.get_by_role("article").first.get_by_role("button", name="Always …").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert_stands(page)
    page.evaluate("path => { location.hash = path }", f"#/s/{session.id}")
    expect(page.get_by_role("feed")).to_be_visible()
    read_through(page)


def test_names_of_files_and_their_contents(own_hub: HubProcess, make_person: MakePerson, corpus: list[str]) -> None:
    session = own_hub.new_session("puppet")
    for text in corpus[:60]:
        name = re.sub(r"[/\0\n]", "_", text)[:80].encode("utf-8", "ignore")[:200].decode("utf-8", "ignore")
        (session.folder / (name or "x")).write_text(text)
    (session.folder / "page.md").write_text(WHOLE)
    (session.folder / "page.html").write_text(WHOLE)
    (session.folder / "picture.svg").write_text(f"<svg xmlns='http://www.w3.org/2000/svg'><script>{SET}</script></svg>")
    page = watched(make_person(own_hub.url), own_hub, f"#/s/{session.id}/files")
    for name in ("page.md", "page.html", "picture.svg"):
        page.get_by_role("complementary").get_by_text(name, exact=True).first.click()
        expect(page.get_by_role("article", name=re.compile(name))).to_be_visible()
        assert_stands(page)
        page.evaluate("path => { location.hash = path }", f"#/s/{session.id}/files")


def test_an_artifact_reaches_nothing_of_the_page(own_hub: HubProcess, make_person: MakePerson) -> None:
    session = own_hub.new_session("trusted")
    (session.folder / "site").mkdir()
    evil = f"<!doctype html><h1>Mine</h1><script>try {{ top.hacked = 1 }} catch {{}} try {{ parent.{SET} }} catch {{}}</script>"
    target = session.folder / "site" / "index.html"
    puppet_says(session, [["ask", "fs/write_text_file", {"path": str(target), "content": evil}]])
    eventually(lambda: session.view()["artifacts"], "there is an artifact")
    page = watched(make_person(own_hub.url), own_hub, f"#/s/{session.id}/artifacts")
    page.get_by_role("complementary").get_by_text("site", exact=True).first.click()
    expect(page.frame_locator("iframe").get_by_role("heading", name="Mine")).to_be_visible()
    assert_stands(page)
    assert "allow-same-origin" not in (page.locator("iframe").get_attribute("sandbox") or "allow-same-origin")


def test_links_are_marked_and_open_in_a_window_of_their_own(own_hub: HubProcess, make_person: MakePerson) -> None:
    session = own_hub.new_session("puppet")
    page = watched(make_person(own_hub.url), own_hub, f"#/s/{session.id}")
    puppet_says(session, [["say", "[your bank](https://evil.example/login) and [here](#/policy) and <https://plain.example>"]])
    link = page.get_by_role("feed").get_by_role("link", name=re.compile("your bank"))
    expect(link).to_be_visible()
    expect(link).to_contain_text("evil.example")
    assert link.get_attribute("target") == "_blank"
    assert {"noopener", "noreferrer"} <= set((link.get_attribute("rel") or "").split())
    assert page.get_by_role("feed").locator("a[href^='#/policy']").count() == 0, "an agent's link does not steer the page"
