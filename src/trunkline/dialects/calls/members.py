"""Which members of an input say something that we do not understand.

Rule 1: a member counts as understood where somebody looks at it: as a command, a path, a pattern, a text to write. Of the others
only those count that are known to change nothing, with a value of the kind that they have: under ``limit`` stands a number, and a
text only under what is for people. One that is off (false, empty) says nothing.
Rule 2: what is in general use stands here. A vendor's own names stand in its catalog entry (``members``), and arrive as
``ToolNames``.
Rule 3: a name that says how a call is run (``sandbox``, ``run_as``) is never harmless, whoever lists it.
Rule 4: what a member is good for depends on the tool, and every word of its name says it, that of a record too: each tool has
the words that it has a use for, and a name with another word (``delete_files``, ``plugin_path``) is one that is not known.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal, get_args

from trunkline.dialects import late_re as re
from trunkline.dialects.calls.inputs import (
    DEPTH,
    MEMBERS,
    bare_key,
    is_arguments,
    is_folder,
    is_of_command,
    is_variables,
    takes_text,
)
from trunkline.dialects.calls.names import role_of_name, verb_in
from trunkline.dialects.calls.patches import is_of_change
from trunkline.dialects.calls.searches import words_of
from trunkline.dialects.calls.types import Act, ToolRole
from trunkline.dialects.glob_tokens import remembered

_Kind = Literal["amount", "word", "id", "text", "texts"]
"""What may stand under a harmless name: a number or a switch, a short plain word, an id, words for people, or a list of texts."""


def _kinds(**names: str) -> dict[str, _Kind]:
    return {name: kind for kind in get_args(_Kind) for name in names.get(kind, "").split()}


_HARMLESS: Final = _kinds(
    amount="timeout timeoutms timeoutseconds runinbackground isbackground background limit offset headlimit line lines startline "
    "endline maxresults maxlines replaceall i n a b c casesensitive caseinsensitive multiline literaltext wait maxtokens pages "
    "page count index bytes size viewrange linerange insertline shouldreadentirefile readentirefile",
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
_SAYS_LANGUAGE: Final = frozenset("language type kind format".split())
_OTHER_LANGUAGES: Final = frozenset(
    "python python3 javascript typescript node nodejs ruby perl php lua julia sql powershell pwsh applescript".split())
_CHANGES: Final = frozenset("add update create modify edit insert replace".split())
"""What a tool that writes may do to one file of several. To delete one is read as such."""
_WRITES: Final = frozenset({"write", "edit", "patch"})
_LOOKS: Final = frozenset({"read", "search"})
_RUNS: Final = frozenset({"terminal", None})
"""What gives words and variables to a program; a tool that is not known may."""
_OF_TERMINAL: Final = frozenset({"terminal"})
_MILD: Final = frozenset({"read", "search", "write", "edit", "todo", "think"})
"""What a tool is for whose name may stand beside its arguments. What it does with them is seen in these."""
_EXTENSION: Final = re.compile(r"[a-z][a-z0-9+#]{0,2}")
"""A short one is a language or an ending, unless it is a command."""
_SHORT_VERBS: Final = frozenset("rm mv cp dd ln del put pop cut run set add new zap fix git".split())
_NEVER: Final = frozenset(
    "dangerously sandbox sandboxed unsandboxed sudo root privileged unprivileged escalated elevated bypass skip permission "
    "permissions user as command commands script hook hooks exec execute eval preload shell".split())
"""Words of names that say how, as whom or with what else a call is run."""
_PLACES: Final = frozenset(
    "path paths file files filename filenames filepath filepaths dir dirs dirpath dirname directory directories folder "
    "folders root "
    "roots uri uris cwd workdir notebook location locations name names".split())
"""Words that say that a place stands there."""
_QUALIFIES: Final = frozenset(
    "absolute abs relative rel full target base working workspace project search current unified".split())
"""What else may stand beside such a word; alone they say nothing that is sure."""
_PATTERNS: Final = frozenset(
    "pattern patterns glob globs globpattern globpatterns filepattern fileglob include includes included exclude excludes "
    "excluded "
    "ignore ignores ignored regex regexp query queries keyword keywords term terms needle".split())
_LOOKED_FOR: Final = frozenset("text string str search word words".split())
_WRITTEN: Final = frozenset("content contents diff patch edits replacement".split())
"""Texts by which a look is judged as an edit anyway."""
_ENDS: Final = frozenset("from to into source src destination dest dst target old new".split())
_TEXTS: Final = _WRITTEN | frozenset(
    "text texts string strings str body code search replace patches edit change changes snippet hunk hunks instruction "
    "instructions message title summary comment".split())
_WEB: Final = frozenset(
    "url urls uri uris link links href query queries q prompt question questions search text term terms keyword keywords topic "
    "objective domain domains allowed blocked include exclude site sites".split())
_LOOK_NAMES: Final = _PLACES | _PATTERNS | _WRITTEN
_CHANGE_NAMES: Final = _PLACES | _PATTERNS | _ENDS | _TEXTS | frozenset("output out outfile".split())
_NONE: Final[frozenset[str]] = frozenset()
_NAMES_FOR: Final[dict[ToolRole, frozenset[str]]] = {
    "read": _LOOK_NAMES, "search": _LOOK_NAMES | _LOOKED_FOR, "write": _CHANGE_NAMES, "edit": _CHANGE_NAMES,
    "patch": _CHANGE_NAMES | {"input"},
    "delete": _PLACES | _PATTERNS, "move": _PLACES | _PATTERNS | _ENDS, "fetch": _WEB, "web_search": _WEB,
}
"""The words that names of members are made of, by what a tool is for. What runs a command has a use for none of them."""
_HOLDS: Final = frozenset(
    "arguments args input inputs params parameters options option item items entry entries request requests range ranges".split())
"""Names of records that only hold what stands in them."""
_MADE: Final = frozenset(
    "output outputs out result results log logs report export dump saved dest destination download backup cache".split())
_DELETING: Final = ("delet", "remov", "unlink", "erase", "destroy", "purge", "wipe", "shred", "truncat", "overwrit", "trash")
_DELETING_WORDS: Final = frozenset("rm del drop clean cleanup clear prune uninstall".split())
_MOVING: Final = ("move", "moving", "rename", "renaming")


def unknown_members(value: Any, known: frozenset[str], role: ToolRole) -> Iterator[str]:
    """The names of members that nobody looks at and that are not known to change nothing, at any depth. ``known`` are those that
    the agent's catalog entry lists, as ``bare_key`` spells them; ``role`` is what the tool is for."""
    yield from _unknown(value, known, role, "", DEPTH)


