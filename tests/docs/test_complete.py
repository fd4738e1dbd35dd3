"""The reference mentions everything there is: routes, settings, events, commands, packets, errors, the command line.

The tables are generated, but these tests look at the pages, not at the generator: a block that is taken out of a page, or a
generator that skips a row, fails here.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import click
import msgspec
import pytest

from scripts.reference import error_classes, every_command, shown_path
from tests.tooling.rows import every_row
from trunkline.agents import catalog
from trunkline.agents.demo import DEMO_PROMPTS
from trunkline.dialects.context.commands import COMMANDS
from trunkline.dialects.context.events import EVENTS
from trunkline.dialects.packets.shapes import PacketType
from trunkline.hub import Decision
from trunkline.server.context.snapshot import SessionState
from trunkline.server.routes import ROUTES
from trunkline.session.audit.key import AUDIT_KEY_FILE
from trunkline.session.commands import execute as commands
from trunkline.settings import SETTINGS

DOCS = Path(__file__).parent.parent.parent / "docs"


def page(name: str) -> str:
    """A page of the reference."""
    return (DOCS / "reference" / f"{name}.md").read_text(encoding="utf-8")


@every_row(("method", "path"), [(route.method, shown_path(route.path)) for route in ROUTES])
def test_a_route_is_documented(method: str, path: str) -> None:
    assert f"| `{method}` | `{path}` |" in page("routes")


@every_row("key", [setting.key for setting in SETTINGS])
def test_a_setting_is_documented(key: str) -> None:
    (setting,) = [setting for setting in SETTINGS if setting.key == key]
    (row,) = [line for line in page("settings").splitlines() if line.startswith(f"| `{key}` |")]
    for place in (setting.flag, setting.env, setting.toml):
        assert place is None or f"`{place}`" in row


@every_row("name", list(EVENTS))
def test_an_event_is_documented(name: str) -> None:
    assert f"| `{name}` |" in page("events")


@every_row("name", list(COMMANDS))
def test_a_context_command_is_documented(name: str) -> None:
    assert f"| `{name}` |" in page("events")


META = [kind for name, kind in vars(commands).items() if name.endswith("Meta") and isinstance(kind, type)]
META_KEYS = sorted({field.encode_name for kind in META for field in msgspec.structs.fields(kind)})


@pytest.mark.parametrize("key", META_KEYS)
def test_what_a_command_takes_in_meta_is_documented(key: str) -> None:
    _, _, taken = page("events").partition("takes in `_meta`")
    assert f"| `{key}` |" in taken


@every_row("field", [field.encode_name for field in msgspec.structs.fields(SessionState)])
def test_a_field_of_a_sessions_state_is_documented(field: str) -> None:
    assert f"`{field}`" in page("routes")


@pytest.mark.parametrize("field", [field.encode_name for field in msgspec.structs.fields(Decision)])
def test_a_field_of_a_decision_is_documented(field: str) -> None:
    assert f'"{field}"' in page("routes")


@pytest.mark.parametrize("name", ["policy.toml", AUDIT_KEY_FILE])
def test_a_file_of_the_data_folder_is_documented(name: str) -> None:
    assert f"| `…/{name}` |" in page("settings")


def test_the_layers_are_told_as_they_are_held() -> None:
    root = DOCS.parent
    contracts = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    held = " > ".join(contracts[0]["layers"]).replace("(", "").replace(")", "")
    assert held in (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert held in (DOCS / "architecture.md").read_text(encoding="utf-8")


@every_row("name", [kind.value for kind in PacketType])
def test_a_packet_type_is_documented(name: str) -> None:
    assert f"| `{name}` |" in page("packets")


@every_row("path", [path for path, _ in every_command()])
def test_a_command_of_the_command_line_is_documented(path: str) -> None:
    assert f"\n## {path}\n" in page("cli")


def test_every_option_of_the_command_line_is_documented() -> None:
    options = [option for _, command in every_command() for option in command.params
               if isinstance(option, click.Option) and not option.hidden]
    assert [name for option in options for name in option.opts if name not in page("cli")] == []


@every_row("code", sorted({kind.code for kind in error_classes()}))
def test_an_error_code_is_documented(code: str) -> None:
    assert f"| `{code}` |" in page("errors")


@every_row("name", list(catalog.load()))
def test_an_agent_of_the_catalog_is_documented(name: str) -> None:
    assert f"| `{name}` |" in page("agents")


@every_row("prompt", [prompt.name for prompt in DEMO_PROMPTS])
def test_a_prompt_of_the_demo_agent_is_documented(prompt: str) -> None:
    assert f"| `/{prompt}" in page("agents")
