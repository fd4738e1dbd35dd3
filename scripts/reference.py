"""Writes the generated tables and files of docs/reference, and the page's types, from the code, so that the two cannot drift.

    make docs                            rewrite them
    tests/docs/test_generated.py         fails when one is not what the code says

A block stands between ``<!-- generated: NAME -->`` and ``<!-- end -->``; everything outside is written by hand. A file of
``FILES`` is generated whole.
Rule 1: a block or file is a pure function of the code; no clock, no machine, no order that may change.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, get_args

import click
import msgspec

from scripts.context_schema import context_schema
from scripts.context_typescript import context_typescript
from scripts.helper_vectors import WHY, differences
from scripts.page_types import FILES as PAGE_FILES
from trunkline import errors
from trunkline.agents import catalog
from trunkline.agents.catalog.entry import schema as entry_schema
from trunkline.agents.demo import DEMO_PROMPTS
from trunkline.cli.commands import trunkline
from trunkline.dialects.context.commands import COMMANDS
from trunkline.dialects.context.events import EVENTS
from trunkline.dialects.packets.shapes import PACKETS
from trunkline.server.context.ws import frames
from trunkline.server.routes import ROUTES, Query
from trunkline.settings import SETTINGS

REFERENCE = Path(__file__).parent.parent / "docs" / "reference"
PAGE_TYPES = Path(__file__).parent.parent / "web" / "src" / "generated"
BLOCK = re.compile(r"(<!-- generated: (\w+) -->\n)(.*?)(<!-- end -->)", re.S)
ENVELOPE = {"seq", "sessionId", "timestamp", "_meta"}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; pipes inside cells are escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def sentence(thing: object) -> str:
    """The first sentence of a docstring, in Markdown."""
    return (inspect.getdoc(thing) or "").partition("\n")[0].replace("``", "`")


def ticked(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def error_classes(kind: type[errors.TrunklineError] = errors.TrunklineError) -> list[type[errors.TrunklineError]]:
    """The tree of errors, parents first, in the order of the file."""
    return [kind, *(found for child in kind.__subclasses__() for found in error_classes(child))]


def error_table() -> str:
    """Of a parent and a child with one code, the child says what it means."""
    by_code = {kind.code: kind for kind in error_classes()}
    rows = [(f"`{code}`", str(kind.http_status), "yes" if kind.recoverable else "no", sentence(kind))
            for code, kind in by_code.items()]
    return table(["code", "HTTP", "recoverable", "means"], rows)


def setting_table() -> str:
    rows = []
    for row in SETTINGS:
        default = f"`{shown(row.default)}`" if row.has_default else "–"
        places = [f"`{place}`" if place else "–" for place in (row.flag, row.env, row.toml)]
        rows.append((f"`{row.key}`", *places, default, row.help))
    return table(["setting", "flag", "environment", "config.toml", "default", "what it does"], rows)


def shown(value: Any) -> str:
    """A default as a person would write it."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def payload(kind: type[msgspec.Struct]) -> str:
    """The fields of an event or command, optional ones marked."""
    fields = [field for field in msgspec.structs.fields(kind) if field.encode_name not in ENVELOPE]
    return ", ".join(f"`{field.encode_name}`" + ("" if field.required else "?") for field in fields) or "–"


def event_table() -> str:
    rows = [(f"`{name}`", sentence(kind), payload(kind)) for name, kind in EVENTS.items()]
    return table(["event", "means", "fields"], rows)


def command_table() -> str:
    rows = [(f"`{name}`", sentence(kind), payload(kind)) for name, kind in COMMANDS.items()]
    return table(["command", "means", "fields"], rows)


def route_table() -> str:
    rows = []
    for route in ROUTES:
        scope = f"`{route.scope}`" if route.scope else "–"
        does = route.summary + asked(route.query, route.headers)
        rows.append((f"`{route.method}`", f"`{shown_path(route.path)}`", scope, does))
    return table(["method", "path", "scope", "does"], rows)


def shown_path(path: str) -> str:
    """A path as people write it: ``{path:path}`` is only how the router says that slashes may follow."""
    return path.replace(":path}", "}")


def asked(query: Sequence[Query], headers: Sequence[Query]) -> str:
    """The parameters and headers of a route, for its cell."""
    names = [f"`?{parameter.name}=`" for parameter in query] + [f"`{header.name}:`" for header in headers]
    return f" Takes {', '.join(names)}." if names else ""


def commands(group: click.Command, path: str = "trunkline") -> list[tuple[str, click.Command]]:
    """Every command of the command line with its full name, parents first."""
    found = [(path, group)]
    if isinstance(group, click.Group):
        within = click.Context(group, info_name=path)
        for name in group.list_commands(within):
            child = group.get_command(within, name)
            assert child is not None, name
            found += commands(child, f"{path} {name}")
    return found


def every_command() -> list[tuple[str, click.Command]]:
    """The command line, without what is hidden."""
    return [(path, command) for path, command in commands(trunkline) if not command.hidden]


def help_texts() -> str:
    """``--help`` of every command."""
    return "\n".join(f"## {path}\n\n```\n{help_of(path, command)}\n```\n" for path, command in every_command())


def help_of(path: str, command: click.Command) -> str:
    shown_in = click.Context(command, info_name=path, terminal_width=100, help_option_names=["-h", "--help"])
    text = command.get_help(shown_in)
    return "\n".join(line.rstrip() for line in text.splitlines())


