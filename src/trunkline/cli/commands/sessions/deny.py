"""``trunkline deny [ID]``: refuse what an agent asks for."""

from __future__ import annotations

from typing import Any

import click

from trunkline.cli.commands.sessions.approve import SCOPES
from trunkline.cli.common import finish, setting_flags
from trunkline.cli.completing import waiting_approvals
from trunkline.cli.read_settings import load
from trunkline.cli.waiting import id_of, line_of, with_ask
from trunkline.client import Client, PendingAsk, Scope


@click.command(short_help="Deny what an agent asks for.")
@click.argument("name", metavar="[ID]", required=False, shell_complete=waiting_approvals)
@click.option("--reason", metavar="TEXT", help="why; the agent reads it")
@click.option("--scope", type=click.Choice(SCOPES), default="once", show_default=True, help="for how long that counts")
@setting_flags("clients")
def command(name: str | None, reason: str | None, scope: Scope, **flags: Any) -> None:
    """Deny what an agent asks for.

    ID is the beginning of the request's id or of its session's. Without one, the only request that waits is denied; where
    several wait they are listed, and nothing is done.
    """

    async def work(hub: Client, ask: PendingAsk) -> None:
        await hub.decide(ask.session_id, id_of(ask), allow=False, reason=reason, scope=scope)
        click.echo(f"denied {line_of(ask)}")

    finish(with_ask(load(flags), "approval", name, work))
