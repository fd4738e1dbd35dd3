"""Where the grammar and bash read a line differently, and how that shows. Found by running random lines in bash.

Rule: a doubt makes a line incomplete, never more complete. What cannot be decided is a doubt.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Node

_MISREAD: Final = re.compile(rb"\$\\\n|(?:^|[\s;|&(){}<>])\\[ \t]|(?:==|=~)[ \t]{1,9}[0-9]{1,9}[<>]")
"""A line joined inside ``$(``, an escaped blank at the start of a word, and a descriptor taken for what ``==`` compares."""
_INDEX: Final = re.compile(r"['\"\w]\[")
_BACKTICK: Final = re.compile(r"(?<!\\)`")
_BACKTICK_ESCAPE: Final = re.compile(r"\\([`\\$])")
_ESCAPE: Final = re.compile(r"\\.", re.DOTALL)
_QUOTES: Final = re.compile(r"['\"\\]")


def is_misread(source: bytes) -> bool:
    """Whether a text has what the grammar takes for something else."""
    if b"\\" not in source and b"==" not in source and b"=~" not in source:
        return False  # as most have none of these, and the search is slow
    return _MISREAD.search(source) is not None


def has_computed_index(text: str) -> bool:
    """Whether a test names an array with a command in its index, which bash runs even where it is quoted."""
    for part in text.split("]"):
        index = _INDEX.search(part)
        if index is not None and ("`" in part[index.end():] or "$(" in part[index.end():]):
            return True
    return False


def hides_substitution(text: str) -> bool:
    """Whether a text that should hold none has the signs of a substitution."""
    return ("`" in text or "$(" in text) and ("`" in (bare := _ESCAPE.sub("", text)) or "$(" in bare)


def heredoc_ends(node: Node, source: bytes) -> bool:
    """Whether a here-doc ends with its delimiter; the grammar does not mind when it does not."""
    found = {child.type: source[child.start_byte : child.end_byte].decode("utf-8", "replace") for child in node.named_children}
    end = found.get("heredoc_end", "").strip()
    return end != "" and end == _QUOTES.sub("", found.get("heredoc_start", ""))


def backtick_texts(text: str) -> tuple[list[str], bool]:
    """The commands between backticks, and whether the last one ends.

    The grammar takes ```a` `b``` for one command, and those of a here-doc for text.
    """
    pieces = _BACKTICK.split(text)
    return [_BACKTICK_ESCAPE.sub(r"\1", piece) for piece in pieces[1::2]], len(pieces) % 2 == 1
