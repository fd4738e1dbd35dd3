"""``trunkline cluster sweep``: remove what deleted sessions left in the streams, once or over and over.

Rule: with ``--every`` a sweep that fails is told, and the next one is made all the same.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import click

from trunkline.cli.commands.cluster.reaching import reached
from trunkline.cli.common import counted, finish, print_json, setting_flags
from trunkline.cli.read_settings import load
from trunkline.errors import TrunklineError
from trunkline.settings import Settings

if TYPE_CHECKING:
    from trunkline.cluster.sweeping import Swept


@click.command(short_help="Remove what deleted sessions left in the cluster.")
@click.option("--every", type=click.IntRange(min=1), metavar="MINUTES", help="go on, and sweep so often, until it is stopped")
@click.option("--json", "as_json", is_flag=True, help="print JSON: what was removed of each session")
@setting_flags("cluster")
def sweep(every: int | None, as_json: bool, **flags: Any) -> None:
    """Remove what deleted sessions left in the cluster's streams, with the key of an admin.

    A deleted session is shown by no node from then on, but a node's key may remove nothing. On one server its messages are erased
    one by one, which overwrites their bytes; on three they are purged. It may run beside hubs at any time.
    """
    finish(_sweep_always(load(flags), every, as_json) if every else _sweep(load(flags), as_json))


async def _sweep(settings: Settings, as_json: bool) -> None:
    async with reached(settings) as connection:
        from trunkline.cluster.sweeping import sweep as sweep_streams

        found = await sweep_streams(connection)
    if as_json:
        print_json(found)
    else:
        _print(found)


async def _sweep_always(settings: Settings, every: int, as_json: bool) -> None:
    while True:
        try:
            await _sweep(settings, as_json)
        except TrunklineError as error:
            click.echo(f"nothing was swept: {error.message}", err=True)
        await asyncio.sleep(every * 60)


def _print(found: list[Swept]) -> None:
    for each in found:
        click.echo(f"{each.session} of pool {each.pool}: {_removed(each.erased, each.purged)}")
    erased, purged = (sum(counts) for counts in ([each.erased for each in found], [each.purged for each in found]))
    click.echo(f"{counted(len(found), 'session')} swept" + (f", {_removed(erased, purged)}" if found else ""))


def _removed(erased: int, purged: int) -> str:
    return f"{counted(erased, 'message')} erased" if erased else f"{counted(purged, 'message')} purged"
