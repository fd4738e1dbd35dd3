"""Where the settings of ``trunkline/settings.py`` are read from: flag, then environment, then ``config.toml``, then default.

Rule: a bad value is an ``Invalid`` that names the setting, the value and where it came from.
"""

from __future__ import annotations

import os
import reprlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trunkline.dialects.outside import NOT_TOML, is_whole_number
from trunkline.disk.own_file import read_own
from trunkline.errors import Invalid
from trunkline.settings import (
    AGENTS,
    FLAG,
    HOSTS,
    LABELS,
    NETWORKS,
    NODES,
    PATH,
    PORT,
    SERVERS,
    SETTINGS,
    TEXT,
    TIME,
    URL,
    WEBHOOKS,
    Kind,
    Setting,
    Settings,
)

if TYPE_CHECKING:
    from trunkline.agents.catalog import AgentSpec
    from trunkline.server.delivery.webhooks.rules import Webhook
    from trunkline.server.http.address import Network

_UNITS_S = {"s": 1, "m": 60, "h": 3600}
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})
_SHOWN_CHARS = 200
_shown = reprlib.Repr()  # a file may nest a value deeper than ``repr`` goes
_shown.maxstring = _shown.maxother = _SHOWN_CHARS


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


def _choice(words: tuple[str, ...], value: Any) -> str:
    if value not in words:
        raise ValueError(f"expected {' or '.join(words)}")
    return str(value)


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


def _servers(value: Any) -> tuple[str, ...]:
    servers = _hosts(value)
    if not all(server.startswith(("nats://", "tls://")) for server in servers):
        raise ValueError("expected addresses such as nats://hub.example:4222 or tls://…")
    return servers


def _labels(value: Any) -> tuple[str, ...]:
    labels = _hosts(value)
    if not all(name and equals and text for name, equals, text in (label.partition("=") for label in labels)):
        raise ValueError("expected NAME=VALUE")
    return labels


_READERS: dict[Kind, Callable[[Any], Any]] = {
    TEXT: _text, URL: _address, PORT: _port, PATH: _path, FLAG: _flag, TIME: _seconds, HOSTS: _hosts, NETWORKS: _networks,
    AGENTS: _agents, WEBHOOKS: _webhooks, SERVERS: _servers, LABELS: _labels,
    NODES: _hosts,
}
"""How a word, or a value of the file, of each kind is read; ValueError where it cannot be."""


def usual_data() -> Path:
    """The data folder of who names none."""
    return _data_home(os.environ)


def _data_home(env: Mapping[str, str]) -> Path:
    return _xdg(env, "XDG_DATA_HOME", ".local/share") / "trunkline"


def _config_home(env: Mapping[str, str]) -> Path:
    return _xdg(env, "XDG_CONFIG_HOME", ".config") / "trunkline" / "config.toml"


def _xdg(env: Mapping[str, str], name: str, below_home: str) -> Path:
    """The XDG rule: an unset, empty or relative value counts as not given."""
    given = env.get(name, "")
    return Path(given) if os.path.isabs(given) else Path(env.get("HOME") or Path.home()) / below_home


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
        return _choice(row.kind.words, raw) if row.kind.words else _READERS[row.kind](raw)
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
    if os.fspath(path) == os.devnull:  # no plain file, and how people say that they want none
        return {}
    try:
        text = read_own(path)
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
