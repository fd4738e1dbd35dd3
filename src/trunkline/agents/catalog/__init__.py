"""What can be run: one TOML file per agent beside this module, those that a person added, ``[agents.NAME]`` tables of the
settings, and ad-hoc commands.

    entry.py          what a file or table may say, key by key, and its JSON Schema
    features.py       what an agent can do, as flags
    own.py            the entries that a person added, in the data folder
    acp_registry.py   an entry out of the public registry's JSON

A first word ``{python}`` in ``command`` or ``detect.executable`` is the interpreter that runs the hub.

Rule 1: loading runs nothing and looks at nothing but these files; ``detect`` looks at the machine, in bounded time.
Rule 2: nothing is ever downloaded. An agent is there, or its install hint is shown.
Rule 3: a bad file or table is an Invalid that names the place and the field.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, ValuesView
from functools import cache
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec

from trunkline import decoders
from trunkline.agents.catalog.entry import AgentEntry, Detect, LineEntry, Login, Paths, Quirks, SandboxKind, Speaks
from trunkline.agents.catalog.features import FLAGS
from trunkline.agents.daemons import Daemon
from trunkline.agents.environment import clean_env
from trunkline.agents.process import ChildCommand
from trunkline.agents.resources import Resources, resources_from_table
from trunkline.dialects.calls import ToolNames, ToolRole
from trunkline.dialects.calls.inputs import bare_key
from trunkline.dialects.calls.members import why_not_harmless
from trunkline.dialects.calls.variables import why_not_listed
from trunkline.dialects.outside import BROKEN, NOT_TOML
from trunkline.errors import AgentNotInstalled, Invalid, TrunklineError, Unavailable
from trunkline.threads import Lane, check_off_loop

__all__ = ["AgentSpec", "Catalog", "Detect", "Detection", "Login", "OwnAgents", "Paths", "Quirks", "adhoc", "detect", "expand",
           "find_command", "launch_command", "load", "plain_error", "shipped", "spec_from_table", "spec_from_text"]

VERSION_S: Final = 2.0
"""How long an agent may take to print its version; some start half of themselves for it."""

PYTHON: Final = "{python}"
SESSION: Final = "{session}"
"""Stands for a session's id in the command that goes on with it."""

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_MEMBER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_VARIABLE = re.compile(r"\$\{(\w+):-([^}]*)\}")
_INTERPRETER = re.compile(
    r"(?:python|pypy|node|nodejs|bun|deno|ruby|perl|php|java|bash|dash|sh|zsh|env|npx|uvx|uv|pipx|npm)[\d.]*")
"""Programs that run another one: what they print as their version is not the agent's."""
_INTERPRETED = re.compile(r"\s*(?:Python \d|Node\.js v?\d|GNU bash\b)")
_VERSION = re.compile(r"\d{1,9}\.\d+[\w.+-]*")


class AgentSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One agent that can be run. ``command`` is what to run; ``launch_command`` says where it really is."""

    name: str
    display_name: str
    icon: str
    command: tuple[str, ...]
    detect: Detect
    docs_url: str
    env_allow: tuple[str, ...]
    quirks: Quirks
    install_hint: str
    login_hint: str = ""
    login: Login = Login()
    pick: str = ""
    env: dict[str, str] = {}
    features: tuple[str, ...] = ()
    paths: Paths = Paths()
    store: str = ""
    hooks: str = ""
    line: LineEntry = LineEntry()
    resume: tuple[str, ...] = ()
    tools: dict[str, ToolRole] = {}
    members: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    parent_call: str = ""
    driver: Speaks = "acp"
    sandbox: SandboxKind = "none"
    sandbox_network: bool = True
    sandbox_reads: tuple[str, ...] = ()
    resources: Resources = Resources()
    daemons: tuple[Daemon, ...] = ()

    @property
    def asks_permission(self) -> bool:
        """Whether a run has shown that the agent asks before it acts. Where none has, nobody should count on it."""
        return "approval.toolCalls" in self.features

    def resume_command(self, session_id: str | None, folder: str) -> str | None:
        """What a person types to go on with a session in the agent's own program; None where nothing does. Ids come from files of
        others: one that a program would take for an option, or that is not seen as it is, is put into no command."""
        if not self.resume or not session_id or session_id.startswith("-") or not (session_id + folder).isprintable():
            return None
        words = shlex.join(word.replace(SESSION, session_id) for word in self.resume)
        return f"cd {shlex.quote(folder)} && {words}"

    @property
    def tool_names(self) -> ToolNames:
        """The agent's names for its tools, as the fold takes them."""
        return ToolNames(roles=self.tools, parent_call=self.parent_call, members=frozenset(map(bare_key, self.members)),
                         variables=frozenset(self.variables))


