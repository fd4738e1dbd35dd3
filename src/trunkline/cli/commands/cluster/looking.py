"""``trunkline cluster status`` and ``nodes``: who is there, what they have, how the streams are and who leads them.

Rule 1: everything shown is what the cluster itself says at this moment; no hub is asked.
Rule 2: a node that has sessions and no lease is shown, as away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from trunkline.cli.commands.cluster.reaching import reached
from trunkline.cli.common import counted, finish, print_json, print_table, setting_flags, shown_bytes
from trunkline.cli.read_settings import load
from trunkline.settings import Settings

if TYPE_CHECKING:
    from trunkline.cluster.nodes import NodeRow
    from trunkline.cluster.survey.server import Server
    from trunkline.cluster.survey.streams import Stream


@click.command(short_help="Show the nodes of the cluster.")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@setting_flags("cluster")
def nodes(as_json: bool, **flags: Any) -> None:
    """Show the nodes of the cluster: role, pool, version, load, and how far others are behind."""
    finish(_nodes(load(flags), as_json))


@click.command(short_help="Show the cluster: nodes, sessions by node, streams.")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@setting_flags("cluster")
def status(as_json: bool, **flags: Any) -> None:
    """Show the cluster: its nodes, the sessions that each has, and how its streams are and who leads them.

    A node that has sessions and is not there is shown as away. LAG is how many sessions others see late, and by how much, or what
    is on its way to them.
    REPLICAS is how many servers have everything, of how many should.
    """
    finish(_status(load(flags), as_json))


async def _nodes(settings: Settings, as_json: bool) -> None:
    async with reached(settings) as connection:
        from trunkline.cluster.survey.members import read_nodes

        found = await read_nodes(connection)
    if as_json:
        print_json([*found.values()])
    else:
        _print_nodes(found, {})


async def _status(settings: Settings, as_json: bool) -> None:
    async with reached(settings) as connection:
        from trunkline.cluster.survey.members import read_nodes, read_owners
        from trunkline.cluster.survey.server import server_of
        from trunkline.cluster.survey.streams import read_streams

        server, streams = server_of(connection), await read_streams(connection)
        found, owners = await read_nodes(connection), await read_owners(connection)
    if as_json:
        away = [node for node in owners if node not in found]
        print_json({"server": server, "nodes": [*found.values()], "away": away, "sessions": owners, "streams": streams})
        return
    click.echo(_head(server, found, owners) + "\n")
    _print_nodes(found, owners)
    click.echo()
    _print_streams(streams)


def _head(server: Server, found: dict[str, NodeRow], owners: dict[str, int]) -> str:
    where = f"{server.url}: {server.name}" + (f" of {server.cluster}" if server.cluster else "")
    counts = f"{counted(len(found), 'node')} there, {counted(sum(owners.values()), 'session')}"
    return f"{where}, NATS {server.version}; {counts}"


def _print_nodes(found: dict[str, NodeRow], owners: dict[str, int]) -> None:
    rows = [(row.node, "draining" if row.draining else "here", row.role, row.pool, row.version,
             str(owners.get(row.node, row.sessions)), str(row.running), _lag(row)) for row in found.values()]
    rows += [(node, "away", "-", "-", "-", str(count), "-", "-") for node, count in owners.items() if node not in found]
    print_table(("NODE", "STATE", "ROLE", "POOL", "VERSION", "SESSIONS", "RUNNING", "LAG"), rows)


def _print_streams(streams: list[Stream]) -> None:
    print_table(("STREAM", "MESSAGES", "SIZE", "OF", "FULL", "REPLICAS", "LEADER"), [_stream_row(each) for each in streams])
    for stream in streams:
        for copy in stream.copies:
            if not copy.is_current:
                click.echo(f"{stream.name}: {copy.server} does not have everything, {counted(copy.behind, 'message')} behind")


def _stream_row(stream: Stream) -> tuple[str, ...]:
    if stream.state != "there":
        return (stream.name, stream.state, "-", "-", "-", "-", "-")
    most = shown_bytes(stream.most) if stream.most > 0 else "no limit"
    return (stream.name, str(stream.messages), shown_bytes(stream.bytes), most, f"{stream.part:.0%}",
            f"{stream.current} of {stream.replicas}", stream.leader or "-")


def _lag(row: NodeRow) -> str:
    if row.lag:
        return f"{counted(len(row.lag), 'session')}, {max(row.lag.values()):.0f} s"
    return f"{row.behind} entries" if row.behind else "-"

