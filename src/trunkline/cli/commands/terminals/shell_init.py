"""``trunkline shell-init SHELL``: functions for a shell, so that programs in terminals have a line to the hub. Needs no hub.

Rule: it only prints. What a function does is decided when it is called: see ``reach/shell_functions.py``.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, get_args

import click

from trunkline.agents.catalog import AgentSpec, Catalog
from trunkline.cli.common import output, setting_flags
from trunkline.cli.naming import known_agents
from trunkline.cli.read_settings import load
from trunkline.errors import Invalid
from trunkline.reach.lines.consent import LineConsent
from trunkline.reach.lines.file_pairs import pairs_folder
from trunkline.reach.shell_functions import Chatted, Paired, Shell, function_of
from trunkline.reach.socket import SOCKET_FILE
from trunkline.settings import Settings


@click.command(short_help="Print functions for your shell.")
@click.argument("shell", type=click.Choice(get_args(Shell)))
@click.option("--chat", "chats", metavar="AGENT", multiple=True,
              help="start this agent in the hub, with the chat in front, where its program is typed alone; repeat for more")
@setting_flags("clients")
def command(shell: Shell, chats: tuple[str, ...], **flags: Any) -> None:
    """Print functions for your shell.

    They start programs in your terminal as ever, and give those a line to the hub that have one by files, once you have agreed
    to it (`trunkline hooks install AGENT`). Without a hub, and with flags of your own for it, the program is started as you typed
    it. The line for your shell's own file:

    \b
    bash   eval "$(trunkline shell-init bash)"    in ~/.bashrc
    zsh    eval "$(trunkline shell-init zsh)"     in ~/.zshrc
    fish   trunkline shell-init fish | source     in ~/.config/fish/config.fish
    """
    output()
    settings = load(flags)
    known = known_agents(settings)
    started: dict[str, Paired | Chatted] = {}
    for spec in known.values():
        if len(spec.line.flags) == 2:
            paired = _paired(spec, settings.data.absolute())
            started.setdefault(paired.program, paired)
    for name in chats:  # whoever wants the chat has no terminal session that a line could be for
        chat = _chatted(name, known, settings, flags)
        started[chat.program] = chat
    click.echo("# Functions for programs in this terminal; printed by trunkline shell-init.")
    for each in started.values():
        click.echo(function_of(shell, each), nl=False)


def _paired(spec: AgentSpec, data: Path) -> Paired:
    events, reads = spec.line.flags
    return Paired(os.path.basename(spec.command[0]), (events, reads), spec.line.alone, pairs_folder(data, spec.name),
                  LineConsent(spec, data).path, data / SOCKET_FILE)


def _chatted(name: str, known: Catalog, settings: Settings, flags: dict[str, Any]) -> Chatted:
    if name not in known:
        raise Invalid(f"no agent is named {name!r}; these are: {', '.join(known)}")
    words = ["chat", *(["--data", str(settings.data.absolute())] if flags.get("data") else []), name]
    return Chatted(os.path.basename(known[name].command[0]), words)
