"""A command line taken apart for whoever has to approve it: which part is what, and which part is dangerous.

Rule 1: the parts are for reading. What is judged is the whole line, by ``explain_risk``; here its worst places are pointed out.
Rule 2: bounded: long lines have no parts, and no more than so many parts and commands are listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import UNSET

from trunkline.dialects.command_part import CommandPart, PartKind
from trunkline.dialects.context.types import RiskLevel
from trunkline.dialects.risk.levels import rank
from trunkline.dialects.risk.line import recent_line
from trunkline.dialects.risk.places import Places
from trunkline.dialects.shell import Span, spans
from trunkline.dialects.shell.grammar import parse_tree, refusal

if TYPE_CHECKING:
    from tree_sitter import Node

LINE_BYTES: Final = 4096
PARTS_MOST: Final = 256
_JUDGED_MOST: Final = 24
"""Commands of a line that are judged one by one."""
_LISTED_FROM: Final = rank("high")


def command_parts(line: str, *, cwd: str | None = None, roots: Sequence[str] = (), home: str | None = None) -> list[CommandPart]:
    """The parts of ``line``, by start, outer before inner; none where it is too long or cannot be read."""
    source = line.encode("utf-8", "replace")
    if len(source) > LINE_BYTES or refusal(source):
        return []
    risks = _risks(source, Places.of(cwd, roots, home))
    at = _Characters(source)
    marked = {(at[start], at[end]): level for (start, end), level in risks.items()}
    return [CommandPart(span.start, span.end, _kind(line[span.start:span.end], span), marked.get((span.start, span.end), UNSET))
            for span in spans(line)[:PARTS_MOST] if span.start < span.end]  # what the grammar had to add is not there


def _kind(text: str, span: Span) -> PartKind:
    match span.role:
        case "command":
            return "program"
        case "argument":
            return _argument_kind(text)
        case "substitution":
            return "substitution" if text.startswith(("$(", "`", "<(", ">(")) else "variable"
        case role:
            return role


def _argument_kind(text: str) -> PartKind:
    if text.startswith("-") and text != "-":
        return "flag"
    return "path" if "/" in text or text.startswith("~") or text in (".", "..") else "argument"


def _risks(source: bytes, places: Places) -> dict[tuple[int, int], RiskLevel]:
    """By its place in bytes: the programs, and the pipes, that are high or critical."""
    found: dict[tuple[int, int], RiskLevel] = {}
    judged = 0
    for node in _statements(parse_tree(source)):
        judged += 1
        if judged > _JUDGED_MOST:
            break
        level = _level(source, node, places)
        if rank(level) < _LISTED_FROM:
            continue
        for start, end in _marks(node):
            if rank(level) > rank(found.get((start, end), "low")):
                found[start, end] = level
    return found


def _statements(tree: Node) -> Iterator[Node]:
    """Commands, with what they redirect, and pipelines; outer before inner."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if node.type in ("pipeline", "command"):
            yield _with_redirects(node)
        waiting.extend(reversed(node.children))


def _with_redirects(node: Node) -> Node:
    return node.parent if node.parent is not None and node.parent.type == "redirected_statement" else node


def _level(source: bytes, node: Node, places: Places) -> RiskLevel:
    text = source[node.start_byte:node.end_byte].decode("utf-8", "replace")
    return recent_line(text, places).level


def _marks(node: Node) -> list[tuple[int, int]]:
    """What is pointed at: a command's name, or the pipes between commands that are dangerous together."""
    inner = node.children[0] if node.type == "redirected_statement" and node.children else node
    if inner.type == "pipeline":
        return [(each.start_byte, each.end_byte) for each in inner.children if each.type in ("|", "|&")]
    names = [each for each in inner.children if each.type == "command_name"]
    return [(each.start_byte, each.end_byte) for each in names]


class _Characters:
    """Positions in bytes as positions in the text."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._ascii = source.isascii()

    def __getitem__(self, offset: int) -> int:
        return offset if self._ascii else len(self._source[:offset].decode("utf-8", "replace"))
