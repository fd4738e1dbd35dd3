"""The real Qwen Code in a real terminal, started by the shell's function, against a scripted model on loopback: it asks in the
terminal and here at once, the first answer wins, and prompts can be sent to it."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.peers.install import node, npm_package
from tests.peers.recipes import QWEN
from tests.peers.seat import Seat
from tests.tooling.hub_process import HubProcess
from tests.tooling.processes import eventually
from tests.tooling.scripted_model import ScriptedModel
from tests.tooling.tmux import START_S, Terminal

VERSION = "0.24.4"
pytestmark = [pytest.mark.peers, pytest.mark.slow, pytest.mark.program("Qwen Code", VERSION)]

AGENT = "qwen"
PROMPT = "Allow execution of:"
READY = "Type your message"
RULE = '[[rules]]\ncommand = ["touch forbidden*"]\nreason = "not that one"\naction = "deny"\n'


def program() -> Path:
    return npm_package("qwen", f"@qwen-code/qwen-code@{VERSION}") / "qwen"


@contextmanager
def seat(*flags: str) -> Iterator[Seat]:
    root = Path(tempfile.mkdtemp(prefix="tl "))
    with ScriptedModel() as model:
        hub = HubProcess(root / "hub", *flags, policy=RULE)
        work = root / "work"
        work.mkdir()
        settings = json.loads(QWEN)
        settings["ui"] = {"enableFollowupSuggestions": False}
        (hub.home / ".qwen").mkdir()
        (hub.home / ".qwen" / "settings.json").write_text(json.dumps(settings))
        path = f"{program().parent}:{node().parent}:/usr/local/bin:/usr/bin:/bin"
        env = {"PATH": path, "HOME": str(hub.home), "LANG": "C.UTF-8",
               "TERM": "xterm-256color", "OPENAI_API_KEY": "sk-fake", "OPENAI_BASE_URL": f"{model.url}/v1",
               "OPENAI_MODEL": "fake-model"}
        with hub:
            done = hub.command("hooks", "install", "--yes", "qwen")
            assert done.returncode == 0 and "shell-init" in done.stdout, done.stderr
            done = hub.command("shell-init", "bash")
            assert done.returncode == 0, done.stderr
            (root / "init.bash").write_text(done.stdout)
            with Terminal(root, ["bash", "--noprofile", "--rcfile", str(root / "init.bash"), "-i"], env, work) as terminal:
                terminal.type("qwen --approval-mode default")
                terminal.sees(READY, START_S)
                yield Seat(hub, model, terminal, work, AGENT, PROMPT, ready=READY)
    shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="module")
def somebody() -> Iterator[Seat]:
    with seat() as one:
        yield one


@pytest.mark.shows("allowed from the hub")
def test_a_tool_asked_in_the_terminal_is_allowed_in_the_hub_and_runs(somebody: Seat) -> None:
    somebody.says("run: touch a1")
    ask = somebody.asked()
    assert "touch a1" in json.dumps(ask["approval"]["preview"])
    somebody.terminal.sees(PROMPT)
    somebody.decide(ask, decision="allow")
    somebody.made("a1")
    assert somebody.ended(ask)["approved"] is True
    somebody.terminal.unsees(PROMPT)


@pytest.mark.shows("denied from the hub, and the model sees the reason")
def test_a_denial_in_the_hub_ends_the_turn_and_its_reason_is_the_next_prompt(somebody: Seat) -> None:
    somebody.says("run: touch never1")
    somebody.decide(somebody.asked(), decision="deny", reason="use a2 instead")
    somebody.is_told("That was not allowed: use a2 instead")
    assert not (somebody.work / "never1").exists()


@pytest.mark.shows("answered in the terminal first, and taken back everywhere")
def test_a_yes_in_the_terminal_takes_the_ask_back_from_the_hub(somebody: Seat) -> None:
    somebody.says("run: touch a3")
    ask = somebody.asked()
    somebody.presses("Enter")
    somebody.made("a3")
    end = somebody.ended(ask)
    assert (end["approved"], end["reason"]) == (True, "answered in the terminal: allowed") and not somebody.pending()


@pytest.mark.shows("answered in the terminal first, and taken back everywhere")
def test_a_no_in_the_terminal_takes_the_ask_back_from_the_hub(somebody: Seat) -> None:
    somebody.says("run: touch never2")
    ask = somebody.asked()
    somebody.presses("Escape")
    end = somebody.ended(ask)
    assert (end["approved"], end["reason"]) == (False, "answered in the terminal: not allowed")
    assert not (somebody.work / "never2").exists()


@pytest.mark.shows("deny rule answers")
def test_a_rule_that_denies_answers_at_once(somebody: Seat) -> None:
    somebody.says("run: touch forbidden1")
    somebody.is_told("not that one")
    assert not (somebody.work / "forbidden1").exists() and not somebody.pending()


@pytest.mark.shows("plan approved from the hub")
def test_a_plan_is_approved_in_the_hub(somebody: Seat) -> None:
    somebody.terminal.sees(READY)
    somebody.terminal.type("/plan")
    somebody.terminal.sees("Enabled plan mode")
    somebody.says('call: exit_plan_mode {"plan": "1. Touch a file."}')
    ask = somebody.asked()
    assert "1. Touch a file." in json.dumps(ask["approval"])
    somebody.decide(ask, decision="allow")
    somebody.terminal.sees("User approved.")
    somebody.is_idle()


def test_a_question_is_left_to_the_terminal_and_the_hub_says_that_it_waits(somebody: Seat) -> None:
    question = {"header": "Color", "question": "Which color?", "options": [{"label": "Red", "description": "r"}] * 2}
    somebody.says(f"call: ask_user_question {json.dumps({'questions': [question]})}")
    somebody.terminal.sees("Enter: Select")
    eventually(lambda: "Which color?" in json.dumps(somebody.events("interaction:notification")), "it is said that it waits", 30)
    assert not somebody.pending()
    somebody.terminal.key("Escape")
    somebody.terminal.unsees("Enter: Select")
    somebody.terminal.key("C-u")  # the program may put the prompt back where it was typed
    somebody.is_idle()


@pytest.mark.shows("prompted from the hub")
def test_a_prompt_sent_from_the_hub_is_typed_in_the_terminal(somebody: Seat) -> None:
    somebody.terminal.sees(READY)
    done = somebody.hub.command("send", somebody.session()["id"], "say hello")
    assert done.returncode == 0, done.stderr
    somebody.terminal.sees("> say hello")
    eventually(lambda: somebody.said()[-1:] == ["Hello from the fake model."], "the answer is told", 30)


@pytest.mark.shows("shown live")
def test_text_is_shown_while_the_terminal_shows_it(somebody: Seat) -> None:
    somebody.says("slow")

    def live() -> Any:
        return [event for event in somebody.events("message:delta") if "tick 3" in json.dumps(event)]

    eventually(live, "the words are told before the answer is whole", 30)
    (chat,) = (somebody.hub.home / ".qwen" / "projects").glob("*/chats/*.jsonl")
    assert "tick 3" not in chat.read_text(), "the file has nothing of it yet"
    somebody.terminal.key("Escape")
    somebody.terminal.sees("cancelled")
    somebody.terminal.key("C-u")  # the program puts the prompt back where it was typed


@pytest.mark.shows("hub killed while it is asked: the terminal asks as usual")
def test_a_hub_that_is_killed_while_it_is_asked_leaves_the_terminal_to_its_person(somebody: Seat) -> None:
    somebody.says("run: touch a4")
    ask = somebody.asked()
    somebody.hub.kill()
    somebody.presses("Enter")
    somebody.made("a4")
    somebody.hub.start()
    assert somebody.ended(ask)["approved"] is False and not somebody.pending()


def test_what_is_asked_when_a_hub_starts_is_asked_there_too(somebody: Seat) -> None:
    somebody.hub.kill()
    somebody.says("run: touch a5")
    somebody.terminal.sees(PROMPT)
    somebody.hub.start()
    somebody.decide(somebody.asked(), decision="allow")
    somebody.made("a5")


@pytest.mark.shows("history equal to its store")
def test_history_is_what_the_store_says_and_nothing_twice(somebody: Seat) -> None:
    (chat,) = (somebody.hub.home / ".qwen" / "projects").glob("*/chats/*.jsonl")
    somebody.terminal.sees(READY)

    def stored(kind: str, member: str) -> list[Any]:
        lines = [json.loads(line) for line in chat.read_text().splitlines()]
        return [part[member] for line in lines if line["type"] == kind for part in line["message"]["parts"] if member in part]

    eventually(lambda: len(somebody.said()) >= len(stored("assistant", "text")), "all that was said is told", 30)
    assert somebody.said() == stored("assistant", "text"), "each once"
    calls = [event["toolCallId"] for event in somebody.events("tool:start")]
    assert calls == [call["id"] for call in stored("assistant", "functionCall")]
    assert somebody.said("user") == stored("user", "text")


def leaves(one: Seat) -> None:
    """End the program, where it still runs."""
    folder = one.hub.data / "terminals" / "qwen"
    if list(folder.iterdir()):
        one.terminal.type("/quit")
        eventually(lambda: not list(folder.iterdir()), "the files are gone", 60)


def test_a_program_that_has_ended_leaves_no_files_and_no_line(somebody: Seat) -> None:
    assert len(list((somebody.hub.data / "terminals" / "qwen").iterdir())) == 1
    leaves(somebody)
    eventually(lambda: "line_lost" in json.dumps(somebody.events("custom")), "the line is lost", 30)


@pytest.mark.shows("hooks removed: settings as before")
def test_what_was_taken_back_starts_the_program_as_ever(somebody: Seat) -> None:
    assert "trunkline" not in (somebody.hub.home / ".qwen" / "settings.json").read_text()
    leaves(somebody)
    done = somebody.hub.command("hooks", "remove", "--yes", "qwen")
    assert done.returncode == 0 and not (somebody.hub.data / "terminals" / "qwen").exists()
    somebody.terminal.type("clear; qwen --approval-mode default")
    somebody.terminal.sees(READY, START_S)
    somebody.says("run: touch a9")
    somebody.presses("Enter")
    somebody.made("a9")
    assert not somebody.pending()
