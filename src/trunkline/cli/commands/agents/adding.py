"""How an agent of a person's own is added and taken away, and what is said of it.

Rule 1: only what was added is ever taken away: what ships with us and what stands in config.toml stays.
Rule 2: what is refused is refused before anything is written, and by its name.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from trunkline.agents import catalog
from trunkline.agents.catalog import AgentSpec
from trunkline.agents.catalog.own import FOLDER, OwnFolder
from trunkline.agents.environment import RESERVED_PREFIX
from trunkline.cli.hosting.datadir import DataDir
from trunkline.cli.naming import known_agents, meant
from trunkline.dialects.visible import one_line
from trunkline.errors import AgentNotInstalled, Conflict, Invalid, NotFound
from trunkline.settings import Settings

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PATTERN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\*?")
ICON_MOST = 2


def own_names(settings: Settings) -> list[str]:
    """What was added, also what cannot be read."""
    own = OwnFolder(settings.data / FOLDER)
    return sorted({*own.specs(), *own.problems()})


def resolved(words: Sequence[str]) -> list[str]:
    """A command whose program stays the same one in every folder."""
    program = words[0]
    return [os.path.abspath(os.path.expanduser(program)) if "/" in program else program, *words[1:]]


def variables(pairs: Iterable[str]) -> dict[str, str]:
    """``NAME=VALUE`` words; Invalid names the one that is none."""
    found = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not _VARIABLE.fullmatch(name):
            raise Invalid(f"--env: expected NAME=VALUE, got {name[:80]!r}")
        found[name] = value
    return found


def add_agent(settings: Settings, name: str, table: Mapping[str, Any], *, replace: bool) -> None:
    """Add an agent and say so; Invalid or Conflict where it cannot be."""
    entry = {key: value for key, value in table.items() if value}
    _check(entry)
    catalog.spec_from_table(name, entry, source=name)  # before anything is said of its name
    own = OwnFolder(settings.data / FOLDER)
    _check_free(settings, own, name, replace)
    DataDir(settings.data).make()
    spec = own.add(name, entry)
    given = [f"{variable}={value}" for variable, value in spec.env.items()]  # a variable may run a program, too
    click.echo(f"added {name}: {one_line(shlex.join([*given, *spec.command]))}")
    click.echo(f"its entry is {own.file(name)}; a hub that runs knows it from now on")
    _tell_missing(spec)


def remove_agent(settings: Settings, name: str) -> None:
    """Take one away that was added; Invalid says where another one is from."""
    own = OwnFolder(settings.data / FOLDER)
    if _is_name(name) and own.has(name):
        own.remove(name)
        click.echo(f"removed {name}" + (", which is the catalog's own again" if name in catalog.shipped() else ""))
        return
    if name in settings.agents:
        raise Invalid(f"{name} stands in {settings.config}: take [agents.{name}] out there")
    if name in catalog.shipped():
        raise Invalid(f"{name} comes with Trunkline; only what was added can be removed")
    raise NotFound(f"no agent {name!r} was added here{meant(name, own_names(settings))}", details={"agent": name})


def _check(entry: Mapping[str, Any]) -> None:
    """What the catalog would take, and what is no good in it."""
    for pattern in entry.get("env_allow", ()):
        if not _PATTERN.fullmatch(pattern):
            raise Invalid(f"--env-allow: {pattern[:80]!r} is no name of a variable; MY_KEY or MY_*")
    for variable in (*entry.get("env_allow", ()), *entry.get("env", ())):
        if variable.startswith(RESERVED_PREFIX):
            raise Invalid(f"{variable[:80]}: {RESERVED_PREFIX}* is the hub's own and never reaches an agent")
        if not _PATTERN.fullmatch(variable):
            raise Invalid(f"env: {variable[:80]!r} is no name of a variable")
    if len(entry.get("icon", "")) > ICON_MOST:
        raise Invalid(f"--icon: expected one or two characters, got {entry['icon'][:80]!r}")
    if not entry.get("docs_url", "https://").startswith(("https://", "http://")):
        raise Invalid(f"--docs-url: expected an address, got {entry['docs_url'][:80]!r}")


def _check_free(settings: Settings, own: OwnFolder, name: str, replace: bool) -> None:
    if name in settings.agents:
        raise Conflict(f"{name} stands in {settings.config} already, which comes before what is added: change it there")
    if replace or (name not in known_agents(settings) and not own.has(name)):
        return
    what = "was added already" if own.has(name) else "comes with Trunkline"
    raise Conflict(f"{name} {what}: take another name, or --replace to let yours come first")


def _tell_missing(spec: AgentSpec) -> None:
    """A program that is not there may come later."""
    try:
        catalog.launch_command(spec, os.environ)
    except AgentNotInstalled as error:
        click.echo(f"note: {one_line(error.message)}", err=True)


def _is_name(name: str) -> bool:
    """A name of an agent, and of no other file."""
    return "/" not in name and name not in ("", ".", "..") and "\0" not in name
