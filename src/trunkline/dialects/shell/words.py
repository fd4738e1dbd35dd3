"""One shell word out of its syntax node: quotes removed, braces expanded, what is dynamic kept apart.

Rule 1: a word is two strings: its value, or None when the shell must compute it, and its sketch, in which the dynamic parts
stand as written. Both are text; nothing is ever looked up.
Rule 2: commands inside a word (substitutions) are not read here. They are handed to ``nested``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct, structs

from trunkline.dialects.shell.computing import is_unread
from trunkline.dialects.shell.doubts import hides_substitution

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_BRACES: Final = 64
"""Words that one brace expression may become; the rest is left unexpanded, as one dynamic word."""

_HIDE: Final = str.maketrans("{},*?[", "\ue000\ue001\ue002\ue003\ue004\ue005")
_SHOW: Final = str.maketrans("\ue000\ue001\ue002\ue003\ue004\ue005", "{},*?[")
"""Quoted characters that would mean something unquoted; hidden while braces are expanded."""
_ESCAPE: Final = re.compile(r"\\(\n|.)", re.DOTALL)
_STRING_ESCAPE: Final = re.compile(r'\\([$`"\\\n])')
_ANSI: Final = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c(.)|(.))", re.DOTALL)
_ANSI_LETTERS: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
_BRACES: Final = re.compile(r"\{([^{}]*)\}")
_INNER: Final = frozenset({"command_substitution", "process_substitution"})
BINDING: Final = frozenset({"arithmetic_expansion", "expansion", "subscript"})
"""Nodes that may give a name a value: ``$((a = 1))``, ``${a:=x}``, ``${b[a = 1]}``."""
_BINDS: Final = re.compile(rb"\$\(\(|[=:!@\[]")


_ESCAPED: Final = re.compile(rb"\\.|\\\n", re.DOTALL)
_SPECIAL: Final = re.compile(rb"[\\{}`'\"\s;|&<>()$]")
_WORD_END: Final = re.compile(rb"[`'\"\s;|&<>()]|\$\(|\$\{")
_STATIC: Final = frozenset("\\$`")
"""Without these characters a bare word, or a string, is what it looks like."""


class Word(Struct, frozen=True, gc=False):
    """A word after the shell's quote removal."""

    value: str | None
    sketch: str
    written: str
    globs: bool = False
    """Has an unquoted ``*``, ``?`` or ``[``."""
    strange: bool = False
    """Has characters that end a word: the grammar took several words for one, and may have missed a command."""


Nested = Callable[["Node"], None]


@lru_cache(maxsize=4096)
def bare_word(written: bytes) -> Word | None:
    """A bare word that is what it looks like, which nearly all are; None: what its node is made of must be looked at."""
    if _SPECIAL.search(written):
        return None if written != b"$" else Word("$", "$", "$")
    text = written.decode("utf-8", "replace")
    return Word(text, text, text, "*" in text or "?" in text or "[" in text)


def quoted_word(written: bytes) -> Word | None:
    """A string in which nothing is escaped or computed; None as above."""
    if written[:1] == b"'" or _STATIC.isdisjoint(text := written.decode("utf-8", "replace")):
        text = written.decode("utf-8", "replace")
        return Word(text[1:-1], text[1:-1], text)
    return None


def read_words(node: Node, source: bytes, nested: Nested) -> list[Word]:
    """The words that one argument node becomes; usually one."""
    if node.type == "command_name" and node.child_count == 1:
        node = node.children[0]
    written = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
    if node.type == "raw_string" or (node.type == "string" and _STATIC.isdisjoint(written) and written[0] == '"'):
        bare = written[1:-1]
        return [Word(bare, bare, written)]
    text, dynamic = _evaluate(node, source, nested)
    words = expanded(text, dynamic, written)
    return [structs.replace(word, strange=True) for word in words] if _is_strange(node, source) else words


def _is_strange(node: Node, source: bytes) -> bool:
    """Whether a bare word, here or in a concatenation, has what no bare word can have."""
    if node.type in ("word", "regex"):  # the latter behind ``==``, up to the line's end
        return _WORD_END.search(_ESCAPED.sub(b"", source[node.start_byte : node.end_byte])) is not None
    return node.type in ("concatenation", "command_name") and any(_is_strange(part, source) for part in node.children)


def read_text(node: Node, source: bytes, nested: Nested) -> tuple[str | None, str]:
    """The value and the sketch of a node that is one word whatever is in it (a redirection's target, a value)."""
    text, dynamic = _evaluate(node, source, nested)
    shown = text if text.isascii() else text.translate(_SHOW)
    return (None if dynamic else shown), shown


def _evaluate(node: Node, source: bytes, nested: Nested) -> tuple[str, bool]:
    """The text of a node, with quoted specials hidden, and whether any of it is dynamic."""
    kind = node.type
    raw = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
    if kind in ("word", "number", "test_operator", "variable_name", "extglob_pattern", "regex", "heredoc_content"):
        if node.child_count:
            return _joined(node, source, nested, unescape_plain)
        return (unescape_plain(raw) if "\\" in raw else raw), False
    if kind == "raw_string":
        return raw[1:-1].translate(_HIDE), False
    if kind == "ansi_c_string":
        return unescape_ansi(raw[2:-1]).translate(_HIDE), False
    if kind in ("string", "translated_string"):
        return _joined(node, source, nested, unescape_string)
    if kind in ("concatenation", "command_name"):
        return _joined(node, source, nested, unescape_plain)
    if kind == "brace_expression":
        return raw, False
    _visit(node, nested)
    return expansion_sketch(raw).translate(_HIDE), True


