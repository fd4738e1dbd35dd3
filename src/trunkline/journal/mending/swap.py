"""A mended file takes the damaged one's place, which is kept beside it.

Rule 1: the new file is whole and on the disk under its own name (``….mended``) before anything of the old one is touched. From
then on a swap that was cut short is finished by the next start.
Rule 2: the old file and its log are renamed, never deleted: ``journal.db.damaged-20260131-235959``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

from trunkline.journal.mending.salvage import Parts, Salvaged, salvage

_BESIDE = ("-wal", "-shm")


def mend(path: Path, *, seqs: Mapping[str, int] | None = None, pos: int = 0, held: Parts | None = None) -> tuple[Salvaged, Path]:
    """Put what is readable of a journal in its place; returns what came of it, and where the damaged file is now."""
    half = beside(path, ".mending")
    for each in (half, *(beside(half, suffix) for suffix in _BESIDE)):
        each.unlink(missing_ok=True)  # of a try that was cut short; the journal itself is still in its place
    found = salvage(path, half, seqs=seqs, pos=pos, held=held)
    half.rename(beside(path, ".mended"))
    return found, finish(path) or path


def finish(path: Path) -> Path | None:
    """Finish a swap that was begun; None where none was."""
    mended = beside(path, ".mended")
    if not mended.exists():
        return None
    aside = aside_of(path)
    if path.exists():
        os.link(path, aside)
    for suffix in _BESIDE:  # before the new file is in place: SQLite would take the old log for its own
        if beside(path, suffix).exists():
            beside(path, suffix).rename(beside(aside, suffix))
    mended.replace(path)
    for suffix in _BESIDE:
        beside(mended, suffix).unlink(missing_ok=True)  # empty: the new file was closed in order
    return aside


def aside_of(path: Path) -> Path:
    """A name for a damaged file that nobody has yet."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    for number in range(1000):
        aside = beside(path, f".damaged-{stamp}" + (f"-{number}" if number else ""))
        if not any(beside(aside, suffix).exists() for suffix in ("", *_BESIDE)):
            return aside
    raise AssertionError("a thousand damaged files in one second")


def asides(path: Path) -> list[Path]:
    """The damaged files that were put aside, the oldest first."""
    return sorted(each for each in path.parent.glob(f"{path.name}.damaged-*") if not each.name.endswith(_BESIDE))


def beside(path: Path, suffix: str) -> Path:
    """The file of that name with this at its end."""
    return path.with_name(path.name + suffix)
