"""What a patch does beside writing: the files that it deletes, those that it moves, and the links that it makes. Also where the
changes are a table by their files.

Rule 1: pure, and one pass over the lines: a patch is as long as an agent likes.
Rule 2: what it writes is every other file that it names (``inputs``). A file that is given up under one name and written under
another is moved.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple

from trunkline.dialects import late_re as re
from trunkline.dialects.calls.searches import words_of

_LINE: Final = re.compile(
    r"^(?:[ \t]*\*\*\*[ \t]*((?:Delete|Update|Add) File|Move to):"
    r"|(--- |\+\+\+ |rename from |rename to |deleted file mode |diff --git |Index:))[ \t]*([^\n]*)", re.MULTILINE | re.IGNORECASE)
"""Headers as the programs that apply patches take them: with any blanks, in any case."""
_UNIFIED: Final = re.compile(
    r"^(?:@@ ?|\*{15}$|[ \t]*\*\*\*[ \t]*(?:Begin Patch|(?:Delete|Update|Add) File:)|(?:rename|copy) (?:from|to) "
    r"|(?:deleted file|new file|old|new) mode |\+\+\+ /dev/null)", re.MULTILINE | re.IGNORECASE)
"""What says by itself how a text is to be applied."""
_BLOCKS: Final = re.compile(r"^[<-]{5,9} ?SEARCH\b", re.MULTILINE)
_BEFORE_BLOCKS: Final = re.compile(r"\s*(?:`{3,9}\w{0,20}\s*)?")
"""What may stand before the first block: some programs take anything else there for the name of another file."""
_ED: Final = re.compile(
    r"^(?:[\d.$/][\d,.$/]{0,40}|[,%])?(?:[acdijmst]|! ?\S[^\n]{0,200}|[erwW] [^\n]{1,200}|s/[^\n]{1,200})[ \t\r]*$"
    r"|^GIT binary patch", re.MULTILINE)
"""Orders to an editor in the place of changes, and changes that nobody can read."""
_OTHER_HEADER: Final = re.compile(
    r"^\*\*\*[ \t]*(?!(?i:(?:Delete|Update|Add) File|Move to):)[A-Za-z][A-Za-z ]{0,30}:", re.MULTILINE)
"""A header of the same form that is not known: what it does with the file behind it nobody knows."""
_LINK: Final = re.compile(r"^(?:new file mode|new mode|index [0-9a-fA-F]+\.\.[0-9a-fA-F]+) 120000\b", re.MULTILINE)
_FILE: Final = re.compile(r"^diff --git ", re.MULTILINE)
_ADDED: Final = re.compile(r"^\+(?!\+\+ )([^\n]*)", re.MULTILINE)
_NEW_NAME: Final = re.compile(r"^(?:\+\+\+ |rename to |copy to )([^\n]*)", re.MULTILINE)
_DELETES: Final = frozenset("delete deleted remove removed unlink".split())
_WRITES: Final = frozenset("add added create created update updated modify modified edit edited write".split())
_MOVES: Final = frozenset("move moved rename renamed".split())
_CHANGES: Final = _DELETES | _WRITES | _MOVES
_MOVE_KEYS: Final = ("move_path", "movePath", "move_to", "moveTo", "new_path", "newPath")
_WRITTEN: Final = frozenset("content contents text string str".split())
_GIT_MARKS: Final = frozenset({"--- ", "+++ ", "diff --git "})
_PATCH_WORDS: Final = frozenset("patch patches diff diffs".split())
_PATCH_INPUTS: Final = frozenset("input content text command".split())
"""Where a tool for patches has them."""
_DEPTH: Final = 6
_MEMBERS: Final = 5000
FILES: Final = 200
"""Files of one patch that are kept of each sort."""


class Taken(NamedTuple):
    """What a patch takes away, and the links that it makes."""

    deleted: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    """From where, and to where."""
    linked: tuple[tuple[str, str], ...] = ()
    """Links, and where they lead; empty where that is not known."""
    unknown: tuple[str, ...] = ()
    """Words for what becomes of a file that nobody knows."""


def is_patch_line(text: str) -> bool:
    """Whether a text without a line break is a patch all the same."""
    found = _LINE.match(text)
    return found is not None and found[1] is not None


def is_of_change(name: str) -> bool:
    """Whether a member of what a table says of one file is looked at here."""
    return name in _MOVE_KEYS or name.lower() in _CHANGES


def taken_by(text: str) -> Taken:
    """What a patch takes away, and links."""
    deleted: dict[str, None] = {}
    moved: dict[tuple[str, str], None] = {}
    before = ""
    for found in _LINE.finditer(text):
        mark = (found[1] or found[2]).lower()
        name = _name(found[3], mark)
        match mark:
            case "delete file":
                deleted[name] = None
            case "move to" | "rename to ":
                moved[before, name] = None
            case "+++ " if name == "/dev/null" and before:
                deleted[before] = None
            case "deleted file mode " if before:
                deleted[before] = None
            case "update file" | "--- " | "rename from " | "diff --git " | "index:":
                before = name
            case _:
                before = ""
        if len(deleted) >= FILES or len(moved) >= FILES:
            break
    return Taken(tuple(deleted), tuple(moved), tuple(islice(_links(text), FILES)))


def is_understood(text: str) -> bool:
    """Whether a patch has a form that is known here: what becomes of which file can be read in it."""
    block = _BLOCKS.search(text)
    if block is not None:
        return _BEFORE_BLOCKS.fullmatch(text, 0, block.start()) is not None
    return _UNIFIED.search(text) is not None and _ED.search(text) is None and _OTHER_HEADER.search(text) is None


def unknown_patches(value: Any, *, is_patch: bool, depth: int = _DEPTH) -> Iterator[str]:
    """The names of members that hold a patch of no form that is known. ``is_patch``: their tool is for patches."""
    if isinstance(value, Mapping):
        for key, inner in islice(value.items(), _MEMBERS):
            words, name = words_of(str(key)), str(key)
            holds = not _PATCH_WORDS.isdisjoint(words) or (is_patch and not _PATCH_INPUTS.isdisjoint(words[-1:]))
            if isinstance(inner, str):
                yield from [name] if holds and inner.strip() and not is_understood(inner) else []
            elif depth:
                yield from unknown_patches(inner, is_patch=False, depth=depth - 1)
    elif isinstance(value, list | tuple) and depth:
        for inner in value[:_MEMBERS]:
            yield from unknown_patches(inner, is_patch=is_patch, depth=depth - 1)


def _links(text: str) -> Iterator[tuple[str, str]]:
    """The links in a patch: the text of such a file is the path that it leads to, seen from its folder."""
    if _LINK.search(text) is None:
        return
    for part in _FILE.split(text):
        if _LINK.search(part) is None:
            continue
        named = _NEW_NAME.search(part)
        name = _name(named[1], "+++ ") if named is not None else _name(part.partition("\n")[0], "diff --git ")
        added = _ADDED.findall(part)
        yield name, posixpath.join(posixpath.dirname(name), added[0]) if len(added) == 1 and added[0] else ""


def taken_in(members: Mapping[str, Any], *, is_written: bool = False) -> Taken:
    """The same of all patches in an input. ``is_written``: its tool writes texts, so that one which reads as a patch is none."""
    found = [*(taken_by(text) for text in _texts(members, _DEPTH, is_written)),
             *(_told(path, change) for path, change in islice(_table(members, _DEPTH), FILES))]
    return Taken(tuple(dict.fromkeys(path for one in found for path in one.deleted)),
                 tuple(dict.fromkeys(ends for one in found for ends in one.moved)),
                 tuple(ends for one in found for ends in one.linked), tuple(word for one in found for word in one.unknown))


def _table(value: Any, depth: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Changes by their files, wherever an input has them: ``{path: {…}}``, or a list of records with their paths."""
    if isinstance(value, Mapping) and depth:
        for key, inner in islice(value.items(), _MEMBERS):
            if words_of(str(key))[-1:] == ("changes",) and isinstance(inner, Mapping):
                yield from ((str(path), change) for path, change in inner.items() if isinstance(change, Mapping))
            elif words_of(str(key))[-1:] == ("changes",) and isinstance(inner, list | tuple):
                yield from ((change["path"], change) for change in inner
                            if isinstance(change, Mapping) and isinstance(change.get("path"), str))
            else:
                yield from _table(inner, depth - 1)
    elif isinstance(value, list | tuple) and depth:
        for inner in value[:_MEMBERS]:
            yield from _table(inner, depth - 1)


