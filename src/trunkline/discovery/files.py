"""Stores that have a file for each session: which there are, and what the beginning and the end of each say.

Rule 1: read-only, and a listing reads the first and the last bytes of a file (``ends_bytes``), whatever its size.
Rule 2: a file that cannot be read, or that holds no message yet, is no session. It never keeps others from being found.
Rule 3: a file that has not changed since is not read again.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

import msgspec

from trunkline.discovery.base import Ending, FoundSession, TranscriptReading
from trunkline.discovery.follow import Follower, Following, OnPart, OnSignals, Prepare, whole_lines
from trunkline.disk.reading import open_plain

HEAD = 64 << 10
TITLE_MOST = 200
LAST_MOST = 400
"""Characters of the last message that are kept: lists show its beginning."""

LISTED_MOST = 5_000
ENTRIES_MOST = 50_000
"""Entries of one folder that are looked at."""

PlainFile = tuple[str, os.stat_result]


class Ends(NamedTuple):
    """The beginning and the end of a file, as lines. ``whole``: nothing is between them."""

    head: list[bytes]
    tail: list[bytes]
    whole: bool

    @property
    def lines(self) -> list[bytes]:
        """All of them, in their order."""
        return [*self.head, *self.tail]


class FileStore(ABC):
    """The sessions below one folder. A vendor's store says which files they are and what their lines mean."""

    features: tuple[str, ...] = ()
    resumes = True
    ends_bytes = HEAD

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def sessions(self) -> list[FoundSession]:
        """Every session, newest activity first."""
        files = sorted(self._files(), key=lambda file: file[1].st_mtime_ns, reverse=True)[:LISTED_MOST]
        return list(self._found(files))

    def find(self, session_id: str) -> FoundSession | None:
        """One session by its id; of several files of that id the newest."""
        if not self._is_id(session_id):
            return None
        files = sorted(self._files(session_id), key=lambda file: file[1].st_mtime_ns, reverse=True)
        return next(self._found(files), None)

    @abstractmethod
    def session_of(self, path: str) -> str | None:
        """The id of the session whose file this is; None for any other file."""

    @staticmethod
    @abstractmethod
    def reading() -> TranscriptReading:
        """A reader for one session's file."""

    @classmethod
    def following(cls, path: str, session_id: str, position: int, on_signals: OnSignals, *, folder: str,
                  prepare: Prepare | None = None, parts: Mapping[str, int] | None = None,
                  on_part: OnPart | None = None) -> Following:
        """What reads one session's file and goes on doing so."""
        return Follower(path, cls.reading(), position, on_signals, folder=folder, prepare=prepare)

    @classmethod
    def ending(cls, path: str, session_id: str) -> Ending:
        """Where the session ends now. It looks at the disk."""
        return Ending(whole_lines(path), {})

    @abstractmethod
    def _is_id(self, text: str) -> bool:
        """Whether a session may have this id."""

    @abstractmethod
    def _files(self, session_id: str | None = None) -> Iterator[PlainFile]:
        """The files of all sessions, or of one."""

    @abstractmethod
    def _look_into(self, path: str, info: os.stat_result, ends: Ends) -> FoundSession | None:
        """What a file is; None where it is no session."""

    def _running(self) -> Mapping[str, int]:
        """Sessions that a running program has open, and its pid."""
        return {}

    def _known(self, found: FoundSession) -> FoundSession:
        """What is known of a session from elsewhere in the store, beside its file."""
        return found

    def _found(self, files: list[PlainFile]) -> Iterator[FoundSession]:
        running = self._running() if files else {}
        for path, info in files:
            found = self._look(path, info)
            if found is None:
                continue
            found = self._known(found)
            pid = running.get(found.id)
            yield found if pid is None else msgspec.structs.replace(found, in_use=True, pid=pid)

    def _known_at(self, path: str) -> FoundSession | None:
        """What was found in a file, also where it is gone."""
        return _looked[path][2] if path in _looked else None

    def _look(self, path: str, info: os.stat_result) -> FoundSession | None:
        known = _looked.get(path)
        if known is None or known[:2] != (info.st_mtime_ns, info.st_size):
            ends = read_ends(path, info, self.ends_bytes)
            known = (info.st_mtime_ns, info.st_size, None if ends is None else self._look_into(path, info, ends))
            if len(_looked) >= 2 * LISTED_MOST:
                _looked.clear()
            _looked[path] = known
        return known[2]


_looked: dict[str, tuple[int, int, FoundSession | None]] = {}
"""What was found in a file when it had that time and size: most files never change again."""


def found_session(session_id: str, path: str, info: os.stat_result, *, cwd: str, created_at: int, title: str,
                  last_message: str, model: str = "", tokens: int | None = None) -> FoundSession:
    """A session as its file has it; where no line says when it began, its last change counts."""
    updated = info.st_mtime_ns // 1000
    created = created_at or updated
    return FoundSession(id=session_id, path=path, cwd=cwd, created_at=created, updated_at=max(created, updated),
                        title=title.strip().split("\n", 1)[0][:TITLE_MOST], last_message=last_message[:LAST_MOST],
                        model=model[:TITLE_MOST], tokens=tokens)


def read_ends(path: str, info: os.stat_result, most: int = HEAD) -> Ends | None:
    """The first and the last bytes of a file; None where it cannot be read."""
    try:
        with open_plain(path) as file:
            head = file.read(most)
            file.seek(max(len(head), info.st_size - most))
            tail = file.read(most)
    except OSError:
        return None
    whole = info.st_size <= 2 * most
    if whole:  # a line may begin in the one and end in the other
        return Ends((head + tail).split(b"\n"), [], True)
    # The first line of a tail that does not follow on the head is a piece of one.
    return Ends(head.split(b"\n"), tail.split(b"\n")[1:], False)


def entries(folder: str) -> list[os.DirEntry[str]]:
    """What is in a folder, up to a bound; nothing where it cannot be read."""
    try:
        with os.scandir(folder) as found:
            return list(islice(found, ENTRIES_MOST))
    except OSError:
        return []


def folders(folder: str) -> Iterator[str]:
    """The folders in a folder; a link to one is none."""
    for entry in entries(folder):
        try:
            is_folder = entry.is_dir(follow_symlinks=False)
        except OSError:
            continue
        if is_folder:
            yield entry.path


def plain(path: str) -> Iterator[PlainFile]:
    """A file with its state; nothing where it is no plain file."""
    try:
        info = os.lstat(path)
    except OSError:
        return
    if os.path.isfile(path) and not os.path.islink(path):
        yield path, info
