"""CPU time of a relay: its own process, and apart from it what it has started; never the agents."""

from __future__ import annotations

from pathlib import Path

from benchmarks.machine import cpu_s

PROC = Path("/proc")


def started_by(root: int, but: str) -> list[int]:
    """All processes below one, without those whose command line holds a word: agents are not the relay's work."""
    below: dict[int, list[int]] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit() and (parent := _parent(entry)) is not None:
            below.setdefault(parent, []).append(int(entry.name))
    found, open_ = [], [root]
    while open_:
        children = [child for child in below.get(open_.pop(), []) if not _runs(child, but)]
        found += children
        open_ += children
    return found


def cpu_of(pids: list[int]) -> float:
    """Seconds of all of them together; one that has ended counts no more."""
    total = 0.0
    for pid in pids:
        try:
            total += cpu_s(pid)
        except (FileNotFoundError, ProcessLookupError):
            continue
    return total


def waited_s(pid: int) -> float:
    """How long a process's first thread was ready to run and got no core."""
    return int((PROC / str(pid) / "schedstat").read_text().split()[1]) / 1e9


def _parent(entry: Path) -> int | None:
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError):
        return None


def _runs(pid: int, word: str) -> bool:
    try:
        return word.encode() in (PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return True  # it is gone
