"""What a file of the catalog, or an ``[agents.NAME]`` table of the settings, may say: one struct, key by key.

Rule 1: each key says what it means, once, here. The table in docs/reference/agents.md and the JSON Schema (``schema``) are made
of it.
Rule 2: ``command`` is the only key that must be there, and unknown keys are refused.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from trunkline.agents.catalog.features import FLAGS
from trunkline.agents.daemons import Daemon
from trunkline.agents.resources import FILES_LEAST, MEMORY_LEAST_MB
from trunkline.dialects.calls import ToolRole

Speaks = Literal["acp", "stream-json"]
SandboxKind = Literal["none", "bwrap"]
About = msgspec.Meta


class Detect(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to find an agent on this machine."""

    executable: Annotated[str, About(description="the program to look for on PATH; the first word of `command` if absent")] = ""
    path_contains: Annotated[str, About(
        description="only a program whose real path contains this counts (two agents, one name)")] = ""
    path_lacks: Annotated[str, About(description="only a program whose real path does not contain this counts")] = ""
    version_args: Annotated[tuple[str, ...], About(
        description="what prints the version; `[\"--version\"]` if absent, `[]` = never ask")] = ("--version",)


class Quirks(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where an agent needs other treatment than the protocol says."""

    missing_file_is_empty: Annotated[bool, About(
        description="a missing file is read as empty text instead of an error (its writes need it)")] = False
    usage_of_session: Annotated[bool, About(
        description="a prompt's answer counts the tokens of the session, not of the turn")] = False


class Paths(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where an agent keeps its files, as the catalog writes it; ``expand`` fills in the environment's part."""

    sessions: Annotated[str, About(description="where it keeps its sessions; `~` and `${NAME:-default}` are filled in")] = ""
    config: Annotated[str, About(description="where it keeps its settings, written as `paths.sessions`")] = ""
    logs: Annotated[str, About(description="where it keeps its logs, written as `paths.sessions`")] = ""
    others: Annotated[tuple[str, ...], About(
        description="what else is its own: a cache, a state; a folder ends in `/`")] = ()


class LineEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A live line to its program, where a person runs that in a terminal."""

    dialect: Annotated[str, About(
        description="what is spoken on it: a vendor's folder of `trunkline.dialects` that has a line")] = ""
    socket: Annotated[str, About(
        description="the Unix socket of a program that serves all its terminals and takes WebSockets, written as "
                    "`paths.sessions`")] = ""
    flags: Annotated[tuple[str, ...], About(
        description="of a program that has it by two files: its flags for the file that it writes events into, and for the one "
                    "that it reads from; `trunkline shell-init` gives it both")] = ()
    alone: Annotated[tuple[str, ...], About(
        description="further flags with which it is no session in a terminal, so that it is started without them")] = ()
    needs: Annotated[str, About(description="which of its programs have it, in a few words")] = ""


class Login(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is there when somebody has logged in. It is looked for, never read."""

    env: Annotated[tuple[str, ...], About(description="variables that hold a key; one of them is enough to be logged in")] = ()
    files: Annotated[tuple[str, ...], About(
        description="files that a login writes, written as `paths.sessions`; one of them is enough")] = ()


class AgentEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One agent as a file or a user's settings describe it."""

    command: Annotated[tuple[str, ...], About(
        description="program and arguments; a first word `{python}` is the interpreter that runs the hub")]
    display_name: Annotated[str, About(description="the name people read; the agent's name if absent")] = ""
    icon: Annotated[str, About(description="one or two characters shown beside it (no file, no network)")] = ""
    docs_url: Annotated[str, About(description="where the agent is described")] = ""
    install_hint: Annotated[str, About(description="a command that installs it; shown when it is missing, never run")] = ""
    login_hint: Annotated[str, About(description="what to do when it wants a login")] = ""
    login: Login = Login()
    pick: Annotated[str, About(
        description="when to pick it, where others do the same or something has to be known")] = ""
    env_allow: Annotated[tuple[str, ...], About(
        description="variables it may see besides the base list; `OPENAI_*` works")] = ()
    env: Annotated[dict[str, str], About(description="variables set for it")] = {}
    detect: Detect = Detect()
    quirks: Quirks = Quirks()
    features: Annotated[tuple[str, ...], About(
        description="what runs of it have shown it to do, as flags of its capabilities (`git`, `approval.preview` …)")] = ()
    paths: Paths = Paths()
    store: Annotated[str, About(
        description="whose session files are at `paths.sessions`: a module of `trunkline.discovery` that can read them")] = ""
    hooks: Annotated[str, About(
        description="whose hooks its program calls in a terminal: a vendor's folder of `trunkline.dialects` that has some")] = ""
    line: LineEntry = LineEntry()
    resume: Annotated[tuple[str, ...], About(
        description="the command by which its own program goes on with a session in a terminal, with `{session}` for its id; "
                    "absent: there is none, or it is not safe")] = ()
    tools: Annotated[dict[str, ToolRole], About(
        description="its names for its tools, each with the tool's role: `run_shell_command = \"terminal\"`")] = {}
    members: Annotated[tuple[str, ...], About(
        description="members of its tools' inputs that change nothing (`call_id`, `trace`), see below")] = ()
    variables: Annotated[tuple[str, ...], About(
        description="`NAME=value` that it gives to every command which it has the hub run, and that change nothing")] = ()
    parent_call: Annotated[str, About(
        description="where in a tool call's `_meta` it names the call whose sub-agent makes it: `a.b`")] = ""
    driver: Annotated[Speaks, About(description="what it speaks on stdio: `acp` if absent, or `stream-json`")] = "acp"
    sandbox: Annotated[SandboxKind, About(
        description="what its sessions run in: `none` if absent, or `bwrap`; no session can loosen it")] = "none"
    sandbox_network: Annotated[bool, About(
        description="whether programs in the sandbox reach the network; `true` if absent")] = True
    sandbox_reads: Annotated[tuple[str, ...], About(
        description="files and folders of the home that it may read in the sandbox besides")] = ()
    resources: Annotated[dict[str, int], About(
        description="what it may take of the machine, with all it starts: `memory_mb`, `processes`, `files`")] = {}
    daemons: Annotated[tuple[Daemon, ...], About(
        description="programs it starts for all its users, left running when it ends: each with its `name`, and a `command`: "
                    "its program's file name and words that stand among its arguments")] = ()


def schema() -> dict[str, Any]:
    """The JSON Schema of an entry: what the struct says, and what is refused besides, where a schema can say it."""
    (_, parts) = msgspec.json.schema_components([AgentEntry], ref_template="#/$defs/{name}")
    entry = parts.pop("AgentEntry")
    keys = entry["properties"]
    keys["command"] |= {"minItems": 1, "prefixItems": [{"type": "string", "minLength": 1}]}
    keys["features"]["items"] = {"enum": list(FLAGS)}
    keys["resources"] |= {"additionalProperties": False, "properties": {
        "memory_mb": {"type": "integer", "minimum": MEMORY_LEAST_MB}, "processes": {"type": "integer", "minimum": 1},
        "files": {"type": "integer", "minimum": FILES_LEAST}}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An agent of Trunkline's catalog",
        **{key: value for key, value in entry.items() if key != "title"},
        "$defs": parts,
    }