def feature_table() -> str:
    """What runs of each agent have shown, and where it keeps its files. What nobody has shown is left out."""
    rows = []
    for name, spec in sorted(catalog.load().items()):
        paths = [f"{kind} `{path}`" for kind, path in msgspec.structs.asdict(spec.paths).items() if path]
        if spec.features or paths:
            asks = "yes" if "approval.toolCalls" in spec.features else "not seen"
            rows.append((f"`{name}`", asks, ticked(spec.features) or "–", ", ".join(paths) or "–"))
    return table(["name", "asks before it acts", "flags, beyond those of every agent", "its files"], rows)


def catalog_table() -> str:
    rows = []
    for name, spec in sorted(catalog.load().items()):
        command = " ".join("python" if word == sys.executable else word for word in spec.command)
        agent = f"[{spec.display_name}]({spec.docs_url})" if spec.docs_url else spec.display_name
        rows.append((f"`{name}`", agent, f"`{command}`", ticked(spec.env_allow) or "–"))
    return table(["name", "agent", "command", "variables it may see besides the base list"], rows)


def entry_table() -> str:
    """The keys of an agent's entry, those of its tables by their full names."""
    whole = entry_schema()
    rows = [row for name, key in whole["properties"].items() for row in key_rows(name, key, whole)]
    return table(["key", "type", "means"], rows)


def key_rows(name: str, key: dict[str, Any], whole: dict[str, Any]) -> list[tuple[str, str, str]]:
    if "$ref" in key:
        inner = whole["$defs"][key["$ref"].rpartition("/")[2]]["properties"]
        return [row for each in inner for row in key_rows(f"{name}.{each}", inner[each], whole)]
    return [(f"`{name}`", type_word(key), key["description"])]


def type_word(key: dict[str, Any]) -> str:
    """What a value is, for people."""
    if key.get("type") == "array":
        return "list of tables" if "$ref" in key["items"] else "list of strings"
    if key.get("type") == "object":
        return "table of numbers" if "properties" in key else "table of strings"
    return str(key.get("type", "string"))


def prompt_table() -> str:
    rows = [(f"`/{prompt.name} {prompt.arguments}".rstrip() + "`", prompt.does) for prompt in DEMO_PROMPTS]
    return table(["prompt", "what the demo agent does"], rows)


def packet_table() -> str:
    """Fields in their order on the wire; a struct that serves several types says what it means once."""
    rows = [(f"`{kind.value}`", sentence(struct), ticked(field.encode_name for field in msgspec.structs.fields(struct)))
            for kind, struct in PACKETS.items()]
    return table(["type", "means", "fields, in their order"], rows)


def difference_table() -> str:
    """The original's recorded answers that ours are not, with the reason."""
    rows = [(f"`{vector.call}`", f"`{vector.theirs}`", f"`{vector.ours}`", WHY[vector.call]) for vector in differences()]
    return table(["call", "theirs", "ours", "why"], rows)


BLOCKS: dict[str, Callable[[], str]] = {
    "errors": error_table,
    "settings": setting_table,
    "routes": route_table,
    "events": event_table,
    "commands": command_table,
    "cli": help_texts,
    "catalog": catalog_table,
    "entry": entry_table,
    "features": feature_table,
    "prompts": prompt_table,
    "packets": packet_table,
    "differences": difference_table,
    "said": lambda: frame_table(frames.ClientFrames),
    "told": lambda: frame_table(frames.ServerFrames),
}


def websocket_schema() -> str:
    """The frames of the WebSocket as JSON Schema."""
    return msgspec.json.format(msgspec.json.encode(frames.schema()), indent=1).decode() + "\n"


def frame_table(union: Any) -> str:
    rows = [(f"`{kind.__struct_config__.tag}`", sentence(kind), frame_fields(kind)) for kind in get_args(union)]
    return table(["frame", "means", "fields"], rows)


def frame_fields(kind: type[msgspec.Struct]) -> str:
    """The fields of a frame, optional ones marked."""
    found = [f"`{field.encode_name}`" + ("" if field.required else "?") for field in msgspec.structs.fields(kind)]
    return ", ".join(found) or "–"


def agent_schema() -> str:
    """An agent's entry as JSON Schema."""
    return msgspec.json.format(msgspec.json.encode(entry_schema()), indent=1).decode() + "\n"


FILES: dict[str, Callable[[], str]] = {
    "agent.schema.json": agent_schema,
    "agent-context.schema.json": context_schema,
    "agent-context.ts": context_typescript,
    "websocket.schema.json": websocket_schema,
}
"""What is generated whole, by its name in docs/reference."""


def renewed(text: str) -> str:
    """The page with every block as the code says it now."""
    return BLOCK.sub(lambda match: f"{match[1]}\n{BLOCKS[match[2]]()}\n{match[4]}", text)


def write(path: Path, new: str) -> None:
    """Write a file that has changed, and say so."""
    if not path.exists() or path.read_text(encoding="utf-8") != new:
        path.write_text(new, encoding="utf-8")
        print(f"renewed {path.relative_to(REFERENCE.parent.parent)}")


def main() -> None:
    for page in sorted(REFERENCE.glob("*.md")):
        write(page, renewed(page.read_text(encoding="utf-8")))
    for name, generated in FILES.items():
        write(REFERENCE / name, generated())
    PAGE_TYPES.mkdir(parents=True, exist_ok=True)
    for name, generated in PAGE_FILES.items():
        write(PAGE_TYPES / name, generated())


if __name__ == "__main__":
    main()
