"""What the data folder holds: whose it is and who may see it, the token, the rules, the journal.

Rule: everything is opened for reading alone. The journal is opened as one that cannot change, so that SQLite makes no file
beside it.
"""

from __future__ import annotations

import os
import pwd
import sqlite3
import stat
import time
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from trunkline.cli.commands.doctor.finding import Finding, Scene, bad, note, ok
from trunkline.client.hub_views import JournalView
from trunkline.dialects.outside import BROKEN
from trunkline.disk.private_file import read_private
from trunkline.errors import Invalid, TrunklineError, Unauthorized

SHOWN = 3
"""Names that are listed of many."""
JOURNAL_S = 3.0
"""How long the journal is read: some 500 MB of it. ``trunkline journal verify`` reads all."""
STORED_BYTES = 8 << 20
_STEPS = 10_000


async def data(scene: Scene) -> list[Finding]:
    """The folder and its modes."""
    return await scene.off_loop(data_of, scene.settings.data)


def data_of(path: Path, me: int | None = None) -> list[Finding]:
    """What is to be said of a data folder."""
    me = os.geteuid() if me is None else me
    try:
        found = path.stat()
    except FileNotFoundError:
        return [_to_be_made(path)]
    except OSError as error:
        return [bad("data", f"{path} cannot be looked at: {error.strerror}", "run as its owner, or take another folder: --data")]
    if not stat.S_ISDIR(found.st_mode):
        return [bad("data", f"{path} is no folder", "move it away, or take another folder: --data")]
    if found.st_uid != me:
        return [bad("data", f"{path} belongs to {_person(found.st_uid)}, and you are {_person(me)}",
                    f"run as {_person(found.st_uid)}, or take another folder: --data")]
    if found.st_mode & 0o077:
        return [bad("data", f"{path} is open to others (mode {stat.S_IMODE(found.st_mode):o})", f"chmod 700 {path}")]
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        return [bad("data", f"you may not write into {path} (mode {stat.S_IMODE(found.st_mode):o})", f"chmod 700 {path}")]
    return _files_in(path, me)


def _to_be_made(path: Path) -> Finding:
    above = next(each for each in path.parents if os.path.lexists(each))
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        return bad("data", f"{path} is not there, and you may not make it in {above}", "take another folder: --data")
    return ok("data", f"{path}: the first start makes it")


def _files_in(path: Path, me: int) -> list[Finding]:
    open_ones, foreign = [], []
    for entry in sorted(os.scandir(path), key=lambda each: each.name):
        found = entry.stat(follow_symlinks=False)
        if found.st_uid != me:
            foreign.append(entry.name)
        elif stat.S_ISREG(found.st_mode) and found.st_mode & 0o022:
            open_ones.append(entry.name)
    told = []
    if foreign:
        told.append(bad("data", f"of others, in {path}: {_some(foreign)}", f"chown -R {_person(me)} {path}"))
    if open_ones:
        told.append(bad("data", f"others may write, in {path}: {_some(open_ones)}", f"chmod go-rwx {path}/*"))
    return told or [ok("data", f"{path}, closed to others")]


