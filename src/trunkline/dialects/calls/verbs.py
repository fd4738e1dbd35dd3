"""What the word means that an editor is told its work by (``command: create``): one tool for many things to do with a file.

Rule 1: it can only add to what a call does. A word that is not known is a doubt, and is judged as a command all the same.
Rule 2: it counts in every record of an input, for the file of that record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final, Literal, NamedTuple

from trunkline.dialects import late_re as re
from trunkline.dialects.calls.files import ends_of_move, files_in

Does = Literal["read", "write", "delete", "move"]

_WORDS: Final[dict[Does, str]] = {
    "read": "view read",
    "write": "create strreplace insert undoedit write edit",
    "delete": "delete deletefile deletefiles remove removefile removefiles unlink trash erase",
    "move": "rename renamefile move movefile",
}
_DOES: Final[dict[str, Does]] = {word: does for does, words in _WORDS.items() for word in words.split()}
_MEMBERS: Final = ("command", "action", "operation", "op")
_FILE_KINDS: Final = frozenset({"read", "edit", "delete", "move", "search"})
_CHANGING_KINDS: Final = frozenset({"edit", "delete", "move"})
"""Of these, what has words of its own to do; a read has none, so another word there is a program."""
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z_-]{0,63}")
_DEPTH: Final = 6
_RECORDS: Final = 5000


class Work(NamedTuple):
    """What the words of an input say that is done."""

    does: frozenset[Does] = frozenset()
    deleted: tuple[str, ...] = ()
    """Files of records within it that are deleted."""
    moved: tuple[tuple[str, str], ...] = ()
    doubts: tuple[str, ...] = ()


def is_verb(value: Any, kind: str | None) -> bool:
    """Whether the ``command`` of a tool for files (by its ``kind``) says what it does with the file."""
    return kind in _FILE_KINDS and isinstance(value, str) and _bare(value) in _DOES


def verb_of(record: Mapping[str, Any], kind: str | None) -> Does | None:
    """What a record says that is done with its file; None where it does not say it. The worst of its words counts."""
    if kind not in _FILE_KINDS:
        return None
    said = [_DOES.get(_bare(value)) for key in _MEMBERS if isinstance(value := record.get(key), str)]
    return next((does for does in ("delete", "move", "write", "read") if does in said), None)


def work_in(members: Mapping[str, Any], kind: str | None) -> Work:
    """What all words of an input say; those of the input itself are about all that it names."""
    does: set[Does] = set()
    deleted: dict[str, None] = {}
    moved: dict[tuple[str, str], None] = {}
    doubts: list[str] = []
    for record in _records(members, _DEPTH) if kind in _FILE_KINDS else ():
        verb, files = verb_of(record, kind), files_in(record)
        does.update([verb] if verb is not None else [])
        doubts += _unknown(record) if kind in _CHANGING_KINDS else []
        if verb == "delete" and record is not members:
            deleted.update(dict.fromkeys(files))
            doubts += [] if files else ["what it deletes is not known"]
        if verb == "move":
            ends = ends_of_move(record)
            moved.update({ends: None} if ends is not None else {})
            doubts += [] if ends is not None or record is members else ["where it moves something to is not known"]
    return Work(frozenset(does), tuple(deleted), tuple(moved), tuple(dict.fromkeys(doubts)))


def _unknown(record: Mapping[str, Any]) -> list[str]:
    said = record.get("command")
    is_unknown = isinstance(said, str) and _WORD.fullmatch(said.strip()) is not None and _bare(said) not in _DOES
    return [f"what it is told to do with a file is not known: {str(said)[:60]}"] if is_unknown else []


def _records(value: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        yield value
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    for each in islice(inner, _RECORDS) if depth else ():
        yield from _records(each, depth - 1)


def _bare(word: str) -> str:
    return word.strip().lower().replace("_", "").replace("-", "")