def _joined(node: Node, source: bytes, nested: Nested, unescape: Callable[[str], str]) -> tuple[str, bool]:
    """The text of a node made of parts; what lies between the parts is literal."""
    pieces: list[str] = []
    dynamic = False
    quoted = unescape is unescape_string
    start = node.start_byte
    end = node.end_byte
    if quoted:
        start, end = source.index(b'"', start) + 1, end - 1
    for part in node.children:
        if not part.is_named or (quoted and part.type == "string_content"):
            continue
        pieces.append(unescape(source[start : part.start_byte].decode("utf-8", "replace")))
        text, moving = _evaluate(part, source, nested)
        pieces.append(text)
        dynamic = dynamic or moving
        start = part.end_byte
    pieces.append(unescape(source[start:end].decode("utf-8", "replace")))
    return "".join(pieces), dynamic


def _visit(node: Node, nested: Nested) -> None:
    """Hand on every substitution below a dynamic node, and what may set a name; a leaf that looks like a substitution is handed
    on too, for the reader to mark."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if current.type in _INNER:
            nested(current)
        elif current.child_count:
            if current.type in BINDING and _BINDS.search(current.text or b""):
                nested(current)
            waiting.extend(reversed(current.children))
        elif current.is_named and current.type != "raw_string":
            text = (current.text or b"").decode("utf-8", "replace")
            if hides_substitution(text) or is_unread(text):
                nested(current)


def add_words(words: list[Word], more: list[Word], gap: bytes, joins: bool) -> str:
    """Add words; one that follows without a blank, or on a joined line, is the rest of the word before it.

    ``gap`` is what stands before it; ``joins`` says that a word stood before the gap. Gives a reason for doubt, or nothing.
    """
    gap = gap.replace(b"\\\n", b"")
    if gap or not more or not words or not joins:
        words.extend(more)
    else:
        last, first = words.pop(), more[0]
        value = None if last.value is None or first.value is None else last.value + first.value
        words.append(Word(value, last.sketch + first.sketch, last.written + first.written, last.globs or first.globs))
        words.extend(more[1:])
    if gap.strip():  # ``x - $``
        return "a word that the grammar leaves out"
    # bash ends the command at such a line's end, or goes on with the target of the redirection before
    return "a line that ends in the middle of a command" if b"\n" in gap or not (gap or joins) else ""


def expansion_sketch(raw: str) -> str:
    """How a dynamic part is shown: ``${HOME}`` as ``$HOME``, ``$IFS`` as the blank that it is, others as written."""
    if raw.startswith("${") and raw.endswith("}") and raw[2:-1].isidentifier():
        raw = "$" + raw[2:-1]
    return " " if raw == "$IFS" or raw.startswith("${IFS") else raw


def unescape_plain(raw: str) -> str:
    """Text outside quotes: a backslash quotes the next character, and joins lines."""
    if "\\" not in raw:
        return raw
    return _ESCAPE.sub(lambda found: "" if found[1] == "\n" else found[1].translate(_HIDE), raw)


def unescape_string(raw: str) -> str:
    """Text inside double quotes: a backslash quotes only what is special there."""
    if "\\" in raw:
        raw = _STRING_ESCAPE.sub(lambda found: "" if found[1] == "\n" else found[1], raw)
    return raw.translate(_HIDE)


def unescape_ansi(raw: str) -> str:
    r"""Text inside ``$'…'``: ``\x41``, ``\101``, ``\u0041``, ``\n``."""
    return _ANSI.sub(_ansi_character, raw)


def _ansi_character(found: re.Match[str]) -> str:
    hexadecimal = found[1] or found[2] or found[3]
    if hexadecimal:
        code = int(hexadecimal, 16)
        return chr(code) if code <= 0x10FFFF else ""
    if found[4]:
        return chr(int(found[4], 8) & 0xFF)
    if found[5]:
        return chr(ord(found[5]) & 0x1F)
    return _ANSI_LETTERS.get(found[6], found[6] if found[6] in "\\'\"?" else "\\" + found[6])


def expanded(text: str, dynamic: bool, written: str) -> list[Word]:
    """The word, or the words that its braces make of it."""
    parts = _brace_words(text) if "{" in text and ("," in text or ".." in text) else [text]
    if len(parts) > MAX_BRACES:
        return [Word(None, text.translate(_SHOW), written)]
    globs = "*" in text or "?" in text or "[" in text
    shown = parts if text.isascii() else [part.translate(_SHOW) for part in parts]
    return [Word(None if dynamic else part, part, written if len(parts) == 1 else part, globs) for part in shown]


def _brace_words(text: str) -> list[str]:
    """``a{b,c}d`` as ``abd``, ``acd``; innermost braces first; stops when there are too many."""
    if text.count("{") == 1:
        before, _, rest = text.partition("{")
        inside, closed, after = rest.partition("}")
        return [f"{before}{part}{after}" for part in inside.split(",")] if closed and "," in inside else [text]
    done: list[str] = []
    waiting = [text]
    while waiting and len(done) + len(waiting) <= MAX_BRACES:
        current = waiting.pop(0)
        found = next((m for m in _BRACES.finditer(current) if "," in m[1]), None)
        if found is None:
            done.append(current)
        else:
            waiting[:0] = [current[: found.start()] + part + current[found.end() :] for part in found[1].split(",")]
    return done + waiting
