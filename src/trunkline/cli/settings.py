"""Every setting in one table, and the one way to read them: flag, then environment, then ``config.toml``, then default.

Rule 1: a setting exists only as a row of SETTINGS; flags, environment, file and the reference page come from the table.
Rule 2: a bad value is an ``Invalid`` that names the setting, the value and where it came from.
Rule 3: a secret has no flag: a command line is visible to everybody on the machine. The hub's own token has no key in the file
either; the secrets of webhooks have, and no complaint shows them.
"""

from __future__ import annotations

import os
import reprlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from trunkline.dialects.outside import NOT_TOML, is_whole_number
from trunkline.errors import Invalid

if TYPE_CHECKING:
    from trunkline.agents.catalog import AgentSpec
    from trunkline.server.delivery.webhooks.rules import Webhook
    from trunkline.server.http.address import Network

DEFAULT_PORT = 7420
_UNITS_S = {"s": 1, "m": 60, "h": 3600}
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})
_SHOWN_CHARS = 200
_shown = reprlib.Repr()  # a file may nest a value deeper than ``repr`` goes
_shown.maxstring = _shown.maxother = _SHOWN_CHARS


class Kind(NamedTuple):
    """A type of value: its name in help texts, and a reader of strings and TOML values that raises ValueError."""

    name: str
    read: Callable[[Any], Any]
    repeats: bool = False
    secret: bool = False
    """Whether a value must not be shown."""


class Setting(NamedTuple):
    """One row of the table."""

    key: str
    kind: Kind
    default: Any
    help: str
    env: str | None = None
    flag: str | None = None
    toml: str | None = None
    commands: str = "serve"
    """Which commands take the flag: ``serve``, ``clients`` (all that talk to a hub) or ``all``."""


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("expected text")
    return value


def _port(value: Any) -> int:
    number = int(value) if isinstance(value, str) and is_whole_number(value.strip()) else value
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= 65535:
        raise ValueError("expected a port number from 0 to 65535 (0 picks a free one)")
    return number


def _path(value: Any) -> Path:
    return Path(_text(value)).expanduser().absolute()


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word not in _TRUE | _FALSE:
        raise ValueError("expected true or false")
    return word in _TRUE


def _seconds(value: Any) -> float:
    """Seconds, or a number with a unit: ``90``, ``1.5``, ``30s``, ``15m``, ``2h``."""
    factor = 1
    if isinstance(value, str):
        value = value.strip()
        factor = _UNITS_S.get(value[-1:], 1)
        value = value[:-1] if value[-1:] in _UNITS_S else value
    try:
        seconds = float(value) * factor
    except (TypeError, ValueError):
        raise ValueError("expected seconds, or a number with a unit such as 30s, 15m or 2h") from None
    if isinstance(value, bool) or not 0 <= seconds < float("inf"):
        raise ValueError("expected a time of zero or more")
    return seconds


def _hosts(value: Any) -> tuple[str, ...]:
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise ValueError("expected host names")
    return tuple(part.strip() for name in names for part in name.split(",") if part.strip())


def _choice(*words: str) -> Kind:
    def read(value: Any) -> str:
        if value not in words:
            raise ValueError(f"expected {' or '.join(words)}")
        return str(value)

    return Kind("|".join(words), read)


def _agents(value: Any) -> dict[str, AgentSpec]:
    """``[agents.NAME]`` tables of the file, or ``NAME=COMMAND`` words of the command line."""
    from trunkline.agents import catalog  # only who names an agent pays for the catalog

    if isinstance(value, Mapping) and all(isinstance(table, Mapping) for table in value.values()):
        return {name: catalog.spec_from_table(name, table) for name, table in value.items()}
    if not isinstance(value, list | tuple) or not all(isinstance(word, str) for word in value):
        raise ValueError("expected a table [agents.NAME] for each agent")
    found = {}
    for word in value:
        name, equals, command = word.partition("=")
        if not (name and equals and command.strip()):
            raise ValueError("expected NAME=COMMAND")
        found[name] = catalog.adhoc(name, command)
    return found


