"""Which agents run, on disk, so that a hub that comes after a crash can end those that were left behind.

Rule: one small file per running agent, written before the agent is sent anything and removed when it is gone. In a thread: a
file may have to wait for the disk. What lies in the folder and is no such file is left alone, and named in the log.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import msgspec

from trunkline import decoders
from trunkline.agents.process_tree import keepers_of
from trunkline.dialects.outside import BROKEN
from trunkline.disk.reading import read_whole
from trunkline.errors import StorageError

RECORD_BYTES = 64 << 10
"""A record has about 150."""

logger = logging.getLogger(__name__)


class PidRecord(msgspec.Struct):
    """Enough to recognise an agent that was left behind."""

    session_id: str
    pid: Annotated[int, msgspec.Meta(gt=1)]
    start_time: int | None
    marker: str
    keepers: list[tuple[int, int]] = []
    """Who is above it, with their start times: its keeper, and the process that forked that."""


class PidFiles:
    """One small file per running agent."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def record_agent(self, session_id: str, pid: int, start_time: int | None, marker: str) -> None:
        """Remember a running agent, and who is above it."""
        if self._folder is not None:
            self.record(PidRecord(session_id, pid, start_time, marker, list(keepers_of(pid))))

    def record(self, record: PidRecord) -> None:
        """Remember a running agent."""
        if self._folder is None:
            return
        path = self._folder / f"{record.session_id}.json"
        fresh = path.with_suffix(".new")  # a hub that is killed in between leaves no record that names nobody
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            fresh.touch(mode=0o600)
            fresh.write_bytes(msgspec.json.encode(record))
            fresh.replace(path)
        except OSError as error:
            raise StorageError(f"cannot put the running agent on record in {self._folder}: {error.strerror}") from error

    def forget(self, session_id: str) -> None:
        """The agent is gone."""
        if self._folder is not None:
            (self._folder / f"{session_id}.json").unlink(missing_ok=True)

    def left_behind(self) -> list[PidRecord]:
        """Agents that an earlier hub did not live to stop."""
        if self._folder is None:
            return []
        return [record for path in self._folder.glob("*.json") if (record := _read(path)) is not None]


def _read(path: Path) -> PidRecord | None:
    """A record; None for a file that names nobody."""
    try:
        try:
            record = decoders.decode(read_whole(path, RECORD_BYTES), PidRecord)
            if record.session_id == path.stem:
                return record
            logger.warning("%s is the record of another session's agent", path)
        except BROKEN:
            path.unlink(missing_ok=True)  # a crash cut it short
    except OSError as error:
        logger.warning("%s is no record of a running agent: %s", path, error.strerror)
    return None
