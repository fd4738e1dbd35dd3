"""Folders of this machine, to choose one for a session.

Rule 1: names of folders, and of the branch that is checked out there, and nothing else: no files, no sizes, no contents. Whoever
may start an agent anywhere may see them.
Rule 2: the path that is answered is the real one. A link to a folder is listed as a link, under its own name.
Rule 3: a folder may be huge, slow or gone: what is looked at is bounded, and the work is in a lane.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from itertools import islice
from pathlib import Path

import msgspec

from trunkline.disk.reading import read_whole
from trunkline.errors import Forbidden, Invalid, NotFound
from trunkline.journal.base import RowFilter
from trunkline.server.call import HttpCall, Reply, reply

LISTED_MOST = 500
LOOKED_AT_MOST = 20_000
"""Entries of one folder that are looked at."""

PARENTS_MOST = 64
"""Folders above one that are looked at for the repository that it lies in."""
HEAD_BYTES = 4_096
HEAD = re.compile(r"ref: refs/heads/([^\0-\x1f]{1,200})|([0-9a-f]{8})[0-9a-f]{32,56}")

RECENT_MOST = 20
RECENT_FROM = 200
"""Sessions whose folders count as recent."""


class Folder(msgspec.Struct, rename="camel"):
    """A folder. ``isProject`` says that it is under version control; ``hidden`` that its name begins with a dot."""

    name: str
    path: str
    hidden: bool
    is_symlink: bool
    is_project: bool


class RecentFolder(msgspec.Struct, rename="camel"):
    """A folder that sessions worked in."""

    name: str
    path: str
    sessions: int
    last_used_at: str


class FolderPage(msgspec.Struct):
    """A folder's folders, hidden ones last, and the recent ones; ``parent`` is null at the top, ``branch`` where there is no git.
    Of a commit that is on no branch it is the beginning of its name."""

    path: str
    parent: str | None
    home: str
    folders: list[Folder]
    truncated: bool
    recent: list[RecentFolder]
    branch: str | None = None


async def folders(call: HttpCall) -> Reply:
    """The folders in ``?path=``, else in the home folder."""
    wanted = call.text("path") or "~"
    page = await call.hub.lane.run(_listed, wanted)
    page.recent = await _recent(call)
    return reply(page)


def _listed(wanted: str) -> FolderPage:
    path = _real(wanted)
    found, more = _folders_in(path)
    found.sort(key=lambda folder: (folder.hidden, folder.name.casefold(), folder.name))
    parent = os.path.dirname(path)
    return FolderPage(
        path=path, parent=parent if parent != path else None, home=os.path.realpath(Path.home()), folders=found[:LISTED_MOST],
        truncated=more or len(found) > LISTED_MOST, recent=[], branch=_branch(Path(path)),
    )


def _branch(path: Path) -> str | None:
    """What is checked out in the repository that a folder is, or lies in, by git's own note of it."""
    for folder in (path, *islice(path.parents, PARENTS_MOST)):
        if os.path.lexists(folder / ".git"):
            with suppress(OSError, ValueError):  # not ours to read, or no repository after all
                found = HEAD.fullmatch(_text(_store(folder) / "HEAD"))
                return (found[1] or found[2]) if found else None
            return None
    return None


def _store(folder: Path) -> Path:
    """Where a repository has its notes; of a worktree a file says so."""
    git = folder / ".git"
    return git if git.is_dir() else folder / _text(git).removeprefix("gitdir:").strip()


def _text(path: Path) -> str:
    return read_whole(str(path), HEAD_BYTES).decode("utf-8").strip()


def _real(wanted: str) -> str:
    path = os.path.expanduser(wanted) if wanted == "~" or wanted.startswith("~/") else wanted
    if not os.path.isabs(path) or "\0" in path:
        raise Invalid(f"path must be absolute, or begin with ~/, not {wanted[:200]!r}", details={"field": "path"})
    try:
        real = os.path.realpath(path, strict=True)
        real.encode("utf-8")
    except OSError as error:
        raise _unusable(path, error) from error
    except UnicodeEncodeError:
        raise Invalid("path leads to a name that is not UTF-8", details={"field": "path"}) from None
    return real


def _folders_in(path: str) -> tuple[list[Folder], bool]:
    """The folders in ``path``, and whether there may be more."""
    found: list[Folder] = []
    try:
        with os.scandir(path) as entries:
            for number, entry in enumerate(entries):
                if number >= LOOKED_AT_MOST:
                    return found, True
                if (folder := _folder(entry)) is not None:
                    found.append(folder)
    except OSError as error:
        raise _unusable(path, error) from error
    return found, False


def _folder(entry: os.DirEntry[str]) -> Folder | None:
    """The entry as a folder; None for anything else, for links that lead nowhere, and for names that JSON cannot carry."""
    try:
        if not entry.is_dir():
            return None
        entry.name.encode("utf-8")
    except (OSError, UnicodeEncodeError):
        return None
    project = False
    with suppress(OSError):  # not ours to look into: it is a folder all the same
        project = os.path.lexists(os.path.join(entry.path, ".git"))
    return Folder(entry.name, entry.path, entry.name.startswith("."), entry.is_symlink(), project)


async def _recent(call: HttpCall) -> list[RecentFolder]:
    """The folders of the newest sessions that are still there, the one used last first."""
    seen: dict[str, RecentFolder] = {}
    for view in await call.hub.list(RowFilter(limit=RECENT_FROM)):
        if view.cwd in seen:
            seen[view.cwd].sessions += 1
        else:
            seen[view.cwd] = RecentFolder(os.path.basename(view.cwd) or view.cwd, view.cwd, 1, view.updated_at)
    return await call.hub.lane.run(_existing, list(seen.values()))


def _existing(recent: list[RecentFolder]) -> list[RecentFolder]:
    there: list[RecentFolder] = []
    for folder in recent:
        if len(there) == RECENT_MOST:
            break
        if os.path.isdir(folder.path):
            there.append(folder)
    return there


def _unusable(path: str, error: OSError) -> Invalid | Forbidden | NotFound:
    details = {"field": "path"}
    if isinstance(error, FileNotFoundError):
        return NotFound(f"there is no folder {path}", details=details)
    if isinstance(error, PermissionError):
        return Forbidden(f"{path} may not be read", details=details)
    return Invalid(f"{path} cannot be used as a folder: {error.strerror}", details=details)
