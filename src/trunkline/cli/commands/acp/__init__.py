"""``trunkline acp``: any agent of the hub for an editor that speaks the Agent Client Protocol on stdio.

    messages.py  what the bridge reads and adds     bridge.py  lines to frames and back, over lost connections
    pipes.py     our own stdin and stdout

Rule 1: stdout carries messages and nothing else; what a person should know goes to stderr.
Rule 2: the session lives in the hub. When the editor closes our stdin we go, and nothing else does.
"""

from __future__ import annotations

from typing import Any

import click

from trunkline.cli.common import finish, output, setting_flags
from trunkline.cli.read_settings import load
from trunkline.settings import Settings


@click.command(short_help="Be an agent to an editor, on stdin and stdout.")
@click.option("--agent", metavar="NAME", help="the agent that new sessions get  [the first that is installed]")
@click.option("--hub", metavar="URL", help="the same as --url")
@setting_flags("clients")
def command(agent: str | None, hub: str | None, **flags: Any) -> None:
    """Be an agent to an editor, on stdin and stdout.

    The editor's settings name this command, which speaks the Agent Client Protocol. Its sessions run in the hub, where the page
    and other editors see them too. A hub is started if none is running. The agent gets the PATH and the keys of the editor's
    environment.

    When the editor ends, its sessions go on. It finds them again by session/list and session/load.
    """
    output()
    if hub is not None:
        flags["url"] = hub
    finish(serve(load(flags), agent))


async def serve(settings: Settings, agent: str | None) -> int:
    """Carry messages between stdin and stdout and the hub until the editor leaves; returns the exit code."""
    from trunkline.cli.commands.acp.bridge import Bridge
    from trunkline.cli.commands.acp.pipes import Stdout, stdin_lines

    out = await Stdout.open()
    try:
        await Bridge(settings, agent, out).run(stdin_lines())
    finally:
        await out.close()
    return 0
