"""Which stores there are, and how each is opened by its name: ``SCHEME:`` and, where it takes one, a place.

    sqlite:          in the data folder
    sqlite:/folder   in a folder of its own
    memory:          in this process, gone with it

A new one is a file (``memory.py``) or folder (``sqlite/``) here, and a row below; nothing but stores is here. It is a ``Journal``
(``journal/base.py``); what stores share lies beside that: ``page.py``, ``rows.py``, ``gap.py``.

Rule 1: a store is a row of STORES. What is special about one stands there; nobody else compares names.
Rule 2: a store's module is loaded when it is opened.
Rule 3: whoever opens a store in a folder holds that folder's lock (``journal/lock.py``): it has one writer.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from trunkline.errors import Invalid
from trunkline.journal.base import Journal

SQLITE = "sqlite:"
MEMORY = "memory:"
JOURNAL_FILE = "journal.db"


class StoreKind(NamedTuple):
    """A store that a hub can have."""

    open: Callable[[Path, str], Journal]
    """By its folder and how durable it shall be."""
    lasts: bool
    """Whether it outlives the process. Where it does not, nothing beside it shall."""
    takes_folder: bool = False


class StoreName(NamedTuple):
    """A store's name, read."""

    kind: StoreKind
    folder: Path | None
    """Where its name puts it; None: in the data folder."""


def store_named(name: str) -> StoreName:
    """What a name stands for; Invalid where there is no such store."""
    scheme, colon, place = name.partition(":")
    kind = STORES.get(scheme + colon)
    if kind is None:
        raise Invalid(f"store: there is none called {scheme + colon!r}; there are {', '.join(STORES)}")
    if place and not kind.takes_folder:
        raise Invalid(f"store: {scheme}: takes no place, and {name!r} names one")
    if place and not Path(place).is_absolute():
        raise Invalid(f"store: {name!r} must name an absolute path")
    return StoreName(kind, Path(place) if place else None)


def open_store(name: str, data: Path, durability: str) -> Journal:
    """The journal of that name, for a hub with that data folder. It is opened when it is entered."""
    found = store_named(name)
    return found.kind.open(found.folder or data, durability)


def _sqlite(folder: Path, durability: str) -> Journal:
    from trunkline.journal.stores.sqlite.store import SqliteJournal

    if durability not in ("normal", "full"):
        raise Invalid(f"durability must be normal or full, not {durability!r}")
    return SqliteJournal(folder / JOURNAL_FILE, durability=durability)  # type: ignore[arg-type]  # checked above


def _memory(folder: Path, durability: str) -> Journal:
    from trunkline.journal.stores.memory import MemoryJournal

    return MemoryJournal()


STORES: dict[str, StoreKind] = {
    SQLITE: StoreKind(_sqlite, lasts=True, takes_folder=True),
    MEMORY: StoreKind(_memory, lasts=False),
}
