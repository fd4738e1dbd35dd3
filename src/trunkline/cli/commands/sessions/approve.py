"""``trunkline approve [ID]``: allow what an agent asks for."""

from __future__ import annotations

from typing import Any

import click

from trunkline.cli.common import finish, setting_flags
from trunkline.cli.completing import waiting_approvals
from trunkline.cli.read_settings import load
from trunkline.cli.waiting import check_was_seen, id_of, line_of, with_ask
from trunkline.client import Client, PendingAsk, Scope

SCOPES = ("once", "turn", "session", "always")


@click.command(short_help="Approve what an agent asks for.")
@click.argument("name", metavar="[ID]", required=False, shell_complete=waiting_approvals)
@click.option("--scope", type=click.Choice(SCOPES), default="once", show_default=True, help="for how long that counts")
@setting_flags("clients")
def command(name: str | None, scope: Scope, **flags: Any) -> None:
    """Approve what an agent asks for.

    ID is the beginning of the request's id or of its session's. Without one, the only request that waits is approved; where
    several wait they are listed, and nothing is done. A request that changed while it waited needs its whole id.
    """

    async def work(hub: Client, ask: PendingAsk) -> None:
        check_was_seen(ask, name)
        await hub.decide(ask.session_id, id_of(ask), allow=True, scope=scope)
        click.echo(f"approved {line_of(ask)}")

    finish(with_ask(load(flags), "approval", name, work))
