"""Every setting: its name, type, default, flag, variable, key in ``config.toml`` and line of help. One line here adds one.

Rule 1: a setting exists only as a field of ``Settings``, and has that name everywhere: on the command line, in the environment,
in the file, in a hub (``HubOptions``), in a server (``ServerOptions``). Its default stands here and nowhere else.
Rule 2: the order of the fields is the one in which people read them, in ``--help`` and in docs/reference/settings.md.
Rule 3: a secret has no flag: a command line is visible to everybody on the machine. The hub's own token has no key in the file
either; the secrets of webhooks have, and no complaint shows them.
Rule 4: nothing is read here. ``cli/read_settings.py`` knows how a word of each kind is read, and where to look for it.
"""

# No ``from __future__ import annotations``: the table is made of the annotations, and every command would pay for reading them.

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import msgspec

if TYPE_CHECKING:
    from trunkline.agents.catalog import AgentSpec
    from trunkline.server.delivery.webhooks.rules import Webhook
    from trunkline.server.http.address import Network
else:
    AgentSpec = Network = Webhook = object  # the table needs the names alone; who sets one loads the rest

DEFAULT_PORT = 7420

CANCEL_GRACE_S = 30.0
"""After a person's cancel. Some agents finish a running tool first, which took 28 s in the slowest one measured."""

SILENCE_GRACE_S = 10.0
"""After a silent agent was cancelled."""

FROM_NAME = "(from the name)"

Seconds = float


class Kind(NamedTuple):
    """A type of value, by its name in help texts."""

    name: str
    repeats: bool = False
    secret: bool = False
    """Whether a value must not be shown."""
    words: tuple[str, ...] = ()
    """The values that there are, where they are few."""


TEXT = Kind("TEXT")
URL = Kind("URL")
PORT = Kind("PORT")
PATH = Kind("PATH")
FLAG = Kind("FLAG")
TIME = Kind("SECONDS")
HOSTS = Kind("HOST", repeats=True)
NETWORKS = Kind("NETWORK", repeats=True)
AGENTS = Kind("NAME=COMMAND", repeats=True)
SERVERS = Kind("SERVER", repeats=True)
LABELS = Kind("NAME=VALUE", repeats=True)
NODES = Kind("NODE", repeats=True)
WEBHOOKS = Kind("TABLES", secret=True)


def choice(*words: str) -> Kind:
    """One of a few words."""
    return Kind("|".join(words), words=words)


class Info(NamedTuple):
    """What a field of ``Settings`` carries beside its name, type and default. None: it has no such place."""

    kind: Kind
    help: str
    flag: str | None = FROM_NAME
    env: str | None = FROM_NAME
    toml: str | None = FROM_NAME
    commands: str = "serve"
    """Which commands take the flag: ``serve``, ``clients`` (all that talk to a hub), ``cluster`` (``serve`` and those of
    ``trunkline cluster``) or ``all``."""
    default: str | None = None
    """How a default is written that depends on the environment."""


