"""OpenCode in a terminal: the real program, a scripted model behind it, a hub with the plugin beside it, and somebody there."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.peers.install import node, npm_package
from tests.peers.recipes import OPENCODE
from tests.peers.seat import Seat
from tests.tooling.hub_process import HubProcess, own_environment
from tests.tooling.scripted_model import ScriptedModel
from tests.tooling.tmux import START_S, Terminal

AGENT = "opencode"
VERSION = "1.18.33"
PACKAGE = f"opencode-ai@{VERSION}"
PROMPT = "Permission required"
READY = "Ask anything"
RULE = '[[rules]]\ncommand = ["touch forbidden*"]\nreason = "not that one"\naction = "deny"\n'


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
def person(*flags: str, policy: str = RULE, words: Sequence[str] = (), **more: str) -> Iterator[Seat]:
    """``words`` and ``more``: what the program is started with, and variables of its terminal."""
    with place(*flags, policy=policy) as (hub, model, work, env):
        with Terminal(work.parent, ["opencode", *words], {**env, **more}, work) as terminal:
            yield begun(hub, model, terminal, work)


def begun(hub: HubProcess, model: ScriptedModel, terminal: Terminal, work: Path) -> Seat:
    """The program, started; it takes its time for the first prompt."""
    terminal.sees(READY, START_S)
    terminal.type("say hello")
    terminal.sees("Hello from the fake model.", START_S)
    return at(hub, model, terminal, work)


def at(hub: HubProcess, model: ScriptedModel, terminal: Terminal, work: Path) -> Seat:
    """Somebody in front of it."""
    return Seat(hub, model, terminal, work, AGENT, PROMPT)
