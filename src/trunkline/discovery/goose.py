"""goose's sessions on this machine: rows of one database, ``sessions.db``.

Rule 1: only the tables of sessions and messages are read. goose itself is never started on it: another version may fail on what
this one has written.
Rule 2: no process says which session it has. One called ``goose`` is taken to have each session of the folder that it works in
which was written to since it began: that a session is free must be sure, not that it is taken.
Rule 3: a position is the number of the last row that was read. Rows are only added.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec

from trunkline.dialects.elsewhere.transcripts import Timed, count_of, instant, read_object, text_of
from trunkline.dialects.goose.messages import GooseMessages, Row, answer_of, prompt_of
from trunkline.dialects.outside import Json
from trunkline.discovery.base import Ending, FoundSession, held_by
from trunkline.discovery.files import LAST_MOST, LISTED_MOST, TITLE_MOST
from trunkline.discovery.follow import Following, OnPart, OnSignals, Prepare
from trunkline.discovery.processes import programs
from trunkline.discovery.sqlite import Look, look_at

DATABASE = "sessions.db"
PREVIEWED = 50
"""Sessions, the newest, of which the first prompt and the last words are looked up."""

LOOKED_BACK = 20
"""Messages of a session that are looked through for these."""

PAGE = 100
"""Rows that are read at a time."""

REMEMBERED = 1_000
"""Rows before the position that the reader sees again after a restart."""

_ID = re.compile(r"[0-9]{8}_[0-9]{1,9}")
_WANTED = ("id", "name", "description", "session_type", "working_dir", "created_at", "updated_at", "accumulated_total_tokens",
           "total_tokens", "model_config_json", "archived_at", "parent_session_id")
_MESSAGE = ("id", "message_id", "role", "created_timestamp", "content_json", "metadata_json")
_OWN = "WHERE session_id = ?"


class GooseStore:
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
        return next(iter(self._look("WHERE id = ?", (session_id,))), None) if _ID.fullmatch(session_id) else None

    def session_of(self, path: str) -> str | None:
        """No file is one session's."""
        return None

    def states(self) -> dict[str, int]:
        """When each session was written to last, as the database counts it."""
        with suppress(OSError), look_at(self._path) as look:
            rows = look.rows("SELECT id, updated_at FROM sessions ORDER BY updated_at DESC LIMIT ?", (LISTED_MOST,))
            return {row[0]: _instant(row[1]) for row in rows if isinstance(row[0], str)}
        return {}

    @staticmethod
    def following(path: str, session_id: str, position: int, on_signals: OnSignals, *, folder: str,
                  prepare: Prepare | None = None, parts: Mapping[str, int] | None = None,
                  on_part: OnPart | None = None) -> Following:
        """What reads one session and goes on doing so."""
        return GooseFollower(path, session_id, folder, position, on_signals, prepare)

    @staticmethod
    def ending(path: str, session_id: str) -> Ending:
        """Where the session ends now. It looks at the disk, and raises OSError where that fails."""
        with look_at(path) as look:
            rows = look.rows("SELECT max(id) FROM messages WHERE session_id = ?", (session_id,))
        return Ending(rows[0][0] if rows and type(rows[0][0]) is int else 0, {})

    def _look(self, which: str, values: tuple[str, ...]) -> list[FoundSession]:
        try:
            with look_at(self._path) as look:
                wanted = [name for name in _WANTED if name in look.columns("sessions")]
                rows = look.whole("sessions", wanted, f"{which} ORDER BY updated_at DESC LIMIT ?", (*values, LISTED_MOST))
                found = [each for row in rows if (each := self._found(dict(zip(wanted, row, strict=True)))) is not None]
                previewed = [_with_words(look, each) for each in found[:PREVIEWED]]
        except OSError:
            return []
        running = list(programs(frozenset({"goose"}))) if found else []
        return [_in_use(each, running) for each in (*previewed, *found[PREVIEWED:])]

    def _found(self, row: Json) -> FoundSession | None:
        session_id, cwd = text_of(row, "id"), text_of(row, "working_dir")
        is_own = row.get("session_type", "user") == "user" and not row.get("parent_session_id")
        if not _ID.fullmatch(session_id) or not cwd or not is_own or row.get("archived_at"):
            return None
        created, updated = _instant(row.get("created_at")), _instant(row.get("updated_at"))
        model = read_object(text_of(row, "model_config_json").encode()) or {}
        return FoundSession(
            id=session_id, path=self._path, cwd=cwd, created_at=created or updated, updated_at=max(created, updated),
            title=text_of(row, "description", "name").split("\n", 1)[0][:TITLE_MOST],
            model=text_of(model, "model_name")[:TITLE_MOST],
            tokens=count_of(row, "accumulated_total_tokens", "total_tokens") or None)