def deeds_of(names: Iterable[str]) -> frozenset[Act]:
    """What members are for by their names, where these say that something is changed: every word of a name counts."""
    return frozenset(act for name in names if (act := _deed(name)) is not None)


def destroys_in(value: Any, depth: int = DEPTH) -> bool:
    """Whether a member of any tool's input, which says something, is named after a deletion: ``delete_index: true``."""
    if isinstance(value, Mapping) and depth:
        return any((inner and _DESTROYS.search(bare_key(str(key))) is not None and not isinstance(inner, int | float | str))
                   or (inner is True and _DESTROYS.search(bare_key(str(key))) is not None) or destroys_in(inner, depth - 1)
                   for key, inner in itertools.islice(value.items(), MEMBERS))
    return isinstance(value, list | tuple) and bool(depth) and any(destroys_in(inner, depth - 1) for inner in value[:MEMBERS])


_DESTROYS: Final = re.compile(r"delet|destroy|purge|wipe|erase|truncat|shred")


@remembered
def _deed(name: str) -> Act | None:
    words, bare = words_of(name), bare_key(name)
    if not _DELETING_WORDS.isdisjoint(words) or any(stem in bare for stem in _DELETING):
        return "delete"
    if "mv" in words or any(stem in bare for stem in _MOVING):
        return "move"
    return "write" if verb_in(name) == "changes" or not _MADE.isdisjoint(words) else None


def _unknown(value: Any, known: frozenset[str], role: ToolRole, within: str, depth: int) -> Iterator[str]:
    """``within`` is the name of the record that these are members of."""
    if isinstance(value, Mapping):
        folders = 0
        for key, inner in itertools.islice(value.items(), MEMBERS):
            name = str(key)
            if bare_key(name) in known or (not inner and not _is_guard_off(name, inner) and not _is_root(name, inner)):
                continue
            folders += is_folder(name)
            if is_variables(name):
                yield from [name] if role not in _RUNS else ()
            elif is_of_change(name) and role in _WRITES and _is_path(within):
                continue  # who reads tables of changes reads it
            elif _holds_records(inner):
                yield from [name] if not depth or not (_is_holder(name, role) or _is_listed_file(name, within)) else ()
                yield from _unknown(inner, known, role, name, depth - 1) if depth else ()
            elif is_folder(name) and role in _RUNS:
                yield from [name] if folders > 1 or (within and not is_arguments(within)) or not isinstance(inner, str) else ()
            elif not (_is_harmless(name, inner, role) or _is_looked_at(name, inner, role)):
                yield name
    elif isinstance(value, list | tuple) and depth:
        for inner in itertools.islice(value, MEMBERS):
            yield from _unknown(inner, known, role, within, depth - 1)


