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
from itertools import compress, count
from operator import attrgetter, is_not
from typing import Any, Final

import msgspec

from trunkline.session.fold.state import TABLES, Fold, light_call, light_text
from trunkline.session.fold.tables import Table

_UNSEEN: Final = object()

_encode = msgspec.json.Encoder().encode

_MARKS: Final[dict[str, Callable[[Any], Any]]] = {
    "turn": attrgetter("seq", "turn_id", "cancelled", "showed_work", "tokens"),
    "user_message": attrgetter("message_id", "size"),
    "changes": attrgetter("files", "lines_added", "lines_removed"),
    "queue": lambda queue: [(waiting.turn_id, id(waiting.content)) for waiting in queue],
    "rules": list,
}
"""What tells one value from the next where the fold changes it in place. Where there is none, or nothing in it, that is all."""


_NAMED: Final = list(zip(Fold.__struct_fields__, Fold.__struct_encode_fields__, strict=True))
_PLAIN: Final = [(name, key) for name, key in _NAMED if name not in _MARKS and name not in TABLES]
_MARKED: Final = [(name, key, _MARKS[name]) for name, key in _NAMED if name in _MARKS]
_TABLES: Final = [(name, key) for name, key in _NAMED if name in TABLES]

_plain_of: Final = attrgetter(*(name for name, _ in _PLAIN))
_tables_of: Final = attrgetter(*(name for name, _ in _TABLES))
_touched: Final = attrgetter("touched")


class Steps:
    """Makes the steps of one fold. ``known``: what it holds now is in a checkpoint already."""

    def __init__(self, fold: Fold, *, known: bool) -> None:
        self._fold = fold
        self._values: tuple[Any, ...] = (_UNSEEN,) * len(_PLAIN)
        self._marks: list[Any] = [_UNSEEN] * len(_MARKED)
        if known:
            self.take()
        else:
            for table in _tables_of(fold):
                table.touch_all()

    def take(self) -> bytes:
        """What has changed since the last step."""
        step: dict[str, Any] = {}
        self._take_plain(step)
        self._take_marked(step)
        self._take_tables(step)
        return _encode(step)

    def _take_plain(self, step: dict[str, Any]) -> None:
        before, values = self._values, _plain_of(self._fold)
        self._values = values
        # Most of some forty are the same objects as before: those are passed over without a step of the interpreter for each.
        for index in compress(count(), map(is_not, values, before)):
            name, key = _PLAIN[index]
            value = values[index]
            if value != before[index]:
                step[key] = light_text(value) if name == "text" else value

    def _take_marked(self, step: dict[str, Any]) -> None:
        fold, marks = self._fold, self._marks
        for index, (name, key, mark_of) in enumerate(_MARKED):
            value = getattr(fold, name)
            mark = mark_of(value) if value else None
            if mark != marks[index]:
                marks[index] = mark
                step[key] = value

    def _take_tables(self, step: dict[str, Any]) -> None:
        tables = _tables_of(self._fold)
        for index in compress(count(), map(_touched, tables)):
            (name, key), table = _TABLES[index], tables[index]
            step[key] = {each: _stored(name, table, each) for each in table.take_touched()}


def _stored(name: str, table: Table[Any], key: str) -> Any:
    value = dict.get(table, key)
    if name != "calls" or value is None:
        return value
    return None if value.finished else light_call(value)

