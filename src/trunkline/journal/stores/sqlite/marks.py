"""How far the journal had come, noted beside it: the highest seq of each session and the highest pos, in ``journal.marks``.

SQLite drops what does not fit in its log without a word, and a log may be lost as a whole. What is noted here shows it: a journal
that knows less has lost something, and goes on numbering above it.

The file begins with a short log, one record per commit (which sessions, how far). Behind it is a table with one record per
session. When the log is full, what it says goes into the table, and it starts again.

Rule 1: a commit is noted after it, in the same thread, by one small write and no fsync. A process that dies between the two
leaves the marks behind the journal, which says nothing; only a journal that is behind its marks has lost entries.
Rule 2: each record stands for itself: one that is damaged is as if it were not there.
Rule 3: what cannot be written here (a full disk) keeps no commit from being one.
Rule 4: what cannot be opened here keeps no journal from opening: it is put aside, or else the journal goes without marks
(``missing`` says why).
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import zlib
from pathlib import Path
from struct import Struct, pack

from trunkline.journal.stores.sqlite.group_log import open_plain
from trunkline.journal.stores.sqlite.mending.swap import put_aside

LOG_BYTES = 64 << 10
"""Some hundred commits of twenty sessions: the table is written seldom, and the log is read in no time."""

NAME_BYTES = 40
"""Our ids have 20. A longer one is noted by its digest: it can be looked for, though not listed."""

_READ_MOST = 64 << 20
"""A million sessions: no file of ours is larger, and what is costs no more memory than that."""

_RECORD = Struct(f"<{NAME_BYTES}sQQII")
"""The session, its seq, the pos of that entry, the checksum of these, and nothing."""
_COMMIT = Struct("<IIQQ")
"""The checksum of what follows, how many sessions, which generation of the log, the pos; then slot and seq of each session."""
_ONE_BODY = Struct("<QQQQ")
_ONE = Struct(f"<II{_ONE_BODY.size}s")
"""The same of a commit of one session: what is summed, and all of it."""
_FOR_HUB = b"\0pos"
"""The name of the first record: the schema's version, and the highest pos of sessions that are gone."""

logger = logging.getLogger(__name__)


