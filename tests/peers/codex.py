"""The real Codex in a real terminal, with its shared daemon, against a scripted model on loopback; and a hub beside it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.peers.install import node, npm_package
from tests.peers.recipes import CODEX
from tests.tooling.hub_process import HubProcess
from tests.tooling.processes import eventually, is_alive
from tests.tooling.scripted_model import ScriptedModel
from tests.tooling.tmux import Terminal

Json = dict[str, Any]

VERSION = "0.166.0"
AGENT = "codex-acp"
PROMPT = "Would you like to"
"""In the program's own question."""

KNOWN = '''
[projects."WORK"]
trust_level = "trusted"
[tui]
screen_reader_detection_done = true
[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"
'''
"""What the program asks at its first start, answered."""


class Person:
    """Somebody with a terminal, Codex in it, and a hub."""

    def __init__(self, hub: HubProcess, model: ScriptedModel, terminal: Terminal, work: Path, home: Path,
                 env: dict[str, str]) -> None:
        self.hub = hub
        self.model = model
        self.terminal = terminal
        self.work = work
        self.home = home
        self.env = env

    @property
    def socket(self) -> Path:
        """Where the daemon listens."""
        return self.home / "app-server-control" / "app-server-control.sock"

    def says(self, text: str) -> None:
        """Type a prompt, and see it sent."""
        self.terminal.sees("›")
        self.terminal.type(text)

    def hears(self, words: str) -> None:
        """Wait until the agent says that."""
        self.terminal.sees(f"• {words}")

    def presses(self, key: str) -> None:
        """Answer the program's own question."""
        self.terminal.sees(PROMPT)
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
            return [event for event in self.events("approval:resolved") if event["requestId"] == ask["approval"]["requestId"]]

        eventually(found, "the approval has ended", 20)
        return found()[0]

    def session(self) -> Any:
        """The one session that the hub has of it."""
        def found() -> list[Any]:
            return [each for each in self.hub.wire.get("/sessions")["sessions"] if each["agent"] == AGENT]

        eventually(found, "the hub has the session", 20)
        (session,) = found()
        return session

    def events(self, *kinds: str) -> list[Json]:
        """What happened in the session."""
        types = f"&types={','.join(kinds)}" if kinds else ""
        return list(self.hub.wire.get(f"/sessions/{self.session()['id']}/history?limit=1000{types}")["events"])

    def messages(self) -> list[tuple[str, str]]:
        """Who said what, in the hub's history."""
        return [(event["role"], "".join(part.get("text", "") for part in event["content"]))
                for event in self.events("message:complete")]

    def stored(self) -> list[tuple[str, str]]:
        """The same, in the program's own file."""
        (file,) = (self.home / "sessions").rglob("rollout-*.jsonl")
        said: list[tuple[str, str]] = []
        for line in file.read_text().splitlines():
            payload = json.loads(line)["payload"]
            if json.loads(line)["type"] == "response_item" and payload.get("type") == "message":
                text = "".join(part.get("text", "") for part in payload["content"])
                if payload["role"] == "assistant" or (payload["role"] == "user" and not text.lstrip().startswith("<")):
                    said.append((payload["role"], text))
        return said

    def is_idle(self) -> None:
        """Wait until nothing runs, and the hub has all of it."""
        eventually(lambda: self.session()["turn"] is None, "the turn is over", 20)


def program() -> Path:
    """The installed CLI."""
    return npm_package("codex-cli", f"@openai/codex@{VERSION}") / "codex"


@contextmanager
def person(*flags: str, policy: str = "", words: tuple[str, ...] = (), install: bool = True) -> Iterator[Person]:
    root = Path(tempfile.mkdtemp(prefix="tl-"))
    work, home = root / "work", root / "person" / ".codex"
    work.mkdir()
    home.mkdir(parents=True)
    with ScriptedModel() as model:
        (home / "config.toml").write_text(CODEX.replace("MODEL", model.url) + KNOWN.replace("WORK", str(work)))
        env = {"PATH": f"{node().parent}:/usr/local/bin:/usr/bin:/bin", "HOME": str(home.parent), "CODEX_HOME": str(home),
               "LANG": "C.UTF-8", "TERM": "xterm-256color", "FAKE_KEY": "sk-fake"}
        hub = HubProcess(root / "hub", *flags, policy=policy, env={"CODEX_HOME": str(home)})
        try:
            with hub, Terminal(root, [str(program()), *words], env, work) as terminal:
                if install:
                    done = hub.command("hooks", "install", "--yes", AGENT)
                    assert done.returncode == 0, done.stderr
                begin(terminal)
                yield Person(hub, model, terminal, work, home, env)
        finally:
            end_daemon(home)
    shutil.rmtree(root, ignore_errors=True)


def begin(terminal: Terminal) -> None:
    """Wait until the program takes prompts."""
    terminal.sees("? for shortcuts", 60)


def end_daemon(home: Path) -> None:
    """End the daemon that the program started: it outlives its terminals."""
    file = home / "app-server-daemon" / "daemon.pid"
    if file.exists():
        pid = json.loads(file.read_text())["pid"]
        if is_alive(pid):
            os.kill(pid, signal.SIGTERM)
            eventually(lambda: not is_alive(pid), "the daemon has ended", 20)
