"""An entry of the catalog out of the JSON of the Agent Client Protocol's public registry: of all of it, or of one agent's file.

Rule 1: pure, and nothing is fetched: who runs the entry later lets ``npx`` or ``uvx`` fetch, as the registry says; of an archive
the install hint tells where it is.
Rule 2: what is not understood is skipped where it only describes, and refused, by its name, where it would be run.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from itertools import islice
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args

import msgspec

from trunkline import decoders
from trunkline.agents.catalog import plain_error
from trunkline.dialects.outside import BROKEN
from trunkline.errors import Invalid, NotFound

By = Literal["npx", "uvx", "binary"]
WAYS: Final[tuple[By, ...]] = get_args(By)

AGENTS_MOST: Final = 10_000
"""Agents of one file; the public registry has a few dozen."""

TOLD_MOST: Final = 20
"""Kinds of machines that an error names."""

_PACKAGE = re.compile(r"[A-Za-z0-9@][\w@./+\[\]=<>!~^-]{0,213}")
"""No word that a package runner takes for an option."""
_PROGRAM = re.compile(r"[A-Za-z0-9_.][\w.+-]{0,99}")
_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
ID_CHARS: Final = 64
"""Of an id that is shown; a longer one is none."""

_MACHINES: Final = {"arm64": "aarch64", "amd64": "x86_64"}

Variables = dict[str, str]


class _Package(msgspec.Struct):
    """What ``npx`` or ``uvx`` runs; ``cmd`` is the program of the package, where it is not the one of its name."""

    package: str
    cmd: str = ""
    args: tuple[str, ...] = ()
    env: Variables = {}


class _Target(msgspec.Struct):
    """A program for one kind of machine."""

    archive: str
    cmd: str
    args: tuple[str, ...] = ()
    env: Variables = {}
    sha256: str | None = None


class _Distribution(msgspec.Struct):
    npx: _Package | None = None
    uvx: _Package | None = None
    binary: dict[str, _Target] = {}


class RegistryAgent(msgspec.Struct):
    """One agent of the registry, as far as it is of use here."""

    id: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    distribution: _Distribution
    version: str = ""
    description: str = ""
    website: str | None = None
    repository: str | None = None

    def ways(self) -> list[By]:
        """How it can be had, in the order in which one is chosen."""
        return [way for way in WAYS if getattr(self.distribution, way)]


class _Registry(msgspec.Struct):
    agents: list[msgspec.Raw]


class _Named(msgspec.Struct):
    id: str = ""


class Listed(NamedTuple):
    """An agent of a file, with what is wrong where it cannot be read."""

    id: str
    agent: RegistryAgent | None
    problem: str = ""


def read_registry(content: bytes) -> list[Listed]:
    """The agents of the registry's file, or the one of an ``agent.json``; Invalid where it is neither."""
    try:
        whole = decoders.decode(content, dict[str, msgspec.Raw])
        entries = decoders.decode(content, _Registry).agents if "agents" in whole else [msgspec.Raw(content)]
    except BROKEN as error:
        raise Invalid(f"not the JSON of an agent registry: {plain_error(error)}") from None
    if "agents" not in whole and "distribution" not in whole:
        raise Invalid("not the JSON of an agent registry: it has neither `agents` nor a `distribution`")
    if len(entries) > AGENTS_MOST:
        raise Invalid(f"it has {len(entries)} agents, more than {AGENTS_MOST}")
    return [_listed(entry) for entry in entries]


def chosen(listed: list[Listed], wanted: str) -> RegistryAgent:
    """The agent of that id, or the only one there is where none is named; NotFound or Invalid names what is wrong."""
    found = [each for each in listed if each.id == wanted] if wanted else listed
    if not found:
        raise NotFound(f"the registry has no agent {wanted!r}", details={"agent": wanted})
    if len(found) > 1 and not wanted:
        raise Invalid(f"it has {len(found)} agents: say which")
    if found[0].agent is None:
        raise Invalid(f"{found[0].id or 'an agent without an id'}: {found[0].problem}")
    return found[0].agent


