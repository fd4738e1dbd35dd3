"""Codex's sessions on this machine: one file each, ``sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl``, and an index.

Rule 1: the index (``state_<version>.sqlite``) knows names, models and tokens; where it is missing, the files say what they can.
Rule 2: a program that has a session open holds the lock of that session's name. The lock's file stays when it is gone.
Rule 3: what a sub-agent wrote is no session.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec

from trunkline import decoders
from trunkline.dialects.codex.rollout import CodexRollout, answer_of, prompt_of
from trunkline.dialects.elsewhere.transcripts import count_of, instant, object_of, read_object, text_of
from trunkline.dialects.outside import BROKEN, Json
from trunkline.discovery.base import FoundSession, TranscriptReading
from trunkline.discovery.files import LISTED_MOST, TITLE_MOST, Ends, FileStore, PlainFile, entries, folders, found_session, plain
from trunkline.discovery.processes import lock_holders

_ID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_IS_ID = re.compile(_ID)
_NAME = re.compile(rf"rollout-[0-9T:.-]{{1,40}}-({_ID})\.jsonl")
_STATE = re.compile(r"state_([0-9]{1,6})\.sqlite")
_WANTED = ("id", "name", "title", "model", "tokens_used")


class _Line(msgspec.Struct):
    type: str = ""
    timestamp: str = ""
    payload: msgspec.Raw = msgspec.Raw(b"{}")


_read = decoders.of(_Line).decode


class CodexStore(FileStore):
    """The sessions below one ``sessions`` folder."""

    features = ("resources.tokenUsage", "resources.contextWindow")
    ends_bytes = 128 << 10  # a session begins with 50 KB of instructions

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self._home = os.path.dirname(folder)
        self._index: dict[str, Json] = {}

    def session_of(self, path: str) -> str | None:
        """The id of the session whose file this is."""
        named = _NAME.fullmatch(os.path.basename(path))
        return named[1] if named is not None and path.startswith(self.folder + os.sep) else None

    @staticmethod
    def reading() -> TranscriptReading:
        """A reader for one session's file."""
        return CodexRollout()

    def _is_id(self, text: str) -> bool:
        return _IS_ID.fullmatch(text) is not None

    def _files(self, session_id: str | None = None) -> Iterator[PlainFile]:
        self._index = self._read_index()
        days = (day for year in folders(self.folder) for month in folders(year) for day in folders(month))
        for day in days:
            for entry in entries(day):
                found = self.session_of(entry.path)
                if found is not None and session_id in (None, found):
                    yield from plain(entry.path)

    def _running(self) -> dict[str, int]:
        locks = [entry.path for entry in entries(os.path.join(self._home, "thread-writer-locks"))]
        return {os.path.basename(path).removesuffix(".lock"): pids[0] for path, pids in lock_holders(locks).items()}

    def _known(self, found: FoundSession) -> FoundSession:
        row = self._index.get(found.id)
        if row is None:
            return found
        title = (text_of(row, "name", "title") or found.title).split("\n", 1)[0][:TITLE_MOST]
        return msgspec.structs.replace(found, title=title, model=text_of(row, "model")[:TITLE_MOST] or found.model,
                                       tokens=count_of(row, "tokens_used") or found.tokens)

    def _read_index(self) -> dict[str, Json]:
        """What the newest index says of each session."""
        versions = [(int(named[1]), entry.path) for entry in entries(self._home) if (named := _STATE.fullmatch(entry.name))]
        if not versions:
            return {}
        from trunkline.discovery.sqlite import look_at

        with suppress(OSError), look_at(max(versions)[1]) as look:
            wanted = [name for name in _WANTED if name in look.columns("threads")]
            if "id" in wanted:
                rows = look.whole("threads", wanted, "ORDER BY rowid DESC LIMIT ?", (LISTED_MOST,))
                return {row[0]: dict(zip(wanted, row, strict=True)) for row in rows if isinstance(row[0], str)}
        return {}

    def _look_into(self, path: str, info: os.stat_result, ends: Ends) -> FoundSession | None:
        meta: Json = {}
        prompt = model = ""
        created = 0
        for line, payload in _lines(ends.head):
            created = created or instant(line.timestamp)
            meta = payload if line.type == "session_meta" and not meta else meta
            model = text_of(payload, "model") if line.type == "turn_context" else model
            prompt = prompt or prompt_of(line.type, payload)
            if meta and model and prompt:
                break
        if not text_of(meta, "cwd") or "subagent" in f"{meta.get('thread_source')} {meta.get('source')}"[:200].lower():
            return None
        last, tokens = _last(ends)
        return found_session(self.session_of(path) or "", path, info, cwd=text_of(meta, "cwd"), created_at=created, title=prompt,
                             last_message=last, model=model, tokens=tokens)


def _last(ends: Ends) -> tuple[str, int | None]:
    """The agent's last words, and what the session had taken then."""
    last, tokens = "", None
    for line, payload in _lines(reversed(ends.lines)):
        if tokens is None:
            tokens = _total(line.type, payload)
        last = last or answer_of(line.type, payload)
        if last and tokens is not None:
            break
    return last, tokens


def _total(kind: str, payload: Json) -> int | None:
    if kind == "token_usage_record":
        return count_of(object_of(payload, "thread_token_usage"), "total_tokens") or None
    if kind == "event_msg" and payload.get("type") == "token_count":
        return count_of(object_of(object_of(payload, "info"), "total_token_usage"), "total_tokens") or None
    return None


def _lines(raw: Any) -> Iterator[tuple[_Line, Json]]:
    """The whole lines among these that matter, one by one; torn ones say nothing."""
    for each in raw:
        if not each:
            continue
        try:
            line = _read(each)
        except BROKEN:
            continue
        if line.type in ("session_meta", "turn_context", "response_item", "event_msg", "token_usage_record"):
            yield line, read_object(bytes(line.payload)) or {}