def _address(value: Any) -> str:
    text = _text(value).rstrip("/")
    if not text.startswith(("http://", "https://")) or any(character in text for character in "?# ") or "//" == text[-2:]:
        raise ValueError("expected an address such as https://hub.example")
    return text


def _webhooks(value: Any) -> tuple[Webhook, ...]:
    from trunkline.server.delivery.webhooks.rules import webhooks_from  # only who has webhooks pays for them

    return webhooks_from(value)


def _networks(value: Any) -> tuple[Network, ...]:
    import ipaddress  # only who allows one pays for it

    try:
        return tuple(ipaddress.ip_network(name, strict=False) for name in _hosts(value))
    except ValueError as error:
        raise ValueError(f"expected addresses or networks such as 10.0.0.0/8: {error}") from None


TEXT = Kind("TEXT", _text)
URL = Kind("URL", _address)
PORT = Kind("PORT", _port)
PATH = Kind("PATH", _path)
FLAG = Kind("FLAG", _flag)
TIME = Kind("SECONDS", _seconds)
HOSTS = Kind("HOST", _hosts, repeats=True)
NETWORKS = Kind("NETWORK", _networks, repeats=True)
AGENTS = Kind("NAME=COMMAND", _agents, repeats=True)
WEBHOOKS = Kind("TABLES", _webhooks, secret=True)


def _data_home(env: Mapping[str, str]) -> Path:
    return _xdg(env, "XDG_DATA_HOME", ".local/share") / "trunkline"


def _config_home(env: Mapping[str, str]) -> Path:
    return _xdg(env, "XDG_CONFIG_HOME", ".config") / "trunkline" / "config.toml"


def _xdg(env: Mapping[str, str], name: str, below_home: str) -> Path:
    """The XDG rule: an unset, empty or relative value counts as not given."""
    given = env.get(name, "")
    return Path(given) if os.path.isabs(given) else Path(env.get("HOME") or Path.home()) / below_home


