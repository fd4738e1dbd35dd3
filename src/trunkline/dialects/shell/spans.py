"""Which part of a line is what, so that a page can colour a command before somebody approves it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trunkline.dialects.shell.grammar import parse_tree, refusal
from trunkline.dialects.shell.syntax import Span, SpanRole

if TYPE_CHECKING:
    from tree_sitter import Node

_ROLES: Final[dict[str, SpanRole]] = {
    "command_name": "command",
    "string": "string",
    "raw_string": "string",
    "ansi_c_string": "string",
    "heredoc_body": "string",
    "file_redirect": "redirect",
    "herestring_redirect": "redirect",
    "simple_expansion": "substitution",
    "expansion": "substitution",
    "arithmetic_expansion": "substitution",
    "command_substitution": "substitution",
    "process_substitution": "substitution",
    "word": "argument",
    "number": "argument",
    "concatenation": "argument",
    "variable_assignment": "argument",
}
_OPERATORS: Final = frozenset({"|", "|&", "&&", "||", ";", "&", "!", "(", ")", "{", "}", "<<", "<<-", ";;"})
_WITH_PARTS: Final = frozenset(
    {"command_substitution", "process_substitution", "string", "heredoc_body", "concatenation", "command_name"}
)
"""Spans whose parts are given as well; a part comes after the whole that it is in."""


def spans(line: str) -> list[Span]:
    """The parts of ``line``, by start, outer before inner; none where the line is not parsed."""
    source = line.encode("utf-8", "replace")
    if refusal(source):
        return []
    found: list[tuple[int, int, SpanRole]] = []
    waiting = [parse_tree(source)]
    while waiting:
        node = waiting.pop()
        role = "operator" if node.type in _OPERATORS and not node.is_named else _ROLES.get(node.type)
        if role is not None and not (role == "argument" and _names_command(node)):
            found.append((node.start_byte, node.end_byte, role))
        if role is None or node.type in _WITH_PARTS:
            waiting.extend(reversed(node.children))
    return _in_characters(found, source)


def _names_command(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "command_name"


def _in_characters(found: list[tuple[int, int, SpanRole]], source: bytes) -> list[Span]:
    """Byte positions as positions in the text; the same where all is ASCII."""
    if source.isascii():
        return [Span(*part) for part in found]
    at: dict[int, int] = {}
    count = 0
    for offset, byte in enumerate(source):
        at[offset] = count
        if byte & 0xC0 != 0x80:
            at[offset] = count
            count += 1
    at[len(source)] = count
    return [Span(at[start], at[end], role) for start, end, role in found]