_GUARDS: Final = frozenset(
    "sandbox sandboxed readonly confirm confirmation approval approve dry dryrun simulate safe isolated isolation".split())


_NEGATIONS: Final = frozenset("disable disabled dangerously no not never skip bypass without unsafe".split())


def _is_guard_off(name: str, value: Any) -> bool:
    """Whether a member switches off what keeps a call harmless: ``sandbox: false``. What is left empty says nothing."""
    return (value is False or value == 0) and value != "" and isinstance(value, bool | int) and (
        not _GUARDS.isdisjoint(words_of(name)) or words_of(name)[:2] == ("read", "only")) and (
        _NEGATIONS.isdisjoint(words_of(name)))


def _is_root(name: str, value: Any) -> bool:
    """Whether a member says that the machine's master does it: ``uid: 0``."""
    return type(value) is int and not {"uid", "gid", "euid", "user"}.isdisjoint(words_of(name))


def _is_holder(name: str, role: ToolRole) -> bool:
    """Whether a record of this name says nothing by that: what stands in it does."""
    return bare_key(name) in _HOLDS or is_of_command(name) or _is_named_for(name, role)


def _is_listed_file(name: str, within: str) -> bool:
    """Whether a record is what is done to a file, under the path of that."""
    return _is_path(name) and not _PATH_TABLES.isdisjoint(words_of(within)[-1:])


def _is_path(name: str) -> bool:
    return "/" in name or "." in name


_PATH_TABLES: Final = _PLACES | {"changes"}


@remembered
def _is_named_for(name: str, role: ToolRole) -> bool:
    """Whether every word of a name is one that a tool for this has a use for."""
    words, usual = words_of(name), _NAMES_FOR.get(role, _NONE)
    return any(word in usual for word in words) and all(word in usual or word in _QUALIFIES for word in words)


def _is_looked_at(name: str, value: Any, role: ToolRole) -> bool:
    """Whether somebody looks at what stands there. What is switched on by a name for a command, a file or a text (``execute:
    true``) is seen by nobody; but that words go through a shell is how a program is started."""
    if isinstance(value, bool | int | float) and takes_text(name) and not (role in _RUNS and name == "shell"):
        return False
    if is_of_command(name):
        return not is_arguments(name) or role in _RUNS  # else options of a program that this tool does not show
    return _is_named_for(name, role)


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
    return isinstance(value, Mapping) or (isinstance(value, list | tuple) and any(
        isinstance(inner, Mapping | list | tuple) for inner in value))


def _is_sort(value: Any, tools: frozenset[str], known: frozenset[str]) -> bool:
    """Whether a value says what sort of thing is meant, or names a tool for one of these, and nothing else to do."""
    if not isinstance(value, str):
        return not isinstance(value, Mapping | list | tuple)
    word = value.lower().strip(". ")
    if tools:
        return role_of_name(value) in tools
    if value in known or word in _KNOWN_SORTS:
        return True
    return _EXTENSION.fullmatch(word) is not None and word not in _SHORT_VERBS


_TEXT_ENCODING: Final = re.compile(
    r"utf-?(?:8|16|32)(?:-?(?:le|be|sig))?|(?:us-?)?ascii|latin-?1|iso-?8859-?\d{1,2}|(?:cp|windows)-?\d{3,5}|ucs-?2|binary|auto"
    r"|shift.?jis|euc-\w{2}|gb\w{1,5}|big5|koi8-\w", re.IGNORECASE)


def _is_harmless(key: str, value: Any, role: ToolRole | None = None) -> bool:
    words = words_of(key)
    if words[-1:] == ("encoding",) and isinstance(value, str) and _TEXT_ENCODING.fullmatch(value) is None:
        return False  # ``base64`` makes another text of a command
    if role == "terminal" and words[-1:] and words[-1] in _SAYS_LANGUAGE and str(value).strip().lower() in _OTHER_LANGUAGES:
        return False  # its text is no line for a shell
    is_other = len(words) > 1 and (not _NEVER.isdisjoint(words[:-1]) or _deed(" ".join(words[:-1])) == "delete")
    if words[-1:] and words[-1] in _SORTS:
        values = value if isinstance(value, list | tuple) else (value,)
        tools = _NONE if words[-1] != "tool" else _LOOKS if role in _LOOKS else _MILD if role in _WRITES else _OF_TERMINAL
        known = _CHANGES if role in _WRITES else _NONE
        return len(words) <= 2 and not is_other and all(_is_sort(one, tools, known) for one in values)
    own = _HARMLESS_FOR.get(role, {}) if role is not None else {}
    kind = _HARMLESS.get(bare_key(key)) or own.get(bare_key(key))
    if kind is None and words[-1:] and words[-1] in _HARMLESS_ENDS and not is_other:
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