def entry_of(agent: RegistryAgent, by: By | None, machine: str) -> dict[str, Any]:
    """The table of the catalog's entry. ``by`` is how it is to be had; ``machine`` a name of the registry's: linux-x86_64."""
    ways = agent.ways()
    if by is not None and by not in ways:
        raise Invalid(f"{agent.id}: cannot be had by {by}; by {' or '.join(ways) or 'nothing that is known here'}")
    if not ways:
        raise Invalid(f"{agent.id}: distribution: has none of {', '.join(WAYS)}")
    way = by or ways[0]
    run = _of_archive(agent, machine) if way == "binary" else _of_package(agent, way)
    found = {"display_name": agent.name, "docs_url": _address(agent), **run}
    return {key: value for key, value in found.items() if value}


def way_here(agent: RegistryAgent, which: Callable[[str], str | None]) -> By | None:
    """The first way for which this machine has what runs it; None where none has."""
    return next((way for way in agent.ways() if way == "binary" or which(way)), None)


def machine_name(system: str = sys.platform, kind: str | None = None) -> str:
    """What the registry calls this machine."""
    import platform  # only who imports an agent pays for it

    word = (kind or platform.machine()).lower()
    return f"{system}-{_MACHINES.get(word, word)}"


def _listed(entry: msgspec.Raw) -> Listed:
    try:
        agent = decoders.decode(entry, RegistryAgent)
        if not _ID.fullmatch(agent.id):
            return Listed(agent.id, None, f"id: {agent.id!r} is no name; expected lower-case letters, digits and hyphens")
        return Listed(agent.id, agent)
    except BROKEN as error:
        return Listed(_id_of(entry), None, plain_error(error))


def _id_of(entry: msgspec.Raw) -> str:
    try:
        return decoders.decode(entry, _Named).id[:ID_CHARS]
    except BROKEN:
        return ""


def _of_package(agent: RegistryAgent, way: Literal["npx", "uvx"]) -> dict[str, Any]:
    package: _Package = getattr(agent.distribution, way)
    where = f"{agent.id}: distribution.{way}"
    if not _PACKAGE.fullmatch(package.package):
        raise Invalid(f"{where}.package: {package.package[:80]!r} is no name of a package")
    if package.cmd and not _PROGRAM.fullmatch(package.cmd):
        raise Invalid(f"{where}.cmd: {package.cmd[:80]!r} is no name of a program")
    if way == "npx":
        start, option = ["npx", "-y"], "--package"
        hint = f"npm install -g {package.package} (npm and npx come with Node.js: https://nodejs.org)"
    else:
        start, option = ["uvx"], "--from"
        hint = f"uv tool install {package.package} (uv and uvx: https://docs.astral.sh/uv)"
    words = [option, package.package, package.cmd] if package.cmd else [package.package]
    return {"command": [*start, *words, *package.args], "env": package.env, "install_hint": hint}


def _of_archive(agent: RegistryAgent, machine: str) -> dict[str, Any]:
    targets = agent.distribution.binary
    if machine not in targets:
        others = ", ".join(name[:ID_CHARS] for name in islice(targets, TOLD_MOST))
        raise Invalid(f"{agent.id}: distribution.binary: has nothing for this machine ({machine}); it has {others}")
    target = targets[machine]
    where = f"{agent.id}: distribution.binary.{machine}"
    program = target.cmd.replace("\\", "/").rpartition("/")[2]
    if not _PROGRAM.fullmatch(program):
        raise Invalid(f"{where}.cmd: {target.cmd[:80]!r} is no name of a program")
    if not target.archive.startswith("https://"):
        raise Invalid(f"{where}.archive: {target.archive[:80]!r} is no https address")
    checked = f" (SHA-256 {target.sha256})" if target.sha256 else ""
    hint = f"fetch {target.archive}{checked}, unpack it, and put {program} into a folder of your PATH"
    return {"command": [program, *target.args], "env": target.env, "install_hint": hint}


def _address(agent: RegistryAgent) -> str:
    """Where it is described. People click on it."""
    found = agent.website or agent.repository or ""
    return found if found.startswith(("https://", "http://")) else ""
