"""Which members of an input say something that we do not understand.

Rule 1: a member counts as understood where somebody looks at it: as a command, a path, a pattern, a text to write. Of the others
only those count that are known to change nothing, with a value of the kind that they have: under ``limit`` stands a number, and a
text only under what is for people. One that is off (false, empty) says nothing.
Rule 2: what is in general use stands here. A vendor's own names stand in its catalog entry (``members``), and arrive as
``ToolNames``.
Rule 3: a name that says how a call is run (``sandbox``, ``run_as``) is never harmless, whoever lists it.
Rule 4: what a member is good for depends on the tool: what looks has no target and no text, what runs something has no text.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, get_args

from trunkline.dialects.calls.inputs import (
    DEPTH,
    MEMBERS,
    bare_key,
    is_arguments,
    is_folder,
    is_looked_at,
    is_of_command,
    is_variables,
    takes_text,
)
from trunkline.dialects.calls.names import role_of_name, verb_in
from trunkline.dialects.calls.searches import words_of
from trunkline.dialects.calls.types import ToolRole

_Kind = Literal["amount", "word", "id", "text", "texts"]
"""What may stand under a harmless name: a number or a switch, a short plain word, an id, words for people, or a list of texts."""


def _kinds(**names: str) -> dict[str, _Kind]:
    return {name: kind for kind in get_args(_Kind) for name in names.get(kind, "").split()}


_HARMLESS: Final = _kinds(
    amount="timeout timeoutms timeoutseconds runinbackground isbackground background limit offset headlimit line lines startline "
    "endline maxresults maxlines replaceall i n a b c casesensitive caseinsensitive multiline literaltext wait maxtokens pages "
    "page count index bytes size viewrange insertline",
    word="outputmode sortby filetype", id="toolcallid tooluseid messageid", text="description explanation justification reason")
_HARMLESS_LOOKS: Final = _kinds(amount="recursive depth maxdepth context beforecontext aftercontext", word="status", id="id")
_HARMLESS_WEB: Final = _kinds(amount="recencydays", texts="url urls alloweddomains blockeddomains", word="status", id="id")
_HARMLESS_FOR: Final[dict[ToolRole, dict[str, _Kind]]] = {
    "read": _HARMLESS_LOOKS, "search": _HARMLESS_LOOKS, "fetch": _HARMLESS_WEB, "web_search": _HARMLESS_WEB}
"""What changes nothing of one sort of tool, and something of others: how deep a search goes, and how deep a deletion."""
_HARMLESS_ENDS: Final = frozenset({"encoding", "format", "language"})
"""What they are for is said by a word."""
_AMOUNT: Final = re.compile(r"-?\d[\d.,:-]{0,30}[A-Za-z]{0,3}|true|false|yes|no|on|off", re.IGNORECASE)
_PLAIN_WORD: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.,+#-]{0,39}")
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:|-]{0,127}")
_SORTS: Final = frozenset({"type", "kind", "tool"})
"""They say what sort of thing is meant, where that is a sort that is known; another word may be something to do."""
_KNOWN_SORTS: Final = frozenset(
    "file files directory directories dir folder symlink text string image binary json yaml toml markdown html css "
    "regex regexp literal "
    "glob pattern exact fuzzy fixed keyword keywords semantic auto any all none default fast deep neural web news "
    "content contents "
    "filename filenames path paths name names count read view open cat list ls search find grep look get show fetch query "
    "python javascript typescript rust golang java kotlin swift ruby perl php scala haskell elixir erlang clojure csharp cpp "
    "shell bash docker make cmake config lock xml csv sql proto graphql svelte vue react jsx tsx protobuf terraform "
    "foreground background normal plain utf8 ascii object array number boolean integer symbol function class method "
    "bash_command local".split())
_CHANGES: Final = frozenset("add update create modify edit insert replace".split())
"""What a tool that writes may do to one file of several. To delete one is read as such."""
_WRITES: Final = frozenset({"write", "edit", "patch"})
_LOOKS: Final = frozenset({"read", "search"})
_RUNS: Final = frozenset({"terminal", None})
"""What gives words and variables to a program; a tool that is not known may."""
_MILD: Final = frozenset({"read", "search", "write", "edit", "terminal", "todo", "think"})
"""What a tool is for whose name may stand beside its arguments. What it does with them is seen in these."""
_EXTENSION: Final = re.compile(r"[a-z][a-z0-9+#]{0,2}")
"""A short one is a language or an ending, unless it is a command."""
_SHORT_VERBS: Final = frozenset("rm mv cp dd ln del put pop cut run set add new zap fix git".split())
_NEVER: Final = frozenset(
    "dangerously sandbox sandboxed unsandboxed sudo root privileged unprivileged escalated elevated bypass skip permission "
    "permissions user as command commands script hook hooks exec execute eval preload shell".split())
"""Words of names that say how, as whom or with what else a call is run."""
_HOW: Final = _NEVER - {"root", "skip", "command", "commands", "script", "shell"} | {"username", "host", "hostname", "container"}
"""Of these, what no other word of the name makes up for: ``user_name`` is no path, ``sandbox_type`` no sort of thing."""
_TARGETS: Final = frozenset("to into out output outfile outpath outputfile destination dest dst".split())
_TEXTS: Final = frozenset("content contents text string str body replace replacement patch diff edit edits snippet".split())
_WRITTEN: Final = frozenset("content contents diff patch edits replacement".split())
"""Texts by which a look is judged as an edit anyway."""
_LOOKED_FOR: Final = frozenset("text string str".split())
_NONE: Final[frozenset[str]] = frozenset()
_NOT_FOR: Final[dict[ToolRole, frozenset[str]]] = {
    "terminal": _TEXTS | _TARGETS | {"from", "name", "source", "target"},
    "read": (_TEXTS | _TARGETS | {"comment"}) - _WRITTEN,
    "search": (_TEXTS | _TARGETS) - _WRITTEN - _LOOKED_FOR,
}
"""Last words of names that a tool for this has no use for: with one of them it does something else as well."""


_FILES: Final = frozenset("file files path paths filename dir directory folder".split())
_MADE: Final = frozenset("output outputs out result results log logs report export dump save saved dest destination".split())


def unknown_members(value: Any, known: frozenset[str] = frozenset(), role: ToolRole | None = None,
                    depth: int = DEPTH) -> Iterator[str]:
    """The names of members that nobody looks at and that are not known to change nothing, at any depth. ``known`` are those that
    the agent's catalog entry lists, as ``bare_key`` spells them; ``role`` is what the tool is for."""
    if isinstance(value, Mapping):
        for key, inner in itertools.islice(value.items(), MEMBERS):
            name = str(key)
            if not inner or bare_key(name) in known:
                continue
            if is_variables(name):
                yield from [name] if role not in _RUNS else ()
            elif depth and _holds_records(inner):
                yield from unknown_members(inner, known, role, depth - 1)
            elif _is_out_of_place(name, role) or not (_is_harmless(name, inner, role) or _is_looked_at(name, inner, role)):
                yield name
    elif isinstance(value, list | tuple) and depth:
        for inner in itertools.islice(value, MEMBERS):
            yield from unknown_members(inner, known, role, depth - 1)


