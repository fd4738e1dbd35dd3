"""Claude Code's sessions on this machine: one file each, ``projects/<folder>/<session id>.jsonl``.

Rule: the folder's name has lost what the path had in it: the working directory is taken from the lines.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from trunkline.dialects.claude.transcript import (
    TITLES,
    ClaudeTranscript,
    TranscriptLine,
    answer_text,
    given_title,
    instant,
    model_of,
    prompt_text,
    read_line,
)
from trunkline.discovery.base import Ending, FoundSession, ProgramState, TranscriptReading
from trunkline.discovery.claude_agents import ClaudeFollower, parts_of
from trunkline.discovery.files import Ends, FileStore, PlainFile, entries, folders, found_session, plain
from trunkline.discovery.follow import Following, OnPart, OnSignals, Prepare, whole_lines
from trunkline.discovery.processes import registered, state_of

_NAME = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class ClaudeStore(FileStore):
    """The sessions below one ``projects`` folder."""

    features = ("thinking", "planning.todos", "subAgents", "resources.tokenUsage", "fileOperations.diffs")

    def session_of(self, path: str) -> str | None:
        """The id of the session whose file this is; what lies deeper (sub-agents, results of tools) is no session."""
        folder, name = os.path.split(path)
        stem, suffix = os.path.splitext(name)
        is_ours = os.path.dirname(folder) == self.folder and suffix == ".jsonl" and self._is_id(stem)
        return stem if is_ours else None

    @staticmethod
    def reading() -> TranscriptReading:
        """A reader for one session's file."""
        return ClaudeTranscript()

    @classmethod
    def following(cls, path: str, session_id: str, position: int, on_signals: OnSignals, *, folder: str,
                  prepare: Prepare | None = None, parts: Mapping[str, int] | None = None,
                  on_part: OnPart | None = None) -> Following:
        """What reads one session's file, and those of its sub-agents."""
        return ClaudeFollower(path, position, on_signals, folder=folder, prepare=prepare, parts=parts or {},
                              on_part=on_part or (lambda name, position: None))

    @classmethod
    def ending(cls, path: str, session_id: str) -> Ending:
        """Where the session ends now, and its sub-agents."""
        return Ending(whole_lines(path), {name: whole_lines(part) for name, part in parts_of(path).items()})

    def _is_id(self, text: str) -> bool:
        return _NAME.fullmatch(text) is not None

    def _files(self, session_id: str | None = None) -> Iterator[PlainFile]:
        for project in folders(self.folder):
            if session_id is not None:
                yield from plain(os.path.join(project, f"{session_id}.jsonl"))
                continue
            for entry in entries(project):
                if self.session_of(entry.path) is not None:
                    yield from plain(entry.path)

    def _running(self) -> dict[str, int]:
        """Sessions that a running program says it has open: ``sessions/<pid>.json`` beside the projects."""
        return registered(os.path.join(os.path.dirname(self.folder), "sessions"))

    def program_state(self, pid: int) -> ProgramState | None:
        """What the program says in its own file; older ones say only that they are there."""
        state = state_of(os.path.join(os.path.dirname(self.folder), "sessions"), pid)
        return ProgramState(state == "waiting" if state else None) if state is not None else None

    def _look_into(self, path: str, info: os.stat_result, ends: Ends) -> FoundSession | None:
        lines = [line for raw in ends.lines if raw and (line := read_line(raw)) is not None]
        cwd = next((line.cwd for line in lines if line.cwd), "")
        if not cwd or next((line.is_sidechain for line in lines if line.uuid), False):
            return None
        return found_session(
            os.path.basename(path).removesuffix(".jsonl"), path, info, cwd=cwd,
            created_at=next((at for line in lines if (at := instant(line.timestamp))), 0), title=_title(lines),
            last_message=next((text for line in reversed(lines) if (text := answer_text(line))), ""),
            model=next((model for line in reversed(lines) if (model := model_of(line))), ""))


def _title(lines: list[TranscriptLine]) -> str:
    """The title that a person or the agent gave, the newest of the best kind; else the first prompt."""
    for kind in TITLES:
        for line in reversed(lines):
            if line.type == kind and (given := given_title(line)):
                return given
    return next((text for line in lines if (text := prompt_text(line).strip())), "")
