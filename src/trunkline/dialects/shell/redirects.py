"""One redirection out of its syntax node: where it goes, or the text of a here-doc."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trunkline.dialects.shell.syntax import Redirect
from trunkline.dialects.shell.words import Nested, read_text

if TYPE_CHECKING:
    from tree_sitter import Node


def read_redirect(node: Node, source: bytes, nested: Nested) -> Redirect:
    """``2>> log`` or ``<<< text``."""
    operator, descriptor, target = "", None, None
    for child in node.children:
        if not child.is_named:
            operator = operator or child.type
        elif child.type == "file_descriptor":
            descriptor = descriptor or child
        else:
            target = target or child
    value, sketch = ("", "") if target is None else read_text(target, source, nested)
    body = value if node.type == "herestring_redirect" else None
    shown = "" if descriptor is None or mistaken_word(node, source) else _slice(descriptor, source)
    return Redirect(operator=operator, target=value, sketch=sketch, descriptor=shown, body=body)


def mistaken_word(node: Node, source: bytes) -> str:
    """The word that the grammar has taken for a redirection's descriptor: ``-l2`` of ``ls -l2>f``."""
    first = node.children[0] if node.child_count else None
    if first is None or first.type != "file_descriptor":
        return ""
    written = _slice(first, source)
    return "" if written.isdigit() or written.startswith("{") else written


def skipped_words(node: Node, source: bytes) -> list[str]:
    """Words before a redirection that the grammar has left out, as it does with ``-`` before a descriptor: ``x - 2>&1``."""
    before = node.prev_sibling
    gap = b"" if before is None else source[before.end_byte : node.start_byte]
    return gap.decode("utf-8", "replace").replace("\\\n", " ").split() if b"-" in gap else []


def read_heredoc(node: Node, source: bytes, nested: Nested) -> Redirect:
    """A here-doc: literal when its delimiter is quoted or nothing in it is expanded."""
    start = next((_slice(child, source) for child in node.named_children if child.type == "heredoc_start"), "")
    body = next((child for child in node.named_children if child.type == "heredoc_body"), None)
    operator = next((child.type for child in node.children if not child.is_named), "<<")
    text = "" if body is None else _slice(body, source)
    if body is None or any(quote in start for quote in "'\"\\"):
        return Redirect(operator=operator, target="", sketch=text, body=text)
    dynamic = [child for child in body.named_children if child.type != "heredoc_content"]
    for child in dynamic:
        read_text(child, source, nested)
    return Redirect(operator=operator, target="", sketch=text, body=None if dynamic or "`" in text else text)


def _slice(node: Node, source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")
