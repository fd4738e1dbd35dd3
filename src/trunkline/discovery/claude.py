"""Claude Code's sessions on this machine: one file each, ``projects/<folder>/<session id>.jsonl``.

Rule 1: read-only, and a listing reads the first and the last HEAD bytes of a file, whatever its size.
Rule 2: the folder's name has lost what the path had in it: the working directory is taken from the lines.
Rule 3: a file that cannot be read, or that holds no message yet, is no session. It never keeps others from being found.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice
from typing import Annotated

import msgspec

from trunkline.dialects.claude.transcript import (
    TITLES,
    ClaudeTranscript,
    TranscriptLine,
    answer_text,
    given_title,
    instant,
    prompt_text,
    read_line,
)
from trunkline.dialects.outside import BROKEN
from trunkline.discovery.base import FoundSession, TranscriptReading
from trunkline.disk.reading import open_plain

HEAD = 64 << 10
TITLE_MOST = 200
LISTED_MOST = 5_000
ENTRIES_MOST = 50_000
"""Entries of one folder that are looked at."""

_NAME = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class _Running(msgspec.Struct, rename="camel"):
    """One file of the registry of running programs."""

    pid: Annotated[int, msgspec.Meta(ge=1)]
    session_id: str


class ClaudeStore:
    """The sessions below one ``projects`` folder."""

    features = ("thinking", "planning.todos", "subAgents", "resources.tokenUsage", "fileOperations.diffs")

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def sessions(self) -> list[FoundSession]:
        """Every session, newest activity first."""
        files = sorted(self._files(), key=lambda file: file[1].st_mtime_ns, reverse=True)[:LISTED_MOST]
        running = self._running()
        found = (_look(path, info, running) for path, info in files)
        return [session for session in found if session is not None]

    def find(self, session_id: str) -> FoundSession | None:
        """One session by its id."""
        if not _NAME.fullmatch(session_id):
            return None
        running = self._running()
        found = (_look(path, info, running) for path, info in self._files(session_id))
        return next((session for session in found if session is not None), None)

    def session_of(self, path: str) -> str | None:
        """The id of the session whose file this is; what lies deeper (sub-agents, results of tools) is no session."""
        folder, name = os.path.split(path)
        stem, suffix = os.path.splitext(name)
        is_ours = os.path.dirname(folder) == self.folder and suffix == ".jsonl" and _NAME.fullmatch(stem) is not None
        return stem if is_ours else None

    @staticmethod
    def reading() -> TranscriptReading:
        """A reader for one session's file."""
        return ClaudeTranscript()

    def _files(self, session_id: str | None = None) -> Iterator[tuple[str, os.stat_result]]:
        for project in _entries(self.folder):
            if not project.is_dir(follow_symlinks=False):
                continue
            if session_id is not None:
                yield from _stat(os.path.join(project.path, f"{session_id}.jsonl"))
                continue
            for entry in _entries(project.path):
                if self.session_of(entry.path) is not None:
                    yield from _stat(entry.path)

    def _running(self) -> set[str]:
        """Sessions that a running program says it has open: ``sessions/<pid>.json`` beside the projects."""
        found: set[str] = set()
        for entry in _entries(os.path.join(os.path.dirname(self.folder), "sessions")):
            if not entry.name.endswith(".json"):
                continue
            try:
                with open_plain(entry.path) as file:
                    record = msgspec.json.decode(file.read(HEAD), type=_Running)
                os.kill(record.pid, 0)
            except (OSError, OverflowError, *BROKEN):
                continue  # it is gone, or the file is none of these
            found.add(record.session_id)
        return found


_looked: dict[str, tuple[int, int, FoundSession | None]] = {}
"""What was found in a file when it had that time and size: most files never change again."""


def _look(path: str, info: os.stat_result, running: set[str]) -> FoundSession | None:
    known = _looked.get(path)
    if known is None or known[:2] != (info.st_mtime_ns, info.st_size):
        known = (info.st_mtime_ns, info.st_size, _look_into(path, info))
        if len(_looked) >= 2 * LISTED_MOST:
            _looked.clear()
        _looked[path] = known
    found = known[2]
    return msgspec.structs.replace(found, in_use=True) if found is not None and found.id in running else found


def _look_into(path: str, info: os.stat_result) -> FoundSession | None:
    try:
        with open_plain(path) as file:
            head = file.read(HEAD)
            file.seek(max(len(head), info.st_size - HEAD))
            tail = file.read(HEAD)
    except OSError:
        return None
    # The first line of a tail that does not follow on the head is a piece of one.
    last = tail.split(b"\n")[1 if info.st_size > 2 * HEAD else 0:]
    return _found(path, info, _lines(head.split(b"\n")), _lines(last))


def _found(path: str, info: os.stat_result, head: list[TranscriptLine], tail: list[TranscriptLine]) -> FoundSession | None:
    lines = [*head, *tail]
    cwd = next((line.cwd for line in lines if line.cwd), "")
    if not cwd or next((line.is_sidechain for line in lines if line.uuid), False):
        return None
    session_id = os.path.basename(path).removesuffix(".jsonl")
    updated = info.st_mtime_ns // 1000
    created = next((at for line in lines if (at := instant(line.timestamp))), updated)
    return FoundSession(
        id=session_id, path=path, cwd=cwd, created_at=created, updated_at=max(created, updated), title=_title(lines),
        last_message=next((text for line in reversed(lines) if (text := answer_text(line))), ""))


def _title(lines: list[TranscriptLine]) -> str:
    """The title that a person or the agent gave, the newest of the best kind; else the first words of the first prompt."""
    for kind in TITLES:
        for line in reversed(lines):
            if line.type == kind and (given := given_title(line)):
                return given[:TITLE_MOST]
    text = next((text for line in lines if (text := prompt_text(line).strip())), "")
    return text.split("\n", 1)[0][:TITLE_MOST]


def _lines(raw: list[bytes]) -> list[TranscriptLine]:
    """The whole lines among these; torn ones say nothing."""
    return [line for each in raw if each and (line := read_line(each)) is not None]


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(islice(entries, ENTRIES_MOST))
    except OSError:
        return []


def _stat(path: str) -> Iterator[tuple[str, os.stat_result]]:
    try:
        info = os.lstat(path)
    except OSError:
        return
    if os.path.isfile(path) and not os.path.islink(path):
        yield path, info
