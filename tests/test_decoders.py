"""Decoders: one thread at a time looks into a type, and no module does so by itself."""

from __future__ import annotations

import ast
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.tooling.rows import every_row
from tests.tooling.sources import tree_of
from trunkline import decoders

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "src" / "trunkline"
FORMATS = {"msgspec", "msgspec.json", "msgspec.msgpack", "msgspec.toml", "msgspec.yaml"}
TYPED = {"convert", "decode", "Decoder"}


class Point(msgspec.Struct):
    x: int
    y: int = 0


def used_at_once(how: str, which: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "tests.tooling.first_uses", how, which]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    return run.returncode, run.stdout.strip()


@pytest.mark.parametrize("which", ["Outer", "Middle"])
def test_a_type_may_be_used_while_another_thread_still_looks_into_it(which: str) -> None:
    assert used_at_once("decoders", which) == (0, "held True")


def test_msgspec_alone_still_crashes_there() -> None:
    """When it does no more, ``decoders.py`` may go."""
    assert used_at_once("msgspec", "Middle") == (-signal.SIGSEGV, "")


def test_a_type_is_looked_into_once() -> None:
    assert decoders.of(Point) is decoders.of(Point)
    assert decoders.of(Point) is not decoders.of(Point, strict=False)


def test_what_is_read_is_of_its_type() -> None:
    assert decoders.of(Point).decode(b'{"x":1}') == Point(1)
    assert decoders.decode(b'{"x":1,"y":2}', Point) == decoders.convert({"x": 1, "y": 2}, Point) == Point(1, 2)
    assert decoders.packed(list[Point]).decode(msgspec.msgpack.encode([Point(3)])) == [Point(3)]


def test_what_does_not_fit_is_refused_unless_it_need_not_be_strict() -> None:
    with pytest.raises(msgspec.ValidationError):
        decoders.decode(b'{"x":"1"}', Point)
    with pytest.raises(msgspec.ValidationError):
        decoders.convert({"x": "1"}, Point)
    assert decoders.decode(b'{"x":"1"}', Point, strict=False) == decoders.convert({"x": "1"}, Point, strict=False) == Point(1)


def is_typed(node: ast.AST) -> bool:
    """A name that is given a type, or may be."""
    return isinstance(node, ast.Attribute) and node.attr in TYPED and ast.unparse(node.value) in FORMATS


def is_untyped(call: ast.Call) -> bool:
    """What is read as it comes: ``msgspec.json.decode(raw)``, ``msgspec.json.Decoder()``."""
    most = {"msgspec.json.decode": 1, "msgspec.json.Decoder": 0}.get(ast.unparse(call.func), -1)
    return len(call.args) <= most and not any(keyword.arg in ("type", None) for keyword in call.keywords)


def own_looks(tree: ast.Module) -> Iterator[int]:
    """The lines where a module has msgspec look into a type by itself. What stands in a signature (``Decoder[T]``) does not."""
    fine = set()
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=named) if is_typed(named) and is_untyped(node):
                fine.add(named)
            case ast.Subscript(value=named):
                fine.add(named)
            case ast.Attribute() if is_typed(node) and node not in fine:
                yield node.lineno
            case ast.ImportFrom(module=str(module), names=names) if module in FORMATS:
                yield from (node.lineno for each in names if each.name in TYPED or f"{module}.{each.name}" in FORMATS)
            case ast.Import(names=names):
                yield from (node.lineno for each in names if each.name in FORMATS and each.asname)


def test_no_module_looks_into_types_by_itself() -> None:
    own = SOURCES / "decoders.py"
    reading = [path for path in sorted(SOURCES.rglob("*.py")) if path != own and "msgspec" in path.read_text(encoding="utf-8")]
    assert [f"{path.relative_to(ROOT)}:{line}" for path in reading for line in own_looks(tree_of(path))] == []
    assert len(list(own_looks(tree_of(own)))) == 3


@every_row(("source", "found"), [
    ("msgspec.convert(value, Point)", 1),
    ("read = msgspec.json.Decoder(Point).decode", 1),
    ("msgspec.json.decode(raw, type=Point)", 1),
    ("msgspec.json.decode(raw, **given)", 1),
    ("map(msgspec.json.decode, lines)", 1),
    ("msgspec.toml.decode(text)", 1),
    ("from msgspec import Struct, convert", 1),
    ("from msgspec import json", 1),
    ("import msgspec.json as m", 1),
    ("msgspec.json.decode(raw)", 0),
    ("any_of = msgspec.json.Decoder()", 0),
    ("def of(kind: type[T]) -> msgspec.json.Decoder[T]: ...", 0),
    ("from msgspec import Struct", 0),
])
def test_a_look_of_its_own_is_seen_in_every_form(source: str, found: int) -> None:
    assert len(list(own_looks(ast.parse(source)))) == found
