"""Files inside a session's roots, and nothing outside them.

Rule 1: every path that comes from an agent or a client passes ``resolve``: absolute after symlinks, inside a root, or Forbidden.
The hub's own files (tokens, keys, the journal, the rules) are outside of every session, wherever its roots are.
Rule 2: what is opened, made or written is what was resolved: its folder is entered from the root by descriptor, without links
(``disk.writing.enter``), and looked at once more where the system tells where that is.
Rule 3: all of it looks at the disk, so that it runs off the loop, in the session's own ``lane``; on the loop it raises.
Rule 4: what is read, written or run for an agent goes through ``AgentsWorkspace``: what its sandbox hides is outside of that too.
People have the whole one.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

from trunkline.disk.reading import check_plain, open_plain, path_of
from trunkline.disk.writing import NewFile, enter
from trunkline.errors import Forbidden, Invalid, NotFound, TooLarge
from trunkline.session.workspace import PLAYGROUND
from trunkline.threads import Lane, check_off_loop

READ_LIMIT = 64 << 20
"""The most ``fs/read_text_file`` returns: one JSON-RPC line must be able to carry it."""

SKIPPED_MOST = 256 << 20
"""How far into a file lines are counted: a tenth of a second of a thread's time, or a second where the disk is slow."""

GLANCE_BYTES = 128 << 10
"""Files up to this size are shown to a person before they are changed."""

HIDDEN_FRESH_S = 1.0
"""How long what a sandbox hides is taken as it was found: some milliseconds of a thread's work, for folders that rarely move."""

PIECE = 1 << 20
GATHERED = 256 << 10
"""Bytes that are made JSON at once: a quarter of a millisecond, in which no other thread runs."""

T = TypeVar("T")
_encode = msgspec.json.Encoder().encode


