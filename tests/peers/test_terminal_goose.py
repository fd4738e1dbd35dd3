"""The real goose in a real terminal, with Trunkline's plugin, against a scripted model on loopback: it is found and shown, its
person answers in the terminal, and rules that deny answer after that. (1.34.0 calls the same hooks, and takes no denial.)"""

from __future__ import annotations

import json
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.peers.install import node, npm_package
from tests.peers.seat import Seat
from tests.tooling.hub_process import HubProcess, own_environment
from tests.tooling.processes import eventually
from tests.tooling.scripted_model import ScriptedModel
from tests.tooling.tmux import START_S, Terminal

VERSION = "1.52.0"
pytestmark = [pytest.mark.peers, pytest.mark.slow, pytest.mark.program("goose", VERSION)]

AGENT = "goose"
PROMPT = "◆  Goose would like to call the above tool"
"""The mark is another one when it is answered."""
READY = "Enter to send"
RULE = '[[rules]]\ncommand = ["touch forbidden*"]\nreason = "not that one"\naction = "deny"\n'


def program() -> Path:
    """Its package for this machine; there is no command in it that npm would know of."""
    machine = "x64" if platform.machine() == "x86_64" else "arm64"
    package = f"goose-binary-{'darwin' if sys.platform == 'darwin' else 'linux'}-{machine}"
    programs = npm_package("goose-binary", f"@aaif/{package}@{VERSION}")
    return programs.parent / "@aaif" / package / "bin" / "goose"


@contextmanager
def seat() -> Iterator[Seat]:
    root = Path(tempfile.mkdtemp(prefix="tl-"))
    with ScriptedModel() as model:
        own = {"PATH": f"{program().parent}:{node().parent}:/usr/local/bin:/usr/bin:/bin", "GOOSE_PROVIDER": "openai",
               "GOOSE_MODEL": "fake-model", "OPENAI_API_KEY": "sk-fake", "OPENAI_HOST": model.url, "GOOSE_MODE": "approve",
               "GOOSE_DISABLE_KEYRING": "1", "GOOSE_TELEMETRY_ENABLED": "false"}
        hub = HubProcess(root / "hub", policy=RULE, env=own)
        work = root / "work"
        work.mkdir()
        env = {**own_environment(hub.home), **own, "TERM": "xterm-256color"}
        with hub:
            done = hub.command("hooks", "install", "--yes", "goose")
            assert done.returncode == 0, done.stderr
            with Terminal(root, [str(program()), "session", "--with-builtin", "developer"], env, work) as terminal:
                terminal.sees(READY, START_S)
                yield Seat(hub, model, terminal, work, AGENT, PROMPT, ready=READY)
    shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="module")
def somebody() -> Iterator[Seat]:
    with seat() as one:
        yield one


@pytest.mark.shows("history equal to its store")
def test_its_session_is_followed_with_what_its_database_says(somebody: Seat) -> None:
    somebody.says("run: touch a1")
    somebody.presses("Enter")
    somebody.made("a1")
    eventually(lambda: somebody.sessions(), "its hook had the hub follow it", 20)
    (session,) = somebody.sessions()

    def told() -> str:
        return json.dumps(somebody.events("message:start,message:delta,message:complete,tool:start,tool:result", session["id"]))

    eventually(lambda: all(words in told() for words in ("run: touch a1", "I will use a tool.", "Done.", "tool:result")),
               "all of the turn is in the journal", 30)
    assert not somebody.pending(), "nothing announces what it asks"


@pytest.mark.shows("deny rule answers")
def test_a_rule_that_denies_answers_after_the_persons_yes_and_the_model_sees_the_reason(somebody: Seat) -> None:
    somebody.terminal.sees(READY)
    somebody.says("run: touch forbidden1")
    somebody.presses("Enter")
    somebody.is_told("not that one")
    assert not (somebody.work / "forbidden1").exists()
    (session,) = somebody.sessions()
    (end,) = somebody.events("approval:resolved", session["id"])
    assert (end["approved"], end["resolvedBy"]) == (False, "policy")


@pytest.mark.shows("found, and shown as running")
def test_its_session_is_found_and_said_to_run(somebody: Seat) -> None:
    for view in somebody.sessions():
        somebody.hub.wire.ask("DELETE", f"/sessions/{view['id']}")

    def running() -> list[Any]:
        found = somebody.hub.wire.get("/found?agent=goose")["sessions"]
        return [each for each in found if each["cwd"] == str(somebody.work) and each["running"] and each["pid"]]

    eventually(running, "the session is found in its database, with who runs it", 20)


@pytest.mark.shows("hub killed while it is asked: the terminal asks as usual")
def test_a_hub_that_is_killed_leaves_the_terminal_to_its_person(somebody: Seat) -> None:
    somebody.hub.kill()
    somebody.says("run: touch a4")
    somebody.presses("Enter")
    somebody.made("a4")
    somebody.hub.start()


@pytest.mark.shows("hooks removed: settings as before")
def test_removed_hooks_leave_nothing(somebody: Seat) -> None:
    plugins = somebody.hub.home / ".agents" / "plugins"
    assert (plugins / "trunkline").exists()
    removed = somebody.hub.command("hooks", "remove", "--yes", "goose")
    assert removed.returncode == 0, removed.stderr
    assert list(plugins.iterdir()) == []
