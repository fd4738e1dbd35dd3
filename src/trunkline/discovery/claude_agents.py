"""A session of Claude Code's with its sub-agents: its own file, and ``<session id>/subagents/agent-<id>.jsonl`` beside it.

Rule 1: lines of all these files are told in the order of their times. What a sub-agent did stands between the call that started
it and that call's result.
Rule 2: what a sub-agent wrote is told after the call that started it, also live: of its file that is read which was there before
the session's own was read to its end.
Rule 3: a file whose call nobody knows is left alone until it is known.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator, Mapping

from trunkline import decoders
from trunkline.dialects.claude.transcript import AgentMeta, ClaudeTranscript, instant, read_line, task_text
from trunkline.dialects.outside import BROKEN
from trunkline.dialects.signals import Signal
from trunkline.discovery.files import entries
from trunkline.discovery.follow import LINE_MOST, PIECE, REMEMBERED, Follower, OnPart, OnSignals, Prepare
from trunkline.discovery.notice import Changes
from trunkline.disk.reading import open_plain, read_beginning

PARTS_MOST = 1_000
"""Sub-agents of one session whose files are read."""

META_MOST = 64 << 10
TAKEN_MOST = 2_000
"""Lines of sub-agents that are handed over in one go."""

TASK = b'"prompt"'
"""Is in every line that gives a sub-agent its task."""

Timed = tuple[int, Signal]

_NAME = re.compile(r"agent-[0-9A-Za-z_-]{1,100}")


def parts_of(path: str) -> dict[str, str]:
    """The files of the sub-agents of a session, by their names."""
    folder = os.path.join(path.removesuffix(".jsonl"), "subagents")
    found = {entry.name.removesuffix(".jsonl"): entry.path for entry in entries(folder) if entry.name.endswith(".jsonl")}
    return {name: found[name] for name in sorted(found)[:PARTS_MOST] if _NAME.fullmatch(name)}


class ClaudeFollower(Follower):
    """Reads one session and its sub-agents."""

    def __init__(self, path: str, position: int, on_signals: OnSignals, *, folder: str, prepare: Prepare | None,
                 parts: Mapping[str, int], on_part: OnPart) -> None:
        self._main = ClaudeTranscript()
        super().__init__(path, self._main, position, on_signals, folder=folder, prepare=prepare)
        self._beside = path.removesuffix(".jsonl") + os.sep
        self._positions = dict(parts)
        self._on_part = on_part
        self._parts: dict[str, _Part] = {}
        self._unplaced = False
        """Whether there are files whose calls are not known yet."""

    async def catch_up(self) -> None:
        """Hand over every whole line of the session's file, with what its sub-agents did meanwhile, and what they did since."""
        there = await self._lane.run(self._look)
        await super().catch_up()
        moved = True
        while moved:
            await self._flowing.wait()
            signals, moved = await self._lane.run(self._take_parts, None, there)
            if moved:
                await self._hand_over(signals, self.position)

    def _noticed(self, changes: Changes) -> None:
        super()._noticed(changes)
        if any(path.startswith(self._beside) for _, path in changes):
            self._again.set()

    def _read_lines(self, lines: bytes) -> list[Timed]:
        sizes = self._look()
        told: list[Timed] = []
        due = self._next_at(sizes)
        for raw in lines.split(b"\n"):
            if not raw.strip():
                continue
            read = self._main.line(raw)
            while due is not None and due <= self._main.at:
                told += self._take_parts(self._main.at, sizes)[0]
                due = self._next_at(sizes)
            told += read
            if self._unplaced and TASK in raw:
                sizes = self._look()
                due = self._next_at(sizes)
        return told

    async def _hand_over(self, signals: list[Timed], position: int) -> None:
        await self._prepare([signal for _, signal in signals])
        for name, part in self._parts.items():
            if part.position != self._positions.get(name, 0):
                self._positions[name] = part.position
                self._on_part(name, part.position)
        self.position = position
        self._on_signals(signals, position)

    def _remember(self) -> None:
        super()._remember()
        self._look()

    def _look(self) -> dict[str, int]:
        """Which files of sub-agents there are, and how long each is."""
        sizes: dict[str, int] = {}
        found = parts_of(self._path)
        for name, path in found.items():
            part = self._parts.get(name)
            if part is None and (parent := self._parent_of(path)) is not None:
                part = self._parts[name] = _Part(path, parent, self._positions.get(name, 0))
            if part is not None:
                sizes[name] = part.size()
        self._unplaced = len(sizes) < len(found)
        return sizes

    def _parent_of(self, path: str) -> str | None:
        """The call that started a sub-agent: as it is noted beside its file, else the one that gave it its task."""
        try:
            meta = decoders.decode(read_beginning(path.removesuffix(".jsonl") + ".meta.json", META_MOST), AgentMeta)
            if meta.tool_use_id:
                return meta.tool_use_id
        except (OSError, *BROKEN):
            pass  # it is not written yet, or of another version
        try:
            with open_plain(path) as file:
                first = read_line(file.readline(LINE_MOST))
        except OSError:
            return None
        return self._main.task_of(task_text(first)) if first is not None else None

    def _next_at(self, sizes: Mapping[str, int]) -> int | None:
        """The time of the next line that a sub-agent wrote; None where there is none."""
        times = (part.next_at(sizes.get(name, 0)) for name, part in self._parts.items())
        return min((at for at in times if at is not None), default=None)

    def _take_parts(self, until: int | None, sizes: Mapping[str, int]) -> tuple[list[Timed], bool]:
        """What sub-agents did up to a time, in order, as far as their files had these sizes; some of it, where it is much. And
        whether there was anything, which need not say something to people."""
        lines = [line for name, part in self._parts.items() for line in part.take(until, sizes.get(name, 0))]
        lines.sort(key=lambda line: line[0])
        return [timed for _, signals in lines for timed in signals], bool(lines)