SETTINGS: tuple[Setting, ...] = (
    Setting("host", TEXT, "127.0.0.1", "address to listen on; beyond loopback only with TLS or --insecure",
            "TRUNKLINE_HOST", "--host", "host"),
    Setting("port", PORT, DEFAULT_PORT, "port to listen on; 0 picks a free one", "TRUNKLINE_PORT", "--port", "port"),
    Setting("data", PATH, "$XDG_DATA_HOME/trunkline", "folder of the journal, the token and hub.json",
            "TRUNKLINE_DATA", "--data", "data", commands="all"),
    Setting("config", PATH, "$XDG_CONFIG_HOME/trunkline/config.toml", "settings file",
            "TRUNKLINE_CONFIG", "--config", commands="all"),
    Setting("url", TEXT, None, "use the hub at this address instead of finding or starting one",
            "TRUNKLINE_URL", "--url", "url", commands="clients"),
    Setting("token", TEXT, None, "access token, in place of the one generated in the data folder", "TRUNKLINE_TOKEN",
            commands="all"),
    Setting("agents", AGENTS, {}, "an agent beside the catalog's; repeat for more", None, "--agent", "agents"),
    Setting("durability", _choice("normal", "full"), "normal",
            "full: every commit reaches the disk before it is delivered", "TRUNKLINE_DURABILITY", "--durability", "durability"),
    Setting("allow_host", HOSTS, (), "a further Host name to answer to; repeat for more",
            "TRUNKLINE_ALLOW_HOST", "--allow-host", "allow_host"),
    Setting("open", FLAG, True, "open the page in a browser, where there is one", "TRUNKLINE_OPEN", "--open/--no-open", "open"),
    Setting("tls_cert", PATH, None, "certificate file (PEM) to serve https with", "TRUNKLINE_TLS_CERT", "--tls-cert", "tls_cert"),
    Setting("tls_key", PATH, None, "the certificate's key file (PEM)", "TRUNKLINE_TLS_KEY", "--tls-key", "tls_key"),
    Setting("insecure", FLAG, False, "listen beyond loopback without TLS: everybody on the way can read and steer",
            "TRUNKLINE_INSECURE", "--insecure", "insecure"),
    Setting("approval_timeout", TIME, 600.0, "how long a permission waits before it is denied",
            "TRUNKLINE_APPROVAL_TIMEOUT", "--approval-timeout", "approval_timeout"),
    Setting("idle_timeout", TIME, 900.0, "how long an agent may be silent in a turn",
            "TRUNKLINE_IDLE_TIMEOUT", "--idle-timeout", "idle_timeout"),
    Setting("tool_timeout", TIME, 7200.0, "the same while a tool is running",
            "TRUNKLINE_TOOL_TIMEOUT", "--tool-timeout", "tool_timeout"),
    Setting("cancel_grace", TIME, 30.0, "how long an agent may take to end a turn that was cancelled before it is killed",
            "TRUNKLINE_CANCEL_GRACE", "--cancel-grace", "cancel_grace"),
    Setting("silence_grace", TIME, 10.0, "the same for a turn that is ended because the agent fell silent",
            "TRUNKLINE_SILENCE_GRACE", "--silence-grace", "silence_grace"),
    Setting("agent_idle_stop", TIME, 1800.0, "stop an agent's process after this long without a turn",
            "TRUNKLINE_AGENT_IDLE_STOP", "--agent-idle-stop", "agent_idle_stop"),
    Setting("idle_exit", TIME, 0.0, "end the hub after this long without turn, client or pending approval; 0 = never",
            "TRUNKLINE_IDLE_EXIT", "--idle-exit", "idle_exit"),
    Setting("any_port", FLAG, False, "take a free port when the wanted one is in use",
            "TRUNKLINE_ANY_PORT", "--any-port", "any_port"),
    Setting("public_url", URL, None, "where people reach the hub's page, for links and for pairing; else its own address",
            "TRUNKLINE_PUBLIC_URL", "--public-url", "public_url"),
    Setting("trusted_proxy", NETWORKS, (), "a proxy before the hub whose X-Forwarded-For is believed; repeat for more",
            "TRUNKLINE_TRUSTED_PROXY", "--trusted-proxy", "trusted_proxy"),
    Setting("push_allow", NETWORKS, (), "a private network in which a push service may be; repeat for more",
            "TRUNKLINE_PUSH_ALLOW", "--push-allow", "push_allow"),
    Setting("webhooks", WEBHOOKS, (), "who is told what nobody watches; see webhooks.md", None, None, "webhooks"),
    Setting("debuggable", FLAG, False, "let debuggers and profilers of the same user look into the hub; so can its agents then",
            "TRUNKLINE_DEBUGGABLE", "--debuggable", "debuggable"),
    Setting("packets_raw", _choice("documented", "agent"), "documented",
            "what rawInput and rawOutput of packets hold: the documented shapes, or what the agent sent",
            "TRUNKLINE_PACKETS_RAW", "--packets-raw", "packets.raw"),
    Setting("log_level", _choice("debug", "info", "warning", "error"), "info", "how much to log on stderr",
            "TRUNKLINE_LOG_LEVEL", "--log-level", "log_level"),
    Setting("debug_loop", FLAG, False, "log where the hub's loop is held for over 50 ms",
            "TRUNKLINE_DEBUG_LOOP", "--debug-loop", "debug_loop"),
)


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The table's values, read."""

    host: str
    port: int
    data: Path
    config: Path
    url: str | None
    token: str | None
    agents: dict[str, AgentSpec]
    durability: str
    allow_host: tuple[str, ...]
    open: bool
    tls_cert: Path | None
    tls_key: Path | None
    insecure: bool
    approval_timeout: float
    idle_timeout: float
    tool_timeout: float
    cancel_grace: float
    silence_grace: float
    agent_idle_stop: float
    idle_exit: float
    any_port: bool
    public_url: str | None
    trusted_proxy: tuple[Network, ...]
    push_allow: tuple[Network, ...]
    webhooks: tuple[Webhook, ...]
    debuggable: bool
    packets_raw: str
    log_level: str
    debug_loop: bool


