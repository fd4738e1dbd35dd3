"""``trunkline continue SESSION``: go on here with a session that another program wrote.

Rule: what will be done is said before it is done; what cannot be is said with what can.
"""

from __future__ import annotations

import os
from typing import Any, Literal

import click

from trunkline.cli.common import finish, setting_flags
from trunkline.cli.completing import agent_names, session_ids
from trunkline.cli.hosting.locate import connected, find_or_start
from trunkline.cli.naming import named_anywhere
from trunkline.cli.read_settings import load
from trunkline.client import Client, HandoverView, SessionView
from trunkline.errors import SessionInUse, Unsupported
from trunkline.settings import Settings

WAIT_S = 50
"""How long one request waits for a program to end; another follows."""

How = Literal["resume", "fork", "summary"]


@click.command(short_help="Go on here with a session of another program.")
@click.argument("session_id", metavar="SESSION", shell_complete=session_ids)
@click.option("--fork", "how", flag_value="fork", help="begin a branch of it here; the other program keeps its own")
@click.option("--summary", "how", flag_value="summary", help="begin a new session with what was said, where it cannot be resumed")
@click.option("--wait", is_flag=True, help="wait until the program that has it open has ended")
@click.option("--agent", metavar="NAME", shell_complete=agent_names,
              help="whose session it is, where it is neither the hub's nor in files: it is opened by its id")
@click.option("--folder", metavar="DIR", type=click.Path(exists=True, file_okay=False), help="the folder of such a one  [here]")
@setting_flags("clients")
def command(session_id: str, how: How | None, wait: bool, agent: str | None, folder: str | None, **flags: Any) -> None:
    """Go on here with a session of another program.

    SESSION is the hub's id, the agent's own, or the beginning of one. A session that another program has open is not touched: end
    it there (--wait waits for that), or begin a branch (--fork).
    """
    finish(_continue(load(flags), session_id, how or "resume", wait, agent, os.path.abspath(folder or ".")))


async def _continue(settings: Settings, session_id: str, how: How, wait: bool, agent: str | None, folder: str) -> None:
    endpoint = await find_or_start(settings, tell=True)
    async with connected(endpoint, settings) as hub:
        if agent is not None:
            click.echo(f"{agent} is started, and opens {session_id} in {folder}.")
            _tell(await hub.attach(agent, session_id, watch=False if how == "resume" else None, project_path=folder))
            return
        view = await _followed(hub, session_id)
        handover = await hub.handover(view.id)
        while wait and how == "resume" and handover.running:
            click.echo(f"waits for process {handover.pid} to end", err=True)
            handover = await hub.handover(view.id, wait=WAIT_S)
        if handover.here:
            click.echo("it is here already")
            _tell(view)
            return
        _say(handover, how)
        _tell(await hub.take_over(view.id, how))


async def _followed(hub: Client, name: str) -> SessionView:
    found = await named_anywhere(hub, name)
    return found if isinstance(found, SessionView) else await hub.attach(found.agent, found.id, watch=True)


def _say(handover: HandoverView, how: How) -> None:
    """What will be done, or an error with what can be."""
    can = [way.how for way in handover.ways if way.possible]
    way = next((way for way in handover.ways if way.how == how), None)
    if way is not None and way.possible:
        click.echo(way.words)
        return
    others = "".join(f"; --{other} can be done" for other in can if other != "resume")
    words = way.words if way is not None else f"this session cannot be continued by {how}"
    kind = SessionInUse if handover.running and how == "resume" else Unsupported
    raise kind(words.rstrip(".") + others, details={"can": can, "pid": handover.pid})


def _tell(view: SessionView) -> None:
    click.echo(f"continues as {view.id}: trunkline chat {view.id}, or trunkline open {view.id}")
