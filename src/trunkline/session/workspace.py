"""Files inside a session's roots, and nothing outside them.

Rule 1: every path that comes from an agent or a client passes ``resolve``: absolute after symlinks, inside a root, or Forbidden.
The hub's own files (tokens, keys, the journal, the rules) are outside of every session, wherever its roots are.
Rule 2: blocking file work is plain functions; callers on the loop run them in a thread.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from trunkline.errors import Forbidden, Invalid, NotFound, TooLarge

READ_LIMIT = 64 << 20
"""The most ``fs/read_text_file`` returns: one JSON-RPC line must be able to carry it."""

GLANCE_BYTES = 128 << 10
"""Files up to this size are looked at on the loop."""

PIECE = 1 << 20

PLAYGROUND = "playground"
"""The folder in the hub's data that is there to be worked in."""


class Workspace:
    """The folders a session may touch; the first is its working directory."""

    def __init__(self, roots: Sequence[str], closed: Sequence[str] = ()) -> None:
        """``closed`` are the hub's own folders and files; of them only the playground is anybody's to work in."""
        self.roots = tuple(os.path.realpath(root) for root in roots)
        self._closed = tuple(os.path.realpath(path) for path in closed)

    def resolve(self, path: str) -> Path:
        """The real path, or Forbidden when it leaves the roots (by ``..``, by a symlink, by being elsewhere)."""
        if not path or "\0" in path:
            raise Invalid(f"not a path: {path!r}")
        try:
            real = os.path.realpath(os.path.join(self.roots[0], path))
        except OSError as error:
            raise Invalid(f"not a path: {path!r} ({error.strerror})") from error
        self.check(real, path)
        return Path(real)

    def check(self, real: str, path: str) -> None:
        """Forbidden for a real path that is not the session's; ``path`` is what it was called."""
        if not any(_is_in(real, root) for root in self.roots):
            raise Forbidden(f"{path} is outside the session's folders", details={"path": path, "roots": list(self.roots)})
        if self.is_closed(real):
            raise Forbidden(f"{path} is the hub's own", details={"path": path})

    def is_closed(self, real: str) -> bool:
        """Whether a real path is the hub's own."""
        return any(_is_in(real, path) and not _is_in(real, os.path.join(path, PLAYGROUND)) for path in self._closed)

    def within(self, root: str) -> Workspace:
        """A part of it."""
        return Workspace([root], self._closed)

    def relative(self, path: Path) -> str:
        """The path as people write it: relative to the working directory where it lies inside."""
        try:
            return path.relative_to(self.roots[0]).as_posix()
        except ValueError:
            return str(path)

    def read_text(self, path: str, *, line: int | None = None, limit: int | None = None) -> str:
        """Text of a file, or ``limit`` lines of it from ``line`` (1-based); never more than READ_LIMIT bytes."""
        return self.read_bytes(path, line=line, limit=limit).decode("utf-8", errors="replace")

    def read_bytes(self, path: str, *, line: int | None = None, limit: int | None = None) -> bytes:
        """The same, as it is on disk."""
        real = self.resolve(path)
        try:
            with self._open(real) as file:
                return b"".join(_bounded(_lines(file, line, limit), path))
        except FileNotFoundError as error:
            raise NotFound(f"no such file: {path}", details={"path": path}) from error
        except OSError as error:
            raise Invalid(f"cannot read {path}: {error.strerror}") from error

    def glance(self, path: str) -> str | None:
        """The text of a small file, to show it to a person; None where it is none, too large, or not ours to show."""
        try:
            real = self.resolve(path)
            if os.path.getsize(real) > GLANCE_BYTES:
                return None
            return self.read_text(path)
        except (OSError, Forbidden, Invalid, NotFound):
            return None

    def write_text(self, path: str, content: str) -> None:
        """Write a file whole, by a rename, so that a reader never sees half of it."""
        self.write_bytes(path, content.encode("utf-8", errors="surrogatepass"))

    def write_bytes(self, path: str, content: bytes) -> None:
        """Write a file whole, keeping the permissions of the one that it replaces."""
        real = self.resolve(path)
        try:
            real.parent.mkdir(parents=True, exist_ok=True)
            folder = os.open(real.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                self._check_inside(folder, path)
                _replace(folder, real.name, content)
            finally:
                os.close(folder)
        except OSError as error:
            raise Invalid(f"cannot write {path}: {error.strerror}") from error

    def _open(self, real: Path) -> BinaryIO:
        """Open a plain file. Opening a pipe must not wait for its writer, and a link may have come since it was resolved."""
        descriptor = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise Invalid(f"{real.name} is not a plain file")
            self._check_inside(descriptor, str(real))
            return open(descriptor, "rb")
        except BaseException:
            os.close(descriptor)
            raise

    def _check_inside(self, descriptor: int, path: str) -> None:
        try:
            real = os.readlink(f"/proc/self/fd/{descriptor}")
        except OSError:
            return  # no /proc here: the check of the resolved path has to do
        self.check(real, path)


def _is_in(real: str, folder: str) -> bool:
    return real == folder or real.startswith(folder.rstrip(os.sep) + os.sep)


def _lines(file: BinaryIO, line: int | None, limit: int | None) -> Iterator[bytes]:
    """The pieces of the lines asked for; a line may come in several pieces, so that none is too long for memory."""
    first = max((line or 1) - 1, 0)
    last = None if limit is None else first + limit
    index = 0
    while (last is None or index < last) and (piece := file.readline(PIECE)):
        if index >= first:
            yield piece
        if piece.endswith(b"\n"):
            index += 1


def _bounded(pieces: Iterator[bytes], path: str) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > READ_LIMIT:
            raise TooLarge(f"what was asked of {path} is larger than {READ_LIMIT} bytes")
        yield piece


def _replace(folder: int, name: str, content: bytes) -> None:
    """Write beside the file, then put it in its place; the name of the half is nobody's to guess or to plant."""
    half = f".{name[:180]}.{secrets.token_hex(8)}.part"
    mode = _mode_of(folder, name)
    descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666, dir_fd=folder)
    try:
        with open(descriptor, "wb") as file:
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            file.write(content)
        os.replace(half, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):  # it may have got its name already
            os.unlink(half, dir_fd=folder)
        raise


def _mode_of(folder: int, name: str) -> int | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode & 0o7777
    except FileNotFoundError:
        return None
