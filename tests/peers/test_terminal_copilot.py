"""The real Copilot CLI in a real terminal, with Trunkline's hooks, against a scripted model on loopback: it is asked here while
its person is away, and left alone while somebody sits there."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.peers.install import node, npm_package
from tests.peers.seat import Seat
from tests.tooling.hub_process import HubProcess
from tests.tooling.processes import eventually
from tests.tooling.scripted_model import ScriptedModel
from tests.tooling.tmux import START_S, Terminal

VERSION = "1.0.102"
pytestmark = [pytest.mark.peers, pytest.mark.slow, pytest.mark.program("Copilot CLI", VERSION)]

AGENT = "copilot"
READY = "/ commands"
PROMPT = "Do you want to run this command?"
RULE = '[[rules]]\ncommand = ["touch forbidden*"]\nreason = "not that one"\naction = "deny"\n'


def program() -> Path:
    return npm_package("copilot", f"@github/copilot@{VERSION}") / "copilot"


@contextmanager
def seat(*flags: str, broken: bool = False) -> Iterator[Seat]:
    root = Path(tempfile.mkdtemp(prefix="tl-"))
    with ScriptedModel() as model:
        own = {"PATH": f"{program().parent}:{node().parent}:/usr/local/bin:/usr/bin:/bin", "COPILOT_MODEL": "fake-model",
               "COPILOT_PROVIDER_BASE_URL": f"{model.url}/v1", "COPILOT_PROVIDER_API_KEY": "sk-fake", "COPILOT_OFFLINE": "true",
               "COPILOT_AUTO_UPDATE": "false"}
        hub = HubProcess(root / "hub", *flags, policy=RULE, env=own)
        work = root / "work"
        work.mkdir()
        (hub.home / ".copilot").mkdir()
        (hub.home / ".copilot" / "config.json").write_text(json.dumps({"trusted_folders": [str(work)]}))
        env = {**own, "HOME": str(hub.home), "LANG": "C.UTF-8", "TERM": "xterm-256color"}
        with hub:
            done = hub.command("hooks", "install", "--yes", "copilot")
            assert done.returncode == 0, done.stderr
            file = hub.home / ".copilot" / "hooks" / "trunkline.json"
            assert " -I -S " in file.read_text()
            if broken:
                file.write_text(file.read_text().replace(" -I -S ", "-that-is-gone -I -S "))
            with Terminal(root, [str(program())], env, work) as terminal:
                terminal.sees(READY, START_S)
                yield Seat(hub, model, terminal, work, AGENT, PROMPT, ready=READY)
    shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="module")
def somebody() -> Iterator[Seat]:
    with seat() as one:
        yield one


def leaves(one: Seat) -> None:
    done = one.hub.command("away")
    assert done.returncode == 0, done.stderr


def returns(one: Seat) -> None:
    done = one.hub.command("here")
    assert done.returncode == 0, done.stderr


@pytest.mark.shows("shown as waiting for an answer in the terminal")
def test_who_sits_there_is_asked_in_the_terminal_alone_and_the_hub_says_that_it_waits(somebody: Seat) -> None:
    somebody.says("run: touch a1")
    somebody.terminal.sees(PROMPT)
    assert not somebody.pending()
    eventually(lambda: "waits for you in its terminal" in json.dumps(somebody.events("interaction:notification")),
               "the hub says that it waits", 20)
    somebody.presses("Enter")
    somebody.made("a1")


@pytest.mark.shows("deny rule answers")
def test_a_rule_that_denies_answers_who_sits_there_too(somebody: Seat) -> None:
    somebody.says("run: touch forbidden1")
    somebody.is_told("not that one")
    assert not (somebody.work / "forbidden1").exists() and PROMPT not in somebody.terminal.screen


@pytest.mark.shows("allowed from the hub", "asked in the hub only while the person is away")
def test_who_is_away_allows_it_in_the_hub_and_the_terminal_never_asks(somebody: Seat) -> None:
    leaves(somebody)
    somebody.says("run: touch a2")
    ask = somebody.asked()
    assert "touch a2" in json.dumps(ask["approval"]["preview"]) and PROMPT not in somebody.terminal.screen
    somebody.decide(ask, decision="allow")
    somebody.made("a2")
    assert somebody.ended(ask)["approved"] is True


@pytest.mark.shows("denied from the hub, and the model sees the reason")
def test_a_denial_in_the_hub_reaches_the_model_with_its_reason(somebody: Seat) -> None:
    somebody.says("run: touch never1")
    somebody.decide(somebody.asked(), decision="deny", reason="use a3 instead")
    somebody.is_told("use a3 instead")
    assert not (somebody.work / "never1").exists()


def stops(one: Seat) -> None:
    """Press Escape twice: at once that is another key, and after half a second it is none."""
    one.terminal.key("Escape")
    time.sleep(0.25)
    one.terminal.key("Escape")


@pytest.mark.shows("answered in the terminal first, and taken back everywhere")
def test_what_is_stopped_in_the_terminal_is_taken_back_from_the_hub(somebody: Seat) -> None:
    somebody.says("run: touch never2")
    ask = somebody.asked()
    stops(somebody)
    end = somebody.ended(ask)
    assert (end["approved"], end["reason"]) == (False, "answered in the terminal: not allowed")
    assert not (somebody.work / "never2").exists() and not somebody.pending()


@pytest.mark.shows("hub killed while it is asked: the terminal asks as usual")
def test_a_hub_that_is_killed_while_it_is_asked_leaves_the_terminal_to_its_person(somebody: Seat) -> None:
    somebody.says("run: touch a4")
    ask = somebody.asked()
    somebody.hub.kill()
    somebody.presses("Enter")
    somebody.made("a4")
    somebody.says("run: touch a5")
    somebody.presses("Enter")
    somebody.made("a5")
    somebody.hub.start()
    assert somebody.ended(ask)["approved"] is False and not somebody.pending()


@pytest.mark.shows("hooks removed: settings as before")
def test_removed_hooks_leave_the_files_as_they_were_and_ask_nobody_here(somebody: Seat) -> None:
    leaves(somebody)
    done = somebody.hub.command("hooks", "remove", "--yes", "copilot")
    assert done.returncode == 0 and not (somebody.hub.home / ".copilot" / "hooks").exists()
    somebody.says("run: touch a6")  # the program calls what it read when it started
    somebody.presses("Enter")
    somebody.made("a6")
    assert not somebody.pending()


@pytest.mark.shows("history equal to its store")
def test_history_is_what_the_store_says(somebody: Seat) -> None:
    (store,) = (somebody.hub.home / ".copilot" / "session-state").glob("*/events.jsonl")
    lines = [json.loads(line) for line in store.read_text().splitlines()]
    said = [line["data"]["content"].strip() for line in lines if line["type"] == "assistant.message" and line["data"]["content"]]
    calls = [line["data"]["toolCallId"] for line in lines if line["type"] == "tool.execution_start"]
    eventually(lambda: [event["toolCallId"] for event in somebody.events("tool:start")] == calls, "all is told", 20)
    assert [text.strip() for text in somebody.said()] == said


def test_an_interpreter_that_is_gone_leaves_the_terminal_to_its_person() -> None:
    with seat(broken=True) as one:
        leaves(one)
        one.says("run: touch b1")
        one.presses("Enter")
        one.made("b1")


def test_nobody_sits_at_a_terminal_without_keys_for_long() -> None:
    with seat("--away-after", "0.001") as one:
        one.says("run: touch c1")
        one.decide(one.asked(), decision="allow")
        one.made("c1")
