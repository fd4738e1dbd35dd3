"""What is true of the tree as a whole: modules say what they own, vendors stay in the catalog, the locks fit the project."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import trunkline
from tests.tooling.sources import nodes_of, tree_of
from trunkline.agents import catalog

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src" / "trunkline").rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))

WORDS = {"cursor", "demo", "fast", "pi"}
"""Agents whose names are also words that our code needs."""


MODULES = {"nats-py": "nats"}
"""What a distribution brings, where that has another name."""


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def distribution(requirement: str) -> str:
    """The name in a requirement, as indexes compare them."""
    return re.split(r"[\s<>=!~;\[\\]", requirement)[0].lower().replace("_", "-")


def imported() -> Iterator[tuple[str, Path]]:
    """Every top-level module that the sources import, and where."""
    for path in SOURCES:
        for node in nodes_of(path):
            if isinstance(node, ast.Import):
                yield from ((alias.name.partition(".")[0], path) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module.partition(".")[0], path


def test_a_module_says_what_it_owns() -> None:
    assert [named(path) for path in SOURCES if path.stat().st_size and not ast.get_docstring(tree_of(path))] == []


def files_named(path: Path) -> Iterator[str]:
    """The files that a module names, anywhere in its text or in the map at its top."""
    text = path.read_text(encoding="utf-8")
    yield from re.findall(r"``([\w/]+\.py)``", text)
    yield from re.findall(r"(?<![\w/])((?:[a-z_]+/)*[a-z_]+\.py)\b", ast.get_docstring(tree_of(path)) or "")


def test_a_file_that_a_module_names_is_there() -> None:
    package = ROOT / "src" / "trunkline"
    parts = [package, *(package / name for name in ("dialects", "session", "server")), ROOT, ROOT / "src"]
    assert [f"{named(path)}: {name}" for path in SOURCES for name in files_named(path)
            if not any((place / name).exists() for place in (path.parent, path.parent.parent, *parts))] == []


def is_of_one_vendor(path: Path) -> bool:
    """What may name a vendor: its dialect, its driver, its store, the list of stores, and where agents keep their credentials."""
    parts = path.relative_to(ROOT / "src" / "trunkline").parts
    own = ("claude", "codex", "opencode", "gemini", "goose", "qwen", "copilot", "risk")
    return (parts[0] == "discovery" or (parts[0] == "dialects" and parts[1] in own)
            or parts[:3] == ("session", "driver", "stream_json"))


def test_vendors_are_named_in_the_catalog_their_dialects_drivers_and_stores_only() -> None:
    families = {re.split(r"[-.]", name)[0] for name in catalog.load()} - WORDS
    vendor = re.compile(rf"(?i)(?<![a-z])({'|'.join(sorted(families))})(?![a-z])")
    found = [f"{named(path)}: {match[0]}" for path in SOURCES if not is_of_one_vendor(path)
             for match in vendor.finditer(path.read_text(encoding="utf-8"))]
    assert len(families) > 10
    assert found == []


def test_everything_imported_is_declared() -> None:
    declared = {distribution(requirement) for requirement in PROJECT["dependencies"]}
    declared |= {MODULES.get(name, name) for name in map(distribution, PROJECT["optional-dependencies"]["cluster"])}
    foreign = {(name, named(path)) for name, path in imported() if name not in sys.stdlib_module_names and name != "trunkline"}
    assert {(name, path) for name, path in foreign if name.lower().replace("_", "-") not in declared} == set()


@pytest.mark.parametrize("path", LOCKS, ids=named)
def test_a_lock_pins_by_hash_and_names_no_address(path: Path) -> None:
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.lstrip().startswith("#")]
    pins = [line for line in lines if not line.startswith(" ")]
    assert pins and all(re.match(r"[\w.-]+(\[[\w,]+\])?==\S+ \\$|[\w.-]+==\S+ ; .+ \\$", pin) for pin in pins)
    assert all(re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}( \\)?", line) for line in lines if line.startswith(" "))


def test_the_locks_hold_what_the_project_declares() -> None:
    def pinned(name: str) -> set[str]:
        text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
        return {distribution(line) for line in text.splitlines() if re.match(r"\w", line)}

    assert {distribution(each) for each in PROJECT["dependencies"]} <= pinned("runtime")
    assert {distribution(each) for each in PROJECT["optional-dependencies"]["test"]} <= pinned("test")


def test_the_package_and_the_project_have_one_version() -> None:
    assert trunkline.__version__ == PROJECT["version"]


OUTSIDE = ROOT / "src" / "trunkline" / "dialects" / "outside.py"
OWN_DIGITS = {
    "src/trunkline/agents/process_table.py": "names in /proc", "src/trunkline/agents/keeper/proc.py": "the same",
    "src/trunkline/agents/keeper/cgroup.py": "names of folders that we made",
    "src/trunkline/reach/trunkline_hook.py": "starts without the rest of us, and hands the digits on as they are",
    "src/trunkline/dialects/risk/rules/reading.py": "looks at a shell's words and counts nothing",
    "src/trunkline/dialects/shell/redirects.py": "the same", "src/trunkline/dialects/shell/simple.py": "the same",
    "src/trunkline/dialects/shell/syntax.py": "the same",
}
"""Where digits are looked at and no number from outside is made of them."""
OWN_LISTS = {
    "src/trunkline/dialects/acp/reading/decode.py": "another shape than the schema's, of what was read already",
    "src/trunkline/dialects/acp/reading/lenient.py": "the same, and all else is caught behind it",
    "src/trunkline/server/acp/transport/http.py": "the same",
    "src/trunkline/adapters/hub_session.py": "encodes what a program of ours gave",
    "src/trunkline/agents/demo/wire.py": "the demo agent starts without the rest of us",
}
"""Where a kind of failure is told apart from the others on purpose."""


def calls_of(names: set[str]) -> Iterator[tuple[str, Path]]:
    for path in SOURCES:
        for node in nodes_of(path):
            if isinstance(node, ast.Attribute) and node.attr in names:
                yield node.attr, path


def caught() -> Iterator[tuple[str, Path]]:
    """Every exception that a handler names, as it is written."""
    for path in SOURCES:
        for node in nodes_of(path):
            if isinstance(node, ast.ExceptHandler) and node.type is not None:
                kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
                yield from ((ast.unparse(kind), path) for kind in kinds)


def test_digits_from_outside_become_a_number_in_one_place() -> None:
    found = {named(path) for _, path in calls_of({"isdigit", "isdecimal", "isnumeric"})} - {named(OUTSIDE)}
    assert found == set(OWN_DIGITS), "use dialects/outside.py: is_whole_number or whole_number"


def test_who_reads_json_from_outside_catches_all_that_reading_raises() -> None:
    kinds = {"msgspec.DecodeError", "msgspec.ValidationError", "msgspec.MsgspecError", "RecursionError",
             "tomllib.TOMLDecodeError"}
    found = {named(path) for kind, path in caught() if kind in kinds}
    assert found == set(OWN_LISTS), "use dialects/outside.py: BROKEN or NOT_TOML"


PUBLIC = {f"trunkline.dialects.{name}": ROOT / "src" / "trunkline" / "dialects" / name for name in ("acp", "context", "packets")}


def test_our_own_code_imports_names_from_the_module_that_owns_them() -> None:
    found = [f"{named(path)}: {alias.name}" for path in SOURCES for node in nodes_of(path)
             if isinstance(node, ast.ImportFrom) and node.module in PUBLIC and path.parent != PUBLIC[node.module]
             for alias in node.names if not list(PUBLIC[node.module].glob(f"{alias.name}*"))]
    assert found == []
