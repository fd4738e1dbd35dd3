"""``trunkline here``: whoever is back at the terminals says so."""

from __future__ import annotations

from typing import Any

import click

from trunkline.cli.commands.terminals.away import say
from trunkline.cli.common import finish, setting_flags
from trunkline.cli.read_settings import load


@click.command(short_help="Say that you are back at your terminals.")
@setting_flags("clients")
def command(**flags: Any) -> None:
    """Say that you are back at your terminals."""
    finish(say(load(flags), away=False))
