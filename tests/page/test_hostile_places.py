"""Agent output is hostile, wherever it appears outside the conversation: approvals, questions, files, artifacts, errors, the
terminal, notifications, the policy, devices. It is shown, nothing of it runs, nothing is loaded from elsewhere.

Besides what each test asserts, every person of these tests fails on a dialog, a request to elsewhere, and a breach of the policy.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

from playwright.sync_api import expect

from tests.page.beginning import choose_agent, choose_folder
from tests.page.conftest import MakePerson
from tests.page.hostile import SET, WHOLE
from tests.page.journal import happened, puppet_says, tell, wait_until_idle
from tests.page.person import sideways
from tests.page.reading import CONTROLS, assert_stands, every, not_in, read_through, shown, watched
from tests.page.stage import call, permission, text_content
from tests.page.test_devices import deliver, notifications
from tests.tooling.hub_process import PUPPET, HubProcess
from tests.tooling.processes import eventually


def test_approvals_and_questions(clear_hub: HubProcess, make_person: MakePerson, corpus: list[str]) -> None:
    session = clear_hub.new_session("puppet", title=WHOLE[:150])
    texts = corpus[::8]
    asks = [permission(number, text, ("execute", "edit", "other")[number % 3],
                       {"command": text, "filePath": f"{session.folder}/{text[:60]}", "note": text},
                       [{"type": "diff", "path": f"{session.folder}/{text[:60]}", "oldText": text, "newText": text + "!"}])
            for number, text in enumerate(texts)]
    texts.append("npm run build")  # of which nothing is in doubt: a rule can be made of it
    asks.append(permission(len(asks), texts[-1], "execute", {"command": texts[-1]}, []))
    choices = [{"const": text, "title": text} for text in corpus]
    question = {"mode": "form", "message": WHOLE, "requestedSchema": {"type": "object", "title": texts[0], "properties": {
        "a": {"type": "string", "title": texts[1], "description": texts[2], "oneOf": choices},
        f"<img src=x onerror={SET}>": {"type": "string", "title": texts[3], "default": texts[4]}}}}
    link = {"mode": "url", "elicitationId": "e", "url": f"javascript:{SET}", "message": WHOLE}
    questions = [["request", "elicitation/create", asked] for asked in (question, link)]
    tell(session, json.dumps([*asks, *questions, ["wait"]]))
    eventually(lambda: len(session.view()["pendingApprovals"]) == len(asks) and len(session.view()["pendingQuestions"]) == 2,
               "everything waits")
    page = watched(make_person(clear_hub.url), clear_hub, "#/approvals")
    cards = page.get_by_role("article")
    expect(cards).to_have_count(len(asks) + 2)
    page.evaluate("() => { for (const each of document.querySelectorAll('main details')) each.open = true }")
    assert_stands(page)
    assert sideways(page) == 0
    assert not_in(shown(page), corpus) == []
    for view in session.view()["pendingApprovals"]:
        card = page.locator(f"[data-ask='{view['requestId']}']")
        assert not_in(card.text_content() or "", [texts[int(view["toolCallId"].removeprefix("call-"))]]) == []
    always = page.get_by_role("button", name="Always …").first
    always.scroll_into_view_if_needed()  # it can be pressed once its card was seen
    always.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert_stands(page)
    page.evaluate("path => { location.hash = path }", f"#/s/{session.id}")
    expect(page.get_by_role("feed")).to_be_visible()
    assert not_in(every(read_through(page)), corpus) == []


def file_name(text: str) -> str:
    """The text as the name of a file, as far as there can be such a name."""
    name = re.sub(r"[/\0\n\ud800-\udfff]", "_", text)[:80].encode()[:200].decode("utf-8", "ignore").strip(". ")
    return name or "x"


def test_names_of_files_and_their_contents(clear_hub: HubProcess, make_person: MakePerson, corpus: list[str]) -> None:
    session = clear_hub.new_session("puppet")
    names = {file_name(text): text for text in corpus}
    for name, text in names.items():
        (session.folder / name).write_text(text, errors="replace")
    (session.folder / "page.md").write_text(WHOLE)
    (session.folder / "page.html").write_text(WHOLE)
    (session.folder / "picture.svg").write_text(f"<svg xmlns='http://www.w3.org/2000/svg'><script>{SET}</script></svg>")
    page = watched(make_person(clear_hub.url), clear_hub, f"#/s/{session.id}/files")
    expect(page.get_by_role("complementary").get_by_text("picture.svg", exact=True)).to_be_visible()
    assert not_in(page.get_by_role("complementary").text_content() or "", names) == []
    assert_stands(page)
    for name in ("page.md", "page.html", "picture.svg"):
        page.get_by_role("complementary").get_by_text(name, exact=True).first.click()
        expect(page.get_by_role("article", name=re.compile(name))).to_be_visible()
        assert_stands(page)
        page.evaluate("path => { location.hash = path }", f"#/s/{session.id}/files")


def test_an_artifact_reaches_nothing_of_the_page(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = clear_hub.new_session("trusted")
    (session.folder / "site").mkdir()
    evil = f"<!doctype html><h1>Mine</h1><script>try {{ top.hacked = 1 }} catch {{}} try {{ parent.{SET} }} catch {{}}"
    evil += " document.body.append('ran to its end')</script>"
    target = session.folder / "site" / "index.html"
    puppet_says(session, [["ask", "fs/write_text_file", {"path": str(target), "content": evil}]])
    eventually(lambda: session.view()["artifacts"], "there is an artifact")
    person = make_person(clear_hub.url)
    page = watched(person, clear_hub, f"#/s/{session.id}/artifacts")
    person.expect_loss("Blocked script execution")
    page.get_by_role("complementary").get_by_text("site", exact=True).first.click()
    expect(page.frame_locator("iframe").get_by_role("heading", name="Mine")).to_be_visible()
    assert_stands(page)
    assert page.locator("iframe").get_attribute("sandbox") == ""
    page.get_by_role("button", name="Run scripts and load remote content").click()
    expect(page.frame_locator("iframe").get_by_text("ran to its end")).to_be_visible()
    assert_stands(page)
    assert page.locator("iframe").get_attribute("sandbox") == "allow-scripts"


def test_links_are_marked_and_open_in_a_window_of_their_own(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = clear_hub.new_session("puppet")
    page = watched(make_person(clear_hub.url), clear_hub, f"#/s/{session.id}")
    puppet_says(session, [["say", "[your bank](https://evil.example/login) and [here](#/policy) and <https://plain.example>"]])
    link = page.get_by_role("feed").get_by_role("link", name=re.compile("your bank"))
    expect(link).to_be_visible()
    expect(link).to_contain_text("evil.example")
    assert link.get_attribute("target") == "_blank"
    assert {"noopener", "noreferrer"} <= set((link.get_attribute("rel") or "").split())
    assert page.get_by_role("feed").locator("a[href^='#/policy']").count() == 0, "an agent's link does not steer the page"


def test_a_link_in_a_terminal_that_names_another_host_is_called_out(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = clear_hub.new_session("puppet")
    page = watched(make_person(clear_hub.url), clear_hub, f"#/s/{session.id}")
    printed = "log in at \x1b]8;;https://evil.example/\x1b\\https://\x1b[1mgithub.com\x1b[0m/login\x1b]8;;\x1b\\ please\n"
    puppet_says(session, call(1, "make", "execute", {"command": "make"}, content=text_content(printed)))
    page.get_by_role("feed").get_by_role("button", name=re.compile("make")).click()
    link = page.get_by_role("feed").get_by_role("link")
    expect(link).to_contain_text("https://github.com/login")
    expect(link).to_contain_text("leads to evil.example")


def test_errors_of_a_turn_and_of_a_start(tmp_path: Path, make_person: MakePerson, corpus: list[str]) -> None:
    texts = [text for text in corpus[::12] if "\0" not in text]
    agents = {f"broken{number}": f"{PUPPET} --new -32603 {shlex.quote(text)}" for number, text in enumerate(texts[:4])}
    with HubProcess(tmp_path / "hub", agents=agents) as hub:
        person = make_person(hub.url)
        session = hub.new_session("puppet")
        page = watched(person, hub, f"#/s/{session.id}")
        for number, text in enumerate(texts, 1):
            tell(session, json.dumps([["stderr", text.replace("\n", " ")], ["die", 3, "/dev/null"]]))
            eventually(happened(session, "session:error", number), "the turn failed")
            wait_until_idle(session)
        expect(page.get_by_role("group", name="The answer failed").first).to_be_visible()
        told = every(read_through(page))
        assert not_in(told, texts) == []
        person.expect_loss("status of (404|[45]0)")
        for number, text in enumerate(texts[:4]):
            person.go("#/")
            person.go("#/new")
            choose_agent(page, f"broken{number}")
            choose_folder(page, hub.new_folder())
            page.get_by_role("button", name="Start", exact=True).click()
            expect(page.get_by_role("alert")).to_be_visible()
            assert not_in(shown(page), [text]) == []
            assert_stands(page)
        person.leave()


def test_what_a_command_prints_while_it_runs(trusting: HubProcess, make_person: MakePerson, corpus: list[str]) -> None:
    session = trusting.new_session("trusted")
    printed = session.folder / "printed.txt"
    printed.write_text("\n".join(text for text in corpus if "\x1b[2J" not in text and len(text) < 2000))
    page = watched(make_person(trusting.url), trusting, f"#/s/{session.id}")
    tell(session, f"/terminal cat printed.txt; until [ -e {session.folder / 'go'} ]; do sleep 0.05; done")
    page.get_by_role("feed").get_by_role("button", name=re.compile("Running")).click()
    output = page.get_by_role("feed").get_by_role("group", name="Output")
    expect(output).to_contain_text("lone surrogate")
    assert_stands(page)
    plain = [text for text in corpus if not CONTROLS.search(text) and len(text) < 2000]
    assert not_in(every(read_through(page)), plain) == []
    (session.folder / "go").touch()


def test_notifications(clear_hub: HubProcess, make_person: MakePerson, corpus: list[str]) -> None:
    person = make_person(clear_hub.url, alone=True)
    person.context.grant_permissions(["notifications"], origin=clear_hub.url)
    page = watched(person, clear_hub, "#/")
    deliver(person, page, clear_hub, *(
        {"kind": "finished", "sessionId": f"ses_{number:016x}", "title": text, "body": text, "actions": []}
        for number, text in enumerate(corpus[::12])))
    told = notifications(page)
    assert len(told) == len(corpus[::12])
    assert not_in(" ".join(str(each["title"]) for each in told), corpus[::12], 20) == []
    assert not_in(" ".join(str(each["body"]) for each in told), corpus[::12], 20) == []
    turned = [each for each in told if set(json.dumps(each, ensure_ascii=False)) & set("\u202e\u200b\u2066")]
    assert not turned, "nothing is turned around or hidden"


def test_the_policy(clear_hub: HubProcess, make_person: MakePerson, corpus: list[str]) -> None:
    texts = [re.sub(r"[\x00-\x1f\x7f\ud800-\udfff]", " ", text)[:1000] for text in corpus]
    rules = [{"action": "ask", "command": ["make *"], "reason": text} for text in texts]
    clear_hub.wire.ask("PUT", "/policy", {"rules": rules}).expect(200)
    page = watched(make_person(clear_hub.url), clear_hub, "#/policy")
    expect(page.get_by_role("tab", name="List")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text("window.hacked")
    assert not_in(shown(page), texts) == []
    assert_stands(page)
    assert sideways(page) == 0
    page.get_by_role("tab", name="File").click()
    expect(page.get_by_label("policy.toml")).to_have_value(re.compile("window.hacked"))
    assert_stands(page)


UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
"""What no device may have in its name."""


def test_names_of_devices(own_hub: HubProcess, make_person: MakePerson, corpus: list[str]) -> None:
    texts = [text[:64].strip() for text in corpus[::12]]
    named = []
    for text in texts:
        code = own_hub.wire.post("/pair", {"scope": "view"}, 201)["code"]
        claimed = own_hub.wire.as_nobody().ask("POST", "/pair/claim", {"code": code, "name": text})
        if UNSEEN.search(text):
            claimed.expect(400)
        else:
            named.append(claimed.expect(201)["name"])
    assert len(named) >= 6 and not_in(" ".join(named), named, 64) == []
    page = watched(make_person(own_hub.url), own_hub, "#/devices")
    devices = page.get_by_role("listitem").filter(has=page.get_by_role("button", name=re.compile("Revoke")))
    expect(devices).to_have_count(len(named))
    assert not_in(shown(page), named) == []
    assert_stands(page)
    assert sideways(page) == 0
    page.get_by_role("button", name=re.compile("Revoke")).first.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert_stands(page)
