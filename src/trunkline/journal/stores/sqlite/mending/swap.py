"""A mended file takes the damaged one's place, which is kept beside it.

Rule 1: the new file is whole and on the disk under its own name (``….mended``) before anything of the old one is touched. From
then on a swap that was cut short is finished by the next start.
Rule 2: the old file and its logs are renamed, never deleted: ``journal.db.damaged-20260131-235959``.
Rule 3: what a start finds under that name takes the journal's place only if it is one. Whatever else lies where a file of ours
belongs (a folder, a pipe, noise) is put aside, and keeps no hub from starting.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import stat
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from trunkline.journal.stores.sqlite import database
from trunkline.journal.stores.sqlite.group_log import SUFFIXES as LOGS
from trunkline.journal.stores.sqlite.mending.salvage import Salvaged, SessionEntries, salvage

_BESIDE = ("-wal", "-shm", *LOGS)
_TABLES = frozenset({"blocks", "counters", "damages", "deletions", "recent", "sessions"})

logger = logging.getLogger(__name__)


def mend(path: Path, *, seqs: Mapping[str, int] | None = None, pos: int = 0,
         held: SessionEntries | None = None) -> tuple[Salvaged, Path]:
    """Put what is readable of a journal in its place; returns what came of it, and where the damaged file is now."""
    half = beside(path, ".mending")
    for each in (half, *(beside(half, suffix) for suffix in _BESIDE)):
        clear_away(each)
        each.unlink(missing_ok=True)  # of a try that was cut short; the journal itself is still in its place
    found = salvage(path, half, seqs=seqs, pos=pos, held=held)
    mended = beside(path, ".mended")
    clear_away(mended)
    half.rename(mended)
    return found, _take_place(mended, path)


def finish(path: Path) -> Path | None:
    """Finish a swap that was begun; None where none was."""
    for suffix in _BESIDE:
        clear_away(beside(path, suffix))
    mended = beside(path, ".mended")
    clear_away(mended)
    if not mended.exists():
        return None
    why = _why_not_ours(mended)
    if why is not None:
        put_aside(mended, why)
        return None
    return _take_place(mended, path)


def clear_away(path: Path) -> None:
    """Put aside what is at this place and is no plain file."""
    if os.path.lexists(path) and not stat.S_ISREG(path.lstat().st_mode):
        put_aside(path, "it is no plain file")


def clear_pipe(path: Path) -> None:
    """Put aside what is in a journal's place and would be waited for: a pipe, a socket, a device, a link to one. A folder stays,
    and is refused."""
    if path.exists() and not path.is_file() and not path.is_dir():
        put_aside(path, "it is no plain file")


def put_aside(path: Path, why: str) -> Path:
    """Rename what is in a file's place, and say so."""
    aside = aside_of(path)
    path.rename(aside)
    logger.error("%s cannot be used (%s) and is now %s", path, why, aside)
    return aside


def _why_not_ours(path: Path) -> str | None:
    """What keeps a file from being a journal that was closed in order; None where nothing does."""
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True)) as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            connection.execute("SELECT count(*), max(checkpoint_seq) FROM sessions NOT INDEXED").fetchone()
    except (sqlite3.Error, UnicodeDecodeError) as error:
        return str(error)
    return None if tables >= _TABLES and version <= len(database.migrations()) else "it is no journal"


def _take_place(mended: Path, path: Path) -> Path:
    aside = aside_of(path)
    if path.exists():
        os.link(path, aside)
    for suffix in _BESIDE:  # before the new file is in place: the old logs would be taken for its own
        if beside(path, suffix).exists() and (suffix not in LOGS or beside(path, suffix).stat().st_size):
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
        if not any(os.path.lexists(beside(aside, suffix)) for suffix in ("", *_BESIDE)):
            return aside
    raise AssertionError("a thousand damaged files in one second")


def asides(path: Path) -> list[Path]:
    """What was put aside of a journal and of the files beside it, each kind by age."""
    return sorted(each for each in path.parent.glob(f"{path.stem}.*damaged-*") if not each.name.endswith(_BESIDE))


def beside(path: Path, suffix: str) -> Path:
    """The file of that name with this at its end."""
    return path.with_name(path.name + suffix)
