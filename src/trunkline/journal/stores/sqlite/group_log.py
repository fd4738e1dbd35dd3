"""The group log: groups that need no table, each as one record at the end of a plain file beside the database.

A transaction of one small row costs ten times as much as one write of the same bytes, and promises the same: a process that dies
loses nothing. So a group of small parts only goes here (``journal.db-log0``, ``journal.db-log1``), and stays in memory
(recent.py) until a fold makes blocks of it. Groups with session rows or blocks go into the database.

Two files take turns. A checkpoint switches to the empty one, folds what came before, and cuts the other one off once that is in
the database and on the disk. So what a machine that dies may lose stays what it was: the last moments. (Cut right behind the
fold, the file could be gone from the disk before the fold is there, and with it entries of hours.)

Rule 1: it is changed by whoever holds the gate. A group is one write; one that fails is cut off again, and the database takes it.
Only what was there when a fold began is cut off behind that fold.
Rule 2: a record carries a checksum. What does not fit is passed over; whether something is missing by that, missing.py tells.
Rule 3: a pos up to the one that the last fold noted (``folded`` in missing.py) is in blocks, or deleted: its record is of the
past.
Rule 4: a record says which journal's it is (``origin``, noted in the database): a log that came from elsewhere is not believed.
Rule 5: who reads it beside a running hub reads it before the database: what is cut off in between is in blocks by then.
"""

from __future__ import annotations

import logging
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from trunkline.disk.reading import check_plain

SUFFIXES = ("-log0", "-log1")
"""What the files are called, behind the database's own name."""

RECORD_MOST = 256 * 1024
"""Bytes of a group that a record holds: a longer one costs little more in the database."""

FILE_MOST = 64 << 20
"""Bytes of a file that are written, and read. A checkpoint is due long before there are as many; but who holds an old state of
the database in a transaction keeps each from its end, and what came last must be among what is read."""

_MAGIC = b"\xf5TL2"
"""How a record begins. No text has its first byte."""
_START = Struct("<4sI")
"""That, and the checksum of what follows."""
_PLACE = Struct("<IIQQ")
"""The length of the body, whose log it is, the first pos in it, the last."""
HEAD_BYTES = _START.size + _PLACE.size

logger = logging.getLogger(__name__)


class LogRecord(NamedTuple):
    """One group as it was written."""

    first_pos: int
    last_pos: int
    body: bytes
    """Entries by session, as in a row of ``recent``."""
    origin: int = 0
    """Which journal's it is."""


