"""``trunkline cluster drain``, ``forget`` and ``move``: what a hub of the cluster does for its people.

Rule: a hub is asked, as for all that concerns sessions: it knows who may do that, and writes down who did.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import click

from trunkline.cli.common import finish, setting_flags
from trunkline.cli.hosting.locate import connected, find_or_start
from trunkline.cli.naming import named
from trunkline.cli.read_settings import load
from trunkline.client import Client
from trunkline.errors import SessionNotFound


@click.command(short_help="Let no new sessions begin at a node.")
@click.argument("node")
@click.option("--undo", is_flag=True, help="let them begin there again")
@setting_flags("clients")
def drain(node: str, undo: bool, **flags: Any) -> None:
    """Let no new sessions begin at a node, over its restarts too; what runs there goes on."""

    async def work(hub: Client) -> None:
        view = await hub.drain(node, draining=not undo)
        left = next((each.sessions for each in view.nodes if each.node == node), 0)
        click.echo(f"{node} takes new sessions again" if undo else f"{node} takes no new sessions; it has {left}")

    finish(_with_hub(flags, work))


@click.command(short_help="Say that a node is gone for good.")
@click.argument("node")
@setting_flags("clients")
def forget(node: str, **flags: Any) -> None:
    """Say that a node is gone for good. It is refused while the node is there.

    Its sessions stay readable, and can be moved to another node of its pool.
    """

    async def work(hub: Client) -> None:
        view = await hub.forget_node(node)
        left = next((each.sessions for each in view.nodes if each.node == node), 0)
        click.echo(f"{node} is forgotten" + (f"; {left} sessions of it stay readable" if left else ""))

    finish(_with_hub(flags, work))


@click.command(short_help="Have another node go on with a session.")
@click.argument("session")
@click.argument("node")
@click.option("--force", is_flag=True, help="cut a running turn off")
@setting_flags("clients")
def move(session: str, node: str, force: bool, **flags: Any) -> None:
    """Have another node of its pool go on with a session.

    The node that has it stops its agent and hands all of it over. From a node that is away it is taken: what only that node has
    is not part of the session any more.
    """

    async def work(hub: Client) -> None:
        try:
            view = await hub.move(session, node, force=force)  # a node that is away cannot say what the session is called
        except SessionNotFound:
            view = await hub.move((await named(hub, session)).id, node, force=force)
        click.echo(f"{view.id} is on {view.node or node} now")

    finish(_with_hub(flags, work))


async def _with_hub(flags: Mapping[str, Any], work: Callable[[Client], Awaitable[None]]) -> None:
    settings = load(flags)
    async with connected(await find_or_start(settings), settings) as hub:
        await work(hub)
