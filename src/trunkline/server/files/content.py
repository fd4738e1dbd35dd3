"""One file to one reader: opened inside a folder, sent in pieces, with ranges and validators.

Rule 1: every path goes through the session's workspace, and ``..`` is refused before that.
Rule 2: what is sent is the file that was checked: it is opened first, and the open file is what is looked at.
Rule 3: files are read in the session's lane; a slow reader holds one piece.
"""

from __future__ import annotations

import errno
import mimetypes
import os
import re
from functools import cache
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from starlette.types import Receive, Scope, Send

from trunkline.dialects.outside import is_whole_number
from trunkline.disk.reading import NOT_PLAIN
from trunkline.errors import Forbidden, Invalid, NotFound
from trunkline.server.http.messages import Headers
from trunkline.session.workspace.files import Workspace
from trunkline.threads import Lane

PIECE = 256 << 10
NAME_MOST = 255
PATH_MOST = 4095
NEWER_TYPES = (
    ("image/webp", ".webp"), ("image/avif", ".avif"), ("font/woff2", ".woff2"), ("font/woff", ".woff"), ("text/markdown", ".md"),
    ("application/wasm", ".wasm"), ("text/javascript", ".mjs"), ("text/javascript", ".js"),
    ("application/manifest+json", ".webmanifest"),
)
"""What the standard library's table learned only in later versions."""


@cache
def _types() -> mimetypes.MimeTypes:
    types = mimetypes.MimeTypes()  # the table of the standard library, not this machine's
    for kind, suffix in NEWER_TYPES:
        types.add_type(kind, suffix)
    return types


def resolve(space: Workspace, path: str) -> Path:
    """A client's path as a real one inside the workspace. ``..`` is refused wherever it leads."""
    if ".." in re.split(r"[/\\]", path):
        raise Forbidden(f"{path!r} contains '..'", details={"path": path})
    if any(len(os.fsencode(part)) > NAME_MOST for part in path.split("/")) or len(os.fsencode(path)) > PATH_MOST:
        raise Invalid("path is too long", details={"field": "path"})
    return space.resolve(path)


def media_type(name: str) -> str:
    """What a file is by its name; bytes where the name does not say."""
    kind, encoding = _types().guess_type(name)
    return kind if kind is not None and encoding is None else "application/octet-stream"


class OpenFile:
    """A plain file that is open for reading, and what is known about it."""

    def __init__(self, file: BinaryIO, name: str, lane: Lane) -> None:
        found = os.fstat(file.fileno())
        self.file = file
        self.name = name
        self.lane = lane
        self.size = found.st_size
        self.modified_s = found.st_mtime
        self.etag = f'"{found.st_mtime_ns:x}-{found.st_size:x}"'

    def piece(self, start: int, length: int) -> bytes:
        """Some bytes of it; fewer at the end."""
        return os.pread(self.file.fileno(), length, start)


def open_inside(path: str, space: Workspace) -> OpenFile:
    """Open a client's path; what is opened is what was resolved, whatever links change meanwhile."""
    real = resolve(space, path)
    try:
        return OpenFile(space.open(real), real.name, space.lane)
    except OSError as error:
        raise unusable(path, error) from error


def unusable(path: str, error: OSError) -> Invalid | NotFound | Forbidden:
    """What the system's refusal means to the caller."""
    name = os.path.basename(path)
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return NotFound(f"no such file: {name}")
    if error.errno == errno.ENXIO:
        return Forbidden(f"{name} is {NOT_PLAIN}")
    if error.errno in (errno.EACCES, errno.EPERM, errno.ELOOP):
        return Forbidden(f"{name} may not be opened")
    return Invalid(f"{name[:100]} {error.strerror}" if error.errno == errno.EISDIR else f"{name[:100]}: {error.strerror}")


class FileReply:
    """The reply that carries a file, a part of it, or the news that it has not changed."""

    def __init__(self, opened: OpenFile, request: Headers, kind: str, *, attachment: bool = False,
                 cache: str = "private, no-cache") -> None:
        from email.utils import formatdate  # who sends no file needs none of it

        self._opened = opened
        self._start, self._length, self._status = 0, opened.size, 200
        self.raw_headers = [
            (b"content-type", kind.encode()), (b"etag", opened.etag.encode()), (b"accept-ranges", b"bytes"),
            (b"last-modified", formatdate(opened.modified_s, usegmt=True).encode()), (b"cache-control", cache.encode()),
            (b"content-disposition", _disposition(opened.name, attachment)),
        ]
        if _lists(request.get("if-none-match"), opened.etag):
            self._status = 304
        elif request.get("if-range", opened.etag) == opened.etag:
            self._take_range(request.get("range"))
        if self._status != 304:
            self.raw_headers.append((b"content-length", b"%d" % self._length))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, and close the file whatever happens."""
        try:
            await send({"type": "http.response.start", "status": self._status, "headers": self.raw_headers})
            if scope["method"] != "HEAD" and self._status in (200, 206):
                await self._send_pieces(send)
            await send({"type": "http.response.body", "body": b""})
        finally:
            self._opened.file.close()

    async def _send_pieces(self, send: Send) -> None:
        position, end = self._start, self._start + self._length
        while position < end:
            piece = await self._opened.lane.run(self._opened.piece, position, min(PIECE, end - position))
            if not piece:
                raise OSError(errno.EIO, f"{self._opened.name} was cut while it was sent")
            position += len(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": True})

    def _take_range(self, header: str | None) -> None:
        """One range is served; several are answered with the whole file, as the standard allows."""
        if header is None or not header.startswith("bytes=") or "," in header:
            return
        found = _range(header.removeprefix("bytes=").strip(), self._opened.size)
        if found is None:
            return
        start, end = found
        if start >= end:
            self._status, self._length = 416, 0
            self.raw_headers.append((b"content-range", b"bytes */%d" % self._opened.size))
            return
        self._status, self._start, self._length = 206, start, end - start
        self.raw_headers.append((b"content-range", b"bytes %d-%d/%d" % (start, end - 1, self._opened.size)))


def _range(text: str, size: int) -> tuple[int, int] | None:
    """[start, end) of a range; None for what is not one (such a header is ignored)."""
    first, dash, last = text.partition("-")
    if not dash or not all(part == "" or is_whole_number(part) for part in (first, last)):
        return None
    if first and last and int(last) < int(first):
        return None
    if first:
        return int(first), min(int(last) + 1, size) if last else size
    return (max(0, size - int(last)), size) if last else None


def _lists(header: str | None, etag: str) -> bool:
    if header is None:
        return False
    return header.strip() == "*" or etag in (each.strip().removeprefix("W/") for each in header.split(","))


def _disposition(name: str, attachment: bool) -> bytes:
    kind = "attachment" if attachment else "inline"
    return f"{kind}; filename*=UTF-8''{quote(os.fsencode(name), safe='')}".encode("ascii")
