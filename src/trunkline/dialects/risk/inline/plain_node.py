"""Whether JavaScript is known to compute, look and print only. It is not parsed: strings are taken out, and names are looked at.

Rule 1: a module is one that stands there, whole, between the parentheses of its ``require``.
Rule 2: a member is named, or found by a number, a name or one string: what is put together there may be any.
Rule 3: what is handed to somebody who calls it (``map``) stands there as a function, or is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trunkline.dialects.risk.inline.bare_text import UNSURE_SLASH, Bare, without_patterns, without_strings
from trunkline.dialects.risk.inline.harmless_names import NODE, NODE_GRAVE

_ODD: Final = re.compile(r"\]\s{0,9}\(|\)\s{0,9}\(|\?\.\(|[\w$)]\s{0,9}``|\.\s{0,9}\[")
"""Calls of something that has no name there, and a tag before a template."""
_CALLED: Final = re.compile(r"([A-Za-z_$][\w$]{0,80})\s{0,9}\(")
_ATTRIBUTE: Final = re.compile(r"\.\s{0,9}([A-Za-z_$][\w$]{0,80})")
_LOADS: Final = re.compile(r"\b(?:require|import)\b")
_LOADED: Final = re.compile(r"\b(?:require|import)\s{0,9}\(\s{0,9}(S)\s{0,9}\)|\bimport\s{1,9}(S)\s{0,9}(?:[;\n]|$)")
_MEMBER: Final = re.compile(r"([\w$]{1,80}|[\])}`])\s{0,9}\[([^\[\]]{0,200})(\]?)")
_NO_VALUES: Final = frozenset("const let var return of in typeof case await yield else do new delete void throw".split())
"""Words behind which a bracket begins a list."""
_NUMBER: Final = re.compile(r"\s{0,9}-?\d{1,9}\s{0,9}")
_SIMPLE: Final = re.compile(r"\s{0,9}(?:[\w$.]{1,80}\s{0,3}(?:[-+]\s{0,3}\d{1,9})?)\s{0,9}")
_TAKES_FUNCTIONS: Final = re.compile(
    r"\b(map|filter|sort|reduce|forEach|then|find|some|every|flatMap|findIndex|findLast|replace|replaceAll|from|stringify|parse"
    r"|setTimeout|setInterval|defineProperty|assign)\s{0,9}\(")
_WRITES: Final = re.compile(r"(?<!\bprocess\.stdout)\.\s{0,9}write\b")
_SECOND: Final = frozenset(("replace", "replaceAll", "from", "stringify", "parse"))
"""Of these, what takes it behind what it is about."""
_KNOWN_VALUE: Final = re.compile(
    r"S|``|-?\d[\d.]{0,20}|null|undefined|true|false|Number|String|Boolean|BigInt|parseInt|parseFloat|isNaN|console\.\w{1,20}"
    r"|(?:Math|Number|String|Array|Object|JSON)\.[a-z]\w{0,20}")
_OWN_FUNCTION: Final = re.compile(r"\b(\w{1,80})\s{0,9}=\s{0,9}(?:\([\w\s,]{0,120}\)|\w{1,80})\s{0,9}=>")
_BOUND_BY_VALUE: Final = re.compile(r"\{\s{0,9}\[|,\s{0,9}\[[^\[\]]{0,200}\]\s{0,9}:")
_HIDDEN: Final = frozenset("constructor prototype __proto__ eval Function".split())
"""Names that have no use as a string but to find something by it."""
_IMPLICIT: Final = re.compile(r"\b(?:toString|valueOf|toJSON|toPrimitive|iterator)\b(?!\s{0,9}\()")
"""What is called without being called."""
_FOREIGN: Final = frozenset(
    "eval Function globalThis global constructor prototype Reflect Proxy WebAssembly with class dlopen binding "
    "mainModule module Symbol getOwnPropertyDescriptor __proto__".split())
_BOUND: Final = re.compile(
    r"(?:^|[;\n:{,(]|\b(?:const|let|var)\b)\s{0,9}([\w$ ,.\[\]{}:]{1,200}?)\s{0,9}=(?![=>])|\bas\s{1,9}(\w{1,80})"
    r"|\bfor\s{1,9}([\w,\s()]{1,120}?)\s{1,9}(?:in|of)\b|\.(\w{1,80})\s{0,9}=(?!=)"
    r"|[{,]\s{0,9}(\w{1,80})\s{0,9}:|(\w{1,80})\s{0,9}=>|\(([\w\s,{}:]{1,120})\)\s{0,9}=>")
"""Names that code gives a value."""
_KEYWORDS: Final = frozenset("in if else for while return yield".split())



def is_plain_node(code: str) -> bool:
    """Whether a piece of JavaScript can only compute, look and print."""
    if UNSURE_SLASH.search(code) or ("`" in code and ("//" in code or "/*" in code)):
        return False
    bare = without_strings(without_patterns(code))
    required = [bare.strings.get(found.start(found.lastindex or 0)) for found in _LOADED.finditer(bare.text)]
    if len(_LOADS.findall(bare.text)) > len(required) or not all(name and _is_harmless_module(name) for name in required):
        return False
    text = bare.text
    words, called = set(re.findall(r"[A-Za-z_$][\w$]{0,80}", text)), set(_CALLED.findall(text))
    if _ODD.search(text) or not _FOREIGN.isdisjoint(words) or not called <= NODE | _KEYWORDS or _is_rebound(text, called):
        return False
    if _WRITES.search(text) or _IMPLICIT.search(text) or not _knows_members(bare) or not _knows_functions(text):
        return False
    is_pure = {"fs", "node:fs"}.isdisjoint(required) or _only_reads_files(code)
    return is_pure or _TAKES_FUNCTIONS.search(text) is None or set(_ATTRIBUTE.findall(text)) <= NODE | {
        "argv", "env", "stdout", "stdin", "length"}


def _is_rebound(bare: str, called: set[str]) -> bool:
    """Whether code gives a name that it calls another meaning."""
    bound = {name for found in _BOUND.findall(bare) for one in found for name in re.findall(r"[A-Za-z_$][\w$]*", one)}
    return not bound.isdisjoint(called - _KEYWORDS)


def _knows_members(bare: Bare) -> bool:
    """Whether every member that is found by a value, or bound by one, is found by a number, a name or one string."""
    if _BOUND_BY_VALUE.search(bare.text) or not _HIDDEN.isdisjoint(bare.strings.values()):
        return False
    for found in _MEMBER.finditer(bare.text):
        if found[1] in _NO_VALUES or _NUMBER.fullmatch(found[2]) or not found[2].strip():
            continue
        name = bare.strings.get(found.start(2) + len(found[2]) - len(found[2].lstrip()))
        is_string = name is not None and found[2].strip() == "S"
        if not found[3] or not (is_string or (_SIMPLE.fullmatch(found[2]) and found[2].strip() != "S")):
            return False
        if name is not None and (name in _FOREIGN or "\\" in name):
            return False
    return True


def _knows_functions(bare: str) -> bool:
    """Whether all that is handed on to be called stands there as a function, is given one there, or is known."""
    own = set(_OWN_FUNCTION.findall(bare))
    return all("=>" in value or value.startswith("function") or value in own or _KNOWN_VALUE.fullmatch(value)
               for value in _handed_on(bare))


def _handed_on(bare: str) -> Iterator[str]:
    """What is given to those who call it."""
    for found in _TAKES_FUNCTIONS.finditer(bare):
        values = list(_arguments(bare, found.end()))
        yield from values[1:2] if found[1] in _SECOND else values[:1]


def _arguments(bare: str, at: int) -> Iterator[str]:
    """The first values between parentheses that begin before this place."""
    depth, start, end = 0, at, min(len(bare), at + 2000)
    for place in range(at, end):
        sign = bare[place]
        depth += (sign in "([{") - (sign in ")]}")
        if depth < 0 or (sign == "," and depth == 0):
            yield bare[start:place].strip()
            start = place + 1
        if depth < 0:
            return
    yield bare[start:end].strip()


def _only_reads_files(code: str) -> bool:
    """Whether all that code does with node's files is to call something known of theirs."""
    named = _FILES_NAMED.sub(" ", _FILES.sub("fs", code))
    return len(re.findall(r"\bfs\b", named)) == len(_FILES_READ.findall(named))


_FILES: Final = re.compile(r"require\((['\"])(?:node:)?fs\1\)")
_FILES_NAMED: Final = re.compile(r"\b(?:const|let|var)\s{1,9}fs\s{0,9}=\s{0,9}fs\b(?!\.)")
_FILES_READ: Final = re.compile(r"\bfs\.(?:readFileSync|existsSync|readdirSync|statSync)\(")


def _is_harmless_module(name: str) -> bool:
    plain = name.removeprefix("node:")
    return plain not in NODE_GRAVE and plain.partition("/")[0] not in NODE_GRAVE and plain != "fs/promises" and (
        name[:1] not in ("/", "~", "") and ".." not in name and ":" not in plain)
