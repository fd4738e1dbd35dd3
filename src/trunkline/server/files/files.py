"""Files inside a session's roots: look, read, find.

Rule 1: every path goes through the session's workspace; before there is a session, through that which one would have.
Rule 2: what an agent wrote is data: on our own origin it is never sent as something a browser would run.
Rule 3: all of it runs in the session's lane.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

import msgspec

from trunkline.dialects.context.envelope import iso_ms
from trunkline.errors import Forbidden, Invalid
from trunkline.hub import HubOptions, guarded_folders
from trunkline.hub.folders import folder as folder_of
from trunkline.server.call import HttpCall, Reply, reply
from trunkline.server.files.content import FileReply, media_type, open_inside, resolve, unusable
from trunkline.session.workspace.artifacts import DEPTH_MOST, SKIPPED
from trunkline.session.workspace.files import Workspace

LISTED_MOST = 5_000
FIND_DEFAULT = 50
FIND_MOST = 500
SEARCHED_MOST = 50_000
"""Files one search looks at: an answer now is worth more than a complete one later."""

SHOWN_AS_IS = frozenset({
    "image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp", "image/vnd.microsoft.icon", "image/svg+xml",
    "application/pdf", "audio/mpeg", "audio/x-wav", "audio/ogg", "video/mp4", "video/webm",
})
SANDBOX = (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox")
"""For files: should a browser show one as a page after all, it can run nothing and is of no origin."""


class FileEntry(msgspec.Struct, rename="camel", kw_only=True):
    """A file or folder. ``path`` goes into ``?path=``; ``size`` and ``mimeType`` are null for folders."""

    name: str
    path: str
    is_directory: bool
    size: int | None
    mime_type: str | None
    modified_at: str
    is_symlink: bool


class FileList(msgspec.Struct):
    """A folder: folders first, then by name, ignoring case."""

    path: str
    entries: list[FileEntry]
    truncated: bool


class FilesFound(msgspec.Struct):
    """Files whose path contains what was asked for, the best match first."""

    query: str
    files: list[FileEntry]
    truncated: bool


async def list_files(call: HttpCall) -> Reply:
    """A folder's entries."""
    space = (await call.session()).workspace
    return reply(await space.lane.run(_list, space, call.text("path") or "."))


async def file_content(call: HttpCall) -> Reply:
    """A file's bytes."""
    space = (await call.session()).workspace
    opened = await space.lane.run(open_inside, _required(call, "path"), space)
    kind = media_type(opened.name)
    shown = kind in SHOWN_AS_IS
    answer = FileReply(opened, call.request.headers, kind if shown else _plain(kind), attachment=not (shown or _is_text(kind)))
    answer.raw_headers.append(SANDBOX)
    return answer


async def find_files(call: HttpCall) -> Reply:
    """Files by a part of their name."""
    space = (await call.session()).workspace
    query = _required(call, "q")
    limit = call.integer("limit", FIND_DEFAULT, least=1, most=FIND_MOST)
    return reply(await space.lane.run(_find, space, query, limit))


async def find_in_folder(call: HttpCall) -> Reply:
    """The same in a folder that a session may begin in."""
    path, query = _required(call, "path"), _required(call, "q")
    limit = call.integer("limit", FIND_DEFAULT, least=1, most=FIND_MOST)
    return reply(await call.hub.lane.run(_find_in, path, call.hub.options, query, limit))


def _find_in(path: str, options: HubOptions, query: str, limit: int) -> FilesFound:
    guarded = guarded_folders(options)
    return _find(Workspace([folder_of(os.path.expanduser(path), guarded)], guarded), query, limit)


def _required(call: HttpCall, name: str) -> str:
    value = call.text(name)
    if value is None:
        raise Invalid(f"{name} is needed", details={"field": name})
    return value


def _is_text(kind: str) -> bool:
    return kind.startswith("text/") or kind in ("application/json", "application/xml", "application/javascript")