class Detection(msgspec.Struct, frozen=True, kw_only=True):
    """What was found of an agent on this machine."""

    installed: bool
    path: str | None = None
    version: str | None = None


class Catalog(Mapping[str, AgentSpec]):
    """Every agent that can be run, by name. The file of an agent is read when somebody wants that agent.

    ``more`` are those of the settings, which come before those that a person added (``own``, looked at anew each time), and these
    before those of the catalog of the same name."""

    def __init__(self, more: Mapping[str, AgentSpec], own: OwnAgents | None = None) -> None:
        self._more = more
        self._own = own

    def __getitem__(self, name: str) -> AgentSpec:
        before = self._before()
        return before[name] if name in before else _spec_from_file(_files()[name])

    def __contains__(self, name: object) -> bool:
        return name in self._before() or name in _files()

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*_files(), *self._before())))

    def __len__(self) -> int:
        return len({*_files(), *self._before()})

    def values(self) -> ValuesView[AgentSpec]:
        """All of them, as they are at one moment."""
        before = self._before()
        return {name: before[name] if name in before else _spec_from_file(_files()[name])
                for name in dict.fromkeys((*_files(), *before))}.values()

    def _before(self) -> Mapping[str, AgentSpec]:
        return self._more if self._own is None else {**self._own.specs(), **self._more}


class OwnAgents(Protocol):
    """The agents that a person added; ``own`` has them in a folder."""

    def specs(self) -> Mapping[str, AgentSpec]:
        """Those that can be read now."""


def shipped() -> frozenset[str]:
    """The names of the agents that the catalog itself has."""
    return frozenset(_files())


def load() -> dict[str, AgentSpec]:
    """Every agent of the catalog, by name."""
    return dict(Catalog({}))


def spec_from_table(name: str, table: Mapping[str, Any], *, source: str = "") -> AgentSpec:
    """The agent that one file, or one ``[agents.NAME]`` table of the user, describes; ``source`` is named in errors."""
    where = source or f"[agents.{name}]"
    if not _NAME.fullmatch(name):
        raise Invalid(f"{where}: {name!r} is no agent name; use lower-case letters, digits, '.', '_' and '-'")
    try:
        entry = decoders.convert(dict(table), AgentEntry)
    except BROKEN as error:
        raise Invalid(f"{where}: {plain_error(error)}", details={"source": where}) from None
    _check_command(where, entry.command)
    return AgentSpec(
        name=name,
        display_name=entry.display_name or name,
        icon=entry.icon or name[0].upper(),
        command=_resolve(entry.command),
        detect=msgspec.structs.replace(entry.detect, executable=_resolve((entry.detect.executable or entry.command[0],))[0]),
        docs_url=entry.docs_url,
        env_allow=entry.env_allow,
        quirks=entry.quirks,
        install_hint=entry.install_hint,
        login_hint=entry.login_hint,
        login=entry.login,
        pick=entry.pick,
        env=entry.env,
        features=_known_features(where, entry.features),
        paths=entry.paths,
        store=entry.store, hooks=entry.hooks, line=entry.line,
        resume=_resume(where, entry.resume),
        tools=entry.tools,
        members=_harmless_members(where, entry.members),
        variables=_own_variables(where, entry.variables),
        parent_call=entry.parent_call,
        driver=entry.driver,
        sandbox=entry.sandbox,
        sandbox_network=entry.sandbox_network,
        sandbox_reads=entry.sandbox_reads,
        resources=_resources(where, entry.resources),
        daemons=entry.daemons,
    )