def _some(names: list[str]) -> str:
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def _person(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


async def token(scene: Scene) -> list[Finding]:
    """What lets one in; never itself."""
    told = await scene.off_loop(token_of, scene.settings.data, scene.settings.token is not None)
    if scene.endpoint is None or told.state == "bad":
        return [told]
    try:
        async with scene.asked() as hub:
            await hub.devices()
    except Unauthorized:
        return [bad("token", "the hub does not take it", "unset TRUNKLINE_TOKEN where it is not the hub's; else trunkline "
                    "stop, and start it again")]
    return [ok("token", f"{told.what}; the hub takes it")]


def token_of(path: Path, from_environ: bool) -> Finding:
    """The token of a data folder, and those of paired devices."""
    if from_environ:
        return ok("token", "from the environment (TRUNKLINE_TOKEN)")
    own, paired = path / "token", path / "tokens.json"
    try:
        text, devices = read_private(own, 4096, close=False), read_private(paired, STORED_BYTES, close=False)
        _decoded(paired, devices)
    except TrunklineError as error:
        return bad("token", error.message, f"delete it, and pair again: rm {paired}" if str(paired) in error.message
                   else f"trunkline stop; rm {own}; the next start makes a new one")
    if text is None:
        return ok("token", "none yet: the first start makes one")
    if not text.strip():
        return bad("token", f"{own} is empty", f"trunkline stop; rm {own}; the next start makes a new one")
    return ok("token", f"in {own}, for you alone")


def _decoded(path: Path, text: str | None) -> Any:
    try:
        return None if text is None else msgspec.json.decode(text)
    except BROKEN:
        raise Invalid(f"{path} cannot be read: it is no JSON") from None


async def rules(scene: Scene) -> list[Finding]:
    """policy.toml."""
    return [await scene.off_loop(rules_of, scene.settings.data)]


def rules_of(path: Path) -> Finding:
    """The rules of a data folder."""
    from trunkline.session.policy.file import POLICY_FILE
    from trunkline.session.policy.text import TEXT_BYTES, parse_policy

    try:
        text = read_private(path / POLICY_FILE, TEXT_BYTES + 1, close=False)
        count = len(parse_policy(text or "").rules)
    except TrunklineError as error:
        return bad("rules", f"{error.message}; everything is asked", f"trunkline policy edit (the file is {path / POLICY_FILE})")
    return ok("rules", f"{count} answer for you" if count else "none: every permission waits for a person")


async def journal(scene: Scene) -> list[Finding]:
    """Whether what is stored can be read."""
    if scene.endpoint is not None:
        async with scene.asked() as hub:
            return [journal_told(await hub.journal())]
    if scene.holder is not None:
        return [note("journal", "the hub that has it does not answer")]
    return [await scene.off_loop(journal_of, scene.settings.data / "journal.db")]


def journal_told(view: JournalView) -> Finding:
    """What a hub says of its journal."""
    if view.state == "unwritable":
        return bad("journal", f"nothing can be stored: {view.unwritable}", "make room on the disk, or mend its rights")
    if view.state == "hurt":
        return bad("journal", f"{len(view.damages)} places cannot be read any more", "trunkline journal verify says which; "
                   "trunkline stop, then trunkline journal repair keeps what can be read")
    return ok("journal", "whole, says the hub")


def journal_of(path: Path) -> Finding:
    """What can be seen of a journal that nobody writes: its head and, for a while, its structure."""
    if not os.path.lexists(path):
        return ok("journal", "nothing is stored yet")
    repair = f"trunkline journal repair --data {path.parent} keeps what can be read"
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True)) as connection:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            until = time.monotonic() + JOURNAL_S
            connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
            wrong = [row[0] for row in connection.execute("PRAGMA quick_check(1)") if row[0] != "ok"]
    except sqlite3.OperationalError as error:
        if "interrupted" in str(error):
            return ok("journal", f"{_size(path)}: no fault in {JOURNAL_S:g} s of reading; trunkline journal verify reads it all")
        return bad("journal", f"{path} cannot be opened: {error}", repair)
    except sqlite3.Error as error:
        return bad("journal", f"{path}: {error}", repair)
    if _unfinished(path):
        return ok("journal", f"{_size(path)}; it was not closed in order, and the next start reads its log")
    return bad("journal", f"{path}: {wrong[0]}", repair) if wrong else _of_version(path, version)


def _of_version(path: Path, version: int) -> Finding:
    from trunkline.journal.stores.sqlite.database import migrations

    if version > len(migrations()):
        return bad("journal", f"{path} was written by a newer Trunkline",
                   "install that version again, or take another folder: --data")
    return ok("journal", f"{_size(path)}, whole in structure")


def _unfinished(path: Path) -> bool:
    """Whether the database's own log has something that is not in the file: without it the file alone means little."""
    try:
        return path.with_name(path.name + "-wal").stat().st_size > 0
    except OSError:
        return False


def _size(path: Path) -> str:
    return f"{path.stat().st_size / (1 << 20):.1f} MiB"