def _is_out_of_place(name: str, role: ToolRole | None) -> bool:
    """Whether a name says how the call is run, or what a tool of this role does not do."""
    if is_of_command(name):
        return is_arguments(name) and role not in _RUNS  # options of a program that this tool does not show
    words = words_of(name)
    is_odd = words[-1:] and words[-1] in _NOT_FOR.get(role, _NONE) if role is not None else False
    return bool(is_odd) or not _HOW.isdisjoint(words) or ("new" in words and role == "read") or (
        role in _LOOKS and _is_made(words))


def _is_made(words: Sequence[str]) -> bool:
    """Whether a name is one for a file that is made: ``output_file``, ``log_path``."""
    return len(words) > 1 and words[-1] in _FILES and not _MADE.isdisjoint(words[:-1])


def _is_looked_at(name: str, value: Any, role: ToolRole | None) -> bool:
    """Whether somebody looks at what stands there. What is switched on by a name for a command, a file or a text (``execute:
    true``) is seen by nobody; but that words go through a shell is how a program is started."""
    is_switch = isinstance(value, bool | int | float)
    return is_looked_at(name) and not (is_switch and takes_text(name) and not (role in _RUNS and name == "shell"))


def why_not_harmless(name: str) -> str | None:
    """Why nobody may list a member as one that changes nothing; None where it can be listed."""
    if is_of_command(name):
        return "what stands there is run"
    word = next((word for word in words_of(name) if word in _NEVER), None)
    return None if word is None else f"a name with {word!r} in it says how a call is run"


def adds_meaning(members: Mapping[str, Any], known: frozenset[str] = frozenset()) -> bool:
    """Whether an input says more than a command, the folder that it runs in, and what changes nothing of it."""
    beside = [(str(key), value) for key, value in members.items() if value and not is_of_command(str(key))]
    return any(not is_folder(key) and not _is_harmless(key, value) and bare_key(key) not in known for key, value in beside)


def _holds_records(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list | tuple) and any(isinstance(inner, Mapping) for inner in value))


def _is_sort(value: Any, tools: frozenset[str], known: frozenset[str]) -> bool:
    """Whether a value says what sort of thing is meant, or names a tool for one of these, and nothing else to do."""
    if not isinstance(value, str):
        return not isinstance(value, Mapping | list | tuple)
    word = value.lower().strip(". ")
    if value in known or word in _KNOWN_SORTS or role_of_name(value) in tools:
        return True
    return _EXTENSION.fullmatch(word) is not None and word not in _SHORT_VERBS


def _is_harmless(key: str, value: Any, role: ToolRole | None = None) -> bool:
    words = words_of(key)
    if words[-1:] and words[-1] in _SORTS:
        values = value if isinstance(value, list | tuple) else (value,)
        tools = _NONE if words[-1] != "tool" else _LOOKS if role in _LOOKS else _MILD
        known = _CHANGES if role in _WRITES else _NONE
        return len(words) <= 2 and all(_is_sort(one, tools, known) for one in values)
    own = _HARMLESS_FOR.get(role, {}) if role is not None else {}
    kind = _HARMLESS.get(bare_key(key)) or own.get(bare_key(key))
    if kind is None and words[-1:] and words[-1] in _HARMLESS_ENDS:
        kind = "word"
    return kind is not None and _is_of_kind(value, kind)


def _is_of_kind(value: Any, kind: _Kind) -> bool:
    """Whether a harmless member has a value of the kind that makes it harmless."""
    if isinstance(value, list | tuple):
        return kind != "text" and all(not isinstance(one, list | tuple) and _is_of_kind(one, kind) for one in value)
    if not isinstance(value, str):
        return kind in ("amount", "word", "id") and isinstance(value, bool | int | float)
    match kind:
        case "amount":
            return _AMOUNT.fullmatch(value) is not None
        case "word":
            return _PLAIN_WORD.fullmatch(value) is not None and verb_in(value) is None
        case "id":
            return _ID.fullmatch(value) is not None
    return True
