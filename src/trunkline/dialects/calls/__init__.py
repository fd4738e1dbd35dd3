"""One reading of a tool call, for everybody who names, judges, allows, emits or shows it.

    types.py     what a reading says              names.py     what tools are called, and what they are for
    inputs.py    commands and paths of an input   searches.py  patterns: globs or expressions
    members.py   members that nobody understands  words.py     commands that are only in words
    claims.py    what else was claimed of a call  files.py     which file, which text: what was done
    describe.py  a call in words, and what events carry of its reading
    variables.py what stands in front of a command and changes nothing of it
    patches.py   what a patch deletes, moves and links
    loaders.py   variables that name code which other programs load
    deeds.py     what a remark beside an input says that is done
    verbs.py     what an editor is told to do with a file
    texts.py     command lines within a text that is none itself
    titles.py    what a title says that is done, against what the call is

What the agent says it is names the call: its ``name``, then a name of the catalog's ``tools`` (in ``_meta``, at the front of the
id or of the title), then the title it came with where that reads as a name. Only a call that has none of these goes by its kind,
and by the shape of its input where the kind does not say otherwise.

The worst of all evidence judges it: what name, kind, input and shown changes say is added up in ``acts``; nothing is taken away.

Rule 1: pure. What the disk says comes in from outside.
Rule 2: never: a name by the shape of the input where the agent gave one; a tool's name as a command; a read that brings a
command, a text to write or a patch; a server's tool taken for one of ours; a doubt left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from trunkline.dialects import late_re as re
from trunkline.dialects.calls.claims import claimed_acts, claimed_doubts, contradictions, titled_otherwise, told_beside
from trunkline.dialects.calls.describe import describe, reading_meta, subject_of
from trunkline.dialects.calls.inputs import (
    INPUTS,
    MEMBERS,
    PATHS,
    bare_key,
    command_of,
    folder_of,
    has_new_text,
    is_address,
    named_in,
    options_in,
)
from trunkline.dialects.calls.members import adds_meaning, deeds_of, destroys_in, unknown_members
from trunkline.dialects.calls.names import ToolNames, Verb, is_name, name_of_kind, role_of_kind, verb_in
from trunkline.dialects.calls.patches import Taken, taken_in, unknown_patches
from trunkline.dialects.calls.titles import file_beside, folders_beside, line_beside, without_label
from trunkline.dialects.calls.types import ACT_OF_ROLE, Act, CallReading, Claims, Source, ToolRole
from trunkline.dialects.calls.verbs import Does, verb_of, work_in
from trunkline.dialects.calls.words import arguments_in, command_in, input_in, is_cut, is_in_command
from trunkline.dialects.context.categories import categorize_tool
from trunkline.dialects.context.types import ToolCategory
from trunkline.dialects.visible import looks_alike, unseen_in

__all__ = ["Act", "CallReading", "Claims", "Source", "ToolNames", "ToolRole", "name_call", "read_call", "reading_meta"]

_CATEGORY_OF_ROLE: Final[dict[ToolRole, ToolCategory]] = {
    "read": "file_read", "search": "search", "write": "file_write", "edit": "file_edit", "patch": "file_edit",
    "delete": "file_write", "move": "file_write", "terminal": "terminal", "fetch": "web", "web_search": "web", "task": "agent",
    "mcp": "mcp",
}
_FILE_KINDS: Final[dict[ToolRole, str]] = {"read": "read", "write": "edit", "edit": "edit", "patch": "edit", "delete": "delete",
                                           "move": "move", "search": "search"}
_UNDERSTOOD: Final[frozenset[ToolRole]] = frozenset({"read", "search", "write", "edit", "patch", "delete", "move", "terminal",
                                                     "fetch", "web_search"})
"""Roles whose inputs we know: a member that we do not know changes what the call means. A server's tool has its own."""
_LOOKS: Final[frozenset[ToolRole]] = frozenset({"read", "search"})
_OPENS: Final[frozenset[ToolRole]] = frozenset({"read", "search", "write", "edit", "patch", "delete", "move"})
_HANDLES_FILES: Final[frozenset[ToolRole]] = frozenset({"read", "search", "write", "edit", "patch"})
_STRICT: Final[frozenset[ToolCategory]] = frozenset({"file_write", "file_edit"})
_WORST_FIRST: Final[tuple[Act, ...]] = ("delete", "move", "run", "write")
DOUBTS: Final = 8
"""Doubts that are reported of one call."""
_CHANGES_DATA: Final = re.compile(r"\s*(?:delete|drop|truncate|update|insert|alter|create|grant|revoke|merge|replace)\b",
                                  re.IGNORECASE)
