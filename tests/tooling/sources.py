"""Python sources taken apart: once in each process of tests, for all tests that look at them."""

from __future__ import annotations

import ast
import gc
from functools import cache
from pathlib import Path


@cache
def text_of(path: Path) -> str:
    """A module as it is written: whoever looks for words need not take apart those that have none of them."""
    return path.read_text(encoding="utf-8")


@cache
def tree_of(path: Path) -> ast.Module:
    """A module. It is nothing but small objects that stay: to look through them for garbage meanwhile takes longer than this."""
    text = text_of(path)
    was_on = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(text)
    finally:
        if was_on:
            gc.enable()


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a module, for those that go through all modules again and again."""
    return tuple(ast.walk(tree_of(path)))
