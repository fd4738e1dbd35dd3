"""GitHub Copilot CLI's sessions on this machine: a folder each, ``session-state/<session id>/``, with ``events.jsonl`` in it.

Rule 1: what a session is called is in ``workspace.yaml`` beside it, a few plain lines. A line that is not plain says nothing.
Rule 2: a process that has a session open has put ``inuse.<pid>.lock`` there; it may be left from one that was killed, and its
number be another's by now: one that began after the lock was written does not count.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import msgspec

from trunkline.dialects.copilot.events import CopilotEvents, answer_of, model_of, prompt_of, tokens_of
from trunkline.dialects.elsewhere.transcripts import instant, object_of, read_object, text_of
from trunkline.discovery.base import FoundSession, TranscriptReading, held_by
from trunkline.discovery.files import TITLE_MOST, Ends, FileStore, PlainFile, entries, folders, found_session, plain
from trunkline.discovery.processes import is_running, was_there
from trunkline.disk.reading import read_beginning

EVENTS = "events.jsonl"
WORKSPACE_MOST = 16 << 10
"""Bytes of a session's description that are read."""

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_LOCK = re.compile(r"inuse\.([0-9]{1,10})\.lock")
_NAME = re.compile(r"^name: *(?:'((?:[^'\n]|'')*)'|\"([^\"\\\n]*)\"|([^ '\"\n|>][^\n]*)) *$", re.MULTILINE)


class CopilotStore(FileStore):
    """The sessions below one ``session-state`` folder."""

    features = ("resources.tokenUsage",)
    ends_bytes = 128 << 10  # a session begins with 25 KB of instructions

    def session_of(self, path: str) -> str | None:
        """The id of the session whose file this is."""
        folder, name = os.path.split(path)
        above, session_id = os.path.split(folder)
        return session_id if above == self.folder and name == EVENTS and self._is_id(session_id) else None

    @staticmethod
    def reading() -> TranscriptReading:
        """A reader for one session's file."""
        return CopilotEvents()

    def _is_id(self, text: str) -> bool:
        return _ID.fullmatch(text) is not None

    def _files(self, session_id: str | None = None) -> Iterator[PlainFile]:
        for folder in folders(self.folder):
            if self._is_id(os.path.basename(folder)) and session_id in (None, os.path.basename(folder)):
                yield from plain(os.path.join(folder, EVENTS))

    def _known(self, found: FoundSession) -> FoundSession:
        """With its name, and with who has it open."""
        folder = os.path.dirname(found.path)
        locks = [(int(named[1]), entry) for entry in entries(folder) if (named := _LOCK.fullmatch(entry.name))]
        pids = [pid for pid, lock in locks if is_running(pid) and was_there(pid, _written(lock.path))]
        name = _name_in(os.path.join(folder, "workspace.yaml"))
        return held_by(msgspec.structs.replace(found, title=name[:TITLE_MOST] or found.title), pids)

    def _look_into(self, path: str, info: os.stat_result, ends: Ends) -> FoundSession | None:
        lines = [line for raw in ends.lines if raw and (line := read_object(raw)) is not None]
        cwd = next((text for line in lines if (text := text_of(object_of(object_of(line, "data"), "context"), "cwd"))), "")
        prompt = next((text for line in lines if (text := prompt_of(line))), "")
        if not cwd or not prompt:
            return None
        return found_session(
            os.path.basename(os.path.dirname(path)), path, info, cwd=cwd, title=prompt,
            created_at=next((at for line in lines if (at := instant(line.get("timestamp")))), 0),
            last_message=next((text for line in reversed(lines) if (text := answer_of(line))), ""),
            model=next((text for line in reversed(lines) if (text := model_of(line))), ""),
            tokens=sum(map(tokens_of, lines)) or None if ends.whole else None)


def _written(path: str) -> int:
    """When a lock was put there; 0, before everything, where it is gone again."""
    try:
        return os.lstat(path).st_mtime_ns // 1000
    except OSError:
        return 0


def _name_in(path: str) -> str:
    try:
        text = read_beginning(path, WORKSPACE_MOST).decode("utf-8", "replace")
    except OSError:
        return ""
    named = _NAME.search(text)
    if named is None:
        return ""
    quoted, doubly, plainly = named.groups()
    return (quoted.replace("''", "'") if quoted is not None else doubly if doubly is not None else plainly).strip()
