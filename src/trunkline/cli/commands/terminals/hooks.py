"""``trunkline hooks``: programs in terminals may be answered from the hub, by hooks in their own settings or by a live line to a
program that serves terminals. Needs no hub.

Rule 1: nothing is changed that was not shown, and nothing without the person's yes (``--yes`` for scripts).
Rule 2: never at a start-up: only here.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, Final

import click

from trunkline.agents.catalog import AgentSpec, Catalog
from trunkline.cli.commands import GuessingGroup
from trunkline.cli.common import output, print_json, setting_flags
from trunkline.cli.hosting.datadir import DataDir
from trunkline.cli.naming import known_agents
from trunkline.cli.read_settings import load
from trunkline.dialects.visible import one_line
from trunkline.errors import Invalid, TrunklineError
from trunkline.reach.install import Change, Hooks, is_installed
from trunkline.reach.lines.consent import LineConsent
from trunkline.reach.lines.file_pairs import pairs_folder
from trunkline.reach.lines.program_socket import greet, socket_of
from trunkline.reach.socket import SOCKET_FILE, Short
from trunkline.settings import Settings

PING_S: Final = 2.0
INIT_LINES: Final = {"bash": 'eval "$(trunkline shell-init bash)"', "zsh": 'eval "$(trunkline shell-init zsh)"',
                     "fish": "trunkline shell-init fish | source"}
MEASURED: Final = 10
"""Times that the hook is run to see how long it takes."""


class _Group(GuessingGroup):
    """Knows what others call its commands."""

    synonyms: ClassVar = {"add": ("install",), "uninstall": ("remove",), "rm": ("remove",), "list": ("status",)}


@click.group(cls=_Group, invoke_without_command=True, short_help="Answer agents that you run in terminals.")
@setting_flags("clients")
@click.pass_context
def command(ctx: click.Context, /, **flags: Any) -> None:
    """Answer agents that you run in terminals.

    A hook or plugin in the agent's own settings asks the hub; your terminal asks you at the same time, and the first answer wins.
    Of agents whose hook would hide that question, the hub asks you only while you are away.
    """
    ctx.obj = flags
    if ctx.invoked_subcommand is None:
        ctx.invoke(status)


@command.command()
@click.argument("agents", metavar="AGENT...", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="do not ask before it is written")
@setting_flags("clients")
def install(agents: tuple[str, ...], yes: bool, **flags: Any) -> None:
    """Show what is added to an agent's settings, and add it."""
    settings = _settings(flags)
    for hooks in [_hooks(name, settings, _with_hooks(settings)) for name in agents]:
        if isinstance(hooks, LineConsent):
            _agree(hooks, settings, yes)
            continue
        change = hooks.installing()
        if not change.diff:
            if not is_installed(settings.data, hooks.spec.name):  # the hub's own word of it was lost
                DataDir(settings.data).make()
                hooks.install(change)
            click.echo(f"{hooks.spec.name}: installed already in {hooks.path}")
        elif _agreed(change, yes):
            DataDir(settings.data).make()
            hooks.install(change)
            when = "that run already have it within seconds" if hooks.reloads else "have it that begin from now on"
            click.echo(f"{hooks.spec.name}: installed; sessions {when}")
            if hooks.waits_for_away:
                click.echo("its terminal asks you; only while you are away (`trunkline away`) it is the hub that asks instead")


@command.command()
@click.argument("agents", metavar="AGENT...", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="do not ask before it is written")
@setting_flags("clients")
def remove(agents: tuple[str, ...], yes: bool, **flags: Any) -> None:
    """Show what is taken out of an agent's settings, and take it out."""
    settings = _settings(flags)
    removable = {spec.name: spec for spec in (*_reached(Catalog(settings.agents)), *_with_hooks(settings))}
    for hooks in [_hooks(name, settings, list(removable.values())) for name in agents]:
        if isinstance(hooks, LineConsent):
            _disagree(hooks, settings)
            continue
        change = hooks.removing()
        if change.diff and not _agreed(change, yes):
            continue
        hooks.remove(change)  # also where somebody took our entries out by hand: programs that know them are not answered either
        _call_hub(settings, "lines")
        click.echo(f"{hooks.spec.name}: " + ("removed" if change.diff else f"nothing is installed in {hooks.path}"))


@command.command()
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@setting_flags("clients")
def status(as_json: bool = False, **flags: Any) -> None:
    """Say what is installed, whether the hub would answer, and how long that takes."""
    settings = _settings(flags)
    answers_ms = _ping(settings)
    found = [_status(_channel(spec, settings)) for spec in _with_hooks(settings)]
    if as_json:
        print_json({"hub": {"answers": answers_ms is not None, "ms": answers_ms}, "agents": found})
        return
    click.echo(f"the hub answers in {answers_ms:.1f} ms" if answers_ms is not None
               else "no hub would answer: agents ask in their terminals alone")
    for each in found:
        took = f", {each['measured']} {each['ms']:.0f} ms" if each["ms"] is not None else ""
        why = f": {one_line(each['problem'])}" if each["problem"] else ""
        click.echo(f"{each['agent']:14} {each['state']:10} {one_line(each['path'])}{took}{why}")


def _status(hooks: Hooks | LineConsent) -> dict[str, Any]:
    if isinstance(hooks, LineConsent):
        return _line_status(hooks)
    try:
        state, problem = str(hooks.state()), ""
    except TrunklineError as error:
        state, problem = "unreadable", error.message
    return {"agent": hooks.spec.name, "state": state, "path": hooks.path, "problem": problem, "measured": "the hook takes",
            "ms": _measured(hooks.words("ping")) if state != "absent" and hooks.is_program else None}


