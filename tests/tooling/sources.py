"""Python sources taken apart: once in each process of tests, for all tests that look at them."""

from __future__ import annotations

import ast
import gc
from functools import cache
from pathlib import Path


@cache
def tree_of(path: Path) -> ast.Module:
    """A module. It is nothing but small objects that stay: to look through them for garbage meanwhile takes longer than this."""
    text = path.read_text(encoding="utf-8")
    was_on = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(text)
    finally:
        if was_on:
            gc.enable()
