"""The bash grammar of tree-sitter, loaded on first use, and the bounds on what it is given.

Rule 1: nothing imports tree-sitter before the first line is parsed.
Rule 2: text of any size costs little. Recovering from errors is quadratic in the grammar's runtime, so what is long, or full of
operators, is not parsed at all. Callers treat what is not parsed as the worst.
Rule 3: the grammar sees ASCII only. Its scanner looks up characters in a table for single bytes, and a rare character can end
the whole process (tree-sitter-bash, issue 337).
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_LINE_BYTES: Final = 16384
"""Longer text is not parsed. An honest line of this size takes 3 ms."""
MAX_OPERATORS: Final = 256
"""Operators outside quotes and here-docs. Text with more of them, made to fail everywhere, takes seconds to recover from."""
_ASIDE: Final = re.compile(
    rb"\\.|'[^']*'|\"(?:[^\"\\$`]|\\.|\$(?![({]))*\"|(?:^|(?<=[\s;]))#[^\n]*"
    rb"|<<-?[ \t]*(['\"]?)(\w+)\1[^\n]*\n(?:[^\n]*\n)*?[ \t]*\2(?=\n|$)",
    re.DOTALL,
)
"""What holds no operators: quoted text, here-docs, and comments, so that a quote in one does not count. Roughly: "
"it bounds a cost, it decides nothing else."""
_OPERATORS: Final = b"()<>|&;$`{}[]!?@"
MAX_BARE_BYTES: Final = 4096
"""Text outside quotes and here-docs."""
_ASCII: Final = bytes(range(128)) + b"%" * 128
"""Every byte of a character beyond ASCII as a plain character of a word, which is what it is to bash."""
_MAX_HEREDOCS: Final = 32


def parse_tree(source: bytes) -> Node:
    """The syntax tree of ``source``, which ``refusal`` has let through. Take texts from ``source``, never from its nodes."""
    return _parser().parse(source if source.isascii() else source.translate(_ASCII)).root_node


def refusal(source: bytes) -> str:
    """Why a text is not parsed; empty when it is."""
    if len(source) > MAX_LINE_BYTES:
        return f"longer than {MAX_LINE_BYTES} bytes"
    if b"\0" in source:
        return "a NUL byte"
    if len(source) <= MAX_BARE_BYTES and _operators(source) <= MAX_OPERATORS:
        return ""
    bare = source if source.count(b"<<") > _MAX_HEREDOCS else _ASIDE.sub(_without, source)
    if len(bare) > MAX_BARE_BYTES:
        return f"longer than {MAX_BARE_BYTES} bytes outside quotes"
    return "too many operators" if _operators(bare) > MAX_OPERATORS else ""


def _without(found: re.Match[bytes]) -> bytes:
    """Nothing, for quoted text; comments count, because nobody needs long ones."""
    return found[0] if found[0].startswith(b"#") else b" "


def _operators(source: bytes) -> int:
    return len(source) - len(source.translate(None, _OPERATORS))


@cache
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))
