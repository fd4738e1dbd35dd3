"""The real Codex in a real terminal, followed by its daemon's socket: it asks in the terminal and here at once, and the first
answer wins; its words are here while they are written, and prompts go both ways."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.peers.codex import AGENT, PROMPT, Person, person
from tests.tooling.processes import eventually

pytestmark = [pytest.mark.peers, pytest.mark.slow]


@pytest.fixture(scope="module")
def somebody() -> Iterator[Person]:
    rule = '[[rules]]\ncommand = ["touch forbidden*"]\nreason = "not that one"\naction = "deny"\n'
    with person(policy=rule) as one:
        yield one


def test_a_tool_asked_in_the_terminal_is_allowed_in_the_hub_and_runs(somebody: Person) -> None:
    somebody.says("run: touch a1")
    ask = somebody.asked()
    assert "touch a1" in json.dumps(ask["approval"]["preview"])
    somebody.terminal.sees(PROMPT)
    somebody.decide(ask, decision="allow")
    somebody.hears("Done.")
    assert (somebody.work / "a1").exists()
    assert somebody.ended(ask)["approved"] is True


def test_a_denial_in_the_hub_reaches_the_model_with_its_reason(somebody: Person) -> None:
    somebody.says("run: touch never1")
    somebody.decide(somebody.asked(), decision="deny", reason="use another name")
    eventually(lambda: "use another name" in somebody.model.heard[-1], "the model is told why", 30)
    somebody.terminal.sees("use another name")
    assert not (somebody.work / "never1").exists()
    somebody.is_idle()


def test_a_yes_in_the_terminal_withdraws_it_here(somebody: Person) -> None:
    somebody.says("run: touch b1")
    ask = somebody.asked()
    somebody.presses("y")
    ended = somebody.ended(ask)
    assert ended["approved"] is True and "answered in the terminal" in ended["reason"], ended
    eventually((somebody.work / "b1").exists, "the command ran", 20)
    assert somebody.pending() == []
    somebody.is_idle()


def test_a_no_in_the_terminal_withdraws_it_here(somebody: Person) -> None:
    somebody.says("run: touch never2")
    ask = somebody.asked()
    somebody.presses("Escape")
    ended = somebody.ended(ask)
    assert ended["approved"] is False and ended["reason"] == "answered in the terminal: not allowed", ended
    somebody.is_idle()
    assert not (somebody.work / "never2").exists()


def test_a_deny_rule_answers_at_once(somebody: Person) -> None:
    somebody.says("run: touch forbidden1")
    eventually(lambda: any("not that one" in heard for heard in somebody.model.heard[-2:]), "the model is told why", 30)
    assert not (somebody.work / "forbidden1").exists()
    assert somebody.pending() == []
    somebody.is_idle()


def test_an_edit_shows_its_text_and_is_allowed_here(somebody: Person) -> None:
    somebody.says("write: note.txt hello there")
    ask = somebody.asked()
    assert "hello there" in json.dumps(ask["approval"])
    somebody.decide(ask, decision="allow")
    eventually((somebody.work / "note.txt").exists, "the file is written", 20)
    somebody.is_idle()


def test_a_prompt_sent_here_appears_in_the_terminal_and_is_the_senders(somebody: Person) -> None:
    view = somebody.session()
    assert view["watchOnly"] and view["line"]
    somebody.hub.command("send", view["id"], "long 7")
    somebody.terminal.sees("› long 7")
    somebody.terminal.sees("chunk 6")
    somebody.is_idle()
    begun = somebody.events("custom")
    assert [event["_meta"]["by"] for event in begun if event["eventName"] == "turn_started"][-1] != "elsewhere"


def test_words_are_here_while_they_are_written_and_the_turn_can_be_interrupted(somebody: Person) -> None:
    session = somebody.session()["id"]
    somebody.says("slow")
    eventually(lambda: "tick 3" in json.dumps(somebody.events("message:delta")), "the words come as they are written", 20)
    assert somebody.session()["turn"] is not None
    somebody.hub.wire.post(f"/sessions/{session}/cancel", {}, 200)
    somebody.is_idle()
    somebody.terminal.sees("interrupted")


def test_the_history_is_that_of_the_programs_own_file(somebody: Person) -> None:
    somebody.says("think: deep things")
    somebody.hears("Thought.")
    somebody.is_idle()
    stored = somebody.stored()
    mine = [said for said in somebody.messages() if not said[1].startswith("tick 0")]
    assert mine == [said for said in stored if not said[1].startswith("tick 0")]


def test_where_it_is_removed_the_hub_follows_the_file_alone(somebody: Person) -> None:
    done = somebody.hub.command("hooks", "remove", AGENT)
    assert done.returncode == 0, done.stderr
    eventually(lambda: not somebody.session()["line"], "the line is closed", 10)
    somebody.says("run: touch c1")
    somebody.presses("y")
    eventually((somebody.work / "c1").exists, "the command ran", 20)
    somebody.is_idle()
    assert somebody.pending() == []
    assert somebody.messages()[-1] == ("assistant", "Done.")
    assert somebody.hub.command("hooks", "install", "--yes", AGENT).returncode == 0
    eventually(lambda: somebody.session()["line"], "the line is open again", 10)
