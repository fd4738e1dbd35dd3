"""``trunkline open [SESSION]``: the page in a browser, logged in, at home or at one session."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

import click

from trunkline.cli.common import finish, setting_flags
from trunkline.cli.completing import session_ids
from trunkline.cli.hosting.locate import connected, find_or_start
from trunkline.cli.hosting.way_in import has_display, link_to_session, tunnel
from trunkline.cli.naming import named
from trunkline.cli.read_settings import load
from trunkline.settings import Settings


@click.command(short_help="Open the page in a browser, or print a link to it.")
@click.argument("session_id", metavar="[SESSION]", required=False, shell_complete=session_ids)
@click.option("--print", "only_print", is_flag=True, help="print the link; open nothing")
@setting_flags("clients")
def command(session_id: str | None, only_print: bool, **flags: Any) -> None:
    """Open the page in a browser, or print a link to it.

    The link logs a browser in, once, within a minute. With SESSION it leads to that session. A hub is started if none is running.
    """
    finish(_open(load(flags), session_id, only_print))


async def _open(settings: Settings, session_id: str | None, only_print: bool) -> None:
    endpoint = await find_or_start(settings, tell=True)
    async with connected(endpoint, settings) as hub:
        session = None if session_id is None else (await named(hub, session_id)).id
        url = endpoint.url + (await hub.new_code()).path if session is None else await link_to_session(hub, endpoint.url, session)
    if only_print or not has_display(os.environ, sys.platform):
        click.echo(url)
        if away := tunnel(endpoint.url):
            click.echo(f"from your own machine, first run: {away}", err=True)
        return
    import webbrowser  # who prints needs none

    if not await asyncio.to_thread(webbrowser.open, url):
        click.echo(url)