class Workspace:
    """The folders a session may touch; the first is its working directory."""

    def __init__(self, roots: Sequence[str], closed: Sequence[str] = (), lane: Lane | None = None) -> None:
        """``closed`` are the hub's own folders and files; of them only the playground is anybody's to work in."""
        self.roots = tuple(roots)
        """As they were given, until the first look at the disk; the real ones from then on."""
        self.lane = lane or Lane()
        """Where its files are looked at."""
        self._closed = tuple(closed)
        self._settled = False

    def settle(self) -> None:
        """Find out where the roots really are, once: a root that is swapped for a link later leads nowhere."""
        check_off_loop()
        if not self._settled:
            self.roots = tuple(os.path.realpath(root) for root in self.roots)
            self._closed = tuple(os.path.realpath(path) for path in self._closed)
            self._settled = True

    def resolve(self, path: str) -> Path:
        """The real path, or Forbidden when it leaves the roots (by ``..``, by a symlink, by being elsewhere)."""
        self.settle()
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
        self.settle()
        if not any(_is_in(real, root) for root in self.roots):
            raise Forbidden(f"{path} is outside the session's folders", details={"path": path, "roots": list(self.roots)})
        if self.is_closed(real):
            raise Forbidden(f"{path} is the hub's own", details={"path": path})

    def is_closed(self, real: str) -> bool:
        """Whether a real path is the hub's own."""
        return any(_is_in(real, path) and not _is_in(real, os.path.join(path, PLAYGROUND)) for path in self._closed)

    def within(self, root: str) -> Workspace:
        """A part of it, by its real path, which was checked: that folder or nothing, and no link that took its place."""
        self.settle()
        part = Workspace([root], self._closed, self.lane)
        part._settled = True
        return part

    def relative(self, path: Path) -> str:
        """The path as people write it: relative to the working directory where it lies inside."""
        try:
            return path.relative_to(self.roots[0]).as_posix()
        except ValueError:
            return str(path)

    def open(self, real: Path) -> BinaryIO:
        """A plain file at a resolved path, to be read: an OSError where that is none, or leads through a link by now."""
        folder = self._folder(real.parent, make=False, name=real.name)
        try:
            return open_plain(real.name, folder=folder)
        finally:
            os.close(folder)

    def look(self, real: Path) -> os.stat_result:
        """What stands at a path, a link itself: an OSError where nothing does, or the path leads through a link."""
        folder = self._folder(real.parent, make=False, name=real.name)
        try:
            return os.stat(real.name, dir_fd=folder, follow_symlinks=False)
        finally:
            os.close(folder)

    def target(self, real: Path) -> str:
        """Where a link says that it leads: an OSError where it is none, or the path to it leads through another."""
        folder = self._folder(real.parent, make=False, name=real.name)
        try:
            return os.readlink(real.name, dir_fd=folder)
        finally:
            os.close(folder)

    @contextmanager
    def entries(self, real: Path) -> Iterator[Iterator[os.DirEntry[str]]]:
        """What is in a folder at a resolved path. The entries know their names, not where they are, and only meanwhile."""
        entered = self._folder(real, make=False)
        try:
            folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=entered)
        finally:
            os.close(entered)
        try:
            with os.scandir(folder) as entries:
                yield entries
        finally:
            os.close(folder)

    def check_writable(self, real: Path, path: str) -> None:
        """Invalid where something stands at a resolved path that no file can take the place of: a folder, a pipe, a device."""
        check_off_loop()
        try:
            check_plain(os.stat(real, follow_symlinks=False).st_mode, real)
        except FileNotFoundError:
            return
        except OSError as error:
            raise Invalid(f"cannot write {path}: {error.strerror}") from error

    def new_file(self, real: Path) -> NewFile:
        """A file to be written at a resolved path, or under another name beside it; folders on the way are made."""
        return NewFile(self._folder(real.parent, make=True, name=real.name))

    def read_text(self, path: str, *, line: int | None = None, limit: int | None = None) -> str:
        """Text of a file, or ``limit`` lines of it from ``line`` (1-based); never more than READ_LIMIT bytes."""
        return self._read(path, line, limit, lambda pieces: b"".join(pieces).decode("utf-8", errors="replace"))

    def read_bytes(self, path: str) -> bytes:
        """All of a file as it is on disk; never more than READ_LIMIT."""
        return self._read(path, None, None, b"".join)

    def read_json(self, path: str, name: str, *, line: int | None = None, limit: int | None = None) -> bytes:
        """A JSON object with the text under that name, made piece by piece: a long text is never in memory beside it."""
        return self._read(path, line, limit, lambda pieces: _json_object(pieces, path, name))

    def _read(self, path: str, line: int | None, limit: int | None, make: Callable[[Iterator[bytes]], T]) -> T:
        real = self.resolve(path)
        try:
            with self.open(real) as file:
                return make(_bounded(_lines(file, line, limit), path, READ_LIMIT))
        except FileNotFoundError as error:
            raise NotFound(f"no such file: {path}", details={"path": path}) from error
        except OSError as error:
            raise Invalid(f"cannot read {path}: {error.strerror}") from error

    def glance(self, path: str, most: int = GLANCE_BYTES) -> str | None:
        """The text of a small file, to show it to a person; None where it is none, too large, or not ours to show."""
        try:
            with self.open(self.resolve(path)) as file:
                content = file.read(most + 1)
        except (OSError, Forbidden, Invalid, NotFound):
            return None
        return content.decode("utf-8", errors="replace") if len(content) <= most else None

    def write_text(self, path: str, content: str, *, real: Path | None = None) -> None:
        """Write a file whole. ``real`` is where the path led when it was allowed: the file is written there or not at all."""
        self.write_bytes(path, content.encode("utf-8", errors="surrogatepass"), real=real)

    def write_bytes(self, path: str, content: bytes, *, real: Path | None = None) -> None:
        """The same."""
        self.write_pieces(path, [content], real=real)

    def write_pieces(self, path: str, pieces: Iterable[bytes], *, real: Path | None = None) -> None:
        """Write a file whole, keeping the permissions of the one that it replaces. Where the pieces fail, nothing is written."""
        real = real or self.resolve(path)
        try:
            file = self.new_file(real)
            try:
                for piece in pieces:
                    file.write(piece)
            except BaseException:
                file.drop()
                raise
            file.put(real.name)
        except OSError as error:
            raise Invalid(f"cannot write {path}: {error.strerror}") from error

    def _folder(self, real: Path, *, make: bool, name: str = "") -> int:
        """The descriptor of a folder at a resolved path; by where it is now, it and ``name`` in it are inside the roots."""
        self.settle()
        root = next((root for root in self.roots if _is_in(str(real), root)), None)
        if root is None:
            raise IsADirectoryError(errno.EISDIR, "is a folder", name)  # of what was resolved, only a root has its parent outside
        folder = enter(root, real.relative_to(root).parts, make=make)
        try:
            where = path_of(folder)
            if where is not None:
                self.check(os.path.join(where, name) if name else where, name or real.name)
            return folder
        except BaseException:
            os.close(folder)
            raise


