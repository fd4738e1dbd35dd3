"""Agent output is hostile: whatever an agent says in a conversation, it is shown, nothing of it runs, and nothing is loaded from
elsewhere. Other places are in test_hostile_places.py.

Besides what each test asserts, every person of these tests fails on a dialog, a request to elsewhere, and a breach of the policy.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.page.conftest import MakePerson
from tests.page.hostile import MARKUP, SET, WHOLE
from tests.page.journal import puppet_says, tell
from tests.page.person import sideways
from tests.page.reading import Row, assert_stands, every, not_in, read_through, shown, watched
from tests.page.stage import call, text_content, think, update
from tests.tooling.hub_process import PUPPET, HubProcess
from tests.tooling.processes import eventually


def note(kind: str, text: str) -> list[object]:
    """A note of the agent's in which everything is this text."""
    data = {"label": text, "message": text, "title": text, "task": text, "subAgentId": text, "state": "spawned",
            "parentToolCallId": "x"}
    return ["line", json.dumps({"jsonrpc": "2.0", "method": "_trunkline/note",
                                "params": {"sessionId": "puppet-session", "kind": kind, "data": data}})]


def numbered(texts: Sequence[str], what: str) -> list[str]:
    """Each text below a line by which it is found again. As markdown, not every text is shown as it was written."""
    return [f"{what} {number:03d}.\n\n{text}" for number, text in enumerate(texts)]


def assert_all_shown(rows: list[Row], count: int, what: str) -> None:
    """Every numbered text has a row, and there is something of it below its number: words, or an element that it asked for."""
    for number in range(count):
        mark = f"{what} {number:03d}."
        row = next((row for row in rows if mark in row.text), None)
        assert row is not None, f"{mark} is not shown"
        assert row.text.rpartition(mark)[2].strip() or row.elements, f"of {mark} nothing is shown"


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_messages_and_thoughts(clear_hub: HubProcess, make_person: MakePerson, corpus: list[str], size: str) -> None:
    session = clear_hub.new_session("puppet")
    page = watched(make_person(clear_hub.url, size), clear_hub, f"#/s/{session.id}")
    said, thought = numbered(corpus, "Said"), numbered(corpus, "Thought")
    puppet_says(session, [step for one, other in zip(said, thought, strict=True) for step in (["say", one], think(other))])
    for again in (False, True):
        if again:
            page.reload()
        expect(page.get_by_role("feed")).to_be_visible()
        rows = read_through(page)
        assert_all_shown(rows, len(corpus), "Said")
        assert_all_shown(rows, len(corpus), "Thought")
        assert sideways(page) == 0


def test_text_that_comes_in_the_smallest_pieces(clear_hub: HubProcess, make_person: MakePerson) -> None:
    session = clear_hub.new_session("puppet")
    page = watched(make_person(clear_hub.url), clear_hub, f"#/s/{session.id}")
    puppet_says(session, [["say", letter] for letter in WHOLE[:3000]])
    rows = read_through(page)
    assert not_in(every(rows), [each for each in MARKUP if each in WHOLE[:2900] and "<script" in each]) == []


KINDS = ("execute", "read", "search", "edit", "fetch", "other", "delete", "think")


def test_titles_inputs_outputs_paths_and_diffs_of_tools(clear_hub: HubProcess, make_person: MakePerson, corpus: list[str]
                                                        ) -> None:
    session = clear_hub.new_session("puppet")
    page = watched(make_person(clear_hub.url), clear_hub, f"#/s/{session.id}")
    steps: list[Sequence[object]] = []
    for number, text in enumerate(corpus):
        kind = KINDS[number % len(KINDS)]
        path = f"{session.folder}/{text[:80]}"
        raw = {"command": text, "filePath": path, "url": f"https://example.org/{text[:50]}", "pattern": text, text[:60]: text}
        content = [*text_content(text), {"type": "diff", "path": path, "oldText": text, "newText": text + "\nmore"}] \
            if kind == "edit" else text_content(text)
        status = "failed" if number % 3 == 0 else "completed"
        steps += call(number, text, kind, raw, content=content, output={"output": text, "error": text}, status=status,
                      locations=[{"path": path}])
    puppet_says(session, steps)
    rows = read_through(page)
    assert not_in(every(rows), corpus) == []
    assert sideways(page) == 0


def test_todos_notices_notes_commands_and_unknown_updates(clear_hub: HubProcess, make_person: MakePerson, corpus: list[str]
                                                          ) -> None:
    session = clear_hub.new_session("puppet")
    page = watched(make_person(clear_hub.url), clear_hub, f"#/s/{session.id}")
    entries = [{"content": text, "priority": "high", "status": "pending"} for text in corpus]
    commands = [{"name": f"x{number:03d}", "description": text} for number, text in enumerate(corpus)]
    puppet_says(session, [
        update("plan", entries=entries),
        *[update("notice", severity="warning", title=text[:60], description=text) for text in corpus],
        update("available_commands_update", availableCommands=commands),
        update("current_mode_update", currentModeId=WHOLE[:200]),
        update(f"<img src=x onerror={SET}>", value=WHOLE),
        *[note(kind, text) for kind, text in zip(("progress", "retry", "hook", "subagent", f"<img src=x onerror={SET}>") * 4,
                                                 corpus, strict=False)],
    ])
    assert not_in(every(read_through(page)), corpus) == []
    tell(session, json.dumps([update("plan", entries=entries), ["wait"]]))
    todos = page.get_by_role("region", name="To do")
    todos.get_by_role("button").first.click()
    eventually(lambda: not_in(todos.text_content() or "", corpus) == [], "everything is to be done")
    assert_stands(page)
    page.get_by_role("button", name="More about this session").click()
    page.get_by_role("menuitem", name="Show every event").click()
    assert not_in(every(read_through(page)), [WHOLE[:200]]) == []
    page.get_by_role("textbox", name="Message to the agent").press_sequentially("/x")
    expect(page.get_by_role("option").first).to_be_visible()
    assert not_in(page.get_by_role("listbox").inner_text(), corpus[:3]) == []
    assert_stands(page)


def test_titles_of_sessions(tmp_path: Path, make_person: MakePerson, corpus: list[str]) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    known = [{"sessionId": f"s-{number}", "cwd": str(folder), "title": text} for number, text in enumerate(corpus)]
    (tmp_path / "store.json").write_text(json.dumps({"offers": ["list", "load"], "sessions": known, "history": {"s-0": []}}))
    agents = {"keeper": f"{PUPPET} --store {shlex.quote(str(tmp_path / 'store.json'))}"}
    with HubProcess(tmp_path / "hub", agents=agents) as hub:
        person = make_person(hub.url)
        page = watched(person, hub, "#/")
        page.get_by_role("button", name=re.compile("more")).click()
        expect(page.get_by_role("listitem").filter(has=page.locator("button.home-row-title"))).to_have_count(len(corpus))
        assert not_in(shown(page), corpus) == []
        assert_stands(page)
        session = hub.new_session("puppet")
        person.go(f"#/s/{session.id}")
        heading = page.get_by_role("heading", level=1)
        for text in corpus[::10]:
            puppet_says(session, [update("session_info_update", title=f"Now {text}")])
            eventually(lambda text=text: not_in(heading.text_content() or "", [f"Now {text}"]) == [],  # type: ignore[misc]
                       "the session has its new title")
            assert_stands(page)
        person.go("#/")
        expect(page.get_by_role("link", name=re.compile("^Now"))).to_be_visible()
        assert_stands(page)
        person.leave()