_NO_CLAIMS: Final = Claims()
_STATEMENTS_OF_ONE: Final = 32
"""Statements in one text that are looked at."""
_STATEMENTS: Final = ("query", "sql", "statement", "queries", "statements")


def name_call(given: str | None, title: str, kind: str, shape: str | None, names: ToolNames,
              call_id: str = "", about: Collection[str] = ()) -> tuple[str, Source]:
    """What a call is named, and by what. ``given`` is the agent's own name for its tool, ``shape`` the tool whose input looks so;
    a shape that runs something always counts. A title that is one of ``about``, what the call is about, is no name. What is named
    by its kind alone may find a better name with its input."""
    if given:
        return names.usual(given), "name"
    listed = names.named_in(call_id, title)
    if listed:
        return names.usual(listed), "catalog"
    if is_name(title) and title not in about:
        return names.usual(title), "title"
    by_kind = name_of_kind(kind)
    if shape is not None and (shape == "bash" or _agree(names.role_of(shape), role_of_kind(kind))):
        return shape, "input"
    return by_kind or title or kind, "kind"


def _agree(shape: ToolRole | None, kind: ToolRole | None) -> bool:
    """Whether a kind lets the input say which tool it is: it says nothing itself, or that the tool does the same to the world."""
    act = ACT_OF_ROLE[kind] if kind is not None else None
    return act is None or (shape is not None and ACT_OF_ROLE[shape] == act)


_TALKS: Final[frozenset[ToolRole]] = frozenset({"plan", "think", "ask_user", "todos"})
"""What such a tool is about is in its title; a path that it names is beside the point."""


