"""OpenCode's sessions on this machine: rows of one database, ``opencode.db``.

Rule 1: only the tables of sessions are read. The same database has credentials.
Rule 2: a process that has our plugin says which sessions it has. Of any other that has the database open it is not known: it is
taken to have each session of the folder that it works in which was written to since it began: that a session is free must be
sure, not that it is taken.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress

import msgspec

from trunkline.dialects.elsewhere.transcripts import count_of, instant, read_object, text_of
from trunkline.dialects.opencode.rows import OpencodeRows, Row, answer_of
from trunkline.dialects.outside import Json
from trunkline.discovery.base import Ending, FoundSession, held_by
from trunkline.discovery.files import LAST_MOST, LISTED_MOST, TITLE_MOST
from trunkline.discovery.follow import Following, OnPart, OnSignals, Prepare
from trunkline.discovery.follow_rows import RowFollower, behind_all_of
from trunkline.discovery.processes import began_at, folder_of, lock_holders
from trunkline.discovery.sqlite import Look, look_at
from trunkline.discovery.told import TOLD

DATABASE = "opencode.db"
PREVIEWED = 50
"""Sessions, the newest, of which the last words are looked up."""

LOOKED_BACK = 20
"""Parts of a session that are looked through for its last words."""

PARENTS_MOST = 16
"""Sub-agents of sub-agents."""

TIME_MOST = 1 << 46
"""Milliseconds that a row's time may say, some two thousand years: what is not between 1 and this is no time, and no row."""

Message = tuple[Row, list[Row]]

_ID = re.compile(r"ses_[0-9A-Za-z]{1,64}")
_WANTED = ("id", "parent_id", "directory", "title", "model", "time_created", "time_updated", "time_archived", "tokens_input",
           "tokens_output", "tokens_reasoning", "tokens_cache_read", "tokens_cache_write")
_ROW = ("id", "time_created", "time_updated", "data")
_PLACES = ("part", (*_ROW, "message_id")), ("message", (*_ROW, "id"))
"""Where rows of a session are, and of which message each is."""
_TOKENS = tuple(name for name in _WANTED if name.startswith("tokens"))


class OpencodeStore:
    """The sessions of one database."""

    features = ("resources.tokenUsage",)
    resumes = True

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._path = os.path.join(folder, DATABASE)
        self.files = frozenset({self._path, f"{self._path}-wal"})

    def sessions(self) -> list[FoundSession]:
        """Every session, newest activity first."""
        return self._look("", ())

    def find(self, session_id: str) -> FoundSession | None:
        """One session by its id."""
        return next(iter(self._look("AND id = ?", (session_id,))), None) if _ID.fullmatch(session_id) else None

    def session_of(self, path: str) -> str | None:
        """No file is one session's."""
        return None

    def root_of(self, session_id: str) -> str | None:
        """The session at the beginning of those that work for one another; None where it is not stored."""
        known, parent = None, session_id
        try:
            with look_at(self._path) as look:
                for _ in range(PARENTS_MOST):
                    rows = look.rows("SELECT parent_id FROM session WHERE id = ?", (parent,))
                    if not rows:
                        break
                    known, parent = parent, rows[0][0]
        except OSError:
            return known
        return known

    def states(self) -> dict[str, int]:
        """When each session was written to last, as the database counts it."""
        with suppress(OSError), look_at(self._path) as look:
            rows = look.rows("SELECT id, time_updated FROM session WHERE parent_id IS NULL ORDER BY time_updated DESC LIMIT ?",
                             (LISTED_MOST,))
            return {row[0]: row[1] for row in rows if isinstance(row[0], str) and isinstance(row[1], int)}
        return {}

    @staticmethod
    def following(path: str, session_id: str, position: int, on_signals: OnSignals, *, folder: str,
                  prepare: Prepare | None = None, parts: Mapping[str, int] | None = None,
                  on_part: OnPart | None = None) -> Following:
        """What reads one session and goes on doing so."""
        files = frozenset({path, f"{path}-wal"})
        return RowFollower(OpencodeRowsOf(path, session_id), OpencodeRows(), files, folder, position, on_signals, prepare=prepare)

    @staticmethod
    def ending(path: str, session_id: str) -> Ending:
        """Where the session ends now. It looks at the disk, and raises OSError where that fails."""
        return Ending(behind_all_of(OpencodeRowsOf(path, session_id).newest()), {})

    def _look(self, which: str, values: tuple[str, ...]) -> list[FoundSession]:
        try:
            with look_at(self._path) as look:
                wanted = [name for name in _WANTED if name in look.columns("session")]
                rows = look.whole("session", wanted, f"WHERE parent_id IS NULL {which} ORDER BY time_updated DESC LIMIT ?",
                                  (*values, LISTED_MOST))
                found = [each for row in rows if (each := self._found(dict(zip(wanted, row, strict=True)))) is not None]
                previewed = [_with_last(look, each) for each in found[:PREVIEWED]]
        except OSError:
            return []
        running = self._running()
        return [_in_use(each, running) for each in (*previewed, *found[PREVIEWED:])]

    def _found(self, row: Json) -> FoundSession | None:
        session_id, cwd = text_of(row, "id"), text_of(row, "directory")
        if not _ID.fullmatch(session_id) or not cwd or row.get("time_archived"):
            return None
        created, updated = instant(row.get("time_created")), instant(row.get("time_updated"))
        model = read_object(text_of(row, "model").encode()) or {}
        return FoundSession(
            id=session_id, path=self._path, cwd=cwd, created_at=created or updated, updated_at=max(created, updated),
            title=text_of(row, "title").split("\n", 1)[0][:TITLE_MOST], model=text_of(model, "id")[:TITLE_MOST],
            tokens=sum(count_of(row, name) for name in _TOKENS) or None)

    def _running(self) -> list[tuple[int, str, int]]:
        """Processes that have the database open and do not say for what: pid, the folder of each, and when it began."""
        pids = lock_holders([f"{self._path}-shm"]).get(f"{self._path}-shm", [])
        return [(pid, folder_of(pid), began_at(pid)) for pid in pids if pid != os.getpid() and not TOLD.tells(pid)]


