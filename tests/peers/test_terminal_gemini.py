"""The real Gemini CLI in a real terminal, with Trunkline's hooks, against a scripted model on loopback: its prompts are shown in
the hub and answered in the terminal, or by a key in its pane where its person wants that; rules that deny answer before."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import tests.tooling.gemini_model
from tests.peers.install import node, npm_package
from tests.peers.seat import Seat
from tests.tooling.hub_process import HubProcess
from tests.tooling.processes import eventually
from tests.tooling.scripted_model import ScriptedModel
from tests.tooling.tmux import START_S, Terminal

VERSION = "0.61.0"
pytestmark = [pytest.mark.peers, pytest.mark.slow, pytest.mark.program("Gemini CLI", VERSION)]
assert tests.tooling.gemini_model, "it has the model speak Gemini's dialect"

AGENT = "gemini"
PROMPT = "Allow execution of"
READY = "Type your message"
RULE = '[[rules]]\ncommand = ["touch forbidden*"]\nreason = "not that one"\naction = "deny"\n'
BEFORE = """{
  // how I like it
  "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
  "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false},
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false, "checkpointing": {"enabled": false}},
  "model": {"name": "gemini-2.5-pro"}
}
"""


def program() -> Path:
    return npm_package("gemini", f"@google/gemini-cli@{VERSION}") / "gemini"


@contextmanager
def seat(*flags: str) -> Iterator[Seat]:
    root = Path(tempfile.mkdtemp(prefix="tl-"))
    with ScriptedModel() as model:
        hub = HubProcess(root / "hub", *flags, policy=RULE)
        work, settings = root / "work", hub.home / ".gemini" / "settings.json"
        work.mkdir()
        settings.parent.mkdir()
        settings.write_text(BEFORE)
        env = {"PATH": f"{node().parent}:/usr/local/bin:/usr/bin:/bin", "HOME": str(hub.home), "LANG": "C.UTF-8",
               "TERM": "xterm-256color", "GEMINI_API_KEY": "fake", "GOOGLE_GEMINI_BASE_URL": model.url,
               "GEMINI_TELEMETRY_ENABLED": "false"}
        with hub:
            done = hub.command("hooks", "install", "--yes", "gemini")
            assert done.returncode == 0, done.stderr
            assert "how I like it" in settings.read_text()
            with Terminal(root, [str(program())], env, work) as terminal:
                terminal.sees(READY, START_S)
                yield Seat(hub, model, terminal, work, AGENT, PROMPT, ready=READY)
    shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="module")
def somebody() -> Iterator[Seat]:
    with seat() as one:
        yield one


@pytest.fixture(scope="module")
def keen() -> Iterator[Seat]:
    """Somebody who wants keys to be sent."""
    with seat("--terminal-keys") as one:
        yield one


def done(one: Seat, name: str) -> None:
    """Wait until the turn with this file is over, and the next prompt can be typed."""
    one.terminal.sees(READY, START_S)
    assert (one.work / name).exists()


@pytest.mark.shows("shown as waiting for an answer in the terminal", "answered in the terminal first, and taken back everywhere")
def test_a_prompt_is_shown_in_the_hub_and_a_yes_in_the_terminal_takes_it_back(somebody: Seat) -> None:
    somebody.says("run: touch a1")
    ask = somebody.asked()
    assert ask["approval"]["answerThere"] is True and "touch a1" in json.dumps(ask["approval"]["preview"])
    refused = somebody.hub.wire.post(f"/sessions/{ask['sessionId']}/permissions/{ask['approval']['requestId']}",
                                     {"decision": "allow"}, 501)
    assert "in the terminal" in json.dumps(refused)
    somebody.presses("Enter")
    end = somebody.ended(ask)
    assert (end["approved"], end["reason"]) == (True, "answered in the terminal: allowed") and not somebody.pending()
    done(somebody, "a1")


@pytest.mark.shows("answered in the terminal first, and taken back everywhere")
def test_a_no_in_the_terminal_takes_it_back(somebody: Seat) -> None:
    somebody.says("run: touch never1")
    ask = somebody.asked()
    somebody.presses("Escape")
    somebody.terminal.unsees(PROMPT)
    somebody.terminal.sees(READY)
    end = somebody.ended(ask)
    assert end["approved"] is False and end["reason"].startswith("answered in the terminal")
    assert not (somebody.work / "never1").exists()


@pytest.mark.shows("deny rule answers")
def test_a_rule_that_denies_answers_at_once_and_the_model_sees_the_reason(somebody: Seat) -> None:
    somebody.says("run: touch forbidden1")
    somebody.is_told("not that one")
    assert not (somebody.work / "forbidden1").exists() and not somebody.pending()
    somebody.terminal.sees(READY)


@pytest.mark.shows("found, and shown as running")
def test_its_session_is_found_and_said_to_run(keen: Seat) -> None:
    keen.says("say hello")
    keen.terminal.sees("Hello from the fake model.")

    def listed() -> list[Any]:
        return list(keen.hub.wire.get("/sessions?agent=gemini")["sessions"])

    eventually(listed, "its hook had the hub follow it", 20)
    for view in listed():
        keen.hub.wire.ask("DELETE", f"/sessions/{view['id']}")

    def running() -> list[Any]:
        found = keen.hub.wire.get("/found?agent=gemini")["sessions"]
        return [each for each in found if each["cwd"] == str(keen.work) and each["running"] and each["pid"]]

    eventually(running, "the session is found in its file, with who runs it", 20)


@pytest.mark.shows("history equal to its store")
def test_its_session_is_followed_with_what_its_file_says(somebody: Seat) -> None:
    views = somebody.hub.wire.get("/sessions?agent=gemini")["sessions"]
    (session,) = [view for view in views if view["cwd"] == str(somebody.work)]
    chats = list((somebody.hub.home / ".gemini" / "tmp").glob("*/chats/*.jsonl"))
    (chat,) = chats
    typed = [part["text"] for line in chat.read_text().splitlines() if (record := json.loads(line)).get("type") == "user"
             for part in record["content"] if part.get("text", "").startswith("run: ")]

    def prompts() -> list[str]:
        events = somebody.events("message:start,message:delta,message:complete", session["id"])
        return [text for text in typed if text in json.dumps(events)]

    assert typed
    eventually(lambda: prompts() == typed, "all that was typed is in the journal", 20)


@pytest.mark.shows("hub killed while it is asked: the terminal asks as usual")
def test_a_hub_that_is_killed_leaves_the_terminal_to_its_person(somebody: Seat) -> None:
    somebody.says("run: touch a4")
    ask = somebody.asked()
    somebody.hub.kill()
    somebody.presses("Enter")
    somebody.made("a4")
    somebody.terminal.sees(READY)
    somebody.says("run: touch a5")
    somebody.presses("Enter")
    somebody.made("a5")
    somebody.hub.start()
    assert somebody.ended(ask)["approved"] is False and not somebody.pending()


@pytest.mark.shows("hooks removed: settings as before")
def test_removed_hooks_leave_the_settings_as_they_were(somebody: Seat) -> None:
    removed = somebody.hub.command("hooks", "remove", "--yes", "gemini")
    assert removed.returncode == 0, removed.stderr
    assert (somebody.hub.home / ".gemini" / "settings.json").read_text() == BEFORE


@pytest.mark.shows("answered in its tmux pane from the hub")
def test_a_prompt_is_allowed_and_denied_by_a_key_in_its_pane(keen: Seat) -> None:
    keen.says("run: touch b1")
    ask = keen.asked()
    assert not ask["approval"].get("answerThere")
    keen.decide(ask, decision="allow")
    keen.made("b1")
    assert keen.ended(ask)["approved"] is True
    keen.terminal.sees(READY)
    keen.says("run: touch never2")
    keen.decide(keen.asked(), decision="deny")
    keen.terminal.unsees(PROMPT)
    keen.terminal.sees(READY)
    assert not (keen.work / "never2").exists() and not keen.pending()
