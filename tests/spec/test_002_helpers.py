"""Seed 002, the Agent Context Protocol: its helpers, error model, exports and rules for adding to it."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from tests.spec import seeds, typescript
from tests.spec.shapes import AT
from tests.spec.typescript import snake
from trunkline import errors
from trunkline.dialects import context
from trunkline.dialects.context.categories import categorize_tool
from trunkline.dialects.context.commands import COMMANDS, ACPCommand
from trunkline.dialects.context.contract import ACPAdapter, ACPSession
from trunkline.dialects.context.descriptions import describe_tool_call
from trunkline.dialects.context.envelope import decode_event
from trunkline.dialects.context.events import EVENTS, ACPEvent, CustomEvent
from trunkline.dialects.context.factory import create_event, reset_all_sequences, reset_sequence
from trunkline.dialects.context.types import ACPError, ToolCategory, to_raw
from trunkline.dialects.risk import assess_risk
from trunkline.errors import TrunklineError

ROOT = Path(__file__).parent.parent.parent
HELPERS = "002/helper-functions"


def helper(name: str) -> Callable[..., Any]:
    """Our function of that name of theirs."""
    found = getattr(context, snake(name))
    assert callable(found)
    return found  # type: ignore[no-any-return]  # a name that a test looks up has no better type


def holds(block: str, name: str) -> int:
    """Assert that every call of a block gives what its comment says; how many there were."""
    found = typescript.calls(seeds.code(block))
    for called, arguments, result in found:
        assert called == name
        assert helper(name)(*arguments) == result, arguments
    return len(found)


def test_an_event_is_made_with_its_number_and_the_time() -> None:
    reset_all_sequences()
    made = create_event("s-1", {"type": "custom", "namespace": "n", "eventName": "e", "data": {}})
    assert isinstance(decode_event(json.dumps(made).encode()), CustomEvent)
    assert abs((datetime.now(UTC) - datetime.fromisoformat(made["timestamp"])).total_seconds()) < 60


def test_events_are_numbered_and_reset_as_in_the_example() -> None:
    block = seeds.code(f"{HELPERS}/createevent-event-factory/code:1")
    reset_all_sequences()
    made = [typescript.literal(f"[{arguments}]") for arguments in re.findall(r"createEvent\((.*?)\);", block, re.S)]
    events = [create_event(session, payload, AT) for session, payload in made]
    assert [event["seq"] for event in events] == [int(seq) for seq in re.findall(r"\{ seq: (\d)", block)] == [1, 2]
    (shown,) = re.findall(r"\{ (seq: 1, .*?), \.\.\. \}", block)
    assert list(events[0])[:4] == re.findall(r"(\w+): ", shown)
    assert events[0] | made[0][1] == events[0], "the payload is in it"
    (session,) = re.findall(r"^resetSequence\('(.*?)'\)", block, re.M)
    reset_sequence(session)
    assert create_event(session, made[1][1], AT)["seq"] == 1


def test_every_tool_name_has_a_category() -> None:
    for name in ["", "Read", "no such tool", "ÜÑÎ", "mcp__x__y"]:
        assert categorize_tool(name) in get_args(ToolCategory)


def test_tools_are_categorized_as_in_the_examples() -> None:
    assert holds(f"{HELPERS}/categorizetool-tool-classification/code:1", "categorizeTool") == 9


def test_the_risk_of_a_call_depends_on_the_tool_and_on_its_input() -> None:
    assert assess_risk("Bash", {"command": "ls"}) == "low" != assess_risk("Bash", {"command": "rm -rf /"})
    assert assess_risk("Read", {"file_path": "a.py"}) == "low" != assess_risk("Write", {"file_path": "a.py"})


def test_risks_are_assessed_as_in_the_examples() -> None:
    assert holds(f"{HELPERS}/assessrisk-risk-level-assessment/code:1", "assessRisk") == 5


def test_a_description_is_short() -> None:
    assert len(describe_tool_call("Bash", {"command": "x" * 1000})) == len("Run: ") + 100
    assert len(describe_tool_call("Task", {"description": "x" * 1000})) == len("Task: ") + 50


def test_calls_are_described_as_in_the_examples() -> None:
    assert holds(f"{HELPERS}/describetoolcall-human-readable-descriptions/code:1", "describeToolCall") == 4


def test_every_error_of_ours_says_what_the_error_model_wants() -> None:
    tree = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, TrunklineError)]
    assert len(tree) > 25
    for kind in tree:
        error = kind("what was wrong", details={"field": "x"}, agent_code="-32000")
        said = ACPError(
            code=error.code, message=error.message, recoverable=error.recoverable, details=to_raw(error.details),
            agent_code=error.agent_code or "",
        )
        assert re.fullmatch(r"[a-z_]+", said.code) and said.message == str(error)


def test_an_error_fits_its_interface() -> None:
    fields = typescript.members(typescript.body_of(seeds.code("002/error-model/code:1"), "ACPError"))
    ours = {field.encode_name: field.required for field in msgspec.structs.fields(ACPError)}
    assert ours == {field.name: not field.optional for field in fields.values()}
    for optional in (True, False):
        value = typescript.example(fields, optional=optional)
        assert json.loads(msgspec.json.encode(msgspec.json.decode(json.dumps(value), type=ACPError))) == value


def test_the_adapter_interface_is_the_seeds() -> None:
    assert methods("acpadapter", "ACPAdapter") == methods_of(ACPAdapter)


def test_the_session_interface_is_the_seeds() -> None:
    theirs = methods("acpsession", "ACPSession")
    ours = methods_of(ACPSession)
    assert ours.items() >= theirs.items()
    assert ours.keys() - theirs.keys() == {"refresh"}, "optional in the original's code, though its text leaves it out"


Shape = tuple[str, int]
"""Of a member: whether it is a property, a function or a coroutine; and how many arguments it needs."""


def methods(section: str, name: str) -> dict[str, Shape]:
    code = seeds.code(f"002/adapter-session-interfaces/{section}/code:1")
    return {snake(member.name): shape(member) for member in typescript.members(typescript.body_of(code, name)).values()}


def shape(member: typescript.Member) -> Shape:
    if member.arguments is None:
        return "property", 0
    needed = [*filter(None, typescript.parts(member.arguments, ","))]
    return "coroutine" if member.type.startswith("Promise<") else "function", len(needed)


def methods_of(protocol: type) -> dict[str, Shape]:
    found: dict[str, Shape] = {}
    for name, member in vars(protocol).items():
        if isinstance(member, property):
            found[name] = ("property", 0)
        elif inspect.isfunction(member) and not name.startswith("_"):
            kind = "coroutine" if inspect.iscoroutinefunction(member) else "function"
            found[name] = (kind, len(inspect.signature(member).parameters) - 1)
    return found


def test_every_name_of_the_export_list_is_there() -> None:
    block = typescript.without_comments(seeds.code("002/full-type-exports/code:1"))
    names = [name for group in re.findall(r"export (?:type )?\{(.*?)\}", block, re.S) for name in re.findall(r"\w+", group)]
    assert len(names) == len(set(names)) > 80
    ours = [name if name[0].isupper() else snake(name) for name in names]
    assert [name for name in ours if name not in context.__all__ or not hasattr(context, name)] == []


def page(name: str) -> str:
    return (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")


def test_an_event_type_stands_everywhere_the_recipe_puts_it() -> None:
    for name, kind in EVENTS.items():
        assert kind.__module__.startswith("trunkline.dialects.context.events."), "grouped by domain"
        assert kind in get_args(ACPEvent) and getattr(context, kind.__name__) is kind
        assert f"| `{name}` |" in page("events.md")
    assert "dialects/context/" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_a_command_stands_everywhere_the_recipe_puts_it() -> None:
    for name, kind in COMMANDS.items():
        assert kind.__module__ == "trunkline.dialects.context.commands"
        assert kind in get_args(ACPCommand) and getattr(context, kind.__name__) is kind
        assert f"| `{name}` |" in page("events.md")


@pytest.fixture(scope="module")
def tests_of_helpers() -> str:
    folders = [ROOT / "tests" / "dialects" / folder for folder in ("context", "risk")]
    return "".join(path.read_text(encoding="utf-8") for folder in folders for path in folder.glob("test_*.py"))


def test_a_helper_stands_everywhere_the_recipe_puts_it(tests_of_helpers: str) -> None:
    block = seeds.code("002/full-type-exports/code:1")
    (names,) = re.findall(r"// Helpers\nexport \{(.*?)\}", block, re.S)
    for name in map(snake, re.findall(r"\w+", names)):
        assert helper(name).__module__.startswith("trunkline.dialects.")
        assert name in context.__all__ and name in tests_of_helpers
        assert f"`{name}(" in page("helpers.md")
