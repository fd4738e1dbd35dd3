"""The real Codex in a real terminal, followed by its daemon's socket: it asks in the terminal and here at once, and the first
answer wins; its words are here while they are written, and prompts go both ways."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.peers.codex import AGENT, PROMPT, VERSION, Person, end_daemon, person, program
from tests.tooling.processes import eventually
from tests.tooling.tmux import Terminal

pytestmark = [pytest.mark.peers, pytest.mark.slow, pytest.mark.program("Codex", VERSION)]


@pytest.fixture(scope="module")
def somebody() -> Iterator[Person]:
    rule = '[[rules]]\ncommand = ["touch forbidden*"]\nreason = "not that one"\naction = "deny"\n'
    with person(policy=rule) as one:
        yield one


@pytest.mark.shows("allowed from the hub")
def test_a_tool_asked_in_the_terminal_is_allowed_in_the_hub_and_runs(somebody: Person) -> None:
    somebody.says("run: touch a1")
    ask = somebody.asked()
    assert "touch a1" in json.dumps(ask["approval"]["preview"])
    somebody.terminal.sees(PROMPT)
    somebody.decide(ask, decision="allow")
    somebody.hears("Done.")
    assert (somebody.work / "a1").exists()
    assert somebody.ended(ask)["approved"] is True


@pytest.mark.shows("denied from the hub, and the model sees the reason")
def test_a_denial_in_the_hub_reaches_the_model_with_its_reason(somebody: Person) -> None:
    somebody.says("run: touch never1")
    somebody.decide(somebody.asked(), decision="deny", reason="use another name")
    eventually(lambda: "use another name" in somebody.model.told[-1], "the model is told why", 30)
    somebody.terminal.sees("use another name")
    assert not (somebody.work / "never1").exists()
    somebody.is_idle()


@pytest.mark.shows("answered in the terminal first, and taken back everywhere")
def test_a_yes_in_the_terminal_withdraws_it_here(somebody: Person) -> None:
    somebody.says("run: touch b1")
    ask = somebody.asked()
    somebody.presses("y")
    ended = somebody.ended(ask)
    assert ended["approved"] is True and "answered in the terminal" in ended["reason"], ended
    eventually((somebody.work / "b1").exists, "the command ran", 20)
    assert somebody.pending() == []
    somebody.is_idle()


@pytest.mark.shows("answered in the terminal first, and taken back everywhere")
def test_a_no_in_the_terminal_withdraws_it_here(somebody: Person) -> None:
    somebody.says("run: touch never2")
    ask = somebody.asked()
    somebody.presses("Escape")
    ended = somebody.ended(ask)
    assert ended["approved"] is False and ended["reason"] == "answered in the terminal: not allowed", ended
    somebody.is_idle()
    assert not (somebody.work / "never2").exists()


@pytest.mark.shows("deny rule answers")
def test_a_deny_rule_answers_at_once(somebody: Person) -> None:
    somebody.says("run: touch forbidden1")
    eventually(lambda: any("not that one" in heard for heard in somebody.model.told[-2:]), "the model is told why", 30)
    assert not (somebody.work / "forbidden1").exists()
    assert somebody.pending() == []
    somebody.is_idle()


@pytest.mark.shows("question answered from the hub")
def test_a_question_is_answered_in_the_hub(somebody: Person) -> None:
    choices = [{"label": label, "description": label.lower()} for label in ("Red", "Blue")]
    question = {"id": "color", "header": "Color", "question": "Which color?", "options": choices}
    somebody.says(f"call: request_user_input {json.dumps({'questions': [question]})}")
    ask = somebody.asked()
    somebody.terminal.sees("1. Red")
    somebody.answer(ask, color="Blue")
    somebody.is_told(r'{\"color\":{\"answers\":[\"Blue\"]}}')
    somebody.terminal.unsees("1. Red")
    somebody.is_idle()


def test_an_edit_shows_its_text_and_is_allowed_here(somebody: Person) -> None:
    somebody.says("write: note.txt hello there")
    ask = somebody.asked()
    assert "hello there" in json.dumps(ask["approval"])
    somebody.decide(ask, decision="allow")
    eventually((somebody.work / "note.txt").exists, "the file is written", 20)
    somebody.is_idle()


@pytest.mark.shows("prompted from the hub")
def test_a_prompt_sent_here_appears_in_the_terminal_and_is_the_senders(somebody: Person) -> None:
    view = somebody.session()
    assert view["watchOnly"] and view["line"]
    somebody.hub.command("send", view["id"], "long 7")
    somebody.terminal.sees("› long 7")
    somebody.terminal.sees("chunk 6")
    somebody.is_idle()
    begun = somebody.events("custom")
    assert [event["_meta"]["by"] for event in begun if event["eventName"] == "turn_started"][-1] != "elsewhere"


@pytest.mark.shows("shown live")
def test_words_are_here_while_they_are_written_and_the_turn_can_be_interrupted(somebody: Person) -> None:
    session = somebody.session()["id"]
    somebody.says("slow")
    eventually(lambda: "tick 3" in json.dumps(somebody.events("message:delta")), "the words come as they are written", 20)
    assert somebody.session()["turn"] is not None
    somebody.hub.wire.post(f"/sessions/{session}/cancel", {}, 200)
    somebody.is_idle()
    somebody.terminal.sees("interrupted")


@pytest.mark.shows("history equal to its store")
def test_the_history_is_that_of_the_programs_own_file(somebody: Person) -> None:
    somebody.says("think: deep things")
    somebody.hears("Thought.")
    somebody.is_idle()
    stored = somebody.stored()
    mine = [said for said in somebody.messages() if not said[1].startswith("tick 0")]
    assert mine == [said for said in stored if not said[1].startswith("tick 0")]


def test_the_daemon_says_that_it_answers(somebody: Person) -> None:
    status = json.loads(somebody.hub.command("hooks", "status", "--json").stdout)
    (codex,) = (each for each in status["agents"] if each["agent"] == AGENT)
    assert codex["state"] == "installed" and codex["ms"] > 0 and not codex["problem"]


def test_a_hub_that_is_killed_while_it_waits_leaves_the_terminal_and_finds_the_ask_again(somebody: Person) -> None:
    somebody.says("run: touch d1")
    somebody.asked()
    before = somebody.session()["lastSeq"]
    somebody.hub.kill()
    somebody.terminal.sees(PROMPT)
    somebody.hub.start()
    ask = somebody.asked()
    somebody.terminal.sees(PROMPT)
    somebody.decide(ask, decision="allow")
    eventually((somebody.work / "d1").exists, "the command ran", 20)
    somebody.is_idle()
    assert somebody.session()["lastSeq"] > before
    assert somebody.messages()[-3:] == [("user", "run: touch d1"), ("assistant", "I will use a tool. "), ("assistant", "Done.")]


@pytest.mark.shows("hub killed while it is asked: the terminal asks as usual")
def test_a_hub_that_is_killed_leaves_the_answer_to_the_terminal(somebody: Person) -> None:
    somebody.says("run: touch d2")
    somebody.asked()
    somebody.hub.kill()
    somebody.presses("y")
    eventually((somebody.work / "d2").exists, "the command ran", 20)
    somebody.hub.start()
    eventually(lambda: somebody.messages()[-1] == ("assistant", "Done."), "the hub has read on", 20)
    assert somebody.pending() == []
    eventually(lambda: somebody.session()["line"], "the line is open again", 10)


@pytest.mark.shows("hooks removed: settings as before")
def test_where_it_is_removed_the_hub_follows_the_file_alone(somebody: Person) -> None:
    done = somebody.hub.command("hooks", "remove", AGENT)
    assert done.returncode == 0, done.stderr
    assert "trunkline" not in (somebody.home / "config.toml").read_text().lower() and not (somebody.home / "hooks.json").exists()
    eventually(lambda: not somebody.session()["line"], "the line is closed", 10)
    somebody.says("run: touch c1")
    somebody.presses("y")
    eventually((somebody.work / "c1").exists, "the command ran", 20)
    somebody.is_idle()
    assert somebody.pending() == []
    assert somebody.messages()[-1] == ("assistant", "Done.")
    assert somebody.hub.command("hooks", "install", "--yes", AGENT).returncode == 0
    eventually(lambda: somebody.session()["line"], "the line is open again", 10)


@pytest.mark.shows("found, and shown as running", "taken over while idle", "given back")
def test_a_session_is_in_the_hub_by_itself_goes_on_there_and_is_given_back(capsys: pytest.CaptureFixture[str]) -> None:
    with person() as somebody:
        assert somebody.hub.wire.get("/sessions")["sessions"] == []
        somebody.says("slow")
        began = eventually_at(lambda: rollouts(somebody))
        found = eventually_at(lambda: somebody.hub.wire.get("/sessions")["sessions"])
        with capsys.disabled():
            print(f" [in the hub {found - began:.2f} s after its file]", end="")
        somebody.terminal.key("Escape")
        somebody.says("say hello")
        somebody.hears("Hello from the fake model.")
        own = somebody.session()["agentSessionId"]
        somebody.terminal.close()
        assert somebody.hub.command("send", somebody.session()["id"], "long 4").returncode == 0  # its daemon has it still
        eventually(lambda: "chunk 3" in somebody.messages()[-1][1], "it goes on without a terminal", 60)
        with Terminal(somebody.home.parent, [str(program()), "resume", own], somebody.env, somebody.work) as back:
            back.sees("chunk 3", 60)
            back.type("run: touch back1")
            back.sees(PROMPT)
            somebody.decide(somebody.asked(), decision="allow")
            eventually((somebody.work / "back1").exists, "the command ran", 20)
        somebody.is_idle()
        somebody.session()


def test_a_daemon_that_is_killed_leaves_the_hub_its_file() -> None:
    with person() as somebody:
        somebody.says("say hello")
        eventually(lambda: somebody.session()["line"], "the line is open", 40)
        end_daemon(somebody.home)
        eventually(lambda: not somebody.session()["line"], "the line is lost", 10)
        assert ("assistant", "Hello from the fake model.") in somebody.messages()


def test_without_a_daemon_the_file_is_followed_and_that_is_said() -> None:
    with person(words=("--no-daemon",)) as somebody:
        somebody.says("run: touch e1")
        somebody.presses("y")
        eventually((somebody.work / "e1").exists, "the command ran", 20)
        done = somebody.hub.command("hooks", "status")
        assert "followed by their files" in done.stdout and somebody.pending() == []
        (found,) = somebody.hub.wire.get("/found")["sessions"]
        attached = somebody.hub.wire.post(f"/adapters/{AGENT}/sessions/{found['id']}/attach", {})
        assert attached["watchOnly"] and not attached["line"]


def rollouts(somebody: Person) -> list[Path]:
    return list((somebody.home / "sessions").rglob("rollout-*.jsonl"))


def eventually_at(holds: Callable[[], object]) -> float:
    """When it was seen to hold."""
    eventually(holds, "it is there", 20)
    return time.monotonic()