class AgentsWorkspace(Workspace):
    """A session's folders as its agent may see them: what the agent's sandbox hides there is hidden here too (rule 4)."""

    def __init__(self, whole: Workspace, find_hider: Callable[[], Callable[[str], bool]]) -> None:
        """``find_hider`` looks at the disk; what it gives says of a real path whether that is hidden."""
        super().__init__(whole.roots, (), whole.lane)
        self._whole = whole
        self._find_hider = find_hider
        self._hides: Callable[[str], bool] | None = None
        self._found_at = 0.0

    def settle(self) -> None:
        """Find out where the roots really are, once."""
        self._whole.settle()
        self.roots = self._whole.roots

    def check(self, real: str, path: str) -> None:
        """Forbidden for a real path that is not the session's, or that its sandbox hides."""
        self._whole.check(real, path)
        if self.is_closed(real):
            raise Forbidden(f"{path} is hidden by the session's sandbox", details={"path": path})

    def is_closed(self, real: str) -> bool:
        """Whether a real path is the hub's own, or hidden."""
        return self._whole.is_closed(real) or self._hider()(real)

    def within(self, root: str) -> AgentsWorkspace:
        """A part of it, by its real path."""
        return AgentsWorkspace(self._whole.within(root), self._find_hider)

    def _hider(self) -> Callable[[str], bool]:
        check_off_loop()
        now = time.monotonic()
        if self._hides is None or now - self._found_at > HIDDEN_FRESH_S:
            self._hides, self._found_at = self._find_hider(), now
        return self._hides


def _is_in(real: str, folder: str) -> bool:
    return real == folder or real.startswith(folder.rstrip(os.sep) + os.sep)


def _lines(file: BinaryIO, line: int | None, limit: int | None) -> Iterator[bytes]:
    """The pieces of the lines asked for; a line may come in several pieces, so that none is too long for memory."""
    if limit is None and (line or 1) <= 1:
        yield from iter(lambda: file.read(PIECE), b"")
        return
    piece = _after_lines(file, max((line or 1) - 1, 0))
    left = limit
    while piece and (left is None or left > 0):
        lines = 0 if left is None else piece.count(b"\n")
        if left is not None and lines >= left:
            piece, lines = piece[:_end_of_line(piece, left)], left
        yield piece
        left = None if left is None else left - lines
        piece = file.read(PIECE)


def _after_lines(file: BinaryIO, count: int) -> bytes:
    """Read past so many lines; what was read of the next one."""
    skipped = 0
    while piece := file.read(PIECE):
        lines = piece.count(b"\n")
        if count == 0 or lines >= count:
            return piece[_end_of_line(piece, count):] or file.read(PIECE)
        count -= lines
        skipped += len(piece)
        if skipped >= SKIPPED_MOST:
            raise TooLarge(f"what was asked for is more than {SKIPPED_MOST} bytes away from the file's beginning")
    return b""


def _end_of_line(piece: bytes, number: int) -> int:
    """Where the line of that number (1-based, 0 is the beginning) ends, which is in the piece. Found by halves: a piece may be
    nothing but line ends."""
    low, high = 0, len(piece)
    while number > 0 and high - low > 1:
        middle = (low + high) // 2
        lines = piece.count(b"\n", low, middle)
        if lines >= number:
            high = middle
        else:
            low, number = middle, number - lines
    return high if number > 0 else low


def _json_object(pieces: Iterable[bytes], path: str, name: str) -> bytes:
    made, decoder = io.BytesIO(), codecs.getincrementaldecoder("utf-8")(errors="replace")
    made.write(b'{%b:"' % _encode(name))
    for piece in chain(_gathered(pieces), (b"",)):
        made.write(memoryview(_encode(decoder.decode(piece, final=not piece)))[1:-1])
        if made.tell() > READ_LIMIT:
            raise TooLarge(f"what was asked of {path} is larger than {READ_LIMIT} bytes")
    made.write(b'"}')
    return made.getvalue()


def _gathered(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same in fewer pieces: a line each would be too much work."""
    gathered = bytearray()
    for piece in pieces:
        gathered += piece
        if len(gathered) >= GATHERED:
            yield bytes(gathered)
            gathered.clear()
    if gathered:
        yield bytes(gathered)


def _bounded(pieces: Iterator[bytes], path: str, most: int) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > most:
            raise TooLarge(f"what was asked of {path} is larger than {most} bytes")
        yield piece