def load(flags: Mapping[str, Any], env: Mapping[str, str] = os.environ) -> Settings:
    """Read every setting. ``flags`` holds what the command line gave, by key; None and empty lists were not given."""
    given = {key: value for key, value in flags.items() if value is not None and value != ()}
    rows = {setting.key: setting for setting in SETTINGS}
    config = _value(rows["config"], given, env, {}, Path())
    table = _read_config(config, must_exist="config" in given or bool(env.get("TRUNKLINE_CONFIG")))
    values = {key: _value(row, given, env, table, config) for key, row in rows.items()}
    return Settings(**values)


def _value(row: Setting, flags: Mapping[str, Any], env: Mapping[str, str], table: Mapping[str, Any], config: Path) -> Any:
    found = []
    if row.key in flags:
        found.append((flags[row.key], row.flag))
    if row.env and env.get(row.env):
        found.append((env[row.env], f"the environment ({row.env})"))
    if row.toml and (written := _written(table, row.toml)) is not None:
        found.append((written, str(config)))
    if row.kind is AGENTS:
        return _merged_agents(row, found)
    return _read(row, *found[0]) if found else _default(row, env)


def _written(table: Mapping[str, Any], key: str) -> Any:
    """What the file has under a key, which may be one of a table (``packets.raw``)."""
    head, dot, rest = key.partition(".")
    value = table.get(head)
    return value if not dot else _written(value, rest) if isinstance(value, Mapping) else None


def _merged_agents(row: Setting, found: list[tuple[Any, Any]]) -> dict[str, AgentSpec]:
    """Agents add up over the sources; of two with one name the stronger source's stands."""
    agents: dict[str, AgentSpec] = {}
    for raw, origin in reversed(found):
        agents |= _read(row, raw, origin)
    return agents


def _read(row: Setting, raw: Any, origin: str | None) -> Any:
    try:
        return row.kind.read(raw)
    except (ValueError, Invalid) as error:
        got = f"in {origin}" if row.kind.secret else f"got {_shown.repr(raw)} from {origin}"
        raise Invalid(f"{row.key}: {error} ({got})") from error


def _default(row: Setting, env: Mapping[str, str]) -> Any:
    if row.key == "data":
        return _data_home(env)
    if row.key == "config":
        return _config_home(env)
    return row.default


def _read_config(path: Path, *, must_exist: bool) -> dict[str, Any]:
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        if must_exist:
            raise Invalid(f"config: there is no file {path}") from None
        return {}
    except OSError as error:
        raise Invalid(f"config: cannot read {path}: {error.strerror}") from error
    import tomllib  # only who has a settings file pays for its parser

    try:
        table = tomllib.loads(text.decode("utf-8"))
    except NOT_TOML as error:
        raise Invalid(f"config: {path} is not TOML: {error}") from error
    _refuse_unknown(table, path)
    return table


def _refuse_unknown(table: Mapping[str, Any], path: Path) -> None:
    known = {setting.toml for setting in SETTINGS if setting.toml}
    for key in _keys(table, {name.partition(".")[0] for name in known if "." in name}):
        if key not in known:
            raise Invalid(f"config: {path} has an unknown key {key!r}; known are {', '.join(sorted(known))}")


def _keys(table: Mapping[str, Any], tables: set[str]) -> list[str]:
    """The keys of a file; those of ``tables`` with the name of their table in front."""
    return [
        f"{key}.{inner}" if inner else key
        for key, value in table.items()
        for inner in (value if key in tables and isinstance(value, Mapping) else ("",))
    ]
