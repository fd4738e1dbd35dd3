"""Who writes a session's state: the interpreter alone, and whoever makes a fold that nobody else has yet."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import trunkline
from tests.tooling.rows import every_row
from tests.tooling.sources import text_of, tree_of

SOURCES = Path(trunkline.__file__).parent
WRITERS = ("session/interpret/", "session/fold/", "session/restore/")
"""The interpreter; what the state is; and what makes a fold again out of the journal."""

CHANGES = {"append", "add", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "setdefault", "sort", "update"}
FOLDS = {"fold", "_fold"}
NAMED = re.compile(rf"\b(?:{'|'.join(FOLDS)})\b")


def written(tree: ast.Module) -> list[str]:
    """The places of a module that change a fold, as ``line: what``."""
    return [f"{node.lineno}: {ast.unparse(node)}" for node in _changes(tree)]


def _changes(tree: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets) | ast.Delete(targets=targets):
                yield from (each for target in targets for each in _flat(target) if _is_in_fold(each))
            case (ast.AugAssign(target=target) | ast.AnnAssign(target=target)) if _is_in_fold(target):
                yield target
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in CHANGES and _is_in_fold(value):
                yield node
            case ast.Call(func=ast.Name(id="remember"), args=[table, *_]) if _is_in_fold(table):
                yield node
            case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[owner, *_]) if _is_fold(owner) or _is_in_fold(owner):
                yield node


def _flat(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, ast.Tuple | ast.List):
        for each in target.elts:
            yield from _flat(each)
    else:
        yield target


def _is_in_fold(node: ast.expr) -> bool:
    """Whether this is a member of a fold, or something within one."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
        if _is_fold(node):
            return True
    return False


def _is_fold(node: ast.expr) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr in FOLDS) or (isinstance(node, ast.Name) and node.id in FOLDS)


def test_only_the_interpreter_changes_the_state_of_a_session() -> None:
    looked_at = [path for path in sorted(SOURCES.rglob("*.py")) if not str(path.relative_to(SOURCES)).startswith(WRITERS)]
    named = [path for path in looked_at if NAMED.search(text_of(path))]  # where nothing is called so, nothing is changed
    assert len(named) > 20
    found = {str(path.relative_to(SOURCES)): places for path in named if (places := written(tree_of(path)))}
    assert not found, "give the interpreter's parts a method for it, or say in docs/architecture.md who else may, and why"


@every_row("source", [
    "self._fold.turn = None", "fold.turns += 1", "a, fold.mode = 1, 2", "recorder.fold.sent[key] = sent", "del fold.calls[key]",
    "session.fold.queue.pop(0)", "remember(self.fold.commands, key, done, 5)", "fold.chosen['x'].append(1)",
    "setattr(fold, name, 1)",
])
def test_a_writer_is_found(source: str) -> None:
    assert written(ast.parse(source))


@every_row("source", [
    "self.fold = fold", "fold = Fold()", "turn = fold.turn", "view = fold.calls.get(key)", "self.calls[fold.turn] = 1",
    "queue.append(fold.title)",
])
def test_a_reader_is_none(source: str) -> None:
    assert not written(ast.parse(source))