class Setting(NamedTuple):
    """A row of the table."""

    key: str
    kind: Kind
    default: Any
    help: str
    env: str | None
    flag: str | None
    toml: str | None
    commands: str

    @property
    def has_default(self) -> bool:
        """Whether there is a default that says something."""
        return self.default not in (None, "", (), {})


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The values of all settings. Times are in seconds."""

    host: Annotated[str, Info(TEXT, "address to listen on; beyond loopback only with TLS or --insecure")] = "127.0.0.1"
    port: Annotated[int, Info(PORT, "port to listen on; 0 picks a free one")] = DEFAULT_PORT
    data: Annotated[Path, Info(PATH, "folder of the journal, the token and hub.json", commands="all",
                               default="$XDG_DATA_HOME/trunkline")]
    config: Annotated[Path | None, Info(PATH, "settings file", toml=None, commands="all",
                                        default="$XDG_CONFIG_HOME/trunkline/config.toml")] = None
    url: Annotated[str | None, Info(TEXT, "use the hub at this address instead of finding or starting one",
                                    commands="clients")] = None
    token: Annotated[str | None, Info(TEXT, "access token, in place of the one generated in the data folder", flag=None,
                                      toml=None, commands="all")] = None
    agents: Annotated[dict[str, AgentSpec], Info(AGENTS, "an agent beside the catalog's; repeat for more", flag="--agent",
                                                 env=None)] = {}
    durability: Annotated[str, Info(
        choice("normal", "full"), "full: every commit reaches the disk before it is delivered")] = "normal"
    allow_host: Annotated[tuple[str, ...], Info(HOSTS, "a further Host name to answer to; repeat for more")] = ()
    open: Annotated[bool, Info(FLAG, "open the page in a browser, where there is one", flag="--open/--no-open")] = True
    tls_cert: Annotated[Path | None, Info(PATH, "certificate file (PEM) to serve https with")] = None
    tls_key: Annotated[Path | None, Info(PATH, "the certificate's key file (PEM)")] = None
    insecure: Annotated[bool, Info(FLAG, "listen beyond loopback without TLS: everybody on the way can read and steer")] = False
    approval_timeout: Annotated[Seconds, Info(TIME, "how long a permission waits before it is denied")] = 600.0
    terminal_rules: Annotated[bool, Info(
        FLAG, "let rules that allow answer sessions in terminals, too; rules that deny always do")] = False
    terminal_keys: Annotated[bool, Info(
        FLAG, "answer programs that take no other answer by a key in their tmux pane")] = False
    away_after: Annotated[Seconds, Info(
        TIME, "count as away who pressed no key in a terminal for this long; 0 = only who says so")] = 0.0
    idle_timeout: Annotated[Seconds, Info(TIME, "how long an agent may be silent in a turn")] = 900.0
    tool_timeout: Annotated[Seconds, Info(TIME, "the same while a tool is running")] = 7200.0
    cancel_grace: Annotated[Seconds, Info(
        TIME, "how long an agent may take to end a turn that was cancelled before it is killed")] = CANCEL_GRACE_S
    silence_grace: Annotated[Seconds, Info(
        TIME, "the same for a turn that is ended because the agent fell silent")] = SILENCE_GRACE_S
    agent_idle_stop: Annotated[Seconds, Info(TIME, "stop an agent's process after this long without a turn")] = 1800.0
    idle_exit: Annotated[Seconds, Info(
        TIME, "end the hub after this long without turn, client or pending approval; 0 = never")] = 0.0
    any_port: Annotated[bool, Info(FLAG, "take a free port when the wanted one is in use")] = False
    public_url: Annotated[str, Info(
        URL, "where people reach the hub's page, for links and for pairing; else its own address")] = ""
    trusted_proxy: Annotated[tuple[Network, ...], Info(
        NETWORKS, "a proxy before the hub whose X-Forwarded-For is believed; repeat for more")] = ()
    push_allow: Annotated[tuple[Network, ...], Info(
        NETWORKS, "a private network in which a push service may be; repeat for more")] = ()
    webhooks: Annotated[tuple[Webhook, ...], Info(
        WEBHOOKS, "who is told what nobody watches; see webhooks.md", flag=None, env=None)] = ()
    cluster: Annotated[tuple[str, ...], Info(
        SERVERS, "a NATS server of the hub's cluster, nats:// or tls://; repeat for more", commands="cluster")] = ()
    cluster_credentials: Annotated[Path | None, Info(
        PATH, "file with this node's key for the cluster", commands="cluster")] = None
    cluster_ca: Annotated[Path | None, Info(
        PATH, "certificates (PEM) to check the cluster's servers by, in place of the system's", commands="cluster")] = None
    node: Annotated[str, Info(TEXT, "this hub's name in its cluster; else the machine's", commands="cluster")] = ""
    role: Annotated[str, Info(
        choice("hub", "gateway", "runner"), "runner: runs sessions; gateway: shows those of others; hub: both")] = "hub"
    pool: Annotated[str, Info(TEXT, "runners that may take over from each other; else the node alone")] = ""
    pool_shared: Annotated[bool, Info(
        FLAG, "folders and agents' own files are the same on every node of the pool: sessions of a node that is away are taken "
        "over by another one by themselves")] = False
    labels: Annotated[tuple[str, ...], Info(LABELS, "what sessions may ask of a node; repeat for more")] = ()
    gateways: Annotated[tuple[str, ...], Info(
        NODES, "a node that may act on this one for its callers, * for any; all others may only read; repeat for more")] = ()
    commit: Annotated[str, Info(
        choice("local", "all"), "all: nobody sees anything that the cluster does not have")] = "local"
    debuggable: Annotated[bool, Info(
        FLAG, "let debuggers and profilers of the same user look into the hub; so can its agents then")] = False
    packets_raw: Annotated[str, Info(
        choice("documented", "agent"),
        "what rawInput and rawOutput of packets hold: the documented shapes, or what the agent sent",
        toml="packets.raw")] = "documented"
    log_level: Annotated[str, Info(choice("debug", "info", "warning", "error"), "how much to log on stderr")] = "info"
    debug_loop: Annotated[bool, Info(FLAG, "log where the hub's loop is held for over 50 ms")] = False


def _setting(field: msgspec.structs.FieldInfo) -> Setting:
    (row,) = (mark for mark in field.type.__metadata__ if isinstance(mark, Info))
    from_name = {"flag": f"--{field.name.replace('_', '-')}", "env": f"TRUNKLINE_{field.name.upper()}", "toml": field.name}
    places = {place: name if getattr(row, place) == FROM_NAME else getattr(row, place) for place, name in from_name.items()}
    return Setting(field.name, row.kind, row.default or _default(field), row.help, commands=row.commands, **places)


def _default(field: msgspec.structs.FieldInfo) -> Any:
    return field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()


SETTINGS: tuple[Setting, ...] = tuple(map(_setting, msgspec.structs.fields(Settings)))
"""The table, made from the fields."""
