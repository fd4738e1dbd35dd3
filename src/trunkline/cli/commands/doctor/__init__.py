"""``trunkline doctor``: what a person would otherwise have to ask about, each with its fix.

    finding.py   what a check says, and what all of them look at
    machine.py   Python, the settings, the clock, the disk, the browser
    folder.py    the data folder, its token, rules and journal
    hub.py       the hub, its port, who is told by push
    agents.py    the agents of this machine, their logins, hooks
    cluster/     the hub's cluster, where the settings name one

Rule 1: nothing is written, and no hub is started. What a check cannot look at is its finding.
Rule 2: a check is one function of a ``Scene``; CHECKS is the order in which people read them.
Rule 3: no token is ever shown, nor any other content of a file that only its owner may read.
"""

from __future__ import annotations

import asyncio
import shutil
import textwrap
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import click

from trunkline.cli.commands.doctor import agents, cluster, folder, hub, machine
from trunkline.cli.commands.doctor.finding import Finding, Scene, bad, look, note
from trunkline.cli.common import counted, finish, output, print_json, setting_flags
from trunkline.cli.exits import EXIT_ERROR
from trunkline.dialects.visible import one_line
from trunkline.errors import TrunklineError

CHECK_S = 15.0
"""How long one check may take: agents are asked for their versions at the same time, for two seconds each."""

LABEL = 16
"""Columns in front of what a finding says."""
WIDTH_MOST = 110

Check = Callable[[Scene], Awaitable[list[Finding]]]

CHECKS: Mapping[str, Check] = {
    "python": machine.python,
    "settings": machine.settings,
    "data": folder.data,
    "token": folder.token,
    "hub": hub.hub,
    "port": hub.port,
    "disk": machine.disk,
    "clock": machine.clock,
    "journal": folder.journal,
    "rules": folder.rules,
    "agents": agents.agents,
    "hooks": agents.hooks,
    "browser": machine.browser,
    "push": hub.push,
    "cluster": cluster.cluster,
}

OF_FOLDER = frozenset({"token", "hub", "journal", "rules", "push"})
"""What only who may look into the data folder can find out, unless a hub answers."""


@click.command(short_help="Look for what is wrong, and say what mends it.")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@setting_flags("clients", "cluster")
def command(as_json: bool, **flags: Any) -> None:
    """Look for what is wrong, and say what mends it.

    Nothing is changed and no hub is started. The exit code is 0 when nothing is wrong, 1 when something is; a note is worth
    knowing and nothing wrong.
    """
    output()
    finish(_examine(flags, as_json))


async def _examine(flags: Mapping[str, Any], as_json: bool) -> int:
    scene = await look(flags)
    try:
        findings = await examined(scene)
    finally:
        scene.close()
    wrong = sum(finding.state == "bad" for finding in findings)
    if as_json:
        print_json({"ok": not wrong, "findings": findings})
    else:
        _print(findings, wrong)
    return EXIT_ERROR if wrong else 0


async def examined(scene: Scene, checks: Mapping[str, Check] = CHECKS) -> list[Finding]:
    """What all checks say, in their order."""
    found = await asyncio.gather(*(_tried(name, check, scene) for name, check in checks.items()))
    return [finding for each in found for finding in each]


async def _tried(name: str, check: Check, scene: Scene) -> list[Finding]:
    if scene.is_closed and scene.endpoint is None and name in OF_FOLDER:
        return [note(name, "not to be seen: the data folder is closed to you")]
    try:
        async with asyncio.timeout(CHECK_S):
            return await check(scene)
    except TimeoutError:
        return [bad(name, f"could not be looked at within {CHECK_S:g} s", "look whether a disk or a mount hangs: df, mount")]
    except TrunklineError as error:
        return [bad(name, f"could not be looked at: {error.message}")]
    except Exception as error:  # the boundary: a check that fails on this machine must not hide the others
        return [bad(name, f"could not be looked at: {error or type(error).__name__}")]


def _print(findings: list[Finding], wrong: int) -> None:
    width = min(shutil.get_terminal_size().columns, WIDTH_MOST)
    for finding in findings:
        for line in lines_of(finding, width):
            click.echo(line)
    notes = sum(finding.state == "note" for finding in findings)
    told = f", {counted(notes, 'note')}" if notes else ""
    click.echo(f"\n{counted(wrong, 'thing')} to mend{told}" if wrong else f"\nnothing is wrong{told}")


def lines_of(finding: Finding, width: int) -> list[str]:
    """A finding as lines of the terminal; a word that is longer than a line, as a path may be, is left whole."""
    mark = {"ok": click.style("ok", fg="green"), "note": click.style("note", fg="yellow"),
            "bad": click.style("MEND", fg="red", bold=True)}[finding.state]
    gap = " " * (6 - len(click.unstyle(mark)))
    room = max(width - LABEL, 20)
    what, *more = _wrapped(finding.what, room)
    fix = _wrapped(f"→ {finding.fix}", room) if finding.fix else []
    head = f"{mark}{gap}{finding.check:<{LABEL - 6}}{what}"
    return [head, *(" " * LABEL + line for line in (*more, *fix))]


def _wrapped(text: str, room: int) -> list[str]:
    return textwrap.wrap(one_line(text), room, break_long_words=False, break_on_hyphens=False) or [""]

