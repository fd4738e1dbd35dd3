"""``trunkline away``: whoever leaves the terminals says so, and is asked on the phone."""

from __future__ import annotations

from typing import Any

import click

from trunkline.cli.common import finish, setting_flags
from trunkline.cli.hosting.locate import connected, find
from trunkline.cli.read_settings import load
from trunkline.errors import Unavailable
from trunkline.settings import Settings


@click.command(short_help="Say that you leave your terminals.")
@setting_flags("clients")
def command(**flags: Any) -> None:
    """Say that you leave your terminals.

    Programs whose hook hides their own prompt are then asked here; `trunkline here` ends it.
    """
    finish(say(load(flags), away=True))


async def say(settings: Settings, *, away: bool) -> int:
    """Tell the hub that runs; without one there is nobody to be asked by."""
    endpoint = await find(settings)
    if endpoint is None:
        raise Unavailable("no hub is running, so nobody would be asked there")
    async with connected(endpoint, settings) as hub:
        view = await hub.set_away(away)
    click.echo("you are away: what is asked is asked here" if view.away else "you are here: terminals ask you first")
    return 0
