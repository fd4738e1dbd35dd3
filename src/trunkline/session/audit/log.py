"""How far the chains of approvals had come, noted outside the database: ``audit.log`` beside the key.

A line is ``{session, n, head, seal}``, or ``{session, n, head, deleted, seal}`` where a person had the session deleted. The first
line has no session and says since when (``n``, UTC, microseconds) there is a log. A seal is keyed, and goes over the seal of the
line before and the line itself.

Rule 1: only the hub writes it, behind the journal: what is noted was committed before. So the journal may know more, never less.
Rule 2: it is appended to, and made shorter only at a start, when most of its lines say nothing that a later one does not.
Rule 3: a log in which something does not fit is evidence: it is appended to, but never made shorter.
Rule 4: it is read line by line, up to bounds, whatever somebody has put there; what is beyond them does not fit.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from trunkline import decoders
from trunkline.dialects.outside import BROKEN
from trunkline.errors import NotFound, StorageError
from trunkline.session.audit.chain import Chain

AUDIT_LOG_FILE = "audit.log"
COMPACT_LINES = 2_000
"""Lines from which on a start looks whether most of them can go."""
LOG_MOST = 256 << 20
"""Bytes that are read: more than a million notes, which take some ten seconds to check."""
LINE_MOST = 16 << 10
"""Bytes of a line; ours have about 200."""
UNFIT_MOST = 1_000
"""Lines that do not fit, after which the rest is not read: of line breaks alone a file may have hundreds of millions."""
NOTES_MOST = 500_000
"""Notes that are kept in memory, some 130 MB. Of more than that the furthest and the last one of each session are."""

log = logging.getLogger("trunkline.session")
_encode = msgspec.json.Encoder().encode


class Note(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line: this session's chain has come so far."""

    session: str
    n: int
    head: str
    deleted: bool = False


class _Line(Note, frozen=True):
    seal: str = ""


_line = decoders.of(_Line)


class AuditNotes(msgspec.Struct):
    """What is in a log. ``wrong`` says what does not fit, if anything."""

    notes: list[Note] = msgspec.field(default_factory=list)
    since: int = 0
    seal: str = ""
    """The last line's."""
    size: int = 0
    """Bytes in whole lines; behind them there may be a line that a crash cut off."""
    count: int = 0
    """Notes that were read; more than are kept, where there are very many."""
    rises: bool = True
    """Whether no session's chain ever was found shorter than it had been, or another."""
    wrong: str = ""
    last: dict[str, Note] = msgspec.field(default_factory=dict)

    def take(self, note: Note) -> None:
        """The next note of the log."""
        before = self.last.get(note.session)
        if before is not None and not note.deleted and _falls_behind(Chain(note.n, note.head), before):
            self.rises = False
        self.last[note.session] = note
        self.notes.append(note)
        self.count += 1
        if len(self.notes) > NOTES_MOST:
            self._thin()

    def newest(self) -> dict[str, Note]:
        """Each session's last note."""
        return dict(self.last)

    def kept(self) -> dict[str, list[Note]]:
        """The notes of each session that nobody had deleted."""
        kept: dict[str, list[Note]] = {}
        for note in self.notes:
            kept.setdefault(note.session, []).append(note)
        return {session: notes for session, notes in kept.items() if not notes[-1].deleted}

    def _thin(self) -> None:
        """Keep what says that something is missing now: how far each chain had come at most, and what was said of it last."""
        self.notes = [note for notes in self.kept().values() for note in _outermost(notes)]
        self.last = {name: note for name, note in self.last.items() if not note.deleted}
        if len(self.notes) > NOTES_MOST // 2:
            self.wrong = self.wrong or f"there are notes of more than {NOTES_MOST // 4} sessions"
            self.notes, self.last = [], {}


def read_log(path: Path, key: bytes) -> AuditNotes:
    """Read and check a log; NotFound where there is none."""
    noted, unfit, number = AuditNotes(), 0, 0
    for number, (raw, length) in enumerate(_whole_lines(path), 1):
        noted.size += length
        line = _read(raw)
        note = Note(line.session, line.n, line.head, line.deleted)
        fits = hmac.compare_digest(_seal(key, noted.seal, note).encode(), line.seal.encode("utf-8", "surrogatepass"))
        if not fits or (number == 1) != (not note.session):
            noted.wrong = noted.wrong or f"line {number} of {path} is not what the hub wrote"
            unfit += 1
        if number == 1:
            noted.since = note.n
        elif note.session:
            noted.take(note)
        noted.seal = line.seal
        if unfit > UNFIT_MOST or noted.size > LOG_MOST:
            noted.wrong = noted.wrong or f"{path} is longer than {LOG_MOST >> 20} MiB"
            break
    if not number:
        noted.wrong = f"{path} has no beginning"
    return noted


