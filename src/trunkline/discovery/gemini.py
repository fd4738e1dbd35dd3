"""Gemini CLI's sessions on this machine: one file each, ``tmp/<project>/chats/session-<minute>-<first of the id>.jsonl``.

Rule 1: the file's name has only the beginning of its id, and the project's only a short name: both are looked up, the id in the
first line, the folder in ``projects.json``.
Rule 2: no file says who runs a session. A process of that name counts for the newest session of the folder that it works in, if
that was written to since it began.
Rule 3: such a session is never resumed: the program may delete it (google-gemini/gemini-cli#27368). It is only followed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from trunkline.dialects.elsewhere.transcripts import count_of, instant, object_of, objects_of, read_object, text_of
from trunkline.dialects.gemini.chat import GeminiChat, answer_of, prompt_of
from trunkline.dialects.outside import Json
from trunkline.discovery.base import FoundSession, TranscriptReading
from trunkline.discovery.files import Ends, FileStore, PlainFile, entries, folders, found_session, plain
from trunkline.discovery.processes import programs
from trunkline.disk.reading import read_beginning

PROJECTS_MOST = 4 << 20
"""Bytes of the list of projects that are read."""

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_NAME = re.compile(r"session-[0-9T-]{1,40}-([0-9a-f]{8})\.jsonl")
_FOLDER = re.compile(r"(?:Workspace Directories:\**\s*-|working in the (?:following )?director(?:y|ies):)\s*(/[^\n]{1,4000})")


class GeminiStore(FileStore):
    """The sessions below one ``tmp`` folder."""

    features = ("resources.tokenUsage",)
    resumes = False

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self._roots: dict[str, str] = {}

    def session_of(self, path: str) -> str | None:
        """The id of the session whose file this is. It looks into the file, unless it is known."""
        if not self._is_chat(path):
            return None
        if not self._roots:
            self._roots = self._read_roots()
        file = next(plain(path), None)
        found = self._look(*file) if file is not None else self._known_at(path)
        return found.id if found is not None else None

    @staticmethod
    def reading() -> TranscriptReading:
        """A reader for one session's file."""
        return GeminiChat()

    def _is_id(self, text: str) -> bool:
        return _ID.fullmatch(text) is not None

    def _is_chat(self, path: str) -> bool:
        chats, name = os.path.split(path)
        project, last = os.path.split(chats)
        return last == "chats" and os.path.dirname(project) == self.folder and _NAME.fullmatch(name) is not None

    def _files(self, session_id: str | None = None) -> Iterator[PlainFile]:
        self._roots = self._read_roots()
        for project in folders(self.folder):
            for entry in entries(os.path.join(project, "chats")):
                named = _NAME.fullmatch(entry.name)
                if named is not None and (session_id is None or session_id.startswith(named[1])):
                    yield from plain(entry.path)

    def _found(self, files: list[PlainFile]) -> Iterator[FoundSession]:
        """Each session once: one that was resumed has several files, and the newest has it all."""
        seen: set[str] = set()
        for found in super()._found(files):
            if found.id not in seen:
                seen.add(found.id)
                yield found

    def _running(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for pid, folder, began in programs(frozenset({"gemini"})):
            newest: FoundSession | None = None
            for slug, root in self._roots.items():
                if root == folder:
                    files = [file for entry in entries(os.path.join(self.folder, slug, "chats")) if self._is_chat(entry.path)
                             for file in plain(entry.path)]
                    newest = self._look(*max(files, key=lambda file: file[1].st_mtime_ns)) if files else None
            if newest is not None and newest.updated_at >= began:
                found[newest.id] = pid
        return found

    def _read_roots(self) -> dict[str, str]:
        """The folder of each project, by its short name."""
        try:
            listed = read_object(read_beginning(os.path.join(os.path.dirname(self.folder), "projects.json"), PROJECTS_MOST)) or {}
        except OSError:
            return {}
        projects = object_of(listed, "projects") or listed
        return {slug: root for root, slug in projects.items() if isinstance(slug, str) and root.startswith("/")}

    def _look_into(self, path: str, info: os.stat_result, ends: Ends) -> FoundSession | None:
        lines = [line for raw in ends.lines if raw and (line := read_object(raw)) is not None]
        header = next((line for line in lines if "sessionId" in line), {})
        session_id = text_of(header, "sessionId")
        records = [record for line in lines for record in (objects_of(object_of(line, "$set"), "messages") or [line])]
        prompt = next((text for record in records if (text := prompt_of(record))), "")
        cwd = self._roots.get(os.path.basename(os.path.dirname(os.path.dirname(path)))) or _named_folder(records)
        if not _ID.fullmatch(session_id) or not cwd or not prompt or header.get("kind", "main") != "main":
            return None
        return found_session(
            session_id, path, info, cwd=cwd, created_at=instant(header.get("startTime")), title=prompt,
            last_message=next((text for record in reversed(records) if (text := answer_of(record))), ""),
            model=next((text for record in reversed(records) if (text := text_of(record, "model"))), ""),
            tokens=_tokens(records) if ends.whole else None)


def _tokens(records: list[Json]) -> int | None:
    taken = {text_of(record, "id"): count_of(object_of(record, "tokens"), "total") for record in records}
    return sum(taken.values()) or None


def _named_folder(records: list[Json]) -> str:
    """The folder that the program told its model it works in; the list of projects may not have it any more."""
    for record in records:
        for part in objects_of(record, "content"):
            named = _FOLDER.search(text_of(part, "text")[:8192])
            if named is not None:
                return named[1].strip().rstrip(".")
    return ""