def read_call(tool: str, kind: str | None, given: object, *, named_by: Source = "name", names: ToolNames | None = None,
              located: Sequence[str] = (), brings_changes: bool = False, title: str = "", shown: str = "",
              arguments: str = "", cut: bool = False, claims: Claims = _NO_CLAIMS) -> CallReading:
    """Read a call that is named ``tool``. ``located`` are the files that it points at beside its input, ``brings_changes``
    says that it shows changes of files; ``shown`` and ``arguments`` (a text that an earlier update showed) are looked at only
    where there is no input, and ``title`` for a command only there. ``claims`` is what else was ever claimed of it."""
    names, kind = names or ToolNames(), kind or "other"
    role = names.role_of(tool) or role_of_kind(kind)
    members, source = _members(given, role, arguments or shown)
    file_kind = kind if kind != "other" else _FILE_KINDS.get(role, kind) if role is not None else kind
    work, said_role = work_in(members, file_kind), role
    role = _role_at_work(role, verb_of(members, file_kind))
    command = command_of(members, file_kind, names.members)
    doubts: list[str] = []
    claimed = titled = ""
    if command is None and not members and role == "terminal":
        is_title = named_by == "catalog" and names.role_of(title) is None  # its vendor's way to tell the command, and no other's
        command, source, doubts = _in_words(title, shown, is_title)
        if command is None and title and not is_name(title):
            claimed = titled = without_label(title)
            doubts = [*doubts, "what it runs is told by its title alone"]
    elif command is not None and source == "content" and (in_words := command_in(shown)) and not is_in_command(in_words, command):
        command, doubts = f"{command}\n{in_words}", ["its words name another command than its arguments"]
    category = _category(tool, kind, role)
    brings = brings_changes or has_new_text(members)
    acts = frozenset(_acts(tool, kind, role, named_by, names, category, command, brings)) | claimed_acts(claims, names)
    acts |= _acts_at_work(said_role, role, work.does)
    if brings_changes and command is not None:
        acts |= {"write"}  # the files that it shows changed count by where they are, as those of any other tool
    taken = taken_in(members, is_written=said_role in ("write", "edit")) if brings else Taken()
    taken = taken._replace(deleted=(*taken.deleted, *work.deleted), moved=(*taken.moved, *work.moved))
    strict = command is None and (category in _STRICT or (brings and category in ("file_read", "search")))
    found = named_in(members, located, tool=tool if named_by in ("name", "catalog", "title") else "", kind=file_kind,
                     is_command=command is not None, strict=strict, idle=names.members)
    if role in _UNDERSTOOD:
        unknown = dict.fromkeys(islice(unknown_members(members, names.members, role), MEMBERS))
        acts |= deeds_of(unknown)
        doubts += [f"a member of its input that is not known: {name[:60]}" for name in islice(unknown, DOUBTS)]
        odd = islice(unknown_patches(members, is_patch=role == "patch"), 1)
        doubts += [f"a patch of no form that is known: {name[:60]}" for name in odd]
    elif destroys_in(members):
        acts |= {"delete"}
    options = list(islice(options_in(members), 1)) if role in _LOOKS and command is None else []
    if options:
        acts |= {"unknown"}
        doubts.append(f"it names an option or a command where a place belongs: {options[0][:60]}")
    doubts += contradictions(role if named_by not in ("kind", "input") else None, kind, acts, members)
    doubts += [*work.doubts, *_beyond_look(said_role, work.does)]
    acts |= _taken_acts(taken)
    doubts += [f"what it does to a file is not known: {word[:60]}" for word in taken.unknown[:1]]
    doubts += [f"where a link that it makes leads is not known: {name[:60]}" for name, target in taken.linked if not target][:1]
    found = found.with_paths([target for _, target in taken.linked if target])
    doubts += claimed_doubts(claims, command, found.paths, acts)
    found = found.with_paths((*claims.places, *(claims.folders if command is not None else ())))
    for act, said, line in titled_otherwise((title, *claims.titles), said_role, members):
        acts, claimed = acts | {act}, "\n".join(filter(None, (claimed, line)))
        doubts.append(f"its title says something else than what it is: {said}")
    found = found.with_paths(folders_beside(title, said_role, members))
    if other := file_beside(title, said_role, members, found.paths):
        found = found.with_paths([other])
        doubts.append(f"its title names another file: {other[:60]}")
    for titled in claims.titles if said_role == "terminal" else ():
        line, is_other = line_beside(titled, command) if command is not None else ("", False)
        claimed = "\n".join(filter(None, (claimed, line)))
        doubts += [f"its title is another command: {line[:60]}"] if is_other else []
    if told := told_beside(claims, command, own_words=role == "terminal" and not (members and source == "input")):
        acts, claimed = acts | {"run"}, "\n".join(filter(None, (claimed, *told)))
        doubts.append(f"a command stands beside its input: {told[0][:60]}")
    if given and (role in _UNDERSTOOD and role != "terminal" if isinstance(given, str) else not isinstance(given, Mapping)):
        doubts.append("its input is of no form that is known")
    if role in _OPENS and command is None:
        doubts += [f"it is an address of something else than a file: {path[:60]}" for path in found.paths if is_address(path)][:1]
    unseen = _unseen(tool, *found.paths[:PATHS])
    doubts += [unseen] if unseen else []
    return CallReading(
        tool=tool, named_by=named_by, role=role, kind=kind, category=category, acts=acts, command=command, command_from=source,
        folder=folder_of(members) if command is not None else None, paths=found.paths, globs=found.globs,
        deleted=taken.deleted, moved=taken.moved, linked=taken.linked, queries=tuple(_statements(members, role)),
        unseen=unseen, doubts=tuple(doubts[:DOUBTS]), cut=cut,
        claimed=claimed, said_to_run=next((name for act, name in claims.deeds if act == "run"), ""),
        description=describe(
            tool, members, command, () if role in _TALKS else found.paths,
            deleted=taken.deleted or (found.paths if role == "delete" != said_role else ()), moved=taken.moved,
            unsaid=_unsaid(names.role_of(tool), verb_in(tool), acts), claimed="" if claimed == titled else claimed),
        subject="" if command is not None else subject_of(members, found.paths),
        beside=brings or bool(found.globs) or not set(found.paths) <= set(located[:PATHS])
        or adds_meaning(members, names.members))


def _members(given: object, role: ToolRole | None, shown: str) -> tuple[Mapping[str, Any], Source]:
    """The members of an input, wherever it is given; those of ``arguments`` where the agent wraps them."""
    text, given = given, input_in(given) if isinstance(given, str) else given
    if isinstance(given, list | tuple) and given:
        given = {"command" if role == "terminal" else "input": given}
    if role == "terminal" and isinstance(text, str) and isinstance(given, Mapping):
        members = _unwrapped(given, role)  # and the text itself, for a shell could be given that
        return {**members, "commands": [*_as_list(members.get("commands")), text]}, "input"
    if isinstance(given, str) and given.strip():
        return ({"command": given} if role == "terminal" else {"input": given}), "input"
    if isinstance(given, Mapping) and given:
        return _unwrapped(given, role), "input"
    return arguments_in(shown), "content"


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _unwrapped(given: Mapping[str, Any], role: ToolRole | None) -> Mapping[str, Any]:
    """An input with the members of ``arguments``; as it is where one of them would hide another, for then both are looked at."""
    given = _with_records(given, role)
    wrapped = given.get("arguments")
    if not isinstance(wrapped, Mapping) or any(name in given and given[name] != wrapped[name] for name in wrapped):
        return given
    return {**given, **wrapped}


