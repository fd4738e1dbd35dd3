"""``trunkline release SESSION``: end a session's agent here, and say how its own program goes on with it."""

from __future__ import annotations

from typing import Any

import click

from trunkline.cli.common import finish, print_json, setting_flags
from trunkline.cli.completing import session_ids
from trunkline.cli.hosting.locate import connected, find_or_start
from trunkline.cli.naming import named
from trunkline.cli.read_settings import load
from trunkline.settings import Settings


@click.command(short_help="Give a session back to its own program.")
@click.argument("session_id", metavar="SESSION", shell_complete=session_ids)
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@setting_flags("clients")
def command(session_id: str, as_json: bool, **flags: Any) -> None:
    """Give a session back to its own program.

    Its agent is ended here, and the command is printed that goes on with it in a terminal. What is done there is followed here.
    """
    finish(_release(load(flags), session_id, as_json))


async def _release(settings: Settings, session_id: str, as_json: bool) -> None:
    endpoint = await find_or_start(settings, tell=True)
    async with connected(endpoint, settings) as hub:
        given = await hub.give_back((await named(hub, session_id)).id)
    if as_json:
        print_json(given)
        return
    click.echo(f"{given.session_id} is {'given back, and followed' if not given.here else 'at rest: its agent has ended'}")
    if given.resume_command is not None:
        click.echo(f"go on with: {given.resume_command}")
