"""``trunkline send SESSION PROMPT``: a prompt to a session that is there, from a script or another terminal."""

from __future__ import annotations

from typing import Any

import click

from trunkline.cli.commands.run import Order, TurnOnScreen, prompt_text
from trunkline.cli.common import finish, output, setting_flags
from trunkline.cli.completing import session_ids
from trunkline.cli.hosting.locate import connected, find_or_start
from trunkline.cli.naming import named
from trunkline.cli.read_settings import load
from trunkline.settings import Settings


@click.command(short_help="Send a prompt to a session.")
@click.argument("session_id", metavar="SESSION", shell_complete=session_ids)
@click.argument("prompt")
@click.option("--wait", is_flag=True, help="wait for the turn and print the agent's answer; the exit code is that of run")
@click.option("--json", "as_json", is_flag=True, help="with --wait, print packets, one JSON object a line")
@setting_flags("clients")
def command(session_id: str, prompt: str, wait: bool, as_json: bool, **flags: Any) -> None:
    """Send a prompt to a session.

    SESSION is the beginning of its id. PROMPT is the prompt's text, or - to read it from standard input. It waits its turn where
    one is running. A hub is started if none is running.
    """
    output()
    finish(_send(load(flags), session_id, prompt_text(prompt), wait or as_json, as_json))


async def _send(settings: Settings, name: str, prompt: str, wait: bool, as_json: bool) -> int:
    endpoint = await find_or_start(settings, tell=True)
    async with connected(endpoint, settings) as hub:
        view = await named(hub, name)
        if wait:
            order = Order(agent=view.agent, prompt=prompt, cwd=view.cwd, mode=None, title=None, sandbox=False, network=None,
                          as_json=as_json, quiet=True, policy="wait")
            return await TurnOnScreen(hub, view.id, order).turn()
        taken = await hub.send(view.id, prompt, when_busy="queue")
        click.echo(f"{'queued in' if taken.queued else 'sent to'} {view.id}")
        return 0
