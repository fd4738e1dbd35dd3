"""Small private files of what is owed or shown: a hub that stops, or is killed, goes on with them when it is back.

Rule: a file that is lost or damaged is begun anew, and the log says so; one that cannot be written
costs the record and nothing else.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import msgspec

from trunkline import decoders
from trunkline.dialects.outside import BROKEN
from trunkline.disk.own_file import read_own
from trunkline.disk.private_file import PrivateFile
from trunkline.errors import StorageError

T = TypeVar("T")
Kept = TypeVar("Kept", covariant=True)


class Record(Protocol[Kept]):
    """Something that is kept for whoever comes after: a file, or a key of the cluster's table (``shared_records.py``)."""

    def load(self) -> Kept | None:
        """What was left; None where there is nothing."""

    def save_soon(self) -> None:
        """Something changed."""

    async def saved(self) -> None:
        """Wait until it is kept."""


class MakeRecord(Protocol):
    """Makes a record of a form; ``content`` is what is so now."""

    def __call__(self, form: type[T], content: Callable[[], T], /) -> Record[T]: ...


class StateFile(Generic[T]):
    """One such file, of type ``form``; without a path it is known only as long as the hub runs. ``content`` is what is so now."""

    def __init__(self, path: Path | None, form: type[T], content: Callable[[], T], log: logging.Logger) -> None:
        self._file = PrivateFile(path, lambda: msgspec.json.encode(content())) if path is not None else None
        self._form = form
        self._log = log

    def load(self) -> T | None:
        """What a hub before this one left; None where there is nothing. It blocks."""
        if self._file is None:
            return None
        try:
            return decoders.decode(read_own(self._file.path), self._form)
        except FileNotFoundError:
            return None
        except (OSError, *BROKEN) as error:
            self._log.warning("%s cannot be read and is begun anew: %s", self._file.path, error)
            return None

    def save_soon(self) -> None:
        """Something changed."""
        if self._file is not None:
            self._file.save_soon()

    async def saved(self) -> None:
        """All of it is on disk, or the log says why not."""
        if self._file is not None:
            with contextlib.suppress(StorageError):  # the log has it: deliveries go on without
                await self._file.saved()
