"""Several machines, before a person: where each session runs, those of others read and steered, a node that goes away."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.page.beginning import chip, choose_agent, choose_folder
from tests.page.conftest import MakePerson
from tests.page.journal import texts
from tests.page.machines import PROJECT, Machines, machines_of
from tests.page.person import Person, sideways
from tests.page.stage import permission
from tests.page.test_everybody import found_by_axe, settle
from tests.page.test_steering import composer
from tests.tooling.processes import eventually

ASK = [permission(1, "npm publish", "execute", {"command": "npm publish"}), ["answer"], ["say", "Published."]]
NAMED = {"laptop": "Tidy the drawings", "box": "Build the release"}
GONE_MS = 60_000
"""A node that goes without a word is away after 30 s, and the page looks every 5 s."""


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    with machines_of(tmp_path_factory.mktemp("machines"), *NAMED) as made:
        made.sessions = {name: made.talk(name, title) for name, title in NAMED.items()}
        yield made


def row(page: Page, name: str) -> Locator:
    """The session of a node, in the list."""
    return page.get_by_role("listitem").filter(has_text=NAMED[name])


def test_the_list_says_where_each_session_runs_and_is_narrowed_to_a_node(machines: Machines, make_person: MakePerson) -> None:
    page = make_person(machines.web.url).log_in(machines.web)
    for name in NAMED:
        expect(row(page, name).get_by_text(name, exact=True)).to_be_visible()
    node = page.get_by_role("combobox", name="Node")
    node.select_option("laptop")
    expect(row(page, "box")).to_have_count(0)
    expect(row(page, "laptop")).to_be_visible()
    node.select_option("")
    expect(row(page, "box")).to_be_visible()


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_a_session_of_another_node_is_read_prompted_and_answered(machines: Machines, make_person: MakePerson, size: str) -> None:
    session = machines.talk("laptop", f"Publish from a {size}")
    page = make_person(machines.web.url, size).log_in(machines.web, f"#/s/{session.id}")
    expect(page.get_by_text("I work on laptop.", exact=True)).to_be_visible()
    expect(page.locator(".session-where").get_by_text("laptop", exact=True)).to_be_visible()
    composer(page).fill(json.dumps(ASK))
    page.get_by_role("button", name="Send").click()
    page.get_by_role("link", name=re.compile("^Approvals")).click()
    card = page.get_by_role("article").filter(has_text=f"Publish from a {size}")
    expect(card.locator(".approvals-where").get_by_text("laptop", exact=True)).to_be_visible()
    approve = card.get_by_role("button", name="Approve")
    expect(approve).to_be_enabled()
    page.wait_for_timeout(1_200)  # a card takes a press when it has held its place for a second
    approve.click()
    eventually(lambda: texts(session)[-1].endswith("Published."), "the answer reached the laptop")


def test_a_new_session_is_put_on_the_node_that_was_chosen_with_that_nodes_folders(
        machines: Machines, make_person: MakePerson) -> None:
    page = make_person(machines.web.url).log_in(machines.web, "#/new")
    node = page.get_by_role("combobox", name="Node")
    expect(node.locator("option")).to_have_text(["Wherever there is room", "box", "laptop"])
    for name in ("box", "laptop"):
        node.select_option(name)
        expect(chip(page, "Folder")).to_have_attribute("title", re.compile(f"/{name}/home/{PROJECT}$"))  # the last one there
    folder = machines.farm["laptop"].new_folder()
    choose_agent(page, "actor")
    choose_folder(page, folder)
    page.get_by_label("First prompt").fill(json.dumps([["say", "Begun from afar."]]))
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_text("Begun from afar.", exact=True)).to_be_visible()
    expect(page.locator(".session-where").get_by_text("laptop", exact=True)).to_be_visible()
    listed = machines.farm["laptop"].wire.get("/sessions?node=laptop")["sessions"]
    assert str(folder) in {view["cwd"] for view in listed}


def test_a_node_that_is_away_is_marked_its_session_read_and_continued_elsewhere(
        machines: Machines, make_person: MakePerson) -> None:
    session = machines.talk("laptop", "Goes on elsewhere")
    person = make_person(machines.web.url)
    page = person.log_in(machines.web, f"#/s/{session.id}")
    composer(page).fill("half a thought")
    with person.losing_the_network(), machines.without("laptop"):
        gone = page.get_by_role("region", name="Unreachable")
        expect(gone.get_by_text("laptop has not been heard of since")).to_be_visible(timeout=GONE_MS)
        expect(page.get_by_text("I work on laptop.", exact=True)).to_be_visible()
        expect(composer(page)).to_have_count(0)
        page.reload()
        expect(page.get_by_text("I work on laptop.", exact=True)).to_be_visible()
        person.go("#/")
        group = page.get_by_role("region", name=re.compile("^Unreachable now"))
        away = group.get_by_role("listitem").filter(has_text="Goes on elsewhere")
        why = away.get_by_text("laptop has not been heard of since")
        expect(why).to_be_visible()
        page.set_viewport_size({"width": 320, "height": 640})
        line = why.element_handle()
        page.wait_for_function("line => line.scrollWidth <= line.clientWidth", arg=line)  # since when is read on a phone, too
        page.set_viewport_size({"width": 1440, "height": 900})
        expect(row(page, "box").get_by_text("Unreachable")).to_have_count(0)
        person.go(f"#/s/{session.id}")
        gone.get_by_role("button", name="Continue on another node").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_text("laptop cannot be asked")).to_be_visible()
        expect(dialog.get_by_text(f"trunkline cluster move {session.id} box")).to_be_visible()
        dialog.get_by_role("button", name="Continue on box").click()
        expect(composer(page)).to_have_value("half a thought")
        expect(page.locator(".session-where").get_by_text("box", exact=True)).to_be_visible()
        assert machines.farm.owner("web", session) == "box"


def test_a_search_names_the_nodes_that_did_not_answer(machines: Machines, make_person: MakePerson) -> None:
    person = make_person(machines.web.url)
    page = person.log_in(machines.web)
    expect(row(page, "laptop")).to_be_visible()
    with person.losing_the_network(), machines.without("laptop"):
        page.get_by_role("searchbox").fill("drawings")
        expect(page.get_by_text("Not searched: laptop did not answer.")).to_be_visible()


def test_the_rules_say_whose_they_are_and_an_answer_on_which_node_it_was_decided(
        machines: Machines, make_person: MakePerson) -> None:
    box = machines.farm["box"]
    box.wire.ask("PUT", "/policy?of=cluster", {"text": '[[rules]]\ncommand = "make"\naction = "allow"\n'}).expect(200)
    eventually(lambda: machines.web.wire.get("/policy")["of"] == "cluster", "the gateway knows it")
    page = make_person(machines.web.url).log_in(machines.web, "#/policy")
    expect(page.get_by_role("radio", name="Of the cluster")).to_be_checked()
    expect(page.get_by_role("table").get_by_text("make", exact=True)).to_be_visible()
    page.get_by_role("radio", name="Of web only").check()
    expect(page.get_by_text("These rules hold on web")).to_be_visible()
    page.get_by_role("tab", name="Explain").click()
    page.get_by_label("Command", exact=True).fill("make")
    page.get_by_role("combobox", name=re.compile("^Session")).select_option(machines.sessions["laptop"].id)
    page.get_by_role("button", name="Explain", exact=True).click()
    answer = page.locator(".policy-answer").first
    expect(answer.get_by_text("a rule of the cluster", exact=True)).to_be_visible()
    expect(answer.get_by_text("laptop", exact=True)).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", ["desk", "phone"])
def test_axe_finds_nothing_where_there_are_nodes(machines: Machines, make_person: MakePerson, size: str, theme: str) -> None:
    person = make_person(machines.web.url, size, color_scheme=theme, reduced_motion="reduce")
    page = person.log_in(machines.web)
    found = [f"{path}: {each}" for path in ("#/", "#/new", f"#/s/{machines.sessions['box'].id}", "#/policy")
             for each in looked_at(person, path)]
    with person.losing_the_network(), machines.without("laptop"):
        found += [f"away {path}: {each}" for path in ("#/", f"#/s/{machines.sessions['laptop'].id}")
                  for each in looked_at(person, path, "has not been heard of since")]
        page.get_by_role("button", name="Continue on another node").click()
        settle(person)
        found += [f"sheet: {each}" for each in found_by_axe(page)]
    assert not found, "\n".join(found)


def looked_at(person: Person, path: str, words: str = "") -> list[str]:
    """What is wrong with a view: what axe finds, and whether it scrolls sideways."""
    person.go(path)
    if words:
        expect(person.page.get_by_text(words).first).to_be_visible(timeout=GONE_MS)
    settle(person)
    wide = sideways(person.page)
    return [*found_by_axe(person.page), *([f"scrolls sideways by {wide}"] if wide else [])]
