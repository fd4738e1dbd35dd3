"""The agents of this machine: found, which version, whether somebody has logged in; and hooks into those that run elsewhere.

Rule: a login is looked for where the agent's entry says (``login``), and never read. That it is there does not say that it still
counts.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import NamedTuple

from trunkline.agents.catalog import AgentSpec, detect, expand
from trunkline.agents.catalog.own import FOLDER, OwnFolder
from trunkline.cli.commands.doctor.finding import Finding, Scene, bad, note, ok
from trunkline.cli.naming import known_agents
from trunkline.errors import TrunklineError
from trunkline.reach.install import Hooks
from trunkline.reach.lines.consent import LineConsent
from trunkline.reach.lines.file_pairs import pairs_folder
from trunkline.reach.lines.program_socket import greet, socket_of

OWN_DEMO = "demo"


class Installed(NamedTuple):
    """An agent that is on this machine."""

    spec: AgentSpec
    version: str | None


async def agents(scene: Scene) -> list[Finding]:
    """Each that is installed, and what is wrong with those that were added."""
    catalog = {spec.name: spec for spec in await scene.off_loop(lambda: list(known_agents(scene.settings).values()))}
    installed = await (_told(scene, catalog) if scene.endpoint is not None else _found(scene, catalog))
    lines = [await scene.off_loop(agent_of, each, scene.environ) for each in installed]
    own = OwnFolder(scene.settings.data / FOLDER)
    problems = {} if scene.is_closed else await scene.off_loop(own.problems)
    broken = [bad("agents", f"{name} was added and cannot be used: {problem}",
                  f"trunkline agents remove {name}, or mend {own.file(name)}") for name, problem in problems.items()]
    return [*lines, *_others(installed, len(catalog)), *broken]


def agent_of(found: Installed, environ: Mapping[str, str]) -> Finding:
    """An agent that is installed, and its login as far as one can see."""
    spec = found.spec
    name = f"{spec.name} {found.version}" if found.version else spec.name
    if spec.name == OWN_DEMO:
        return ok("agents", f"{name}: ships with Trunkline, needs no login")
    if not (spec.login.env or spec.login.files):
        return ok("agents", f"{name}: whether somebody has logged in shows when it is used")
    where = login_at(spec, environ)
    if where:
        return ok("agents", f"{name}: a login is there ({where})")
    return note("agents", f"{name}: no login was seen", spec.login_hint)


def login_at(spec: AgentSpec, environ: Mapping[str, str]) -> str:
    """Where a login was seen: a variable, or a file; empty where none was."""
    for name in spec.login.env:
        if environ.get(name):
            return name
    for file in spec.login.files:
        path = expand(file, environ)
        if path is not None and os.path.exists(path):
            return path
    return ""


async def hooks(scene: Scene) -> list[Finding]:
    """Whether agents in terminals may be answered from the hub, as far as their own settings say."""
    return await scene.off_loop(_hooks, scene)


def _hooks(scene: Scene) -> list[Finding]:
    known = known_agents(scene.settings).values()
    found = [_hooks_of(spec, scene) for spec in known if spec.hooks]
    found += [_line_of(spec, scene) for spec in known if spec.line.socket or spec.line.flags]
    installed = [finding for finding in found if finding is not None]
    return installed or [ok("hooks", "none: agents in terminals ask there alone; trunkline hooks install AGENT changes that")]


def _hooks_of(spec: AgentSpec, scene: Scene) -> Finding | None:
    """Of one agent; None where nothing of ours is in its settings."""
    try:
        found = Hooks(spec, scene.settings.data, scene.environ)
        state = found.state()
    except TrunklineError as error:
        return note("hooks", f"{spec.name}: {error.message}", "mend that file; until then its terminal alone asks")
    if state == "absent":
        return None
    if state != "installed":
        return bad("hooks", f"{spec.name}: {state} in {found.path}", f"trunkline hooks install {spec.name}")
    if scene.endpoint is None:
        return note("hooks", f"{spec.name}: installed, and no hub runs that would answer", "trunkline serve")
    return ok("hooks", f"{spec.name}: installed in {found.path}")


async def _told(scene: Scene, catalog: Mapping[str, AgentSpec]) -> list[Installed]:
    """What the hub found: its PATH counts, not ours."""
    async with scene.asked() as hub:
        return [Installed(catalog[each.name], each.version) for each in await hub.agents()
                if each.installed and each.name in catalog]


async def _found(scene: Scene, catalog: Mapping[str, AgentSpec]) -> list[Installed]:
    found = await asyncio.gather(*(detect(spec, scene.environ) for spec in catalog.values()))
    return [Installed(spec, each.version) for spec, each in zip(catalog.values(), found, strict=True) if each.installed]


def _others(installed: list[Installed], known: int) -> list[Finding]:
    rest = known - len(installed)
    if all(each.spec.name == OWN_DEMO for each in installed):
        return [note("agents", f"none of the {rest} others that are known is installed",
                     "trunkline agents says what installs each")]
    return [ok("agents", f"{rest} others are known and not installed (trunkline agents lists them)")] if rest else []


def _line_of(spec: AgentSpec, scene: Scene) -> Finding | None:
    """Of one that is listened to by a live line; None where nobody agreed to that."""
    if not LineConsent(spec, scene.settings.data).is_given():
        return None
    if spec.line.flags:
        return _pairs_of(spec, scene)
    path = socket_of(spec, scene.environ)
    try:
        took_ms = greet(path) * 1e3
    except OSError:
        return note("hooks", f"{spec.name}: nobody answers at {path}; its sessions are followed by their files",
                    f"start it in a terminal; it needs {spec.line.needs}")
    if scene.endpoint is None:
        return note("hooks", f"{spec.name}: installed, and no hub runs that would listen", "trunkline serve")
    return ok("hooks", f"{spec.name}: its program answers at {path} in {took_ms:.0f} ms")


def _pairs_of(spec: AgentSpec, scene: Scene) -> Finding:
    folder = pairs_folder(scene.settings.data, spec.name)
    if not os.path.isdir(folder):
        return bad("hooks", f"{spec.name}: {folder} is gone, so that its program is started as ever",
                   f"trunkline hooks remove {spec.name}, and install it again")
    if scene.endpoint is None:
        return note("hooks", f"{spec.name}: installed, and no hub runs that would listen", "trunkline serve")
    return ok("hooks", f"{spec.name}: agreed to; it needs {spec.line.needs}")