def _plain(kind: str) -> str:
    """Text of any kind as plain text, so that no browser runs it."""
    return "text/plain; charset=utf-8" if _is_text(kind) else "application/octet-stream"


# Looking


def _list(space: Workspace, path: str) -> FileList:
    folder = resolve(space, path)
    entries: list[FileEntry] = []
    try:
        with space.entries(folder) as found:
            for entry in found:
                if space.is_closed(os.path.join(folder, entry.name)):
                    continue
                with suppress(FileNotFoundError):  # gone since we saw it
                    entries.append(_entry(space, folder / entry.name, entry))
                if len(entries) > LISTED_MOST:
                    break
    except NotADirectoryError:
        raise Invalid(f"{folder.name} is not a folder", details={"field": "path"}) from None
    except OSError as error:
        raise unusable(str(folder), error) from error
    entries.sort(key=lambda entry: (not entry.is_directory, entry.name.lower(), entry.name))
    return FileList(_name(space, folder), entries[:LISTED_MOST], len(entries) > LISTED_MOST)


def _entry(space: Workspace, path: Path, entry: os.DirEntry[str]) -> FileEntry:
    found = entry.stat(follow_symlinks=False)
    is_directory = stat.S_ISDIR(found.st_mode)
    is_file = stat.S_ISREG(found.st_mode)
    return FileEntry(
        name=_printable(entry.name), path=_name(space, path), is_directory=is_directory,
        size=found.st_size if is_file else None, mime_type=media_type(entry.name) if is_file else None,
        modified_at=iso_ms(found.st_mtime_ns // 1000), is_symlink=entry.is_symlink(),
    )


def _name(space: Workspace, path: Path) -> str:
    return _printable(space.relative(path))


def _printable(name: str) -> str:
    """A name that JSON can carry: bytes that are not UTF-8 become question marks."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


# Finding


def _find(space: Workspace, query: str, limit: int) -> FilesFound:
    wanted = query.lower()
    ranked: list[tuple[int, int, str, FileEntry]] = []
    looked_at = 0
    too_deep: list[Path] = []
    for folder, entry in _walk(space, too_deep):
        looked_at += 1
        if looked_at > SEARCHED_MOST:
            break
        if entry.is_dir(follow_symlinks=False):
            continue
        path = space.relative(folder / entry.name)
        rank = _rank(wanted, entry.name.lower(), path.lower())
        if rank is not None:
            with suppress(OSError):  # gone since we saw it
                ranked.append((rank, len(path), path, _entry(space, folder / entry.name, entry)))
    ranked.sort(key=lambda each: each[:3])
    files = [each[3] for each in ranked[:limit]]
    return FilesFound(query, files, looked_at > SEARCHED_MOST or len(ranked) > limit or bool(too_deep))


def _rank(wanted: str, name: str, path: str) -> int | None:
    if name == wanted:
        return 0
    if name.startswith(wanted):
        return 1
    if wanted in name:
        return 2
    return 3 if wanted in path else None


def _walk(space: Workspace, too_deep: list[Path]) -> Iterator[tuple[Path, os.DirEntry[str]]]:
    """What is below the roots, with the folder that it is in, breadth first, without what nobody looks for by name; links are
    not followed. ``too_deep`` gets the folders that are not looked into."""
    space.settle()
    folders = [Path(root) for root in space.roots]
    for _ in range(DEPTH_MOST):
        deeper: list[Path] = []
        for folder in folders:
            try:
                with space.entries(folder) as entries:
                    for entry in sorted(islice(entries, SEARCHED_MOST), key=lambda entry: entry.name):
                        is_folder = entry.is_dir(follow_symlinks=False)
                        if (is_folder and entry.name in SKIPPED) or space.is_closed(os.path.join(folder, entry.name)):
                            continue
                        if is_folder:
                            deeper.append(folder / entry.name)
                        yield folder, entry
            except (OSError, Forbidden):
                continue  # vanished, or not ours to read
        folders = deeper
    too_deep += folders
