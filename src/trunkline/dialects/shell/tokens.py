"""Words and redirections read from their text, where their syntax nodes have nothing to add.

Asking nodes for their parts is what costs most in a line that needs the grammar, and most of its words are simple.

Rule 1: what is read here is exactly what the nodes would give. Tests hold the two together.
Rule 2: linear. Every repetition in the patterns is possessive.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, cast

from msgspec import Struct

from trunkline.dialects.shell.engine import compiled
from trunkline.dialects.shell.plain import GRAMMATICAL, PlainCommand
from trunkline.dialects.shell.syntax import Redirect
from trunkline.dialects.shell.words import Word, expanded, expansion_sketch

_SPECIAL: Final = re.compile(rb"[\\{}`'\"\s;|&<>()$]")
_VARIABLE: Final = rb"\$(?:[A-Za-z_]\w*+|\{[A-Za-z_]\w*+\})"
_STRING: Final = rb"'[^']*+'|\"(?:[^\"$`\\]|\\[ -~]|" + _VARIABLE + rb")*+\""
_CHARACTERS: Final = rb"[\w./=:,@%+~^*?-]"
_BRACED: Final = rb"(?:" + _CHARACTERS + rb"*+\{" + _CHARACTERS + rb"*+\})++" + _CHARACTERS + rb"*+(?![\\$])"
_TOKEN: Final = rb"(?>" + _BRACED + rb"|(?:" + _CHARACTERS + rb"|\\[ -~]|" + _VARIABLE + rb"(?!\\))++|" + _STRING + rb")"
"""Braces beside an escape or a variable are left to the grammar, and so is an escape behind a variable: it may divide them."""
_TOKENS: Final = compiled(_TOKEN)
_COMMAND: Final = compiled(rb"[\w./+-]++(?:[ \t]++(?!=|-(?:\s|$)|\\ )" + _TOKEN + rb")*+")
BARE_COMMAND: Final = compiled(rb"[\w./+-]++(?: (?>[\w./=:,@%+~^-]++|'[^']*+'|\"[^\"$`\\]*+\"))*+")
"""Words that the grammar takes for operators (``==``, ``-``) are read here only among the simplest."""
_TARGET: Final = rb"(?!=|-$)(?>(?:[\w./=:,@%+~^-]|\$[A-Za-z_]\w*+)++|'[^']*+'|\"[^\"$`\\]*+\")"
_INNER: Final = rb"(?=[\w./])[\w./+-]++(?: (?!=|-(?:[\s)`]|$))[\w./=:,@%+~^*?-]++)*+"
_SUBSTITUTION: Final = rb"(?:`" + _INNER + rb"`|[$<>]\(" + _INNER + rb"\)|\"\$\(" + _INNER + rb"\)\")"
_SUBSTITUTED: Final = compiled(rb"[\w./+-]++(?: (?>" + _SUBSTITUTION + rb"|(?!=|-(?:\s|$))[\w./=:,@%+~^*?-]++))++")
_PARTS: Final = compiled(_SUBSTITUTION + rb"|[^ ]++")
_SIGNS: Final = {b"$": "$(…)", b'"': "$(…)", b"`": "$(…)", b"<": "<(…)", b">": ">(…)"}
_REDIRECT: Final = compiled(rb"([0-9]?)(>>|&>|&>>|[<>])[ \t]*+(" + _TARGET + rb")|([0-9]?)(>&)([0-9])")
_GLOB: Final = re.compile(r"[*?]")
_GLUED: Final = re.compile(rb"\}-[ \t]+\{")
_EXPANSION: Final = re.compile(r"\\.|(\$(?:\w+|\{\w+\}))")


@lru_cache(maxsize=4096)
def plain_word(written: bytes) -> Word | None:
    """A bare word that is what it looks like, which nearly all are; None: it must be read from its node."""
    if _SPECIAL.search(written):
        return None
    text = written.decode("utf-8", "replace")
    return Word(text, text, text, "*" in text or "?" in text or "[" in text)


def plain_string(written: bytes) -> Word | None:
    """A string or a variable; None: it must be read from its node."""
    return _token(written) if b"IFS" not in written and _TOKENS.fullmatch(written) is not None else None


def _tokens(written: bytes) -> list[Word]:
    """The words that a token with a brace becomes: several, where it lists them."""
    if written[:1] in b"'\"" or b"$" in written or b"\\" in written:
        return [_token(written)]
    text = written.decode()
    return expanded(text, False, text)


def plain_command(written: bytes, alone: bool) -> list[Word] | None:
    """The words of a command of bare words, simple strings and variables; None: look at its nodes.

    ``alone``: nothing stands behind it that belongs to it."""
    if BARE_COMMAND.fullmatch(written) is not None:
        if not alone and (b" =" in written or b" - " in written or written.endswith(b" -")):
            return None
    elif b"IFS" in written or _COMMAND.fullmatch(written) is None:
        return None
    quoted = b"'" in written or b'"' in written or b"\\" in written
    tokens = _TOKENS.findall(written) if quoted else written.split()
    if b"{" in written and b"{" in written.replace(b" {}", b""):
        if (b"$" in written and written.count(b"{") > written.count(b"${")) or _GLUED.search(written):
            return None  # the grammar may take two words for one
        return [word for token in tokens for word in (_tokens(token) if b"{" in token else (_token(token),))]
    return [_token(token) for token in tokens]


class Inside(Struct, frozen=True, gc=False):
    """A substitution of one plain command: the word that it is, its sign, and the command."""

    word: Word
    sign: str
    command: PlainCommand


def substituted_command(written: bytes) -> list[Word | Inside] | None:
    """The words of a command of bare words and of substitutions of such commands; None: look at its nodes."""
    if b"IFS" in written or _SUBSTITUTED.fullmatch(written) is None:
        return None
    if written.count(b"`") > 2:
        return None  # the grammar takes what is between the first and the last for one
    parts = [_part(part) for part in _PARTS.findall(written)]
    return None if None in parts else cast(list[Word | Inside], parts)


@lru_cache(maxsize=4096)
def _part(written: bytes) -> Word | Inside | None:
    sign = _SIGNS.get(written[:1])
    if sign is None:
        return _token(written)
    text = written.decode()
    shown = text[1:-1] if text[0] == '"' else text
    inside = shown[1:-1] if shown[0] == "`" else shown[2:-1]
    words = tuple(inside.split(" "))
    if words[0] in GRAMMATICAL:
        return None
    return Inside(Word(None, shown, text), sign, PlainCommand(inside, words, words, (), (), ""))


@lru_cache(maxsize=1024)
def plain_redirect(written: bytes) -> Redirect | None:
    """A redirection to or from one simple word; None: look at its nodes."""
    found = _REDIRECT.fullmatch(written)
    if found is None or b"IFS" in written:
        return None
    if found[5] is not None:
        return Redirect(">&", found[6].decode(), found[6].decode(), found[4].decode())
    word = _token(found[3])
    return Redirect(found[2].decode(), word.value, word.sketch, found[1].decode())


@lru_cache(maxsize=4096)
def _token(written: bytes) -> Word:
    text = written.decode()
    if text[0] == "'":
        return Word(text[1:-1], text[1:-1], text)
    quoted = text[0] == '"'
    bare = text[1:-1] if quoted else text
    if "\\" in bare or "$" in bare:
        return _composed(bare, text, quoted)
    return Word(bare, bare, text, not quoted and ("*" in bare or "?" in bare))


def _composed(text: str, written: str, quoted: bool) -> Word:
    """A word with escapes or variables in it."""
    shown = _EXPANSION.sub(_shown_in_string if quoted else _shown, text)
    dynamic = "$" in text and any([found[1] is not None for found in _EXPANSION.finditer(text)])
    globs = not quoted and ("*" in text or "?" in text) and _GLOB.search(_EXPANSION.sub("", text)) is not None
    return Word(None if dynamic else shown, shown, written, globs)


def _shown(found: re.Match[str]) -> str:
    return found[0][1] if found[1] is None else expansion_sketch(found[1])


def _shown_in_string(found: re.Match[str]) -> str:
    if found[1] is not None:
        return expansion_sketch(found[1])
    return found[0][1] if found[0][1] in "$`\"\\" else found[0]
