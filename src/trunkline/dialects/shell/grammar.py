"""The bash grammar of tree-sitter, loaded on first use, and the bounds on what it is given.

Rule 1: nothing imports tree-sitter before the first line is parsed.
Rule 2: text of any size costs little. Recovering from errors is quadratic in the grammar's runtime, so what is long, or is
nearly all operators, is not parsed at all. Callers treat what is not parsed as the worst.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_LINE_BYTES: Final = 8192
"""Longer text is not parsed. The worst text of this size takes about a tenth of a second, an honest one 2 ms."""
MAX_OPERATORS: Final = 500
"""More operators than this, and more than letters, is noise: it is what makes error recovery slow."""
_OPERATORS: Final = b"()<>|&;${}"


def parse_tree(source: bytes) -> Node:
    """The syntax tree of ``source``, which ``refusal`` has let through."""
    return _parser().parse(source).root_node


def refusal(source: bytes) -> str:
    """Why a text is not parsed; empty when it is."""
    if len(source) > MAX_LINE_BYTES:
        return f"longer than {MAX_LINE_BYTES} bytes"
    if b"\0" in source:
        return "a NUL byte"
    if len(source) > MAX_OPERATORS:
        letters = len(source.translate(None, _OPERATORS))
        if len(source) - letters > max(MAX_OPERATORS, letters):
            return "hardly anything but operators"
    return ""


@cache
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))