def _told(path: str, change: Mapping[str, Any]) -> Taken:
    """What becomes of one file: ``{"type": "delete"}``, ``{"kind": {"type": "delete"}}`` and ``{"delete": {…}}`` are the same."""
    kind = change.get("type", change.get("kind"))
    said = kind.get("type") if isinstance(kind, Mapping) else kind
    details = [change, *(inner for inner in change.values() if isinstance(inner, Mapping))]
    verbs = {str(said).lower()} if said is not None else {str(key).lower() for key in change} & (_DELETES | _WRITES | _MOVES)
    if said is None and not verbs:  # a table of something else, unless there is nothing in it but what is done
        verbs = {str(key).lower() for key, inner in change.items() if len(change) == 1 and isinstance(inner, Mapping)}
    targets = [target for one in details for key in _MOVE_KEYS if isinstance(target := one.get(key), str) and target]
    unknown = [verb for verb in verbs if verb not in _DELETES | _WRITES | _MOVES]
    if verbs & _MOVES and not targets:
        unknown.append("a move to nowhere")
    return Taken((path,) if verbs & _DELETES else (), tuple((path, target) for target in targets), (), tuple(unknown))


def _texts(value: Any, depth: int, is_written: bool) -> Iterator[str]:
    if isinstance(value, str):
        if ("\n" in value or is_patch_line(value)) and _LINE.search(value) is not None:
            yield value
    elif depth and isinstance(value, Mapping):
        for key, inner in islice(value.items(), _MEMBERS):
            if not is_written or _WRITTEN.isdisjoint(words_of(str(key))[-1:]):
                yield from _texts(inner, depth - 1, is_written)
    elif depth and isinstance(value, list | tuple):
        for inner in value[:_MEMBERS]:
            yield from _texts(inner, depth - 1, is_written)


def _name(rest: str, mark: str) -> str:
    """The path that the rest of a line names, without a time, quotes, and git's ``a/`` and ``b/``."""
    if mark == "diff --git ":  # the same name twice
        rest = rest.rstrip()
        rest = rest[len(rest) // 2 + 1:]
    path = rest.partition("\t")[0].rstrip().removeprefix('"').removesuffix('"')
    return path[2:] if mark in _GIT_MARKS and path.startswith(("a/", "b/")) else path