class Marks:
    """The marks of one journal. Used by whoever holds the gate."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = -1
        self.seqs: dict[str, int] = {}
        """The highest seq of each session, as of ``read``."""
        self.pos = 0
        """The highest pos, as of ``read``."""
        self.version = 0
        """The version of the journal's schema."""
        self._slots: dict[str, int] = {}
        self._names: dict[int, bytes] = {0: _FOR_HUB}
        self._free: list[int] = []
        self._slots_made = 1
        self._gone_pos = 0
        self._log_end = 0
        self._generation = 1
        self._unsaved: dict[int, int] = {}
        """What is in the log only: seqs by slot."""
        self._last_pos = 0
        self._failed = False
        self.missing: str | None = None
        """Why there are no marks."""

    def open(self, *, read_only: bool = False) -> None:
        """Read what is there, or begin; see Rule 4."""
        try:
            self._file = self._opened(read_only)
            self.read()
            if not read_only:
                self._save()
        except OSError as error:
            self.missing = f"{self._path} cannot be used, so a damaged log could go unnoticed: {error.strerror}"
            self._failed = True
            logger.error("%s", self.missing)

    def _opened(self, read_only: bool) -> int:
        if read_only:
            return open_plain(self._path, os.O_RDONLY)
        try:
            return open_plain(self._path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            if not os.path.lexists(self._path):
                raise
            put_aside(self._path, error.strerror or str(error))
            return open_plain(self._path, os.O_RDWR | os.O_CREAT)

    def close(self) -> None:
        """Let the file go."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    def note(self, seqs: list[tuple[str, int]], pos: int) -> None:
        """These were committed, up to that pos. Called with every commit: a microsecond and a half, and a quarter per session."""
        slots, unsaved = self._slots, self._unsaved
        try:
            flat: list[int] = []
            for session_id, seq in seqs:
                slot = slots.get(session_id)
                if slot is None:
                    slot = self._new_slot(session_id)
                flat += (slot, seq)
                unsaved[slot] = seq
            self._last_pos = pos
            body = pack(f"<{len(flat) + 2}Q", self._generation, pos, *flat)
            record = pack("<II", zlib.crc32(body), len(seqs)) + body
            end = self._log_end + len(record)
            if end > LOG_BYTES:  # behind the log stand others' marks
                self._save()
                return
            self._put(record, self._log_end)
            self._log_end = end
        except OSError as error:
            self._warn(error)

    def note_one(self, session_id: str, seq: int, pos: int) -> None:
        """``note`` of a commit of one session."""
        slot = self._slots.get(session_id)
        end = self._log_end
        if slot is None or end + _ONE.size > LOG_BYTES:
            self.note([(session_id, seq)], pos)
            return
        self._unsaved[slot] = seq
        self._last_pos = pos
        body = _ONE_BODY.pack(self._generation, pos, slot, seq)
        try:
            if os.pwrite(self._file, _ONE.pack(zlib.crc32(body), 1, body), end) != _ONE.size:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # as ``_put``
            self._log_end = end + _ONE.size
        except OSError as error:
            self._warn(error)

    def forget(self, session_id: str, pos: int) -> None:
        """A session was deleted; no pos up to this one comes again."""
        slot = self._slots.pop(session_id, None)
        self.seqs.pop(session_id, None)
        self._gone_pos = max(self._gone_pos, pos)
        try:
            self._save()  # first: a log that names the slot would be believed of whoever has it next
            self._write_hub()
            if slot is not None:
                self._put(bytes(_RECORD.size), _place(slot))
                del self._names[slot]
                self._free.append(slot)
        except OSError as error:
            self._warn(error)

    def note_version(self, version: int) -> None:
        """The journal has this schema now."""
        if version != self.version:
            self.version = version
            try:
                self._write_hub()
            except OSError as error:
                self._warn(error)

    def read(self) -> None:
        """Know what the file says."""
        if self._file < 0:
            return
        content = os.pread(self._file, min(os.fstat(self._file).st_size, _READ_MOST), 0)
        self._slots, self._free, self._names = {}, [], {0: _FOR_HUB}
        self._slots_made = max(1, (len(content) - LOG_BYTES) // _RECORD.size)
        self.seqs, self.pos = {}, 0
        for slot in range(self._slots_made):
            self._take_record(slot, content[_place(slot):_place(slot + 1)])
        sessions = {slot: session_id for session_id, slot in self._slots.items()}
        for slot, seq in self._take_log(content[:LOG_BYTES]):
            session_id = sessions.get(slot)
            if session_id is not None and seq > self.seqs[session_id]:
                self.seqs[session_id] = self._unsaved[slot] = seq
        self._last_pos = self.pos

    def _take_record(self, slot: int, record: bytes) -> None:
        if len(record) == _RECORD.size:
            name, seq, pos, check, _ = _RECORD.unpack(record)
            name = name.rstrip(b"\0")
            if name and check == zlib.crc32(record[:NAME_BYTES + 16]) and (name == _FOR_HUB) == (slot == 0):
                self.pos = max(self.pos, pos)
                if slot == 0:
                    self.version, self._gone_pos = seq, pos
                else:
                    self._names[slot] = name
                    self._slots[name.decode("utf-8", "replace")] = slot
                    self.seqs[name.decode("utf-8", "replace")] = seq
                return
        if slot:
            self._free.append(slot)

    def _take_log(self, log: bytes) -> list[tuple[int, int]]:
        """(slot, seq) of the commits in the log, up to the first record that is not of this generation, or not whole."""
        found: list[tuple[int, int]] = []
        place, generation = 0, None
        while place + _COMMIT.size <= len(log):
            check, count, its_generation, pos = _COMMIT.unpack_from(log, place)
            end = place + _COMMIT.size + 16 * count
            if end > len(log) or check != zlib.crc32(log[place + 8:end]) or its_generation != (generation or its_generation):
                break
            generation = its_generation
            self.pos = max(self.pos, pos)
            values = Struct(f"<{2 * count}Q").unpack_from(log, place + _COMMIT.size)
            found += zip(values[::2], values[1::2], strict=True)
            place = end
        self._generation = max(self._generation, (generation or 0) + 1)
        return found

    def _save(self) -> None:
        """Put what the log says into the table, and begin the log again."""
        for slot, seq in self._unsaved.items():
            if slot in self._names:
                self._write(slot, self._names[slot], seq, self._last_pos)
        self._unsaved.clear()
        self._generation += 1
        self._log_end = 0

    def _write_hub(self) -> None:
        self._write(0, _FOR_HUB, self.version, self._gone_pos)

    def _write(self, slot: int, name: bytes, seq: int, pos: int) -> None:
        record = _RECORD.pack(name, seq, pos, 0, 0)
        check = zlib.crc32(record[:NAME_BYTES + 16])
        self._put(_RECORD.pack(name, seq, pos, check, 0), _place(slot))

    def _put(self, data: bytes, place: int) -> None:
        """Write all of it: half a record would hide those behind it."""
        if os.pwrite(self._file, data, place) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _new_slot(self, session_id: str) -> int:
        name = session_id.encode()
        if len(name) > NAME_BYTES:
            name = hashlib.blake2b(name, digest_size=NAME_BYTES // 2).hexdigest().encode()
            known = self._slots.get(name.decode())
            if known is not None:
                self._slots[session_id] = known
                return known
        if self._free:
            slot = self._free.pop()
        else:
            slot, self._slots_made = self._slots_made, self._slots_made + 1
        self._write(slot, name, 0, 0)
        self._names[slot] = name
        self._slots[session_id] = slot
        return slot

    def _warn(self, error: OSError) -> None:
        if not self._failed:
            self._failed = True
            logger.warning("cannot write %s, so a damaged log could go unnoticed: %s", self._path, error.strerror)


def _place(slot: int) -> int:
    return LOG_BYTES + slot * _RECORD.size
