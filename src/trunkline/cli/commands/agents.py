"""``trunkline agents``: what can be run here."""

from __future__ import annotations

from typing import Any

import click

from trunkline.cli.common import finish, print_json, print_table, setting_flags
from trunkline.cli.hosting.locate import connected, find_or_start
from trunkline.cli.read_settings import load
from trunkline.client import AgentView
from trunkline.dialects.visible import one_line
from trunkline.settings import Settings


@click.command(short_help="List the agents that can be run.")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@setting_flags("clients")
def command(as_json: bool, **flags: Any) -> None:
    """List the agents that can be run.

    Those that are not installed are listed with what installs them. ASKS FIRST: yes where runs have shown that the agent asks
    before it acts; do not count on being asked by the others. SANDBOX: what all its sessions run in; as asked: what each of
    them asks for.
    """
    finish(_list(load(flags), as_json))


async def _list(settings: Settings, as_json: bool) -> None:
    endpoint = await find_or_start(settings, tell=True)
    async with connected(endpoint, settings) as hub:
        agents = sorted(await hub.agents(), key=lambda agent: (not agent.installed, agent.name))
    if as_json:
        print_json(agents)
    else:
        print_table(("AGENT", "NAME", "INSTALLED", "ASKS FIRST", "SANDBOX", "INSTALL WITH"), [_row(agent) for agent in agents])


def _row(agent: AgentView) -> tuple[str, str, str, str, str, str]:
    state = (agent.version or "yes") if agent.installed else "no"
    hint = "" if agent.installed else one_line(agent.install_hint or agent.docs_url or "")
    asks = "yes" if agent.asks_permission else "not seen"
    return agent.name, one_line(agent.display_name), one_line(state), asks, str(agent.sandbox or "as asked"), hint
