"""Tables of the fold: dictionaries that know which of their keys may have changed since that was last asked.

Rule: a value that is changed in place is put into its table again; one of ``Calls`` that was got by its key need not be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from trunkline.session.fold.open_parts import OpenCall

T = TypeVar("T")


class Table(dict[str, T]):
    """A dictionary with a list of what was touched in it."""

    __slots__ = ("touched",)

    def __init__(self, values: Mapping[str, T] | Iterable[tuple[str, T]] = ()) -> None:
        super().__init__(values)
        self.touched: dict[str, None] = {}

    def __setitem__(self, key: str, value: T) -> None:
        self.touched[key] = None
        super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        self.touched[key] = None
        super().__delitem__(key)

    def pop(self, key: str, *default: Any) -> Any:
        """Take a value out."""
        self.touched[key] = None
        return super().pop(key, *default)

    def clear(self) -> None:
        """Take everything out."""
        self.touched |= dict.fromkeys(self)
        super().clear()

    def touch_all(self) -> None:
        """Whatever is here may have changed."""
        self.touched = dict.fromkeys(self)

    def take_touched(self) -> Iterable[str]:
        """The keys that were touched since this was last asked."""
        if not self.touched:
            return ()
        touched, self.touched = self.touched, {}
        return touched


class Calls(Table[OpenCall]):
    """The calls of a turn: whoever gets one by its id may change it."""

    __slots__ = ()

    def __getitem__(self, key: str) -> OpenCall:
        self.touched[key] = None
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        """The call of that id, to be looked at or changed."""
        if key not in self:
            return default
        self.touched[key] = None
        return super().__getitem__(key)
