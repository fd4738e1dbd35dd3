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

from tests.peers.install import node, npm_package
from tests.peers.recipes import CODEX
from tests.peers.seat import Seat
from tests.tooling.hub_process import HubProcess
from tests.tooling.processes import eventually, is_alive
from tests.tooling.scripted_model import ScriptedModel
from tests.tooling.tmux import START_S, Terminal

VERSION = "0.166.0"
AGENT = "codex-acp"
PROMPT = "Would you like to"
"""In the program's own question."""

KNOWN = '''
[projects."WORK"]
trust_level = "trusted"
[features]
default_mode_request_user_input = true
[tui]
screen_reader_detection_done = true
[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"
'''
"""What the program asks at its first start, answered."""


class Person(Seat):
    """Somebody with Codex, whose own files are in ``home``."""

    def __init__(self, hub: HubProcess, model: ScriptedModel, terminal: Terminal, work: Path, home: Path,
                 env: dict[str, str]) -> None:
        super().__init__(hub, model, terminal, work, AGENT, PROMPT, ready="›")
        self.home = home
        self.env = env

    @property
    def socket(self) -> Path:
        """Where the daemon listens."""
        return self.home / "app-server-control" / "app-server-control.sock"

    def hears(self, words: str) -> None:
        """Wait until the agent says that."""
        self.terminal.sees(f"• {words}")

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
    terminal.sees("? for shortcuts", START_S)


def end_daemon(home: Path) -> None:
    """End the daemon that the program started: it outlives its terminals."""
    file = home / "app-server-daemon" / "daemon.pid"
    if file.exists():
        pid = json.loads(file.read_text())["pid"]
        if is_alive(pid):
            os.kill(pid, signal.SIGTERM)
            eventually(lambda: not is_alive(pid), "the daemon has ended", 20)
