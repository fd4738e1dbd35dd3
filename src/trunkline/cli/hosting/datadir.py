"""What a hub keeps beside its journal: the lock that makes it the only one, ``hub.json`` that says where it is, its log.

Rule 1: whoever holds ``hub.lock`` is the hub of this folder. The kernel gives it up with the process, however that ends.
Rule 2: ``hub.json`` is written when the hub listens and removed when it stops; one that outlived its hub is worth nothing,
so readers check that its process holds the lock and that the hub answers.
Rule 3: folders are 0700, files 0600.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from trunkline import decoders
from trunkline.dialects.outside import BROKEN
from trunkline.disk.own_file import read_own
from trunkline.errors import HubLocked, Invalid, StorageError
from trunkline.journal.lock import FolderLock

LOG_BYTES = 4 << 20
"""A log above this size is begun anew by the next start."""


class HubRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True, omit_defaults=True):
    """``hub.json``. ``certificate`` is the file that a client on this machine checks the hub by, where it serves https."""

    pid: int
    url: str
    started_at: str
    version: str
    certificate: str | None = None


class DataDir:
    """One data folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.record_path = path / "hub.json"
        self.lock = FolderLock(path)
        self.lock_path = self.lock.path
        self.log_path = path / "hub.log"
        self.token_path = path / "token"

    def make(self) -> None:
        """Create the folder, closed to others; an existing one of ours is closed as well."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.chmod(0o700)
        except OSError as error:
            raise Invalid(f"data: cannot use {self.path}: {error.strerror}") from error

    def record(self) -> HubRecord | None:
        """What ``hub.json`` says; None when there is none, or when a crash left half of one."""
        try:
            return decoders.decode(read_own(self.record_path), HubRecord)
        except (FileNotFoundError, NotADirectoryError, *BROKEN):
            return None
        except OSError as error:
            raise _unusable(self.record_path, error) from error

    def write_record(self, record: HubRecord) -> None:
        """Write ``hub.json`` in one step: nobody reads half of it."""
        draft = self.path / f"hub.json.{os.getpid()}"
        try:
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(msgspec.json.encode(record) + b"\n")
            draft.replace(self.record_path)
        except OSError as error:
            raise _unusable(self.record_path, error) from error

    def remove_record(self) -> None:
        """The hub no longer listens. StorageError where something else is in the place of that file."""
        try:
            self.record_path.unlink(missing_ok=True)
        except OSError as error:
            raise _unusable(self.record_path, error) from error

    def token(self) -> str | None:
        """The token that the hub generated here; None before its first start."""
        try:
            return read_own(self.token_path).decode("utf-8", "replace").strip() or None
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StorageError(f"cannot read {self.token_path}: {error.strerror}") from error

    def holder(self) -> int | None:
        """The pid of the process that holds the lock; None when nobody does. 0 while it has not written it."""
        return self.lock.holder()

    def open_log(self) -> int:
        """A descriptor that appends to the log of a hub without a terminal. A pipe in its place is not waited for."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK
        try:
            too_long = self.log_path.exists() and self.log_path.stat().st_size > LOG_BYTES
            return os.open(self.log_path, flags | (os.O_TRUNC if too_long else 0), 0o600)
        except OSError as error:
            raise _unusable(self.log_path, error) from error


class HubLock:
    """The right to be the hub of a data folder; a context manager."""

    def __init__(self, folder: DataDir) -> None:
        self._folder = folder
        self._is_taken = False

    def taken(self) -> Self:
        """Take it, or raise HubLocked, which names who has it."""
        if not self._folder.lock.take():
            raise _locked(self._folder)
        try:
            self._folder.remove_record()  # of a hub that crashed
        except StorageError:
            self._folder.lock.give_up()
            raise
        self._is_taken = True
        return self

    def __enter__(self) -> Self:
        return self if self._is_taken else self.taken()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._is_taken = False
        try:
            self._folder.remove_record()
        finally:
            self._folder.lock.give_up()


def _unusable(path: Path, error: OSError) -> StorageError:
    """The hub makes each of these files itself: what else is there is somebody's, and not ours to remove."""
    return StorageError(f"cannot use {path}: {error.strerror}; move it away, the hub makes its own")


def _locked(folder: DataDir) -> HubLocked:
    record = folder.record()
    pid = record.pid if record else folder.holder()
    where = f" and listens on {record.url}" if record else " and is starting"
    return HubLocked(f"a hub already runs on {folder.path}: it is process {pid or 'unknown'}{where}",
                     details={"pid": pid, "url": record.url if record else None})
