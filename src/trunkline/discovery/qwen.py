"""Qwen Code's sessions on this machine: one file each, ``projects/<folder>/chats/<session id>.jsonl``.

Rule: the folder's name has lost what the path had in it: the working directory is taken from the lines.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from trunkline.dialects.elsewhere.transcripts import instant, read_object, text_of
from trunkline.dialects.qwen.chat import QwenChat, answer_of, prompt_of, tokens_of
from trunkline.discovery.base import FoundSession, TranscriptReading
from trunkline.discovery.files import Ends, FileStore, PlainFile, entries, folders, found_session, plain
from trunkline.discovery.processes import registered

_NAME = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class QwenStore(FileStore):
    """The sessions below one ``projects`` folder."""

    features = ("resources.tokenUsage",)

    def session_of(self, path: str) -> str | None:
        """The id of the session whose file this is."""
        chats, name = os.path.split(path)
        stem, suffix = os.path.splitext(name)
        project, last = os.path.split(chats)
        is_ours = last == "chats" and os.path.dirname(project) == self.folder and suffix == ".jsonl" and self._is_id(stem)
        return stem if is_ours else None

    @staticmethod
    def reading() -> TranscriptReading:
        """A reader for one session's file."""
        return QwenChat()

    def _is_id(self, text: str) -> bool:
        return _NAME.fullmatch(text) is not None

    def _files(self, session_id: str | None = None) -> Iterator[PlainFile]:
        for project in folders(self.folder):
            chats = os.path.join(project, "chats")
            if session_id is not None:
                yield from plain(os.path.join(chats, f"{session_id}.jsonl"))
                continue
            for entry in entries(chats):
                if self.session_of(entry.path) is not None:
                    yield from plain(entry.path)

    def _running(self) -> dict[str, int]:
        """Sessions that a running program says it has open: ``sessions/<pid>.json`` beside the projects."""
        return registered(os.path.join(os.path.dirname(self.folder), "sessions"))

    def _look_into(self, path: str, info: os.stat_result, ends: Ends) -> FoundSession | None:
        lines = [line for raw in ends.lines if raw and (line := read_object(raw)) is not None]
        cwd = next((text for line in lines if (text := text_of(line, "cwd"))), "")
        prompt = next((text for line in lines if (text := prompt_of(line))), "")
        if not cwd or not prompt:
            return None
        return found_session(
            os.path.basename(path).removesuffix(".jsonl"), path, info, cwd=cwd, title=prompt,
            created_at=next((at for line in lines if (at := instant(line.get("timestamp")))), 0),
            last_message=next((text for line in reversed(lines) if (text := answer_of(line))), ""),
            model=next((text for line in reversed(lines) if (text := text_of(line, "model"))), ""),
            tokens=sum(map(tokens_of, lines)) or None if ends.whole else None)
