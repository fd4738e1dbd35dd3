"""``trunkline status``: is there a hub, and where. Starts nothing."""

from __future__ import annotations

from typing import Any

import click

from trunkline.cli.common import finish, print_json, setting_flags
from trunkline.cli.hosting.datadir import DataDir
from trunkline.cli.hosting.locate import connected, find, running
from trunkline.cli.read_settings import load
from trunkline.client.hub_views import JournalView
from trunkline.settings import Settings

EXIT_NOT_RUNNING = 1
OPEN = "starting,running,thinking,waiting_for_input,waiting_for_approval,paused"
"""A session in one of these has something going on."""


@click.command(short_help="Say whether a hub is running, and where.")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@setting_flags("clients")
def command(as_json: bool, **flags: Any) -> None:
    """Say whether a hub is running, and where.

    The exit code is 0 when one answers, 1 when none does.
    """
    finish(_status(load(flags), as_json))


async def _status(settings: Settings, as_json: bool) -> int:
    facts = await _facts(settings)
    if as_json:
        print_json(facts)
    else:
        for key, value in facts.items():
            click.echo(f"{key:10}{value}")
    return 0 if facts["running"] else EXIT_NOT_RUNNING


async def _facts(settings: Settings) -> dict[str, Any]:
    endpoint = await find(settings)
    facts: dict[str, Any] = {"running": endpoint is not None, "data": str(settings.data)}
    if endpoint is None:
        holder = DataDir(settings.data).holder()
        return facts | ({"pid": holder, "note": "it holds the lock but does not answer"} if holder else {})
    record = running(DataDir(settings.data)) if settings.url is None else None
    if record is not None:
        facts |= {"pid": record.pid, "version": record.version, "started": record.started_at}
    facts["url"] = endpoint.url
    async with connected(endpoint, settings) as hub:
        facts["active"] = len((await hub.sessions(status=OPEN, limit=200)).sessions)
        facts["journal"] = _journal(await hub.journal())
    return facts


def _journal(view: JournalView) -> str:
    """How what is stored is, in a line."""
    if view.state == "unwritable":
        return f"nothing can be stored: {view.unwritable}"
    if view.state == "hurt":
        aside = f"; the damaged file is {view.asides[-1]}" if view.asides else "; see trunkline journal verify"
        return f"{len(view.damages)} places cannot be read any more{aside}"
    return "whole"
