"""What architecture.md says of the tree is so: every place that a walk names is there, and every folder has its line."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from tests.tooling.rows import every_row

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PLACE = re.compile(r"`((?:[a-z0-9_]+/)*[a-z0-9_]+\.(?:py|tsx?)):([A-Za-z_][A-Za-z_.]*)`")
PATH = re.compile(r"`((?:[a-z0-9_]+/)+[a-z0-9_]+\.(?:py|tsx?|toml|sql|md)|(?:[a-z0-9_]+/)+)`")
BASES = (ROOT / "src" / "trunkline", ROOT / "web" / "src", ROOT)

PLACES = sorted(set(PLACE.findall(PAGE)))


def found(path: str) -> Path | None:
    """Where a path of the page is: below the sources, the page's sources, or the project."""
    return next((base / path for base in BASES if (base / path).exists()), None)


@cache
def names_in(path: Path) -> frozenset[str]:
    """What a Python module defines, methods as ``Class.method``."""
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            names |= {node.name, *(f"{node.name}.{part.name}" for part in node.body
                                   if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef))}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return frozenset(names)


def defines(path: Path, name: str) -> bool:
    """Whether a module defines a name; of TypeScript, whether it says so where names are defined."""
    if path.suffix == ".py":
        return name in names_in(path)
    last = re.escape(name.rpartition(".")[2])
    defined = rf"(?m)(?:function|class|const|let|type|interface) {last}\b|^\s+(?:async |private |#)*{last}\("
    return re.search(defined, path.read_text(encoding="utf-8")) is not None


def test_the_page_walks_through_the_code() -> None:
    assert len(PLACES) > 20


@every_row(("path", "name"), PLACES)
def test_a_place_of_a_walk_is_there(path: str, name: str) -> None:
    module = found(path)
    assert module is not None, f"there is no {path}"
    assert defines(module, name), f"{path} has no {name}"


@every_row("path", sorted(set(PATH.findall(PAGE))))
def test_a_path_of_the_page_is_there(path: str) -> None:
    assert found(path) is not None
