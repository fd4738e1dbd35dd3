"""``trunkline stop``: end the hub of a data folder, gently."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from typing import Any

import click

from trunkline.cli.common import setting_flags
from trunkline.cli.hosting.datadir import DataDir
from trunkline.cli.read_settings import load
from trunkline.errors import Invalid, Unavailable

PATIENCE_S = 60.0
"""The hub's own limits to stop every agent are far below this."""
POLL_S = 0.05


@click.command(short_help="Stop the hub and every agent it runs.")
@setting_flags("clients")
def command(**flags: Any) -> None:
    """Stop the hub and every agent it runs.

    Sessions are kept: the next hub on the same data folder has them again.
    """
    settings = load(flags)
    if settings.url is not None:
        raise Invalid("stop ends the hub of a data folder on this machine; it does not take a url")
    folder = DataDir(settings.data)
    pid = folder.holder()
    if not pid:
        click.echo("no hub is running")
        return
    end(folder, pid)
    click.echo(f"stopped the hub (process {pid})")


def end(folder: DataDir, pid: int) -> None:
    """Ask the process that holds the lock to stop, and wait until the lock is free."""
    with suppress(ProcessLookupError):  # it was just ending by itself
        os.kill(pid, signal.SIGTERM)
    give_up = time.monotonic() + PATIENCE_S
    while folder.holder() == pid:
        if time.monotonic() > give_up:
            raise Unavailable(f"the hub (process {pid}) has not stopped within {PATIENCE_S:g} s")
        time.sleep(POLL_S)
