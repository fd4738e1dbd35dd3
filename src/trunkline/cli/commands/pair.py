"""``trunkline pair``: a one-time code for another device, as a picture in the terminal and as an address.

Rule: the code goes to a terminal or to whoever reads our output, never to a log; an address that the device cannot reach is
called that.
"""

from __future__ import annotations

import io
import sys
import time
from typing import Any, TextIO

import click

from trunkline.cli.common import finish, output, print_json, setting_flags
from trunkline.cli.hosting.locate import connected, find_or_start
from trunkline.cli.read_settings import load
from trunkline.client import Pairing
from trunkline.settings import Settings

SCOPES = ("view", "approve", "control", "admin")
_BLOCKS = "▀▄█"
"""What the picture is made of."""

_NOTES = {
    "machine": "Only this machine can open it: the hub listens on loopback. For a phone, start it with --host, --tls-cert, "
               "--tls-key and --public-url, or put a proxy with TLS before it and name that with --public-url.",
    "insecure": "Without TLS everybody on the way can read along, and browsers offer no notifications.",
}


@click.command(short_help="Pair a phone or another device by a code.")
@click.option("--scope", type=click.Choice(SCOPES), default="control", show_default=True, help="what the device may do")
@click.option("--name", metavar="TEXT", help="what the device is called, unless it says so itself")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@setting_flags("clients")
def command(scope: str, name: str | None, as_json: bool, **flags: Any) -> None:
    """Pair a phone or another device by a code.

    Scan the picture or open the address on the device. The code works once, for ten minutes; five wrong tries end it.
    """
    finish(_pair(load(flags), scope, name, as_json))


async def _pair(settings: Settings, scope: str, name: str | None, as_json: bool) -> None:
    out = output()
    endpoint = await find_or_start(settings, tell=True)
    async with connected(endpoint, settings) as hub:
        made = await hub.pair(scope=scope, name=name)
    if as_json:
        print_json(made)
        return
    if out.isatty() and can_draw(out):
        click.echo(picture(made.url))
    click.echo(made.url)
    click.echo(f"code {made.code}, scope {made.scope}, good until {time.strftime('%H:%M', time.localtime(made.expires_at))}")
    for note in notes(made):
        print(note, file=sys.stderr)


def notes(made: Pairing) -> list[str]:
    """What whoever holds the device should know."""
    if made.reach == "machine":
        return [_NOTES["machine"]]
    return [] if made.secure else [_NOTES["insecure"]]


def picture(url: str) -> str:
    """The address as a QR code of half blocks."""
    import segno  # only who pairs pays for it

    drawn = io.StringIO()
    segno.make_qr(url, error="l").terminal(drawn, compact=True)
    return drawn.getvalue()


def can_draw(out: TextIO) -> bool:
    """Whether the terminal has the letters that the picture is made of."""
    try:
        _BLOCKS.encode(out.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