class GroupLog:
    """The two files of one journal. ``takes`` says whether one of them is being written."""

    def __init__(self, path: Path, *, wanted: bool = True) -> None:
        """``path`` is the database's. Where none is ``wanted``, what is there is only read, folded and cut."""
        self.wanted = wanted
        self._paths = paths_of(path)
        self._files = [-1, -1]
        self._ends = [0, 0]
        self._now = -1
        """Which file is being written; -1: none."""
        self._done = [False, False]
        """Of which file nothing is missing in blocks once the fold that was begun is committed."""
        self._failed = False
        self.origin = 0
        """Which journal's it is; 0: that is not settled yet."""
        self.takes = False

    def open(self) -> None:
        """Open both files, making them where there are none; nothing is written before ``begin`` or ``cut``."""
        self.origin = 0
        for number, path in enumerate(self._paths):
            if self.wanted or path.exists():
                self._files[number] = open_plain(path, os.O_RDWR | (os.O_CREAT if self.wanted else 0))
                self._ends[number] = os.fstat(self._files[number]).st_size

    def close(self) -> None:
        """Let the files go."""
        self.stop()
        for number, file in enumerate(self._files):
            if file >= 0:
                os.close(file)
            self._files[number] = -1

    @property
    def is_empty(self) -> bool:
        """Whether nothing is in either file."""
        return self._ends == [0, 0]

    def append(self, first_pos: int, last_pos: int, body: bytes) -> bool:
        """Write a group; False, and nothing is there, where it cannot be. (``takes`` was looked at.)"""
        place = _PLACE.pack(len(body), self.origin, first_pos, last_pos)
        record = b"".join((_START.pack(_MAGIC, zlib.crc32(body, zlib.crc32(place))), place, body))
        now = self._now
        end = self._ends[now]
        if end + len(record) > FILE_MOST:
            self._warn("nobody lets it be emptied")
            return False
        try:
            if os.pwrite(self._files[now], record, end) == len(record):
                self._ends[now] = end + len(record)
                return True
            self._warn("no room")
        except OSError as error:
            self._warn(str(error))
        self._cut_back(now, end)
        return False

    def begin(self) -> None:
        """Take groups from now on. The files are empty, and the database has noted how far it is folded."""
        if self.wanted:
            self._now, self.takes = 0, True
            self._done = [False, False]

    def switch(self) -> bool:
        """Have what was written so far in the file that ``cut`` empties; False where that one is not empty yet. Called when a
        fold begins of all that the logs hold."""
        switched = self._now < 0 or not self._ends[1 - self._now]
        if switched and self._now >= 0 and self._ends[self._now]:
            self._now = 1 - self._now
        self._done = [number != self._now for number in range(2)]
        return switched

    def cut(self, *, sync: bool = False) -> bool:
        """Empty what was not being written when the last fold began: all of it is in the database, and on the disk. False where
        that fails, or something came since to a file that is not written any more."""
        try:
            for number, file in enumerate(self._files):
                if self._done[number] and self._ends[number]:
                    os.ftruncate(file, 0)
                    self._ends[number] = 0
                if sync and file >= 0:
                    os.fsync(file)
        except OSError as error:
            logger.warning("%s could not be emptied: %s", self._paths[0], error)
            return False
        return self._now >= 0 or self.is_empty

    def stop(self) -> None:
        """Take no more groups."""
        self._now, self.takes = -1, False

    def _cut_back(self, number: int, end: int) -> None:
        try:
            os.ftruncate(self._files[number], end)
        except OSError as error:  # half a group may stand there: nothing may come behind it
            self.stop()
            logger.warning("%s could not be cut: %s", self._paths[number], error)

    def _warn(self, why: str) -> None:
        if not self._failed:
            self._failed = True
            logger.warning("cannot write %s, so the database takes what it would have: %s", self._paths[self._now], why)


def paths_of(path: Path) -> list[Path]:
    """The files beside a database."""
    return [path.with_name(path.name + suffix) for suffix in SUFFIXES]


def read_logs(path: Path) -> list[LogRecord]:
    """Every whole record beside a database, each once, in pos order."""
    return sorted({record for each in paths_of(path) for record in records_of(_content(each))})


def records_of(content: bytes) -> Iterator[LogRecord]:
    """The whole records of a file; what does not fit is passed over."""
    place = content.find(_MAGIC)
    while 0 <= place <= len(content) - HEAD_BYTES:
        _, check = _START.unpack_from(content, place)
        length, origin, first_pos, last_pos = _PLACE.unpack_from(content, place + _START.size)
        body = content[place + HEAD_BYTES:place + HEAD_BYTES + min(length, RECORD_MOST)]
        if len(body) == length and first_pos <= last_pos \
                and check == zlib.crc32(body, zlib.crc32(content[place + _START.size:place + HEAD_BYTES])):
            yield LogRecord(first_pos, last_pos, body, origin)
            place += HEAD_BYTES + length
        else:
            place += 1
        place = content.find(_MAGIC, place)


def open_plain(path: Path, how: int) -> int:
    """Open a plain file of its owner's alone; OSError where something else lies there."""
    if os.path.lexists(path):
        check_plain(os.lstat(path).st_mode, path)  # first: to open a device may be to do something
    file = os.open(path, how | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    try:
        check_plain(os.fstat(file).st_mode, path)
    except OSError:
        os.close(file)
        raise
    return file


def _content(path: Path) -> bytes:
    try:
        file = open_plain(path, os.O_RDONLY)
    except FileNotFoundError:
        return b""
    except OSError as error:
        logger.error("%s cannot be read: %s", path, error.strerror)
        return b""
    try:
        with os.fdopen(file, "rb") as opened:
            return opened.read(FILE_MOST)
    except OSError as error:
        logger.error("%s cannot be read: %s", path, error.strerror)
        return b""
