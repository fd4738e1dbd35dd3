"""The index on disk: an SQLite file with FTS5, used by one thread.

Rule 1: it holds nothing that the journal does not. A file that is damaged, or of another version, is made anew.
Rule 2: a page of the journal and the place behind it are one transaction: after a crash nothing is missing and nothing is twice.
Rule 3: the file is its owner's alone, as the journal is.
Rule 4: what is deleted is overwritten, as in the journal.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import msgspec

from trunkline.errors import Unavailable, Unsupported
from trunkline.journal.base import Entry
from trunkline.journal.search.texts import Passage, passage_of
from trunkline.journal.stores.sqlite import database
from trunkline.journal.stores.sqlite.wiping import Wiper

VERSION = 2

FIND_S = 2.0
"""How long one search may take: all others wait for it. Seven words of one letter each took seven seconds in 60,000 entries."""

LOOK_STEPS = 20_000
"""Steps of SQLite between two looks at the clock; a guess, small against FIND_S."""

_HERE = Path(__file__).parent
_NO_MARKS = {1: " ", 2: " ", 3: " ", 0: " "}
"""Characters that mark a match in a snippet must not stand in a text."""


class Hit(msgspec.Struct, frozen=True):
    """A passage that matches; in ``marked`` each match stands between the characters 2 and 3."""

    session: str
    seq: int
    at: int
    kind: str
    marked: str


class IndexFile:
    """The passages and how far into the journal they reach."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._wiper = Wiper(path) if path is not None else None
        self._queries = database.load_queries(_HERE / "queries.sql")
        try:
            self._begin()
        except sqlite3.DatabaseError as error:
            if "fts5" in str(error):
                raise Unsupported("search needs an SQLite with FTS5, and this Python has none") from error
            if path is None or not is_damage(error):
                raise
            remove(path)
            self._begin()

    def close(self) -> None:
        """End the connection."""
        self._connection.close()
        if self._wiper is not None:
            self._wiper.close()

    @property
    def pos(self) -> int:
        """The newest entry of the journal that is in the index, by its pos."""
        found: int = self._connection.execute(self._queries["read_place"]).fetchone()[0]
        return found

    def clear(self) -> None:
        """Begin again."""
        connection = self._connection
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            for table in ("texts", "passages"):
                connection.execute(f"DELETE FROM {table}")
            connection.execute(self._queries["write_place"], (0,))

    def add(self, page: Iterable[tuple[str, Entry]], titles: dict[str, tuple[str, int]], gone: Iterable[str]) -> None:
        """Take in a page of the journal, and the titles (with their time) of the sessions in it; ``gone`` ones are left out."""
        hidden = frozenset(gone)
        connection = self._connection
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            pos = self.pos
            for session, entry in page:
                pos = max(pos, entry.pos)
                passage = None if session in hidden else passage_of(entry)
                if passage is not None:
                    self._add(session, passage)
            for session, (title, at) in titles.items():
                if session not in hidden:
                    self._entitle(session, title.translate(_NO_MARKS), at)
            connection.execute(self._queries["write_place"], (pos,))

    def forget(self, session: str) -> None:
        """Take a session out. Its words stay in the index's own pages until ``scrub``."""
        connection = self._connection
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(self._queries["drop_texts"], (session,))
            connection.execute(self._queries["drop_passages"], (session,))
            connection.execute(self._queries["write_scrub"], (1,))

    def scrub(self) -> None:
        """Overwrite what was deleted: FTS5 keeps a text's words until its parts are merged, the log until it is emptied, and
        pages have copies left (``journal/stores/sqlite/wiping.py``)."""
        self._connection.execute(self._queries["merge_all"])
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if self._wiper is not None:
            self._wiper.wipe(self._connection, self._wiper.stained(1, self._wiper.count))
        self._connection.execute(self._queries["write_scrub"], (0,))

    def sessions(self) -> dict[str, int]:
        """Every session in the index, with the newest seq that is in it."""
        return dict(self._connection.execute(self._queries["sessions"]))

    def find(self, expression: str, limit: int) -> list[Hit]:
        """The best passages, best first; Unavailable where that takes too long."""
        until = time.monotonic() + FIND_S
        self._connection.set_progress_handler(lambda: time.monotonic() > until, LOOK_STEPS)
        try:
            rows = self._connection.execute(self._queries["find"], {"words": expression, "limit": limit})
            return [Hit(*row) for row in rows]
        except sqlite3.OperationalError as error:
            if "interrupted" not in str(error):
                raise
            raise Unavailable(f"the search took longer than {FIND_S:g} s: longer words are found sooner") from error
        finally:
            self._connection.set_progress_handler(None, 0)

    def _add(self, session: str, passage: Passage) -> None:
        text = passage.text.translate(_NO_MARKS)
        if passage.more:
            begun = self._connection.execute(self._queries["newest_by_key"], (session, passage.key)).fetchone()
            if begun is not None:
                self._grow(begun[0], begun[1], text)
                return
        self._insert(session, passage.seq, passage.at, passage.kind, passage.key, ("", text))

    def _grow(self, number: int, before: str, text: str) -> None:
        new = [line for line in text.split("\n") if line not in before]
        if new:
            self._connection.execute(self._queries["replace_text"], ("", "\n".join([before, *new]), number))

    def _entitle(self, session: str, title: str, at: int) -> None:
        known = self._connection.execute(self._queries["title_passage"], (session,)).fetchone()
        if known is None:
            self._insert(session, 0, at, "title", "", (title, ""))
            return
        self._connection.execute(self._queries["touch_passage"], (at, known[0]))
        if known[1] != title:
            self._connection.execute(self._queries["replace_text"], (title, "", known[0]))

    def _insert(self, session: str, seq: int, at: int, kind: str, key: str, texts: tuple[str, str]) -> None:
        made = self._connection.execute(self._queries["insert_passage"], (session, seq, at, kind, key))
        self._connection.execute(self._queries["insert_text"], (made.lastrowid, *texts))

    def _begin(self) -> None:
        self._connection = self._open()
        try:
            if self._connection.execute(self._queries["read_scrub"]).fetchone()[0]:
                self.scrub()  # a hub that died had no time for it
        except BaseException:
            self.close()  # whoever asks next opens it again
            raise

    def _open(self) -> sqlite3.Connection:
        if self._path is not None and self._wiper is not None:
            database.create(self._path)
            self._wiper.open()
        with ExitStack() as undo:
            if self._wiper is not None:
                undo.callback(self._wiper.close)
            connection = sqlite3.connect(self._path or ":memory:", isolation_level=None, check_same_thread=False)
            undo.callback(connection.close)
            connection.execute("PRAGMA journal_mode = WAL")
            # What a machine that dies takes with it is read from the journal again.
            connection.execute("PRAGMA synchronous = normal")
            connection.execute("PRAGMA secure_delete = ON")
            self._make(connection)
            undo.pop_all()
        return connection

    def _make(self, connection: sqlite3.Connection) -> None:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == VERSION:
            connection.execute(self._queries["read_place"]).fetchone()
            return
        if version:
            raise sqlite3.DatabaseError(f"version {version} of the search index")
        script = (_HERE / "schema.sql").read_text(encoding="utf-8")
        connection.executescript(f"BEGIN IMMEDIATE;\n{script}\nPRAGMA user_version = {VERSION};\nCOMMIT;")


def remove(path: Path) -> None:
    """Delete an index and what SQLite puts beside it."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def is_damage(error: BaseException) -> bool:
    """Whether a new file would mend it; a full disk or a lock would meet the new one as well."""
    return type(error) is sqlite3.DatabaseError