def _line_status(line: LineConsent) -> dict[str, Any]:
    path, problem, took = socket_of(line.spec), "", None
    if line.spec.line.flags:
        path = str(pairs_folder(line.data, line.spec.name))
    elif line.is_given():
        try:
            took = greet(path) * 1e3
        except OSError as error:
            problem = f"nobody answers there ({error.strerror or error}): its sessions are followed by their files alone. " \
                      f"It needs {line.spec.line.needs}"
    return {"agent": line.spec.name, "state": "installed" if line.is_given() else "absent", "path": path, "problem": problem,
            "measured": "its program answers in", "ms": took}


def _agree(line: LineConsent, settings: Settings, yes: bool) -> None:
    """Say what the hub would do, and ask."""
    if line.is_given():
        click.echo(f"{line.spec.name}: installed already")
        return
    by_files = bool(line.spec.line.flags)
    click.echo(_by_files(line) if by_files else _by_socket(line))
    if _is_agreed(yes, f"Let the hub connect to {line.spec.display_name}?"):
        DataDir(settings.data).make()
        if by_files:
            pairs_folder(settings.data, line.spec.name).mkdir(mode=0o700, parents=True, exist_ok=True)
        line.give()
        _call_hub(settings, "lines")
        when = "begin from now on, in shells that have the function" if by_files else "run already are there within seconds"
        click.echo(f"{line.spec.name}: installed; sessions that {when}")


def _by_socket(line: LineConsent) -> str:
    return (f"No settings file is changed. The hub connects to {one_line(socket_of(line.spec))},\n"
            "by which the program serves your terminals: their sessions are shown as they go, what they ask can be answered,\n"
            f"and prompts can be sent to them. It needs {line.spec.line.needs}.")


def _by_files(line: LineConsent) -> str:
    events, reads = line.spec.line.flags
    shell = os.path.basename(os.environ.get("SHELL", ""))
    program, folder = os.path.basename(line.spec.command[0]), one_line(str(pairs_folder(line.data, line.spec.name)))
    return (f"No settings file is changed. A function for your shell starts `{program}` with {events} and {reads},\n"
            f"two files of its own for each start, in {folder}.\n"
            "By these the hub shows its sessions as they go, answers what they ask, and sends prompts to them. Without a\n"
            "hub the program is started as ever. The line for your shell's own file:\n\n"
            f"  {INIT_LINES.get(shell, INIT_LINES['bash'])}\n")


def _disagree(line: LineConsent, settings: Settings) -> None:
    was_given = line.is_given()
    line.take_back()
    if line.spec.line.flags:
        with suppress(OSError):  # there is none, or a program still has its files there
            pairs_folder(settings.data, line.spec.name).rmdir()
    _call_hub(settings, "lines")
    click.echo(f"{line.spec.name}: " + ("removed; the hub listens to it no more" if was_given else "nothing is installed"))


def _measured(words: Sequence[str]) -> float | None:
    """How long the hook takes by itself, in milliseconds: the middle of some runs; None where it cannot be run."""
    took: list[float] = []
    try:
        for _ in range(MEASURED):
            began = time.perf_counter()
            subprocess.run(words, input=b"{}", capture_output=True, timeout=PING_S, check=True)
            took.append(time.perf_counter() - began)
    except (OSError, subprocess.SubprocessError):
        return None
    return sorted(took)[len(took) // 2] * 1e3


def _ping(settings: Settings) -> float | None:
    """How long the hub takes to answer, in milliseconds; None where none does."""
    began = time.perf_counter()
    return (time.perf_counter() - began) * 1e3 if _call_hub(settings, "ping").endswith(b"pong") else None


def _call_hub(settings: Settings, kind: str) -> bytes:
    """What the hub answers by its socket for hooks; nothing where none runs."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link, Short(settings.data / SOCKET_FILE) as address:
            link.settimeout(PING_S)
            link.connect(address)
            link.sendall(f"trunkline 1 - {kind} 0 0\n".encode())
            return link.makefile("rb").read(100)
    except OSError:
        return b""


def _agreed(change: Change, yes: bool) -> bool:
    """Show the change, and ask."""
    click.echo(change.diff, nl=False)
    return _is_agreed(yes, f"Change {change.path}?")


def _is_agreed(yes: bool, question: str) -> bool:
    if yes:
        return True
    if not sys.stdin.isatty():
        raise Invalid("nothing was changed: nobody is here to ask; --yes changes it without asking")
    return click.confirm(question, default=False)


def _hooks(name: str, settings: Settings, known: Sequence[AgentSpec]) -> Hooks | LineConsent:
    """The hooks of an agent, by its name or the beginning of it."""
    meant = [spec for spec in known if spec.name == name] or [spec for spec in known if spec.name.startswith(name)]
    if len(meant) != 1:
        raise Invalid(f"no agent {name!r} has hooks that Trunkline knows; these have: {', '.join(spec.name for spec in known)}")
    return _channel(meant[0], settings)


def _channel(spec: AgentSpec, settings: Settings) -> Hooks | LineConsent:
    """By what an agent can be reached."""
    is_line = spec.line.socket or spec.line.flags
    return LineConsent(spec, settings.data) if is_line else Hooks(spec, settings.data, os.environ)


def _with_hooks(settings: Settings) -> list[AgentSpec]:
    """Those that the hub would answer. An agent that somebody added in the place of one of ours has none."""
    return _reached(known_agents(settings))


def _reached(known: Catalog) -> list[AgentSpec]:
    return [spec for spec in known.values() if spec.hooks or spec.line.socket or spec.line.flags]


def _settings(flags: Mapping[str, Any]) -> Settings:
    """Flags count behind the subcommand and before it."""
    output()
    before = click.get_current_context().find_object(dict) or {}
    return load({**before, **{key: value for key, value in flags.items() if value is not None}})