class AuditLog:
    """The log of one data folder, for the hub that has it."""

    def __init__(self, path: Path, key: bytes) -> None:
        self._path = path
        self._key = key
        self._newest: dict[str, Note] = {}
        """Each session's last note, of those that are not deleted."""
        self._last_seal = ""

    def open(self) -> None:
        """Read what is there, or begin a log."""
        try:
            noted = read_log(self._path, self._key)
        except NotFound:
            self._begin([])
            return
        if noted.wrong:
            log.error("the audit log does not fit: %s; see `trunkline audit verify`", noted.wrong)
        self._newest = {name: note for name, note in noted.newest().items() if not note.deleted}
        self._last_seal = noted.seal
        if noted.wrong:
            self._end_line()
        else:
            self._cut(noted.size)
        kept = list(self._newest.values())
        if noted.count > max(COMPACT_LINES, 2 * len(kept)) and not noted.wrong and noted.rises:
            self._begin(kept, since=noted.since)

    def knows(self, session_id: str, chain: Chain) -> bool:
        """Whether this is noted."""
        note = self._newest.get(session_id)
        return (Chain(note.n, note.head) if note is not None else Chain()) == chain

    def found(self, session_id: str, chain: Chain) -> None:
        """The journal has the session with this chain. One that is shorter than noted, or another, is noted for good."""
        note = self._newest.get(session_id)
        if note is not None and not note.deleted and _falls_behind(chain, note):
            log.error("session %s had %d sealed approvals, and the journal has %d, or others: see `trunkline audit verify`",
                      session_id, note.n, chain.n)
            self.note([Note(session_id, chain.n, chain.head)])

    def note(self, notes: Iterable[Note]) -> None:
        """Write down how far chains have come. What cannot be written now is behind, and is written the next time."""
        lines, seal = _lines(self._key, self._last_seal, notes)
        if not lines:
            return
        try:
            _append(self._path, b"".join(_encode(line) + b"\n" for line in lines))
        except OSError as error:
            log.error("cannot write %s: %s", self._path, error.strerror)
            return
        self._last_seal = seal
        for line in lines:
            if line.deleted:
                self._newest.pop(line.session, None)
            else:
                self._newest[line.session] = line

    def delete(self, session_id: str) -> None:
        """A person had this session deleted: it is not missed."""
        note = self._newest.get(session_id)
        if note is not None and not note.deleted:
            self.note([Note(session_id, note.n, note.head, True)])

    def _begin(self, notes: list[Note], since: int | None = None) -> None:
        """Write a log of these notes and put it in place at once."""
        first = Note("", since if since is not None else time.time_ns() // 1000, "")
        lines, self._last_seal = _lines(self._key, "", [first, *notes])
        self._newest = {note.session: note for note in notes}
        half = self._path.with_name(f".{self._path.name}.part")
        try:
            half.unlink(missing_ok=True)
            _append(half, b"".join(_encode(line) + b"\n" for line in lines))
            half.replace(self._path)
        except OSError as error:
            raise StorageError(f"cannot write {self._path}: {error.strerror}") from error

    def _end_line(self) -> None:
        """Keep all that is there, damaged as it is, and let the next line stand by itself."""
        try:
            if not _ends_line(self._path):
                _append(self._path, b"\n")
        except OSError as error:
            raise StorageError(f"cannot write {self._path}: {error.strerror}") from error

    def _cut(self, size: int) -> None:
        """Take away a last line that a crash cut off, so that the next one stands by itself."""
        try:
            os.truncate(self._path, size)
        except OSError as error:
            raise StorageError(f"cannot write {self._path}: {error.strerror}") from error


def _falls_behind(chain: Chain, note: Note) -> bool:
    return chain.n < note.n or (chain.n == note.n and chain.head != note.head)


def _lines(key: bytes, before: str, notes: Iterable[Note]) -> tuple[list[_Line], str]:
    """Notes as lines, and the last one's seal."""
    lines: list[_Line] = []
    for note in notes:
        before = _seal(key, before, note)
        lines.append(_Line(note.session, note.n, note.head, note.deleted, before))
    return lines, before


def _seal(key: bytes, before: str, note: Note) -> str:
    """Every part goes in with its length before it. The first tells a line apart from a record of a chain."""
    mac = hmac.new(key, digestmod=hashlib.sha256)
    for part in (b"audit.log", before.encode("utf-8", "surrogatepass"), _encode(note)):
        mac.update(len(part).to_bytes(8, "big"))
        mac.update(part)
    return mac.hexdigest()


def _read(raw: bytes) -> _Line:
    """A line; one that fits nowhere where it is none."""
    try:
        return _line.decode(raw)
    except BROKEN:
        return _Line("", 0, "")


def _outermost(notes: list[Note]) -> list[Note]:
    furthest = max(notes, key=lambda note: note.n)
    return [furthest, notes[-1]] if furthest is not notes[-1] else [furthest]


def _whole_lines(path: Path) -> Iterator[tuple[bytes, int]]:
    """Each line and its length; of one that is longer than ours are, a part that is none. What a crash cut off is not a line."""
    with _opened(path) as file:
        try:
            while part := file.readline(LINE_MOST):
                length, line = len(part), part
                while part and not part.endswith(b"\n"):
                    part = file.readline(LINE_MOST)
                    length += len(part)
                    if length > LOG_MOST:
                        break
                if part:
                    yield line, length
        except OSError as error:
            raise StorageError(f"cannot read {path}: {error.strerror}") from error


def _ends_line(path: Path) -> bool:
    with _opened(path) as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - 1))
        return file.read(1) == b"\n"


def _opened(path: Path) -> BinaryIO:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise NotFound(f"there is no log {path}: somebody took it away, or no hub has run here yet") from None
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise StorageError(f"{path} is no regular file")
    return open(descriptor, "rb")


def _append(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    with open(descriptor, "ab") as file:
        file.write(content)