def _with_records(given: Mapping[str, Any], role: ToolRole | None) -> Mapping[str, Any]:
    """An input with the records that wrap it, where these are texts that are JSON. To a program such a text is a word."""
    found = {name: _with_records(inner, role) for name, value in given.items() if isinstance(value, str)
             and bare_key(name) in INPUTS and (name == "arguments" or role != "terminal")
             and isinstance(inner := input_in(value), dict) and inner}
    return {**given, **found} if found else given


def _in_words(title: str, shown: str, is_title: bool) -> tuple[str | None, Source, list[str]]:
    """The command of a call without an input: what its words announce, or its title where the agent's catalog entry names the
    tool and so the title tells the command (``is_title``). Any other title is none: it is a sentence that the agent chose."""
    announced = command_in(shown)
    if title and is_title:
        command = without_label(title)
        is_same = not announced or announced in command or is_in_command(announced, command)
        return command, "title", [] if is_same else [f"its words tell of another command: {announced[:60]}"]
    if is_cut(announced):
        return None, "content", ["its words show only the beginning of its command"]
    return (announced, "content", ["its command is only in its words"]) if announced else (None, "title", [])


def _category(tool: str, kind: str, role: ToolRole | None) -> ToolCategory:
    category = categorize_tool(tool, kind)
    return _CATEGORY_OF_ROLE.get(role, category) if category == "other" and role is not None else category


def _acts(tool: str, kind: str, role: ToolRole | None, named_by: Source, names: ToolNames, category: ToolCategory,
          command: str | None, brings: bool) -> Iterator[Act]:
    by_kind = role_of_kind(kind)
    for each in (role, by_kind):
        act = ACT_OF_ROLE[each] if each is not None else None
        if act is not None:
            yield act
    if role is None or (names.role_of(tool) is None and named_by not in ("kind", "input")):
        yield "unknown"
    if command is not None:
        yield "run"
    if brings and (role in _LOOKS or category in ("file_read", "search")):
        yield "write"


def _role_at_work(role: ToolRole | None, verb: Does | None) -> ToolRole | None:
    """What a tool for files is for, where its input says what it does with the file."""
    if verb == "read":
        return "read" if role in ("write", "edit") else role
    return verb if role in _HANDLES_FILES and (verb == "delete" or verb == "move") else role


def _acts_at_work(said: ToolRole | None, role: ToolRole | None, does: frozenset[Does]) -> frozenset[Act]:
    """What it does by these words, and by what it is for where they say worse."""
    act = ACT_OF_ROLE[said] if said is not None and role in ("delete", "move") else None
    return does if act is None else does | {act}


def _beyond_look(said: ToolRole | None, does: frozenset[Does]) -> list[str]:
    worse = sorted(does - {"read"}) if said in _LOOKS else []
    return [f"its input says {worse[0]}, which its name does not say"] if worse else []


def _unsaid(role: ToolRole | None, verb: Verb | None, acts: frozenset[Act]) -> Act | None:
    """The worst that a call may do and that its name does not say."""
    said = ACT_OF_ROLE[role] if role is not None else None
    worst = next((act for act in _WORST_FIRST if act in acts), None)
    if worst is None or said in _WORST_FIRST[:_WORST_FIRST.index(worst) + 1] or verb == "destroys":
        return None
    return None if worst == "write" and verb == "changes" else worst


def _taken_acts(taken: Taken) -> frozenset[Act]:
    deletes: tuple[Act, ...] = ("delete",) if taken.deleted else ()
    moves: tuple[Act, ...] = ("move",) if taken.moved else ()
    return frozenset((*deletes, *moves))


def _statements(members: Mapping[str, Any], role: ToolRole | None) -> Iterator[str]:
    if role in ("search", "web_search"):
        return
    for key in _STATEMENTS:
        value = members.get(key)
        for text in value if isinstance(value, list) else (value,):
            if isinstance(text, str) and any(map(_CHANGES_DATA.match, text.split(";", _STATEMENTS_OF_ONE))):
                yield text


def _unseen(*texts: str) -> str:
    for text in texts:
        if number := unseen_in(text):
            return f"a character in it cannot be seen: {number}"
        if word := looks_alike(text):
            return f"a letter in it looks like another one: {word[:60]}"
    return ""