def expand(path: str, env: Mapping[str, str]) -> str | None:
    """A path of the catalog on this machine: ``${NAME:-default}`` and ``~`` filled in; None where it names none."""
    filled = _VARIABLE.sub(lambda match: env.get(match[1]) or match[2], path)
    if filled == "~" or filled.startswith("~/"):
        filled = env.get("HOME", os.path.expanduser("~")) + filled[1:]
    return filled or None


def adhoc(name: str, command: str) -> AgentSpec:
    """The agent of ``--agent NAME=COMMAND``: the command is split as a shell would, a relative path is made absolute."""
    where = f"--agent {name}"
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise Invalid(f"{where}: {command!r} cannot be split into words: {error}") from None
    if words and "/" in words[0]:
        words[0] = os.path.abspath(os.path.expanduser(words[0]))
    return spec_from_table(name, {"command": words}, source=where)


async def detect(spec: AgentSpec, env: Mapping[str, str], *, version: bool = True, within_s: float | None = None) -> Detection:
    """Whether an agent is on this machine, where, and which version, unless it is not asked for; bounded in time, never raises.

    ``env`` is the environment whose PATH counts. A version is asked for once per program file; one that was not printed in time
    is asked for again by whoever waits longer.
    """
    try:
        path = await Lane(1).run(_find, spec, env)
    except Unavailable:  # a folder on PATH that does not answer
        path = None
    if path is None:
        return Detection(installed=False)
    found_version = await _version(spec, path, env, within_s or VERSION_S) if version else None
    return Detection(installed=True, path=path, version=found_version)


async def find_command(spec: AgentSpec, env: Mapping[str, str]) -> tuple[str, ...]:
    """``launch_command``, for callers on the loop: a folder on PATH may be on a disk that does not answer."""
    return await Lane(1).run(launch_command, spec, env)


def launch_command(spec: AgentSpec, env: Mapping[str, str]) -> tuple[str, ...]:
    """The command with its program found on ``env``'s PATH; AgentNotInstalled names the command and how to install it."""
    path = _find(spec, env)
    if path is None:
        hint = f"; install it with: {spec.install_hint}" if spec.install_hint else ""
        raise AgentNotInstalled(
            f"{spec.display_name} is not installed: command {spec.detect.executable!r} was not found on PATH{hint}",
            details={
                "agent": spec.name,
                "command": list(spec.command),
                "installHint": spec.install_hint,
                "docsUrl": spec.docs_url,
            },
        )
    # Another program may be looked for than the one to run; only then PATH decides.
    return (path, *spec.command[1:]) if spec.detect.executable == spec.command[0] else spec.command


@cache
def _files() -> dict[str, Path]:
    return {file.stem: file for file in sorted(Path(__file__).parent.glob("*.toml"))}


@cache
def _spec_from_file(file: Path) -> AgentSpec:
    return spec_from_text(file.stem, file.read_text(encoding="utf-8"), source=file.name)


def spec_from_text(name: str, text: str, *, source: str) -> AgentSpec:
    """The agent that the text of one file describes; ``source`` is named in errors."""
    import tomllib  # no agent, no parser

    try:
        table = tomllib.loads(text)
    except NOT_TOML as error:
        raise Invalid(f"{source}: not TOML: {error}") from None
    return spec_from_table(name, table, source=source)


def plain_error(error: Exception) -> str:
    """``Expected `str`, got `int` - at `$.detect.executable``` as ``detect.executable: expected `str`, got `int```."""
    what, _, at = str(error).partition(" - at `$")
    what = what[:1].lower() + what[1:]
    field = at.rstrip("`").lstrip(".")
    return f"{field}: {what}" if field else what


def _check_command(where: str, command: tuple[str, ...]) -> None:
    if not command or not command[0]:
        raise Invalid(f"{where}: command: must name a program")
    if any("\0" in word for word in command):
        raise Invalid(f"{where}: command: holds a zero byte")
    program = os.path.expanduser(command[0])
    if "/" in program and not os.path.isabs(program):
        raise Invalid(f"{where}: command: {command[0]!r} is a relative path; an agent runs in each session's own directory")


def _known_features(where: str, features: tuple[str, ...]) -> tuple[str, ...]:
    for flag in features:
        if flag not in FLAGS:
            raise Invalid(f"{where}: features: no flag {flag!r}; the flags are: {', '.join(FLAGS)}")
    return features