def _with_last(look: Look, found: FoundSession) -> FoundSession:
    """With the agent's last words, where they are near the end."""
    rows = look.whole("part", ("data",), "WHERE session_id = ? ORDER BY id DESC LIMIT ?", (found.id, LOOKED_BACK))
    texts = (answer_of(read_object(_bytes(row[0])) or {}) for row in rows)
    return msgspec.structs.replace(found, last_message=next((text for text in texts if text), "")[:LAST_MOST])


def _in_use(found: FoundSession, running: list[tuple[int, str, int]]) -> FoundSession:
    told = TOLD.holder_of(found.id)
    if told is not None:
        return msgspec.structs.replace(found, in_use=True, pid=told)
    return held_by(found, [pid for pid, folder, began in running if folder == found.cwd and found.updated_at >= began])


class OpencodeRowsOf:
    """One session's rows."""

    def __init__(self, path: str, session_id: str) -> None:
        self._path = path
        self._id = session_id

    def newest(self) -> int:
        """The time of the newest row; 0 where there is none."""
        with look_at(self._path) as look:
            rows = look.rows(
                "SELECT max(t) FROM (SELECT max(time_updated) t FROM part WHERE session_id = ? AND time_updated BETWEEN 1 AND ? "
                "UNION ALL SELECT max(time_updated) FROM message WHERE session_id = ? AND time_updated BETWEEN 1 AND ?)",
                (self._id, TIME_MOST) * 2)
        return rows[0][0] if rows and type(rows[0][0]) is int else 0

    def messages(self, after: tuple[int, str], most: int) -> list[Message]:
        """The next messages behind one, each with all of its parts, in order."""
        with look_at(self._path) as look:
            rows = look.whole("message", _ROW, "WHERE session_id = ? AND (time_created, id) > (?, ?) "
                              "ORDER BY time_created, id LIMIT ?", (self._id, *after, most))
            return [(message, _parts(look, message.id)) for row in rows if (message := _row(row)) is not None]

    def changes(self, since: int, most: int) -> tuple[list[Message], list[Row]]:
        """What was written since: messages with those of their parts that were, in order; and all of these rows."""
        return self._written(">=", since, "ASC", most)

    def before(self, until: int, most: int) -> list[Message]:
        """What was written last up to a time."""
        return self._written("<=", until, "DESC", most)[0]

    def _written(self, compares: str, time: int, order: str, most: int) -> tuple[list[Message], list[Row]]:
        with look_at(self._path) as look:
            where = f"WHERE session_id = ? AND time_updated {compares} ?"
            numbers = look.rows(
                f"SELECT place, number FROM (SELECT 0 place, rowid number, time_updated, id FROM part {where} "
                f"UNION ALL SELECT 1, rowid, time_updated, id FROM message {where}) "
                f"ORDER BY time_updated {order}, id LIMIT ?", (self._id, time, self._id, time, most))
            rows = [row for place, number in numbers for row in look.numbered(*_PLACES[place], number)]
            found = [read for each in rows if (read := _with_message(each)) is not None]
            parts: dict[str, list[Row]] = {message_id: [] for _, message_id in found}
            for row, message_id in found:
                if row.id != message_id:
                    parts[message_id].append(row)
            messages = [message for message_id in parts if (message := _message(look, message_id)) is not None]
        messages.sort(key=lambda row: (row.created, row.id))
        changed = [(message, sorted(parts[message.id], key=lambda row: row.id)) for message in messages]
        return changed, [row for row, _ in found]


def _message(look: Look, message_id: str) -> Row | None:
    rows = look.whole("message", _ROW, "WHERE id = ? LIMIT 1", (message_id,))
    return _row(rows[0]) if rows else None


def _parts(look: Look, message_id: str) -> list[Row]:
    rows = look.whole("part", _ROW, "WHERE message_id = ? ORDER BY id LIMIT 10000", (message_id,))
    return [row for each in rows if (row := _row(each)) is not None]


def _with_message(row: tuple[object, ...]) -> tuple[Row, str] | None:
    read = _row(row[:4])
    return (read, row[4]) if read is not None and isinstance(row[4], str) else None


def _row(row: tuple[object, ...]) -> Row | None:
    row_id, created, updated, data = row
    if not isinstance(row_id, str) or type(created) is not int or type(updated) is not int:
        return None
    if not (0 < created <= TIME_MOST and 0 < updated <= TIME_MOST):
        return None
    return Row(row_id, created, updated, _bytes(data))


def _bytes(data: object) -> bytes:
    return data if isinstance(data, bytes) else data.encode("utf-8", "replace") if isinstance(data, str) else b""
