"""A hub that is started where one runs already: who sits at the terminal gets a link to that one."""

from __future__ import annotations

import asyncio
import sys

from trunkline.cli.hosting.locate import connected, find
from trunkline.cli.hosting.way_in import print_way_in
from trunkline.errors import TrunklineError
from trunkline.settings import Settings


def tell_about_the_first(settings: Settings) -> None:
    """Tell how to get into the hub that runs; where it does not answer, whoever called says that one has the folder."""
    try:
        asyncio.run(_tell(settings))
    except TrunklineError as error:
        print(f"it gives no link: {error.message}", file=sys.stderr)


async def _tell(settings: Settings) -> None:
    endpoint = await find(settings)
    if endpoint is None:
        return
    link = None
    if sys.stderr.isatty():
        async with connected(endpoint, settings) as hub:
            link = endpoint.url + (await hub.new_code()).path
    print_way_in(settings, endpoint.url, link)