def _harmless_members(where: str, members: tuple[str, ...]) -> tuple[str, ...]:
    for name in members:
        why = "that is no name of a member" if not _MEMBER.fullmatch(name) else why_not_harmless(name)
        if why is not None:
            raise Invalid(f"{where}: members: {name[:64]!r} cannot be listed: {why}", details={"source": where})
    return members


def _own_variables(where: str, variables: tuple[str, ...]) -> tuple[str, ...]:
    for pair in variables:
        why = why_not_listed(pair)
        if why is not None:
            raise Invalid(f"{where}: variables: {pair[:64]!r} cannot be listed: {why}", details={"source": where})
    return variables


def _resume(where: str, words: tuple[str, ...]) -> tuple[str, ...]:
    if words and not any(SESSION in word for word in words):
        raise Invalid(f"{where}: resume: no word has {SESSION} in it, for the session's id", details={"source": where})
    return words


def _resources(where: str, table: dict[str, int]) -> Resources:
    try:
        return resources_from_table(table)
    except Invalid as error:
        raise Invalid(f"{where}: {error.message}", details={"source": where}) from None


def _resolve(command: tuple[str, ...]) -> tuple[str, ...]:
    program = sys.executable if command[0] == PYTHON else os.path.expanduser(command[0])
    return (program, *command[1:])


def _find(spec: AgentSpec, env: Mapping[str, str]) -> str | None:
    """The first program of that name on PATH that is this agent."""
    check_off_loop()
    return next((path for path in _candidates(spec.detect.executable, env) if _matches(spec.detect, path)), None)


def _candidates(executable: str, env: Mapping[str, str]) -> Iterator[str]:
    folders = [""] if "/" in executable else env.get("PATH", os.defpath).split(os.pathsep)
    for folder in folders:
        path = os.path.join(folder, executable)
        if os.path.isabs(path) and os.path.isfile(path) and os.access(path, os.X_OK):
            yield path


def _matches(how: Detect, path: str) -> bool:
    real = os.path.realpath(path)
    return how.path_contains in real and not (how.path_lacks and how.path_lacks in real)


_versions: dict[tuple[str, int, int], tuple[str | None, float]] = {}
"""What each program file printed, and how long it was waited for."""


async def _version(spec: AgentSpec, path: str, env: Mapping[str, str], within_s: float) -> str | None:
    """What the program says its version is; None when it does not say, fails or takes too long."""
    try:
        info = await Lane(1).run(os.stat, path)
    except (OSError, Unavailable):
        return None
    key = (" ".join((path, *spec.detect.version_args)), info.st_mtime_ns, info.st_size)
    known, waited_s = _versions.get(key, (None, 0.0))
    if spec.detect.version_args and known is None and waited_s < within_s and not _is_interpreter(spec):
        known = await _ask_version(spec, path, env, within_s)
        _versions[key] = (known, within_s)
    return known


async def _ask_version(spec: AgentSpec, path: str, env: Mapping[str, str], within_s: float) -> str | None:
    try:
        clean = clean_env(spec.env_allow, env, spec.env)
        child = await ChildCommand.spawn(path, spec.detect.version_args, cwd=await Lane(1).run(_folder_for_files), env=clean)
    except TrunklineError:
        return None
    try:
        async with asyncio.timeout(within_s):
            failed = (await child.wait()).code != 0
    except TimeoutError:
        failed = False  # some print it and go on: what they printed counts
    finally:
        await child.release()
    found = _VERSION.search(child.output()) if not failed and not _INTERPRETED.match(child.output()) else None
    return found.group() if found else None


def _folder_for_files(env: Mapping[str, str] = os.environ) -> str:
    """Where a program may leave what it cannot help writing. (``gettempdir`` writes to find out, and fails on a full disk.)"""
    check_off_loop()
    return next((folder for folder in (env.get("TMPDIR", ""), "/tmp") if os.path.isabs(folder) and os.path.isdir(folder)), "/")


def _is_interpreter(spec: AgentSpec) -> bool:
    """Whether the program that is asked only runs the agent: the version that it prints is its own."""
    names_more = any(not word.startswith("-") for word in spec.detect.version_args)
    return not names_more and _INTERPRETER.fullmatch(os.path.basename(spec.detect.executable)) is not None