class _Part:
    """One sub-agent's file."""

    def __init__(self, path: str, parent: str, position: int) -> None:
        self.position = position
        self._path = path
        self._reading = ClaudeTranscript(parent)
        self._waiting: deque[tuple[int, bytes]] = deque()
        """Lines that were read and are not told yet, with their times."""
        self._read_to = position
        self._rest = b""
        if position:
            self._remember()

    def size(self) -> int:
        """How long the file is."""
        try:
            return os.lstat(self._path).st_size
        except OSError:
            return 0

    def next_at(self, size: int) -> int | None:
        """The time of the next line; None where there is none."""
        return self._waiting[0][0] if self._waiting or self._fill(size) else None

    def take(self, until: int | None, size: int) -> Iterator[tuple[int, list[Timed]]]:
        """The next lines up to a time, and that many bytes of the file."""
        for _ in range(TAKEN_MOST):
            at = self.next_at(size)
            if at is None or (until is not None and at > until):
                return
            at, raw = self._waiting.popleft()
            self.position += len(raw) + 1
            yield at, self._reading.line(raw) if raw.strip() else []

    def _fill(self, size: int) -> bool:
        """Read on; whether there is a line now."""
        while not self._waiting and self._read_to < size:
            try:
                with open_plain(self._path) as file:
                    file.seek(self._read_to)
                    piece = file.read(PIECE)
            except OSError:
                return False
            if not piece:
                return False
            self._read_to += len(piece)
            whole, end, self._rest = (self._rest + piece).rpartition(b"\n")
            if end:
                self._waiting.extend((self._time_of(raw), raw) for raw in whole.split(b"\n"))
            elif len(self._rest) > LINE_MOST:  # nothing that a person would read is so long
                self.position, self._rest = self._read_to, b""
        return bool(self._waiting)

    def _time_of(self, raw: bytes) -> int:
        line = read_line(raw)
        return instant(line.timestamp) if line is not None else 0

    def _remember(self) -> None:
        """See the lines right before the position again: calls that are still open."""
        begin = max(0, self.position - REMEMBERED)
        try:
            with open_plain(self._path) as file:
                file.seek(begin)
                piece = file.read(self.position - begin)
        except OSError:
            return
        for raw in (piece if begin == 0 else piece.partition(b"\n")[2]).split(b"\n"):
            if raw.strip():
                self._reading.line(raw)