class GooseFollower(Following):
    """Reads one session's rows."""

    def __init__(self, path: str, session_id: str, folder: str, position: int, on_signals: OnSignals,
                 prepare: Prepare | None) -> None:
        super().__init__(frozenset({path, f"{path}-wal"}), folder, position, on_signals, prepare)
        self._path = path
        self._id = session_id
        self._reading = GooseMessages()

    async def catch_up(self) -> None:
        """Hand over every row behind the position."""
        while True:
            await self._flowing.wait()
            told, position, is_last = await self._lane.run(self._next)
            if told or position != self.position:
                await self._hand_over(told, position)
            if is_last:
                return

    def _next(self) -> tuple[list[Timed], int, bool]:
        """What the next rows say; and, where none are behind them, that a turn is over."""
        try:
            rows = rows_after(self._path, self._id, self.position, PAGE)
        except OSError:
            return [], self.position, True
        told = [timed for row in rows for timed in self._reading.message(row)]
        is_last = len(rows) < PAGE
        position = rows[-1].number if rows else self.position
        return told + (self._reading.settle() if is_last else []), position, is_last

    def _remember(self) -> None:
        try:
            with look_at(self._path) as look:
                rows = _messages(look, f"{_OWN} AND id <= ? ORDER BY id DESC LIMIT ?", (self._id, self.position, REMEMBERED))
        except OSError:
            return
        for row in reversed(rows):
            self._reading.message(row)
        self._reading.settle()


def rows_after(path: str, session_id: str, number: int, most: int) -> list[Row]:
    """The next rows of a session behind one; OSError where they cannot be read."""
    with look_at(path) as look:
        return _messages(look, f"{_OWN} AND id > ? ORDER BY id LIMIT ?", (session_id, number, most))


def _messages(look: Look, which: str, values: tuple[Any, ...]) -> list[Row]:
    return [row for each in look.whole("messages", _MESSAGE, which, values) if (row := _row(each)) is not None]


def _row(row: tuple[object, ...]) -> Row | None:
    number, message_id, role, created, content, metadata = row
    if type(number) is not int or not isinstance(role, str):
        return None
    return Row(number, message_id if isinstance(message_id, str) else "", role, created if type(created) is int else 0,
               _bytes(content), _bytes(metadata))


def _with_words(look: Look, found: FoundSession) -> FoundSession:
    """With its first prompt, where it has no name, and the agent's last words, where these are near the ends."""
    last = _messages(look, f"{_OWN} ORDER BY id DESC LIMIT ?", (found.id, LOOKED_BACK))
    said = next((text for row in last if (text := answer_of(row))), "")[:LAST_MOST]
    if found.title:
        return msgspec.structs.replace(found, last_message=said)
    first = _messages(look, f"{_OWN} ORDER BY id LIMIT ?", (found.id, LOOKED_BACK))
    title = next((text for row in first if (text := prompt_of(row))), "").split("\n", 1)[0][:TITLE_MOST]
    return msgspec.structs.replace(found, last_message=said, title=title)


def _in_use(found: FoundSession, running: list[tuple[int, str, int]]) -> FoundSession:
    return held_by(found, [pid for pid, folder, began in running if folder == found.cwd
                           and found.updated_at >= began // 1_000_000 * 1_000_000])  # it counts in seconds


def _instant(stamp: object) -> int:
    """When, in microseconds: ``2026-11-16 15:09:51``, which is UTC."""
    return instant(f"{stamp.replace(' ', 'T')}Z") if isinstance(stamp, str) else 0


def _bytes(data: object) -> bytes:
    return data if isinstance(data, bytes) else data.encode("utf-8", "replace") if isinstance(data, str) else b""
