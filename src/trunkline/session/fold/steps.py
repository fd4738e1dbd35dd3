"""Steps: what each write changed in the fold. A checkpoint and the steps after it are the fold.

A step is a JSON object of the fold's members that have other values now; of a table only the keys that were touched, null where
one is gone. It is stored in the entry that made the change, so that it is there with it or not at all. Its size is that of the
change: a session with two thousand open calls pays for the one that moves. The checkpoint, which grows with all that is open,
is then only a shorter way to begin, and may be written as seldom as one likes.

Rule 1: a step sets values, it does not count: the same one twice is the same.
Rule 2: whatever a checkpoint would have is in it or in a step (``tests/session/fold/test_steps.py`` compares the two).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec
from msgspec.structs import astuple

from trunkline.session.fold.state import TABLES, Fold, light_call, light_text
from trunkline.session.fold.tables import Table

_NAMES: Final = Fold.__struct_fields__
_KEYS: Final = Fold.__struct_encode_fields__
_TABLES: Final = [(name, key) for name, key in zip(_NAMES, _KEYS, strict=True) if name in TABLES]
_UNSEEN: Final = object()

_encode = msgspec.json.Encoder().encode

_MARKS: Final[dict[str, Callable[[Any], Any]]] = {
    "turn": lambda turn: turn and (turn.seq, turn.turn_id, turn.cancelled, turn.showed_work, turn.tokens),
    "user_message": lambda message: message and (message.message_id, message.size),
    "changes": lambda changes: (changes.files, changes.lines_added, changes.lines_removed),
    "queue": lambda queue: [(waiting.turn_id, id(waiting.content)) for waiting in queue],
    "rules": list,
}
"""What tells one value from the next where the fold changes it in place."""


_MARKED: Final = [(name, key, _MARKS[name]) for name, key in zip(_NAMES, _KEYS, strict=True) if name in _MARKS]


class Steps:
    """Makes the steps of one fold. ``known``: what it holds now is in a checkpoint already."""

    def __init__(self, fold: Fold, *, known: bool) -> None:
        self._fold = fold
        self._values: tuple[Any, ...] = (_UNSEEN,) * len(_NAMES)
        self._marks: dict[str, Any] = {}
        if known:
            self.take()
        else:
            for name, _ in _TABLES:
                _table(fold, name).touch_all()

    def take(self) -> bytes:
        """What has changed since the last step."""
        fold, before = self._fold, self._values
        values = self._values = astuple(fold)
        step: dict[str, Any] = {}
        for index in [index for index, (now, was) in enumerate(zip(values, before, strict=True)) if now is not was]:
            name, value = _NAMES[index], values[index]
            if name not in _MARKS and name not in TABLES and value != before[index]:
                step[_KEYS[index]] = light_text(value) if name == "text" else value
        for name, key, mark_of in _MARKED:
            value = getattr(fold, name)
            mark = mark_of(value)
            if mark != self._marks.get(name, _UNSEEN):
                self._marks[name] = mark
                step[key] = value
        for name, key in _TABLES:
            table = _table(fold, name)
            touched = table.take_touched()
            if touched:
                step[key] = {each: _stored(name, table, each) for each in touched}
        return _encode(step)


def _stored(name: str, table: Table[Any], key: str) -> Any:
    value = dict.get(table, key)
    if name != "calls" or value is None:
        return value
    return None if value.finished else light_call(value)


def _table(fold: Fold, name: str) -> Table[Any]:
    table: Table[Any] = getattr(fold, name)
    return table
