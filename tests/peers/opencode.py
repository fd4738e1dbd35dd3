"""OpenCode in a terminal: the real program, a scripted model behind it, a hub with the plugin beside it, and somebody there."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.peers.install import node, npm_package
from tests.peers.recipes import OPENCODE
from tests.tooling.hub_process import HubProcess, own_environment
from tests.tooling.processes import eventually
from tests.tooling.scripted_model import ScriptedModel
from tests.tooling.tmux import Terminal

Json = dict[str, Any]

AGENT = "opencode"
VERSION = "1.18.33"
PACKAGE = f"opencode-ai@{VERSION}"
PROMPT = "Permission required"
READY = "Ask anything"
RULE = '[[rules]]\ncommand = ["touch forbidden*"]\nreason = "not that one"\naction = "deny"\n'
READ_S = 1.0
"""The program takes no key for a moment after it has asked: what somebody was typing is no answer."""


class Person:
    """Somebody with OpenCode in a terminal."""

    def __init__(self, hub: HubProcess, model: ScriptedModel, terminal: Terminal, work: Path) -> None:
        self.hub = hub
        self.model = model
        self.terminal = terminal
        self.work = work

    def says(self, text: str) -> None:
        """Type a prompt."""
        self.terminal.unsees(PROMPT)
        self.terminal.type(text)

    @property
    def session(self) -> Any:
        """The session that is followed."""
        def found() -> list[Any]:
            return [each for each in self.hub.wire.get("/sessions")["sessions"] if each["agent"] == AGENT]

        eventually(found, "the hub has the session", 30)
        return found()[0]

    def is_idle(self) -> None:
        """Wait until its turn has ended."""
        eventually(lambda: self.session["status"] == "idle", "the turn has ended", 30)

    def texts(self, session_id: str) -> list[str]:
        """What the agent has said, by the journal."""
        messages = self.events(session_id, "message:complete")
        return [text_in(event) for event in messages if event["role"] == "assistant"]

    def presses(self, key: str) -> None:
        """Answer the program's own question."""
        self.terminal.sees(PROMPT)
        time.sleep(READ_S)
        self.terminal.key(key)

    def pending(self) -> list[Any]:
        """What waits in the hub."""
        return list(self.hub.wire.get("/approvals")["pending"])

    def asked(self) -> Any:
        """The one ask that waits in the hub."""
        try:
            eventually(self.pending, "the hub shows the ask", 30)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.terminal.screen}\n{self.hub.log()}") from None
        (ask,) = self.pending()
        return ask

    def decide(self, ask: Any, **decision: Any) -> None:
        """Answer it in the hub."""
        self.hub.wire.post(f"/sessions/{ask['sessionId']}/permissions/{ask['approval']['requestId']}", decision, 200)

    def ended(self, ask: Any) -> Json:
        """How an approval ended, as its event says."""
        def found() -> list[Json]:
            events = self.events(ask["sessionId"], "approval:resolved")
            return [event for event in events if event["requestId"] == ask["approval"]["requestId"]]

        eventually(found, "the approval has ended", 20)
        return found()[0]

    def events(self, session_id: str, kinds: str) -> list[Json]:
        """Events of a session, of these kinds."""
        return list(self.hub.wire.get(f"/sessions/{session_id}/history?types={kinds}&limit=500")["events"])

    def made(self, name: str, wait_s: float = 30.0) -> None:
        """Wait until a command has made this file."""
        try:
            eventually((self.work / name).exists, f"{name} is made", wait_s)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.terminal.screen}\n{self.hub.log()}") from None

    def is_told(self, words: str, wait_s: float = 30.0) -> None:
        """Wait until the model was sent these words."""
        try:
            eventually(lambda: any(words in told for told in self.model.told), f"the model is told {words!r}", wait_s)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.terminal.screen}") from None


def text_in(event: Any) -> str:
    content = event["content"]
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


@contextmanager
def place(*flags: str, policy: str = RULE) -> Iterator[tuple[HubProcess, ScriptedModel, Path, dict[str, str]]]:
    """A hub with the plugin installed, a folder to work in, and what a terminal's environment is."""
    root = Path(tempfile.mkdtemp(prefix="tl-"))
    program = npm_package("opencode", PACKAGE, "opencode-ai")
    with ScriptedModel() as model:
        hub = HubProcess(root / "hub", *flags, policy=policy)
        work, config = root / "work", hub.home / "config" / "opencode"
        work.mkdir()
        config.mkdir(parents=True)
        (config / "opencode.json").write_text(OPENCODE.replace("MODEL", model.url))
        env = {**own_environment(hub.home), "PATH": f"{program}:{node().parent}:/usr/local/bin:/usr/bin:/bin",
               "TERM": "xterm-256color"}
        with hub:
            done = hub.command("hooks", "install", "--yes", AGENT)
            assert done.returncode == 0, done.stderr
            yield hub, model, work, env
    shutil.rmtree(root, ignore_errors=True)


@contextmanager
def person(*flags: str, policy: str = RULE) -> Iterator[Person]:
    with place(*flags, policy=policy) as (hub, model, work, env):
        with Terminal(work.parent, ["opencode"], env, work) as terminal:
            yield begun(hub, model, terminal, work)


def begun(hub: HubProcess, model: ScriptedModel, terminal: Terminal, work: Path) -> Person:
    """The program, started; it takes its time for the first prompt."""
    terminal.sees(READY, 120)
    terminal.type("say hello")
    terminal.sees("Hello from the fake model.", 120)
    return Person(hub, model, terminal, work)
