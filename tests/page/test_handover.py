"""A session of another program's, before a person: what can be done is said, it goes on here, it is given back."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.adapters.agents import HISTORY
from tests.page.conftest import MakePerson
from tests.page.journal import texts
from tests.page.person import Person
from tests.page.test_steering import composer
from tests.tooling.hub_process import PUPPET, HubProcess, Session
from tests.tooling.stores import Made, add_prompt, move, qwen

AGENT = "coder"


class Place:
    """A hub beside a program that has written a session, which may run."""

    def __init__(self, root: Path) -> None:
        self.hub = HubProcess(root / "hub")
        self.project = root / "project"
        self.project.mkdir()
        self.made: Made = qwen(self.hub.home)
        move(self.made, self.project)
        store = root / "agent.json"
        store.write_text(json.dumps({"offers": ["load", "fork"], "sessions": [],
                                     "history": {self.made.session_id: HISTORY, "hidden-1": HISTORY}}))
        settings = self.hub.home / "config" / "trunkline" / "config.toml"
        settings.parent.mkdir(parents=True)
        command = [*shlex.split(PUPPET), "--store", str(store)]
        settings.write_text("\n".join([
            f"[agents.{AGENT}]", 'display_name = "Coder"', f"command = {json.dumps(command)}", 'store = "qwen"',
            f"paths.sessions = {json.dumps(str(self.made.folder))}", 'resume = ["coder", "--resume", "{session}"]']))
        self._program: subprocess.Popen[bytes] | None = None

    def begin_elsewhere(self) -> int:
        """Somebody opens the session in its own program."""
        self._program = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        record = self.made.folder.parent / "sessions" / f"{self._program.pid}.json"
        record.parent.mkdir(exist_ok=True)
        record.write_text(json.dumps({"pid": self._program.pid, "sessionId": self.made.session_id}))
        return self._program.pid

    def end_elsewhere(self) -> None:
        """And leaves it."""
        if self._program is not None:
            self._program.kill()
            self._program.wait()

    def follow(self) -> str:
        """The hub's id of it."""
        return str(self.hub.wire.post(f"/adapters/{AGENT}/sessions/{self.made.session_id}/attach", {"watch": True})["id"])


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    found = Place(tmp_path)
    try:
        with found.hub:
            yield found
    finally:
        found.end_elsewhere()


def shown(place: Place, person: Person, session_id: str) -> Page:
    page = person.log_in(place.hub, f"#/s/{session_id}")
    expect(page.get_by_text("run: touch d1")).to_be_visible()
    return page


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_one_that_runs_elsewhere_says_so_and_can_be_continued_when_that_has_ended(
        place: Place, make_person: MakePerson, size: str) -> None:
    pid = place.begin_elsewhere()
    page = shown(place, make_person(place.hub.url, size), place.follow())
    here = page.get_by_role("button", name="Continue here")
    expect(here).to_be_disabled()
    expect(page.get_by_text(re.compile(rf"process {pid}.*spoil it"))).to_be_visible()
    expect(page.get_by_text(f"coder --resume {place.made.session_id}")).to_be_visible()
    expect(page.get_by_role("button", name="Copy the command")).to_be_visible()
    place.end_elsewhere()
    expect(here).to_be_enabled()
    here.click()
    expect(composer(page)).to_be_visible()
    composer(page).fill(json.dumps([["say", "Here I am."]]))
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("Here I am.", exact=True)).to_be_visible()
    expect(page.get_by_text("Make it blue.")).to_have_count(0)


def test_one_that_is_here_is_given_back_and_followed_again(place: Place, make_person: MakePerson) -> None:
    session_id = place.follow()
    page = shown(place, make_person(place.hub.url), session_id)
    page.get_by_role("button", name="Continue here").click()
    expect(composer(page)).to_be_visible()
    page.get_by_role("button", name="More about this session").click()
    page.get_by_role("menuitem", name="Continue in a terminal").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("ends its agent here")).to_be_visible()
    dialog.get_by_role("button", name="Give back").click()
    expect(dialog.get_by_text(f"cd {place.project} && coder --resume {place.made.session_id}")).to_be_visible()
    dialog.get_by_role("button", name="Close").last.click()
    expect(page.get_by_role("button", name="Continue here")).to_be_enabled()
    add_prompt(place.made, "In the terminal now.")
    expect(page.get_by_text("In the terminal now.")).to_be_visible()


def test_one_that_runs_elsewhere_is_forked_where_its_agent_can(place: Place, make_person: MakePerson) -> None:
    place.hub.new_session(AGENT, place.project)  # now the hub knows what it can do
    place.begin_elsewhere()
    session_id = place.follow()
    page = shown(place, make_person(place.hub.url), session_id)
    page.get_by_role("button", name="Fork").click()
    expect(composer(page)).to_be_visible()
    assert session_id not in page.url


def test_a_session_that_is_not_listed_is_opened_by_its_id(place: Place, make_person: MakePerson) -> None:
    person = make_person(place.hub.url)
    person.expect_loss("status of (502|404)")  # what the agent refuses, and the session that thereby never was
    page = person.log_in(place.hub)
    page.get_by_role("button", name="Open a session by its id").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox").select_option(AGENT)
    dialog.get_by_label("Its id").fill("nothing-1")
    dialog.get_by_label("Folder").fill(str(place.project))
    dialog.get_by_role("button", name="Open", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("no such session")
    dialog.get_by_label("Its id").fill("hidden-1")
    dialog.get_by_role("button", name="Open", exact=True).click()
    expect(composer(page)).to_be_visible()
    opened = Session(place.hub, page.url.rpartition("/")[2], place.project)
    assert texts(opened, "user") == ["Make it blue.", "And red?"]
